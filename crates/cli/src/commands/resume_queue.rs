//! `danlu resume-queue`: tasks start again.

use clap::Args;

use super::set;
use crate::{client::Client, failure::Failure, language::text, screen};

#[derive(Debug, Args)]
#[command(
    about = text("Start tasks again after pause-queue", "恢复被暂停的队列"),
    override_usage = text("danlu resume-queue", "danlu resume-queue"),
)]
pub(crate) struct Arguments {}

pub(crate) fn run(client: &Client, _arguments: &Arguments) -> Result<(), Failure> {
    set::change(client, "queue_paused", "false")?;
    screen::print(text("the queue goes on\n", "队列已恢复\n"))
}
