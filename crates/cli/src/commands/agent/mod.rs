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
    after_help = msg::a_machine_that_the_server_cannot_reach_dials(),
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
    #[command(about = msg::dial_in_to_a_server_and_stay(), override_usage = msg::danlu_agent_join_url_token_token_options())]
    Join(ServerOptions),
    #[command(about = msg::the_same_as_a_service_of_this_machine(), override_usage = msg::danlu_agent_install_url_token_token_options())]
    Install(install::AgentInstall),
}

/// Where to, and how one is known there.
#[derive(Clone, Debug, Args)]
pub(super) struct ServerOptions {
    #[arg(value_name = "URL", help = msg::the_server_https_host_port())]
    url: String,

    #[arg(long, value_name = "TOKEN", allow_hyphen_values = true, help = msg::what_danlu_node_add_dial_in_printed_danlu())]
    token: Option<String>,

    #[arg(long, value_name = "FILE", conflicts_with = "token", help = msg::a_file_with_the_token_readable_by_its_owner())]
    token_file: Option<std::path::PathBuf>,

    #[arg(long, value_name = "FILE", help = msg::a_certificate_to_trust_danlu_ca())]
    ca: Option<std::path::PathBuf>,

    #[arg(long, help = msg::allow_http_to_another_machine_everybody_on())]
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
