//! Why a verb did not do what was asked: one sentence, a hint with the command to type, an exit status.

use std::{error::Error as _, process::ExitCode};

use clap::{
    Command,
    error::{ContextKind, ErrorKind},
};

use crate::language::text;

#[derive(Debug)]
pub(crate) struct Failure {
    exit: Exit,
    message: String,
    hint: Option<String>,
}

/// The exit statuses that scripts may rely on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Exit {
    Usage = 2,
    Refused = 64,
}

impl Failure {
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self { exit, message: message.into(), hint: None }
    }

    pub(crate) fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// A command line that clap could not read.
    pub(crate) fn usage(error: &clap::Error, command: &Command) -> Self {
        let message = usage_message(error);
        let hint = match suggestion(error) {
            Some(close) => {
                text(&format!("did you mean `{close}`?"), &format!("您是不是想写 `{close}`？"))
                    .to_owned()
            }
            None => help_command(command),
        };
        Self::new(Exit::Usage, message).hint(hint)
    }

    pub(crate) fn report(&self) -> ExitCode {
        eprintln!("error: {}", self.message);
        if let Some(hint) = &self.hint {
            eprintln!("hint: {hint}");
        }
        ExitCode::from(self.exit as u8)
    }
}

fn usage_message(error: &clap::Error) -> String {
    let named = |kind| error.get(kind).map(ToString::to_string).unwrap_or_default();
    let argument = named(ContextKind::InvalidArg);
    let value = named(ContextKind::InvalidValue);
    let (english, chinese) = match error.kind() {
        ErrorKind::UnknownArgument => {
            (format!("unknown argument `{argument}`"), format!("未知的参数 `{argument}`"))
        }
        ErrorKind::InvalidSubcommand => {
            let verb = named(ContextKind::InvalidSubcommand);
            (format!("unknown verb `{verb}`"), format!("未知的动词 `{verb}`"))
        }
        ErrorKind::MissingRequiredArgument => {
            (format!("missing argument `{argument}`"), format!("缺少参数 `{argument}`"))
        }
        ErrorKind::InvalidValue if value.is_empty() => {
            (format!("`{argument}` needs a value"), format!("`{argument}` 需要一个值"))
        }
        ErrorKind::InvalidValue => {
            let choices = named(ContextKind::ValidValue);
            (
                format!("`{argument}` is one of {choices}; not `{value}`"),
                format!("`{argument}` 的值是 {choices} 之一，不能是 `{value}`"),
            )
        }
        ErrorKind::ValueValidation => {
            let reason = error.source().map(ToString::to_string).unwrap_or_default();
            (
                format!("`{argument}` cannot be `{value}`: {reason}"),
                format!("`{argument}` 不能是 `{value}`：{reason}"),
            )
        }
        ErrorKind::ArgumentConflict => {
            let other = named(ContextKind::PriorArg);
            (
                format!("`{argument}` and `{other}` exclude each other"),
                format!("`{argument}` 与 `{other}` 不能同时使用"),
            )
        }
        // Too rare to translate: clap's sentence, without its heading and usage.
        _ => {
            let rendered = error.to_string();
            let sentence = rendered.lines().next().unwrap_or_default();
            return sentence.trim_start_matches("error: ").to_owned();
        }
    };
    text(&english, &chinese).to_owned()
}

fn suggestion(error: &clap::Error) -> Option<String> {
    [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue]
        .into_iter()
        .find_map(|kind| error.get(kind))
        .map(ToString::to_string)
}

/// `danlu sim --help` when the verb is known, else `danlu --help`.
fn help_command(command: &Command) -> String {
    let verb = std::env::args().nth(1).filter(|word| command.find_subcommand(word).is_some());
    match verb {
        Some(verb) => format!("danlu {verb} --help"),
        None => "danlu --help".to_owned(),
    }
}
