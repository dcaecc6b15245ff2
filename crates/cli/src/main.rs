//! `danlu`, the one binary: parses the command line, runs the verb, reports failures with an exit status.

mod client;
mod commands;
mod failure;
mod help;
mod screen;
mod script;
mod selection;
mod slurm;
mod submit_context;
mod top;

use std::mem::ManuallyDrop;
use std::process::ExitCode;

use clap::{ArgAction, CommandFactory as _, FromArgMatches as _, Parser};
// What is written in scripts is read by the server's pages too.
use danlu_messages::cli::program as msg;
use danlu_spec::parse;

use crate::commands::Verb;

// What is not a verb's own. Verbs are added apart: clap's derive would build all of them at every start.
#[derive(Debug, Parser)]
#[command(
    name = "danlu",
    version,
    about = msg::about(),
    override_usage = msg::danlu_verb_options(),
    subcommand_value_name = "VERB",
    disable_help_flag = true,
    disable_help_subcommand = true,
    disable_version_flag = true,
)]
struct GlobalArguments {
    #[arg(long, global = true, value_name = "WHERE", display_order = 890, help = msg::server_option())]
    server: Option<String>,

    #[arg(short, long, global = true, action = ArgAction::Help, display_order = 900, help = msg::show_this_help())]
    help: Option<bool>,

    #[arg(short = 'V', long, action = ArgAction::Version, display_order = 901, help = msg::show_the_version())]
    version: Option<bool>,
}

fn main() -> ExitCode {
    // What starts tasks is this program too, and must not have done anything else before.
    if let Some(exit) = danlu_node::dispatch() {
        return exit;
    }
    // Links with the names of Slurm's commands.
    if let Some(program) = slurm::called_as() {
        return slurm::run(program, &slurm::words(1));
    }
    match read() {
        Ok((verb, arguments)) => match commands::run(verb, arguments.server.as_deref()) {
            Ok(exit) => exit,
            Err(failure) => failure.report(),
        },
        Err(_) => help::explain(),
    }
}

fn read() -> Result<(Verb, GlobalArguments), clap::Error> {
    let first = std::env::args_os().nth(1);
    // To put all of it away again would only take time.
    let mut command =
        ManuallyDrop::new(Verb::add_meant(GlobalArguments::command(), first.as_deref()));
    let mut matches = command.try_get_matches_from_mut(std::env::args_os())?;
    Ok((Verb::take_from(&mut matches)?, GlobalArguments::from_arg_matches_mut(&mut matches)?))
}
