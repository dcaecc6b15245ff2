//! Output for people: tables, times, colours, wording.

pub(crate) mod amounts;
pub(crate) mod clock;
pub(crate) mod colour;
pub(crate) mod confirm;
pub(crate) mod efficiency;
pub(crate) mod escapes;
pub(crate) mod places;
pub(crate) mod progress_lines;
pub(crate) mod states;
pub(crate) mod table;
pub(crate) mod tasks;
pub(crate) mod vram;
pub(crate) mod width;

use std::io::{self, ErrorKind, Write};

use danlu_messages::cli::screen as msg;

use crate::failure::{Exit, Failure};

/// How wide the labels of [`labelled`] are.
const LABEL_COLUMNS: usize = 14;

/// To stdout. A reader that is gone (`danlu ls | head -1`) has seen enough.
pub(crate) fn print(words: &str) -> Result<(), Failure> {
    written(write_stdout(words.as_bytes())).map(drop)
}

/// A document of the API, as the server sent it.
pub(crate) fn print_document(document: &str) -> Result<(), Failure> {
    print(&format!("{}\n", document.trim_end()))
}

fn write_stdout(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

/// `false` when the reader has closed the pipe.
pub(crate) fn written(result: io::Result<()>) -> Result<bool, Failure> {
    match result {
        Ok(()) => Ok(true),
        Err(cause) if cause.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(cause) => Err(Failure::new(Exit::Refused, msg::could_not_write_cause(&cause))),
    }
}

/// One line of a page about one thing: a label, and its value in the next column. Empty values are left out.
pub(crate) fn labelled(label: &str, value: &str) -> String {
    if value.is_empty() {
        return String::new();
    }
    let padding = " ".repeat(LABEL_COLUMNS.saturating_sub(width::of(label)));
    format!("  {label}{padding}{}\n", width::plain(value))
}

/// To stderr: what is good to know and no error.
pub(crate) fn note(words: &str) {
    let line = msg::note_words(&words);
    // stderr may be closed.
    let _ = io::stderr().write_all(line.as_bytes());
}

/// To stderr, dim: what happens meanwhile.
pub(crate) fn aside(words: &str) {
    let on = colour::wanted(&io::stderr());
    let line = format!("{}\n", colour::paint(words, Some(colour::Colour::Dim), on));
    let _ = io::stderr().write_all(line.as_bytes());
}
