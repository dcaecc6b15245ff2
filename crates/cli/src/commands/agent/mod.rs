//! `danlu agent`: this machine works for a server elsewhere, which starts the agent by SSH or is dialled by it.

mod dial;
mod install;
mod join;
mod place;
mod trust;

use std::io;

use clap::{Args, Subcommand};

use crate::{
    failure::{Exit, Failure},
    language::text,
};

#[derive(Debug, Args)]
#[command(
    about = text("Work for a server elsewhere", "为另一台机器上的服务器工作"),
    override_usage = "danlu agent [join | install] URL",
    after_help = text(
        "A machine that the server cannot reach dials in by itself. On the server:\n  \
           danlu node add gpu9 --dial-in\n\n\
         and on the machine, with the address and the token that this prints:\n  \
           danlu agent join https://server:8787 --token TOKEN        # to try\n  \
           danlu agent install https://server:8787 --token TOKEN     # as a service",
        "服务器无法到达的机器可以主动连接。在服务器上：\n  \
           danlu node add gpu9 --dial-in\n\n\
         然后在该机器上，使用打印出的地址和令牌：\n  \
           danlu agent join https://server:8787 --token TOKEN        # 试用\n  \
           danlu agent install https://server:8787 --token TOKEN     # 作为服务",
    ),
    arg_required_else_help = true,
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true,
)]
pub(crate) struct Arguments {
    /// How a server starts it by SSH.
    #[arg(long, hide = true)]
    stdio: bool,

    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Debug, Subcommand)]
enum What {
    #[command(about = text("Dial in to a server, and stay", "连接到服务器并保持连接"), override_usage = text("danlu agent join URL --token TOKEN [OPTIONS]", "danlu agent join 地址 --token 令牌 [选项]"))]
    Join(Server),
    #[command(about = text("The same as a service of this machine", "同上，作为本机的服务"), override_usage = text("danlu agent install URL --token TOKEN [OPTIONS]", "danlu agent install 地址 --token 令牌 [选项]"))]
    Install(install::Install),
}

/// Where to, and how one is known there.
#[derive(Clone, Debug, Args)]
pub(super) struct Server {
    #[arg(value_name = "URL", help = text("The server: https://HOST:PORT", "服务器地址：https://主机:端口"))]
    url: String,

    #[arg(long, value_name = "TOKEN", allow_hyphen_values = true, help = text("What `danlu node add --dial-in` printed (DANLU_AGENT_TOKEN)", "`danlu node add --dial-in` 打印的令牌（DANLU_AGENT_TOKEN）"))]
    token: Option<String>,

    #[arg(long, value_name = "FILE", conflicts_with = "token", help = text("A file with the token, readable by its owner alone", "存放令牌的文件，仅属主可读"))]
    token_file: Option<std::path::PathBuf>,

    #[arg(long, value_name = "FILE", help = text("A certificate to trust (DANLU_CA)", "要信任的证书（DANLU_CA）"))]
    ca: Option<std::path::PathBuf>,

    #[arg(long, help = text("Allow http:// to another machine: everybody on the way can read all", "允许以 http:// 连接其他机器：途中任何人都能看到内容"))]
    plain: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.what {
        Some(What::Join(server)) => join::run(server),
        Some(What::Install(install)) => install::run(install),
        None => danlu_node::serve_agent(io::stdin(), io::stdout())
            .map_err(|error| Failure::new(Exit::Refused, error.to_string())),
    }
}
