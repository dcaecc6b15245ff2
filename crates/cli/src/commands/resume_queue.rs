//! `danlu resume-queue`: lets tasks start again after `pause-queue`.

use clap::Args;
use danlu_messages::cli::resume_queue as msg;

use super::set;
use crate::{client::Client, failure::Failure, screen};

#[derive(Debug, Args)]
#[command(
    about = msg::start_tasks_again_after_pause_queue(),
    override_usage = msg::danlu_resume_queue(),
)]
pub(crate) struct ResumeQueueArguments {}

pub(crate) fn run(client: &Client, _arguments: &ResumeQueueArguments) -> Result<(), Failure> {
    set::change(client, "queue_paused", "false")?;
    screen::print(msg::queue_resumed())
}
