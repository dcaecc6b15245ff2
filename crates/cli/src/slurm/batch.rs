//! `sbatch`: queues a script.

use std::{env, fs::File, io::Read, path::Path, process::ExitCode};

use danlu_core::task::DependencyKind;
use danlu_messages::slurm as msg;
use danlu_slurm::{
    Program,
    batch::{check_script, script_options, variable_options, wrapped},
    environment::{Submitter, is_of_a_job},
    getopt::{CommandLine, Given},
    job::{JobOptions, JobRequest},
    options::Act,
};
use danlu_spec::{Change, script};
use danlu_wire::api::{Document, DryRun, Submitted, TaskStateName};

use nix::unistd::User;

use super::{
    SlurmError, client, has, jobs, note, output_directories, print, variable, warn_of_ignored,
};
use crate::{
    client::{Client, Query, read},
    commands::{exit_code, until_ended},
    submit_context::{environment, settled, umask, working_directory},
};

/// Larger files are no scripts.
const MOST_BYTES: u64 = 1 << 20;

/// A script, and how it is called.
struct Batch {
    source: String,
    /// Where it is; `None` for one that came by standard input or `--wrap`.
    path: Option<String>,
    name: String,
    arguments: Vec<String>,
}

pub(super) fn run(line: &CommandLine) -> Result<ExitCode, SlurmError> {
    let batch = Batch::read(line)?;
    let shown = batch.path.as_deref().unwrap_or("stdin");
    let mut options: Vec<Given> = script_options(shown, &batch.source)?;
    options.extend(variable_options(Program::Sbatch, variable));
    options.extend(line.options.iter().cloned());
    warn_of_ignored(Program::Sbatch, &options)?;
    let quiet = has(&options, Act::Quiet);
    let signal = super::value(&options, Act::Signal).map(super::signals::check).transpose()?;
    let job = JobOptions::of(options);
    let client = client()?;
    let mut request = job.request(&submitter()?, &batch.name)?;
    if request.shape.nodes > 1 {
        return Err(SlurmError::new(msg::batch_on_several_nodes()).hint(msg::start_on_each_node()));
    }
    let mut command = batch.command()?;
    if let Some(signal) = &signal {
        let variables = request.patch.variables.get_or_default();
        variables.insert(super::signals::VARIABLE.to_owned(), signal.written.clone());
        if signal.to_batch {
            command = super::steps::batch_command(command)?;
        }
    }
    if let Some(mode) = job.value(Act::OpenMode) {
        let mode: String = mode.chars().take(1).collect();
        request.patch.variables.get_or_default().insert("SLURM_OPEN_MODE".to_owned(), mode);
    }
    request.patch.command = Change::Set(command);
    let document = submit(&client, request)?;
    if job.has(Act::TestOnly) {
        return test_only(&document);
    }
    let id = read::<Document<Submitted>>(&document)?.content.id;
    if job.has(Act::Parsable) {
        print(&format!("{id}\n"));
    } else if !quiet {
        print(&format!("Submitted batch job {id}\n"));
    }
    if job.has(Act::Wait) {
        return wait(&client, id);
    }
    Ok(ExitCode::SUCCESS)
}

impl Batch {
    fn read(line: &CommandLine) -> Result<Batch, SlurmError> {
        if let Some(wrap) = super::value(&line.options, Act::Wrap) {
            if !line.operands.is_empty() {
                return Err(SlurmError::new(msg::script_and_wrap()));
            }
            let source = wrapped(wrap);
            return Ok(Batch { source, path: None, name: "wrap".to_owned(), arguments: vec![] });
        }
        let (path, source, arguments) = match line.operands.as_slice() {
            [] => (None, text("stdin", std::io::stdin())?, Vec::new()),
            [file, arguments @ ..] => {
                let (path, opened) = open(file)?;
                (Some(path), text(file, opened)?, arguments.to_vec())
            }
        };
        check_script(&source)?;
        let name = path.as_deref().and_then(|path| path.rsplit('/').next()).unwrap_or("sbatch");
        Ok(Batch { source, name: name.to_owned(), path, arguments })
    }

    fn command(&self) -> Result<Vec<String>, SlurmError> {
        let path = self.path.as_deref().unwrap_or("slurm_script");
        let run = script::command(&self.source, path, &self.arguments);
        if run.captured || self.path.is_some() {
            return Ok(run.command);
        }
        let mut command = script::without_file(&self.source)?;
        command.extend_from_slice(&self.arguments);
        Ok(command)
    }
}

