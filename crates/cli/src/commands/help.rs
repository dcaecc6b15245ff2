//! `danlu help`: what there is, or everything about one verb.

use std::process::ExitCode;

use clap::Args;

use crate::{help, language::text};

#[derive(Debug, Args)]
#[command(
    about = text("Show this help, or that of a verb", "显示本帮助，或某个动词的帮助"),
    override_usage = text("danlu help [VERB]", "danlu help [动词]"),
)]
pub(crate) struct Arguments {
    #[arg(value_name = "VERB", help = text("The verb", "动词"))]
    verb: Vec<String>,
}

pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    help::show_verb(&arguments.verb)
}
