//! `danlu agent`: this machine works for a server elsewhere. The server starts it by SSH; people seldom do.

use std::io;

use clap::Args;

use crate::{
    failure::{Exit, Failure},
    language::text,
};

#[derive(Debug, Args)]
#[command(
    about = text("Work for a server elsewhere", "为另一台机器上的服务器工作"),
    override_usage = "danlu agent --stdio",
    after_help = text(
        "A server starts this on the machines that were added with `danlu node add`.",
        "由服务器在用 `danlu node add` 添加的机器上启动。",
    ),
)]
pub(crate) struct Arguments {
    #[arg(long, required = true, help = text("Speak by standard input and output", "通过标准输入输出通信"))]
    stdio: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    debug_assert!(arguments.stdio, "it is required");
    danlu_node::serve_agent(io::stdin(), io::stdout())
        .map_err(|error| Failure::new(Exit::Refused, error.to_string()))
}
