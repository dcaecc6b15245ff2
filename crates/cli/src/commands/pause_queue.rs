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
    about = msg::start_nothing_more_until_resume_queue(),
    override_usage = msg::danlu_pause_queue_options(),
    after_help = msg::what_runs_goes_on_and_tasks_can_be_submitted(),
)]
pub(crate) struct PauseQueueArguments {
    #[arg(long, help = msg::stop_what_runs_and_put_it_back_into_the_queue())]
    requeue_running: bool,
}

pub(crate) fn run(client: &Client, arguments: &PauseQueueArguments) -> Result<ExitCode, Failure> {
    set::change(client, "queue_paused", "true")?;
    screen::print(msg::the_queue_is_paused())?;
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
