//! Errors in what a person has written: one sentence, and a hint what to write instead.

use clap::error::{ContextKind, ErrorKind};
use danlu_messages::spec as msg;
use std::error::Error as _;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputError {
    pub kind: InputErrorKind,
    pub message: String,
    pub hint: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputErrorKind {
    /// It cannot be parsed.
    Usage,
    /// It can be parsed, but not be done.
    Refused,
}

impl InputError {
    pub fn usage(message: impl Into<String>) -> Self {
        Self { kind: InputErrorKind::Usage, message: message.into(), hint: None }
    }

    pub fn refused(message: impl Into<String>) -> Self {
        Self { kind: InputErrorKind::Refused, message: message.into(), hint: None }
    }

    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Prefixes the sentence with the place, e.g. a line of a script.
    #[must_use]
    pub fn at(self, place: &str) -> Self {
        Self { message: format!("{place}{}", self.message), ..self }
    }
}

/// The sentence for a command line, or a line of a script, that clap could not parse.
pub fn usage_message(error: &clap::Error) -> String {
    let named = |kind| error.get(kind).map(ToString::to_string).unwrap_or_default();
    let argument = named(ContextKind::InvalidArg);
    let value = named(ContextKind::InvalidValue);
    match error.kind() {
        ErrorKind::UnknownArgument => msg::unknown_argument_argument(&argument),
        ErrorKind::InvalidSubcommand => {
            let verb = named(ContextKind::InvalidSubcommand);
            msg::unknown_verb_verb(&verb)
        }
        ErrorKind::MissingRequiredArgument => msg::missing_argument_argument(&argument),
        ErrorKind::MissingSubcommand => msg::missing_verb().to_owned(),
        ErrorKind::InvalidValue if value.is_empty() => msg::argument_needs_a_value(&argument),
        ErrorKind::InvalidValue => {
            let choices = named(ContextKind::ValidValue);
            msg::not_one_of_choices(&argument, &choices, &value)
        }
        ErrorKind::ValueValidation => {
            let reason = error.source().map(ToString::to_string).unwrap_or_default();
            msg::argument_cannot_be_value_reason(&argument, &value, &reason)
        }
        ErrorKind::ArgumentConflict => {
            let other = named(ContextKind::PriorArg);
            msg::options_exclude_each_other(&argument, &other)
        }
        // Too rare to translate: clap's sentence, without its heading and usage.
        _ => {
            let rendered = error.to_string();
            let sentence = rendered.lines().next().unwrap_or_default();
            sentence.trim_start_matches("error: ").to_owned()
        }
    }
}
