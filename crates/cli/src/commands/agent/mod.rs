//! `danlu agent`: makes this machine a node of a server elsewhere. The server starts the agent by SSH, or the agent dials in.

mod certificate;
mod connection;
mod install;
mod join;
mod server_access;

use std::io;

use clap::{Args, Subcommand};
use danlu_messages::cli::agent as msg;

use crate::failure::{Exit, Failure};

#[derive(Debug, Args)]
#[command(
    about = msg::work_for_a_server_elsewhere(),
    override_usage = "danlu agent [join | install] URL",
    after_help = msg::help(),
    arg_required_else_help = true,
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true,
)]
pub(crate) struct AgentArguments {
    /// How a server starts it by SSH.
    #[arg(long, hide = true)]
    stdio: bool,

    #[command(subcommand)]
    what: Option<AgentCommand>,
}

#[derive(Debug, Subcommand)]
enum AgentCommand {
    #[command(about = msg::dial_in_to_a_server_and_stay(), override_usage = msg::usage_join())]
    Join(ServerOptions),
    #[command(about = msg::install_as_service(), override_usage = msg::usage_install())]
    Install(install::AgentInstall),
}

/// Where to, and how one is known there.
#[derive(Clone, Debug, Args)]
pub(super) struct ServerOptions {
    #[arg(value_name = "URL", help = msg::server_url())]
    url: String,

    #[arg(long, value_name = "TOKEN", allow_hyphen_values = true, help = msg::token_from_node_add())]
    token: Option<String>,

    #[arg(long, value_name = "FILE", conflicts_with = "token", help = msg::token_file())]
    token_file: Option<std::path::PathBuf>,

    #[arg(long, value_name = "FILE", help = msg::trusted_certificate())]
    ca: Option<std::path::PathBuf>,

    #[arg(long, help = msg::allow_plain())]
    plain: bool,
}

pub(crate) fn run(arguments: &AgentArguments) -> Result<(), Failure> {
    match &arguments.what {
        Some(AgentCommand::Join(server)) => join::run(server),
        Some(AgentCommand::Install(install)) => install::run(install),
        None => danlu_node::serve_agent(io::stdin(), io::stdout())
            .map_err(|error| Failure::new(Exit::Refused, error.to_string())),
    }
}
