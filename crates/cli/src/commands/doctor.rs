//! `danlu doctor`: checks this machine and the server that it talks to, and prints a command for each problem.

mod checks;
mod host_checks;
mod server_health;

use std::{io, process::ExitCode};

use clap::Args;
use danlu_messages::cli::doctor as msg;
use serde::Serialize;
use serde_json::json;

use crate::{
    failure::Failure,
    screen::{
        self,
        colour::{self, Colour, paint},
    },
};

#[derive(Debug, Args)]
#[command(
    about = msg::about(),
    override_usage = msg::danlu_doctor_options(),
    after_help = msg::help(),
)]
pub(crate) struct DoctorArguments {
    #[arg(long, help = msg::print_one_json_document())]
    json: bool,
}

/// What one check has found.
#[derive(Debug, Serialize)]
struct Finding {
    verdict: Verdict,
    what: String,
    /// What to do, where there is something to do.
    hint: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    Fine,
    /// It works, but could be better.
    Note,
    Wrong,
}

pub(crate) fn run(server: Option<&str>, arguments: &DoctorArguments) -> Result<ExitCode, Failure> {
    let findings = checks::all(server);
    if arguments.json {
        screen::print_document(&json!({ "v": 1, "findings": findings }).to_string())?;
    } else {
        let on = colour::wanted(&io::stdout());
        screen::print(&findings.iter().map(|finding| line(finding, on)).collect::<String>())?;
    }
    let wrong = findings.iter().any(|finding| finding.verdict == Verdict::Wrong);
    Ok(ExitCode::from(u8::from(wrong)))
}

fn line(finding: &Finding, on: bool) -> String {
    let (word, colour) = match finding.verdict {
        Verdict::Fine => (msg::fine(), Colour::Green),
        Verdict::Note => (msg::note(), Colour::Yellow),
        Verdict::Wrong => (msg::wrong(), Colour::Red),
    };
    let hint = finding.hint.as_ref().map(|hint| format!("       → {hint}\n")).unwrap_or_default();
    format!("{}  {}\n{hint}", paint(word, Some(colour), on), finding.what)
}
