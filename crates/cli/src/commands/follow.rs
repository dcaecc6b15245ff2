//! `danlu follow`: prints the output of a task as it is written.

use clap::Args;
use danlu_messages::cli::follow as msg;

use super::logs;
use crate::{client::Client, failure::Failure};

#[derive(Debug, Args)]
#[command(
    about = msg::about(),
    override_usage = msg::danlu_follow_id_options(),
    after_help = msg::examples_danlu_follow(),
)]
#[group(skip)]
pub(crate) struct FollowArguments {
    #[command(flatten)]
    logs: logs::LogsArguments,
}

pub(crate) fn run(client: &Client, arguments: FollowArguments) -> Result<(), Failure> {
    logs::run(client, &arguments.logs.following())
}
