//! `scancel`: cancels jobs, or sends them a signal.

use std::process::ExitCode;

use danlu_messages::slurm as msg;
use danlu_slurm::{
    Program, getopt::CommandLine, options::Act, queries::JobFilter, state::JobState,
};
use danlu_wire::api::{Act as TaskAct, ActName, Acted, Document, TaskStateName, TaskView};

use super::{SlurmError, client, has, jobs, note, operands, signals, value, warn_of_ignored};
use crate::{
    client::{Client, Query, read},
    screen::confirm::confirm,
};

pub(super) fn run(line: &CommandLine) -> Result<ExitCode, SlurmError> {
    let options = &line.options;
    warn_of_ignored(Program::Scancel, options)?;
    let mut filter = JobFilter::of(options, operands(line))?;
    if filter.is_empty() {
        return Err(SlurmError::new(msg::no_job_is_named()));
    }
    let client = client()?;
    jobs::with_me(&client, &mut filter)?;
    let me = || -> Result<String, SlurmError> { Ok(client.who_am_i()?.user) };
    // By a filter alone: one's own, as for everybody but administrators.
    if filter.users.is_none() && filter.jobs.is_empty() {
        filter.users = Some(vec![me()?]);
    }
    let mut failed = false;
    for id in &filter.jobs {
        if jobs::named(&client, id)?.is_empty() {
            let job = id.job;
            note(
                Program::Scancel,
                &format!(
                    "error: Kill job error on job id {job}: {}",
                    msg::invalid_job_id_specified()
                ),
            );
            failed = true;
        }
    }
    let open = TaskStateName::ALL.into_iter().filter(|state| !state.is_over()).collect();
    let query = Query { states: open, oldest_first: true, ..Query::default() };
    let mut tasks = jobs::chosen(&client, &filter, &query)?;
    tasks.retain(|task| JobState::of(task).is_none_or(|state| !state.is_over()));
    if has(options, Act::Interactive) {
        let mut kept = Vec::new();
        for task in tasks {
            if confirm(&format!(
                "Cancel job_id={} name={} partition=danlu [y/n]?",
                task.id, task.name
            ))? {
                kept.push(task);
            }
        }
        tasks = kept;
    }
    let exit = match value(options, Act::Signal) {
        Some(name) => {
            let signal =
                signals::named(name).ok_or_else(|| SlurmError::new(msg::unknown_signal(&name)))?;
            let to = match (has(options, Act::Batch), has(options, Act::Full)) {
                (_, true) => signals::Receivers::All,
                (true, false) => signals::Receivers::Batch,
                (false, false) => signals::Receivers::Steps,
            };
            match signal {
                // There is nothing that a job could do about it.
                nix::sys::signal::Signal::SIGKILL => cancel(&client, &tasks)?,
                signal => signals::send(&tasks, signal, to),
            }
        }
        None => cancel(&client, &tasks)?,
    };
    Ok(if failed { ExitCode::FAILURE } else { exit })
}

fn cancel(client: &Client, tasks: &[TaskView]) -> Result<ExitCode, SlurmError> {
    if tasks.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    act(client, Program::Scancel, ActName::Cancel, tasks)
}

/// Each refusal is told; the first decides the exit code.
pub(super) fn act(
    client: &Client,
    program: Program,
    act: ActName,
    tasks: &[TaskView],
) -> Result<ExitCode, SlurmError> {
    let act = TaskAct::new(act, tasks.iter().map(|task| task.id).collect());
    let acted: Document<Acted> = read(&client.send("POST", "/tasks/act", &act)?)?;
    let mut exit = ExitCode::SUCCESS;
    for result in acted.content.results {
        if let Some(error) = result.error {
            note(program, &format!("error: {}: {}", result.id, error.message));
            exit = ExitCode::FAILURE;
        }
    }
    Ok(exit)
}
