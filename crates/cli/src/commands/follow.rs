//! `danlu follow`: the output of a task as it comes.

use clap::Args;

use super::logs;
use crate::{client::Client, failure::Failure, language::text};

#[derive(Debug, Args)]
#[command(
    about = text("The same as logs -f", "等同于 logs -f"),
    override_usage = text("danlu follow ID [OPTIONS]", "danlu follow 编号 [选项]"),
    after_help = text("Examples:\n  danlu follow @", "示例：\n  danlu follow @"),
)]
#[group(skip)]
pub(crate) struct Arguments {
    #[command(flatten)]
    logs: logs::Arguments,
}

pub(crate) fn run(client: &Client, arguments: Arguments) -> Result<(), Failure> {
    logs::run(client, &arguments.logs.following())
}
