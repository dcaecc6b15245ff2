//! `danlu help`: lists the verbs, or explains one.

use std::process::ExitCode;

use clap::Args;
use danlu_messages::cli::help as msg;

use crate::help;

#[derive(Debug, Args)]
#[command(
    about = msg::show_this_help_or_that_of_a_verb(),
    override_usage = msg::danlu_help_verb(),
)]
pub(crate) struct HelpArguments {
    #[arg(value_name = "VERB", help = msg::verb())]
    verb: Vec<String>,
}

pub(crate) fn run(arguments: &HelpArguments) -> ExitCode {
    help::show_verb(&arguments.verb)
}
