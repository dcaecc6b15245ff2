//! Asks for confirmation before something that cannot be undone.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use danlu_messages::cli::screen as msg;

use crate::failure::{Exit, Failure};

/// `Ok(false)` when the answer is no; refused when stdin is not a terminal.
pub(crate) fn confirm(question: &str) -> Result<bool, Failure> {
    if !io::stdin().is_terminal() {
        return Err(
            Failure::new(Exit::Refused, msg::confirmation_required(&question)).hint(msg::add_yes())
        );
    }
    let prompt = msg::question_y_n(&question);
    let mut terminal = io::stderr();
    // If the question cannot be shown, the answer is no.
    if terminal.write_all(prompt.as_bytes()).and_then(|()| terminal.flush()).is_err() {
        return Ok(false);
    }
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer);
    let yes = ["y", "yes", "是"].contains(&answer.trim().to_lowercase().as_str());
    Ok(read.is_ok() && yes)
}
