//! Why a verb did not do what was asked: one sentence, a hint with the command to type, an exit status.

use std::{
    error::Error as _,
    io::{self, Write as _},
    process::ExitCode,
};

use clap::{
    Command,
    error::{ContextKind, ErrorKind},
};

use crate::language::{say, text};

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
            Some(close) => say!("did you mean `{close}`?", "您是不是想写 `{close}`？"),
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
        let mut lines = format!("error: {}\n", self.message);
        if let Some(hint) = &self.hint {
            lines += &format!("hint: {hint}\n");
        }
        // Nobody may be reading any more; the exit status still tells.
        let _ = io::stderr().write_all(lines.as_bytes());
    }

    pub(crate) fn report(&self) -> ExitCode {
        self.print();
        ExitCode::from(self.status)
    }
}

pub(crate) fn usage_message(error: &clap::Error) -> String {
    let named = |kind| error.get(kind).map(ToString::to_string).unwrap_or_default();
    let argument = named(ContextKind::InvalidArg);
    let value = named(ContextKind::InvalidValue);
    match error.kind() {
        ErrorKind::UnknownArgument => {
            say!("unknown argument `{argument}`", "未知的参数 `{argument}`")
        }
        ErrorKind::InvalidSubcommand => {
            let verb = named(ContextKind::InvalidSubcommand);
            say!("unknown verb `{verb}`", "未知的动词 `{verb}`")
        }
        ErrorKind::MissingRequiredArgument => {
            say!("missing argument `{argument}`", "缺少参数 `{argument}`")
        }
        ErrorKind::MissingSubcommand => text("missing verb", "缺少动词").to_owned(),
        ErrorKind::InvalidValue if value.is_empty() => {
            say!("`{argument}` needs a value", "`{argument}` 需要一个值")
        }
        ErrorKind::InvalidValue => {
            let choices = named(ContextKind::ValidValue);
            say!(
                "`{argument}` is one of {choices}; not `{value}`",
                "`{argument}` 的值是 {choices} 之一，不能是 `{value}`",
            )
        }
        ErrorKind::ValueValidation => {
            let reason = error.source().map(ToString::to_string).unwrap_or_default();
            say!(
                "`{argument}` cannot be `{value}`: {reason}",
                "`{argument}` 不能是 `{value}`：{reason}",
            )
        }
        ErrorKind::ArgumentConflict => {
            let other = named(ContextKind::PriorArg);
            say!(
                "`{argument}` and `{other}` exclude each other",
                "`{argument}` 与 `{other}` 不能同时使用",
            )
        }
        // Too rare to translate: clap's sentence, without its heading and usage.
        _ => {
            let rendered = error.to_string();
            let sentence = rendered.lines().next().unwrap_or_default();
            sentence.trim_start_matches("error: ").to_owned()
        }
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
