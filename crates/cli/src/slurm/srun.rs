//! `srun`: inside a job it starts a step; outside of one, it queues the command, prints its output and ends as it does.

use std::process::ExitCode;

use danlu_messages::slurm as msg;
use danlu_slurm::{Program, getopt::CommandLine, job::JobOptions, options::Act};
use danlu_spec::Change;
use danlu_wire::api::{Document, Submitted};

use super::{
    SlurmError,
    batch::{options_of, submit, submitter},
    client, note, steps, variable, warn_of_ignored,
};
use crate::{
    client::read,
    commands::{exit_code, follow_run, until_ended},
};

pub(super) fn run(line: &CommandLine) -> Result<ExitCode, SlurmError> {
    let inside = variable("SLURM_JOB_ID").is_some() && variable("DANLU_TASK_ID").is_some();
    if inside { steps::run(line) } else { queue(Program::Srun, line) }
}

/// `salloc COMMAND`; a shell needs a terminal, which a task does not have.
pub(super) fn allocate(line: &CommandLine) -> Result<ExitCode, SlurmError> {
    if line.operands.is_empty() || super::has(&line.options, Act::NoShell) {
        return Err(SlurmError::new(msg::no_terminal_yet()).hint(msg::run_a_command()));
    }
    queue(Program::Salloc, line)
}

fn queue(program: Program, line: &CommandLine) -> Result<ExitCode, SlurmError> {
    let options = options_of(program, line);
    warn_of_ignored(program, &options)?;
    let Some(first) = line.operands.first() else { return Err(SlurmError::new(msg::no_command())) };
    let job = JobOptions::of(options);
    let client = client()?;
    let name = first.rsplit('/').next().unwrap_or(first);
    let mut request = job.request(&submitter()?, name)?;
    let shape = &request.shape;
    if shape.nodes > 1 && shape.tasks != shape.nodes {
        return Err(SlurmError::new(msg::steps_on_several_nodes()).hint(msg::start_on_each_node()));
    }
    let is_step =
        program == Program::Srun && shape.nodes == 1 && (shape.tasks > 1 || job.has(Act::Label));
    let mut command = Vec::new();
    if is_step {
        command = steps::this_program("srun")?;
        command.push(format!("--ntasks={}", shape.tasks));
        command.extend(job.has(Act::Label).then(|| "--label".to_owned()));
        command.extend(job.has(Act::KillOnBadExit).then(|| "--kill-on-bad-exit".to_owned()));
        command.push("--".to_owned());
    }
    command.extend(line.operands.iter().cloned());
    request.patch.command = Change::Set(command);
    let to_file = job.has(Act::Output);
    if !to_file {
        // What it prints comes here.
        request.patch.output = Change::Keep;
    }
    let document = submit(&client, request)?;
    if job.has(Act::TestOnly) {
        return Ok(ExitCode::SUCCESS);
    }
    let id = read::<Document<Submitted>>(&document)?.content.id;
    if program == Program::Salloc && !job.has(Act::Quiet) {
        note(program, &format!("Granted job allocation {id}"));
    }
    if to_file {
        let ended = until_ended(&client, &[id])?;
        return Ok(ExitCode::from(ended.first().map_or(1, exit_code)));
    }
    Ok(follow_run(client, id)?)
}
