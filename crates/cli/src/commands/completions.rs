//! `danlu completions SHELL`: prints the completion script of a shell.

use clap::Args;
use clap_complete::Shell;
use danlu_messages::cli::completions as msg;

use crate::{failure::Failure, help, screen};

#[derive(Debug, Args)]
#[command(
    about = msg::completions_for_your_shell(),
    override_usage = msg::danlu_completions_shell(),
    after_help = msg::help(),
)]
pub(crate) struct CompletionsArguments {
    #[arg(
        value_name = "SHELL",
        hide_possible_values = true,
        help = "bash, zsh, fish, elvish, powershell"
    )]
    shell: Shell,
}

pub(crate) fn run(arguments: &CompletionsArguments) -> Result<(), Failure> {
    let mut out = Vec::new();
    clap_complete::generate(arguments.shell, &mut help::command(), "danlu", &mut out);
    screen::print(&String::from_utf8_lossy(&out))
}
