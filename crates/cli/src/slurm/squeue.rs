//! `squeue`: jobs that wait or run.

use std::process::ExitCode;

use danlu_messages::slurm as msg;
use danlu_slurm::{
    Program,
    formats::{Format, SQUEUE, SQUEUE_LONG, SQUEUE_START, folded},
    getopt::CommandLine,
    json,
    options::Act,
    queries::JobFilter,
    reason::reason,
    state::JobState,
};
use danlu_spec::input_error::InputError;
use danlu_wire::api::{TaskStateName, TaskView};

use super::{
    SlurmError, client, has, jobs, now, operands, print, value, variable, warn_of_ignored,
};
use crate::client::Query;

pub(super) fn run(line: &CommandLine) -> Result<ExitCode, SlurmError> {
    let options = &line.options;
    warn_of_ignored(Program::Squeue, options)?;
    let client = client()?;
    let mut filter = JobFilter::of(options, operands(line))?;
    jobs::with_me(&client, &mut filter)?;
    let all_states = filter.states.is_some();
    // Without states, what has not ended.
    let states = match all_states {
        true => Vec::new(),
        false => TaskStateName::ALL.into_iter().filter(|state| !state.is_over()).collect(),
    };
    let query = Query { states, ..Query::default() };
    let named = filter.jobs.clone();
    let mut tasks = jobs::chosen(&client, &filter, &query)?;
    if named.len() == 1 && tasks.is_empty() && jobs::named(&client, &named[0])?.is_empty() {
        return Err(SlurmError::new(format!(
            "slurm_load_jobs error: {}",
            msg::invalid_job_id_specified()
        )));
    }
    if !all_states {
        tasks.retain(|task| JobState::of(task).is_none_or(|state| !state.is_over()));
    }
    if has(options, Act::Json) {
        let tasks = jobs::with_details(&client, tasks)?;
        print(&format!("{:#}\n", json::squeue(&tasks, &now())));
        return Ok(ExitCode::SUCCESS);
    }
    let format = format(line).map_err(InputError::usage)?;
    if format.needs_details() {
        tasks = jobs::with_details(&client, tasks)?;
    }
    sort(&mut tasks, value(options, Act::Sort));
    let now = now();
    let mut out = String::new();
    if !has(options, Act::NoHeader) {
        if has(options, Act::Long) {
            out += &format!(
                "{}\n",
                now.at.to_zoned(now.zone.clone()).strftime("%a %b %d %H:%M:%S %Y")
            );
        }
        out += &(format.header() + "\n");
    }
    for line in folded(&tasks, has(options, Act::Unfold), &now) {
        out += &(format.line(&line) + "\n");
    }
    print(&out);
    Ok(ExitCode::SUCCESS)
}

fn format(line: &CommandLine) -> Result<Format, String> {
    let options = &line.options;
    if let Some(names) = value(options, Act::LongFormat) {
        return Format::of_names(names);
    }
    if let Some(letters) = value(options, Act::Format) {
        return Format::of_letters(letters);
    }
    if has(options, Act::Start) {
        return Format::of_letters(SQUEUE_START);
    }
    if has(options, Act::Long) {
        return Format::of_letters(SQUEUE_LONG);
    }
    match variable("SQUEUE_FORMAT2") {
        Some(names) => Format::of_names(&names),
        None => Format::of_letters(&variable("SQUEUE_FORMAT").unwrap_or_else(|| SQUEUE.to_owned())),
    }
}

/// By letters as in a format, `-` before one turns it round; without, what waits comes first, as with Slurm.
fn sort(tasks: &mut [TaskView], by: Option<&str>) {
    let waits = |task: &TaskView| JobState::of(task) != Some(JobState::Pending);
    tasks.sort_by_key(|task| (waits(task), task.id));
    let keys: Vec<&str> = by.map(|by| by.split(',').collect()).unwrap_or_default();
    for key in keys.into_iter().rev() {
        let (down, letter) = match key.strip_prefix('-') {
            Some(letter) => (true, letter),
            None => (false, key.strip_prefix('+').unwrap_or(key)),
        };
        match letter {
            "i" | "A" => tasks.sort_by_key(|task| task.id),
            "j" => tasks.sort_by(|a, b| a.name.cmp(&b.name)),
            "u" => tasks.sort_by(|a, b| a.user.cmp(&b.user)),
            "t" | "T" => tasks.sort_by_key(|task| JobState::of(task).map(JobState::long)),
            "p" | "Q" => tasks.sort_by_key(|task| task.priority),
            "S" => tasks.sort_by(|a, b| a.started_at.cmp(&b.started_at)),
            "V" => tasks.sort_by(|a, b| a.submitted_at.cmp(&b.submitted_at)),
            "r" => tasks.sort_by_key(reason),
            _ => continue,
        }
        if down {
            tasks.reverse();
        }
    }
}