/// As `sbatch` looks for it: here, then in `PATH`.
fn open(file: &str) -> Result<(String, File), SlurmError> {
    let failed = |cause: std::io::Error| SlurmError::new(msg::unable_to_open(&file, &cause));
    let here = std::path::absolute(file).map_err(failed)?;
    let opened = match File::open(&here) {
        Ok(opened) => Ok((here, opened)),
        Err(cause) if !file.contains('/') => {
            let path = env::var_os("PATH").unwrap_or_default();
            let found = env::split_paths(&path).map(|directory| directory.join(file));
            let mut found = found.filter_map(|path| File::open(&path).ok().map(|it| (path, it)));
            found.next().ok_or(cause)
        }
        Err(cause) => Err(cause),
    };
    let (path, opened) = opened.map_err(failed)?;
    let is_file = opened.metadata().is_ok_and(|facts| !facts.is_dir());
    if !is_file {
        return Err(SlurmError::new(msg::unable_to_open(&file, &"is a directory")));
    }
    Ok((path_text(&path), opened))
}

fn path_text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn text(file: &str, from: impl Read) -> Result<String, SlurmError> {
    let mut bytes = Vec::new();
    from.take(MOST_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|cause| SlurmError::new(msg::unable_to_open(&file, &cause)))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(SlurmError::new(msg::script_too_long(&file)));
    }
    String::from_utf8(bytes).map_err(|_| SlurmError::new(msg::script_not_text(&file)))
}

pub(super) fn submitter() -> Result<Submitter, SlurmError> {
    let user = User::from_uid(nix::unistd::geteuid()).ok().flatten();
    let host = nix::unistd::gethostname().ok().and_then(|name| name.into_string().ok());
    Ok(Submitter {
        user: user.map(|user| user.name).unwrap_or_default(),
        directory: working_directory()?,
        host: host.unwrap_or_default(),
        uid: nix::unistd::geteuid().as_raw(),
        gid: nix::unistd::getegid().as_raw(),
    })
}

/// With the environment and the directory of this process, and with the tasks that its dependencies stand for.
pub(super) fn submit(client: &Client, mut request: JobRequest) -> Result<String, SlurmError> {
    let mut after = Vec::new();
    for wish in &request.after {
        let tasks = jobs::named(client, &wish.job)?;
        if tasks.is_empty() {
            return Err(SlurmError::new(msg::invalid_job_id_specified()));
        }
        after.extend(tasks.iter().map(|task| (wish.kind, task.id)));
    }
    if request.singleton {
        let name = request.patch.name.value().cloned().unwrap_or_default();
        after.extend(
            unfinished_with_name(client, &name)?
                .into_iter()
                .map(|id| (DependencyKind::AfterAny, id)),
        );
    }
    request.wait_for(&after);
    let keeps = request.keeps.take();
    let is_kept = |name: &str| match &keeps {
        None => !is_of_a_job(name) && name != super::signals::VARIABLE,
        Some(names) => names.iter().any(|kept| kept == name),
    };
    let captured = environment().into_iter();
    let captured =
        captured.filter(|line| line.split_once('=').is_some_and(|(name, _)| is_kept(name)));
    let mut patch = settled(client, request.patch)?;
    patch.environment = Change::Set(captured.collect());
    patch.umask = umask().map_or(Change::Keep, Change::Set);
    if patch.directory.is_keep() {
        patch.directory = Change::Set(working_directory()?);
    }
    output_directories::submit(client, patch)
}

/// `singleton`: all of mine that have this name.
fn unfinished_with_name(client: &Client, name: &str) -> Result<Vec<u64>, SlurmError> {
    let open = TaskStateName::ALL.into_iter().filter(|state| !state.is_over());
    let query =
        Query { states: open.collect(), user: Some(client.who_am_i()?.user), ..Query::default() };
    let tasks = client.list(&query)?;
    Ok(tasks.into_iter().filter(|task| task.name == name).map(|task| task.id).collect())
}

fn test_only(document: &str) -> Result<ExitCode, SlurmError> {
    let would = read::<Document<DryRun>>(document)?.content.dry_run;
    let at = match (would.now, would.expected_start_at.as_deref()) {
        (true, _) => Some(super::now().local(jiff::Timestamp::now())),
        (false, Some(at)) => danlu_slurm::times::read(at).map(|at| super::now().local(at)),
        (false, None) => None,
    };
    let words = match at {
        Some(at) => msg::job_to_start(&at, &1, &would.node.unwrap_or_default()),
        None => msg::job_start_unknown().to_owned(),
    };
    note(Program::Sbatch, &words);
    Ok(ExitCode::SUCCESS)
}

fn wait(client: &Client, id: u64) -> Result<ExitCode, SlurmError> {
    let id = danlu_slurm::job_id::JobId { job: id, elements: vec![], step: None };
    let ids: Vec<u64> = jobs::named(client, &id)?.iter().map(|task| task.id).collect();
    let ended = until_ended(client, &ids)?;
    let worst = ended.iter().map(exit_code).max().unwrap_or(0);
    Ok(ExitCode::from(worst))
}

/// The options of a command line that starts programs, with its variables.
pub(super) fn options_of(program: Program, line: &CommandLine) -> Vec<Given> {
    let mut options = variable_options(program, variable);
    options.extend(line.options.iter().cloned());
    options
}
