//! `danlu`, the one binary: reads the command line, runs the verb, turns a failure into words and an exit status.

mod captured;
mod client;
mod commands;
mod failure;
mod help;
mod screen;
mod script;
mod selection;

use std::mem::ManuallyDrop;
use std::process::ExitCode;

use clap::{ArgAction, CommandFactory as _, FromArgMatches as _, Parser};
// What is written in scripts is read by the server's pages too.
use danlu_spec::{given, language};

use crate::{commands::Verb, language::text};

// What is not a verb's own. Verbs are added apart: clap's derive would build all of them at every start.
#[derive(Debug, Parser)]
#[command(
    name = "danlu",
    version,
    about = text(
        "Danlu shares GPU servers: it queues tasks, places them on GPUs and says why they wait.",
        "丹炉：共享 GPU 服务器的任务管理器。它让任务排队，为任务分配 GPU，并说明任务为何等待。",
    ),
    override_usage = text("danlu VERB [OPTIONS]", "danlu 动词 [选项]"),
    subcommand_value_name = "VERB",
    disable_help_flag = true,
    disable_help_subcommand = true,
    disable_version_flag = true,
)]
struct Arguments {
    #[arg(long, global = true, value_name = "WHERE", display_order = 890, help = text(
        "The server's socket or http:// address (DANLU_SERVER)",
        "服务器的套接字或 http:// 地址（DANLU_SERVER）",
    ))]
    server: Option<String>,

    #[arg(short, long, global = true, action = ArgAction::Help, display_order = 900, help = text("Show this help", "显示本帮助"))]
    help: Option<bool>,

    #[arg(short = 'V', long, action = ArgAction::Version, display_order = 901, help = text("Show the version", "显示版本"))]
    version: Option<bool>,
}

fn main() -> ExitCode {
    // What starts tasks is this program too, and must not have done anything else before.
    if let Some(exit) = danlu_node::dispatch() {
        return exit;
    }
    match read() {
        Ok((verb, arguments)) => match commands::run(verb, arguments.server.as_deref()) {
            Ok(exit) => exit,
            Err(failure) => failure.report(),
        },
        Err(_) => help::explain(),
    }
}

fn read() -> Result<(Verb, Arguments), clap::Error> {
    let first = std::env::args_os().nth(1);
    // To put all of it away again would only take time.
    let mut command = ManuallyDrop::new(Verb::add_meant(Arguments::command(), first.as_deref()));
    let mut matches = command.try_get_matches_from_mut(std::env::args_os())?;
    Ok((Verb::take_from(&mut matches)?, Arguments::from_arg_matches_mut(&mut matches)?))
}
