//! `danlu pause-queue`: stops starting tasks, on all machines.

use std::{collections::BTreeSet, process::ExitCode};

use clap::Args;
use danlu_messages::cli::pause_queue as msg;
use danlu_wire::api::{Act, ActName};

use super::{set, task_action::report};
use crate::{
    client::{Client, Query},
    failure::Failure,
    parse::task_state::ACTIVE,
    screen,
    selection::Selected,
};

#[derive(Debug, Args)]
#[command(
    about = msg::about(),
    override_usage = msg::danlu_pause_queue_options(),
    after_help = msg::help(),
)]
pub(crate) struct PauseQueueArguments {
    #[arg(long, help = msg::requeue_running())]
    requeue_running: bool,
}

pub(crate) fn run(client: &Client, arguments: &PauseQueueArguments) -> Result<ExitCode, Failure> {
    set::change(client, "queue_paused", "true")?;
    screen::print(msg::queue_paused())?;
    if !arguments.requeue_running {
        return Ok(ExitCode::SUCCESS);
    }
    let running = client.list(&Query { states: ACTIVE.to_vec(), ..Query::default() })?;
    let ids: Vec<u64> = running.iter().map(|task| task.id).collect();
    if ids.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    let selected = Selected { ids: ids.clone(), may_be_missing: BTreeSet::new(), one_by_one: true };
    let done = |tasks: &str| msg::put_back_tasks(&tasks);
    report(client, &Act::new(ActName::Requeue, ids), &selected, done, false).map(|(_, exit)| exit)
}
