//! Why somebody's words cannot be followed: one sentence, and what to write instead.

use clap::error::{ContextKind, ErrorKind};
use std::error::Error as _;

use crate::language::{say, text};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    pub kind: ComplaintKind,
    pub message: String,
    pub hint: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComplaintKind {
    /// It cannot be read.
    Usage,
    /// It is well said, but cannot be done.
    Refused,
}

impl Complaint {
    pub fn usage(message: impl Into<String>) -> Self {
        Self { kind: ComplaintKind::Usage, message: message.into(), hint: None }
    }

    pub fn refused(message: impl Into<String>) -> Self {
        Self { kind: ComplaintKind::Refused, message: message.into(), hint: None }
    }

    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// The same, with words before its sentence that say where.
    #[must_use]
    pub fn at(self, place: &str) -> Self {
        Self { message: format!("{place}{}", self.message), ..self }
    }
}

/// A command line, or a line of a script, that clap could not read.
pub fn usage_message(error: &clap::Error) -> String {
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
