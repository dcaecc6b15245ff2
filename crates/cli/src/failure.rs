//! Why a verb did not do what was asked: one sentence, a hint with the command to type, an exit status.

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use clap::{Command, error::ContextKind};
use danlu_messages::cli::program as msg;
use danlu_spec::input_error::{InputError, InputErrorKind, usage_message};

#[derive(Debug)]
pub(crate) struct Failure {
    status: u8,
    message: String,
    hint: Option<String>,
}

/// The exit statuses that scripts may rely on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Exit {
    Usage = 2,
    Refused = 64,
    NotFound = 69,
    /// A bug of ours, or an answer that makes no sense.
    Internal = 70,
    Unreachable = 75,
    NotPermitted = 77,
}

impl Failure {
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self::with_status(exit as u8, message)
    }

    pub(crate) fn with_status(status: u8, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), hint: None }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// The same failure, with words before its sentence that say where it happened.
    pub(crate) fn at(self, place: &str) -> Self {
        Self { message: format!("{place}{}", self.message), ..self }
    }

    /// A command line that clap could not read.
    pub(crate) fn usage(error: &clap::Error, command: &Command) -> Self {
        let hint = match suggestion(error) {
            Some(close) => msg::did_you_mean_close(&close),
            None => help_command(command),
        };
        Self::new(Exit::Usage, usage_message(error)).hint(hint)
    }

    pub(crate) fn status(&self) -> u8 {
        self.status
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn hint_words(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    pub(crate) fn print(&self) {
        let mut lines = msg::error_is(&self.message) + "\n";
        if let Some(hint) = &self.hint {
            lines += &(msg::hint_is(hint) + "\n");
        }
        // Nobody may be reading any more; the exit status still tells.
        let _ = io::stderr().write_all(lines.as_bytes());
    }

    pub(crate) fn report(&self) -> ExitCode {
        self.print();
        ExitCode::from(self.status)
    }
}

impl From<InputError> for Failure {
    fn from(complaint: InputError) -> Self {
        let exit = match complaint.kind {
            InputErrorKind::Usage => Exit::Usage,
            InputErrorKind::Refused => Exit::Refused,
        };
        Self { hint: complaint.hint, ..Self::new(exit, complaint.message) }
    }
}

fn suggestion(error: &clap::Error) -> Option<String> {
    [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue]
        .into_iter()
        .find_map(|kind| error.get(kind))
        .map(ToString::to_string)
}

/// `danlu sim --help` when the verb is known, else `danlu --help`.
fn help_command(command: &Command) -> String {
    let first = std::env::args_os().nth(1).and_then(|word| word.into_string().ok());
    let is_verb = |word: &String| word != "help" && command.find_subcommand(word).is_some();
    let verb = first.filter(is_verb);
    match verb {
        Some(verb) => format!("danlu {verb} --help"),
        None => "danlu --help".to_owned(),
    }
}
