//! Steps of a job: starts their processes on this machine, passes on signals, and ends with the worst of their exit codes.

use std::{
    env,
    os::unix::process::{CommandExt as _, ExitStatusExt as _},
    process::{Child, Command, ExitCode, Stdio},
    sync::mpsc::{self, Receiver, RecvTimeoutError, Sender},
    thread,
    time::{Duration, Instant},
};

use danlu_messages::slurm as msg;
use danlu_slurm::{
    Program,
    getopt::CommandLine,
    job::JobOptions,
    options::Act,
    pattern::StepNames,
    step::{StepRequest, TaskEnd, worst},
};
use jiff::{SignedDuration, Timestamp};
use nix::{
    sys::signal::{Signal, kill, killpg},
    unistd::Pid,
};
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2},
    iterator::Signals,
};

use super::step_output::{Outputs, labelled};
use super::{SlurmError, note, signals, variable, warn_of_ignored};

/// The first word of a command line that the dialect writes for itself.
pub(super) const BATCH_WORD: &str = "--danlu-batch";

/// A batch script that is to get a signal before its time limit runs below this program.
pub(super) fn batch_command(command: Vec<String>) -> Result<Vec<String>, SlurmError> {
    let mut words = this_program("sbatch")?;
    words.push(BATCH_WORD.to_owned());
    words.extend(command);
    Ok(words)
}

/// `danlu slurm NAME`, wherever this program is.
pub(super) fn this_program(name: &str) -> Result<Vec<String>, SlurmError> {
    let program =
        env::current_exe().map_err(|cause| SlurmError::new(msg::could_not_start(&name, &cause)))?;
    Ok(vec![program.to_string_lossy().into_owned(), "slurm".to_owned(), name.to_owned()])
}

/// What the main loop waits for.
enum StepEvent {
    Ended(u32, TaskEnd),
    Signal(i32),
    /// When the job's time is over.
    EndsAt(Timestamp),
}

/// The processes of a step, or the batch script.
struct Step {
    pids: Vec<Pid>,
    events: Receiver<StepEvent>,
    sender: Sender<StepEvent>,
    warning: Option<signals::Warning>,
    warn_at: Option<Instant>,
    is_batch: bool,
}

/// The script of a job, below this program.
pub(super) fn batch(command: &[String]) -> Result<ExitCode, SlurmError> {
    let mut step = Step::new(true)?;
    let mut child =
        Command::new(command.first().ok_or_else(|| SlurmError::new(msg::no_command()))?);
    child.args(&command[1..]);
    let started = step.start(&mut child)?;
    step.wait_for(0, started);
    let code = step.last(1, false);
    Ok(ExitCode::from(code))
}

pub(super) fn run(line: &CommandLine) -> Result<ExitCode, SlurmError> {
    warn_of_ignored(Program::Srun, &line.options)?;
    let options = JobOptions::of(line.options.iter().cloned());
    let request = StepRequest::of(&options, variable)?;
    let command = &line.operands;
    let program = command.first().ok_or_else(|| SlurmError::new(msg::no_command()))?;
    let node =
        variable("SLURMD_NODENAME").or_else(|| variable("SLURM_JOB_NODELIST")).unwrap_or_default();
    let names = names(&node);
    let outputs = Outputs::of(&options, &names)?;
    let mut step = Step::new(false)?;
    let mut readers = Vec::new();
    for rank in 0..request.tasks {
        let mut child = Command::new(program);
        child.args(&command[1..]).process_group(0);
        set_environment(&mut child, &options, &request, rank, &node);
        if let Some(directory) = options.value(Act::Chdir) {
            child.current_dir(directory);
        }
        if options.value(Act::Input) == Some("none") {
            child.stdin(Stdio::null());
        }
        outputs.put_into(&mut child, rank, request.label)?;
        let mut started = step.start(&mut child)?;
        if request.label {
            readers.extend(labelled(&mut started, &request.label_of(rank)));
        }
        step.wait_for(rank, started);
    }
    let code = step.last(request.tasks, request.kill_on_bad_exit);
    for reader in readers {
        let _ = reader.join();
    }
    Ok(ExitCode::from(code))
}

fn names(node: &str) -> StepNames {
    let own = |name: &str| variable(name).unwrap_or_default();
    let job = own("SLURM_JOB_ID");
    StepNames {
        array_job: variable("SLURM_ARRAY_JOB_ID").unwrap_or_else(|| job.clone()),
        array_index: variable("SLURM_ARRAY_TASK_ID").unwrap_or_else(|| "4294967294".to_owned()),
        step: "0".to_owned(),
        node: node.to_owned(),
        user: own("USER"),
        job_name: own("SLURM_JOB_NAME"),
        job,
    }
}

fn set_environment(
    child: &mut Command,
    options: &JobOptions,
    request: &StepRequest,
    rank: u32,
    node: &str,
) {
    if let Some(list) = options.value(Act::Export) {
        let words = || list.split(',');
        if !words().any(|word| word == "ALL") {
            let kept = |name: &str| words().any(|word| word == name) || name.starts_with("SLURM");
            env::vars().filter(|(name, _)| !kept(name)).for_each(|(name, _)| {
                child.env_remove(name);
            });
        }
        child.envs(words().filter_map(|word| word.split_once('=')));
    }
    child.envs(request.variables(rank, 0, node));
    // Each process has its own part of the GPUs.
    let each = options.number(Act::GpusPerTask).ok().flatten();
    if let (Some(each), Some(all)) = (each, variable("CUDA_VISIBLE_DEVICES")) {
        let (each, rank) = (each as usize, rank as usize);
        let own: Vec<&str> = all.split(',').skip(rank * each).take(each).collect();
        child.env("CUDA_VISIBLE_DEVICES", own.join(","));
    }
}

impl Step {
    fn new(is_batch: bool) -> Result<Step, SlurmError> {
        let (sender, events) = mpsc::channel();
        listen(sender.clone())?;
        let warning = variable(signals::VARIABLE).and_then(|written| signals::check(&written).ok());
        let warning = warning.filter(|warning| warning.to_batch == is_batch);
        if warning.is_some() {
            ask_for_the_end(sender.clone());
        }
        Ok(Step { pids: Vec::new(), events, sender, warning, warn_at: None, is_batch })
    }

    fn start(&mut self, command: &mut Command) -> Result<Child, SlurmError> {
        let program = command.get_program().to_string_lossy().into_owned();
        let child = command.spawn().map_err(|cause| {
            // As a shell counts it.
            let status = if cause.kind() == std::io::ErrorKind::NotFound { 127 } else { 126 };
            self.signal(Signal::SIGTERM);
            SlurmError { status, ..SlurmError::new(msg::could_not_start(&program, &cause)) }
        })?;
        self.pids.push(Pid::from_raw(i32::try_from(child.id()).unwrap_or(i32::MAX)));
        Ok(child)
    }

    fn wait_for(&self, rank: u32, mut child: Child) {
        let sender = self.sender.clone();
        thread::spawn(move || {
            let end = match child.wait() {
                Ok(status) => match (status.code(), status.signal()) {
                    (Some(code), _) => TaskEnd::Code(u8::try_from(code & 0xff).unwrap_or(1)),
                    (None, signal) => {
                        TaskEnd::Signal(u8::try_from(signal.unwrap_or(9)).unwrap_or(9))
                    }
                },
                Err(_) => TaskEnd::Code(1),
            };
            let _ = sender.send(StepEvent::Ended(rank, end));
        });
    }

    /// Until all have ended; the exit code of the worst.
    fn last(mut self, tasks: u32, kill_on_bad_exit: bool) -> u8 {
        let mut ends = Vec::new();
        while ends.len() < tasks as usize {
            let next = match self.warn_at {
                Some(at) => self.events.recv_timeout(at.saturating_duration_since(Instant::now())),
                None => self.events.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match next {
                Ok(StepEvent::Ended(rank, end)) => {
                    self.tell(rank, end);
                    let is_first_bad =
                        end.code() != 0 && ends.iter().all(|it: &TaskEnd| it.code() == 0);
                    if is_first_bad && kill_on_bad_exit {
                        self.signal(Signal::SIGTERM);
                    }
                    ends.push(end);
                }
                Ok(StepEvent::Signal(number)) => {
                    if let Ok(signal) = Signal::try_from(number) {
                        self.signal(signal);
                    }
                }
                Ok(StepEvent::EndsAt(end)) => self.end_is_at(end),
                Err(RecvTimeoutError::Timeout) => {
                    self.warn_at = None;
                    if let Some(warning) = self.warning.take() {
                        self.signal(warning.signal);
                    }
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        worst(ends)
    }

    fn end_is_at(&mut self, end: Timestamp) {
        let Some(warning) = &self.warning else { return };
        let before = SignedDuration::from_secs(i64::try_from(warning.before).unwrap_or(0));
        let left = end.duration_since(Timestamp::now()) - before;
        let left = Duration::try_from(left).unwrap_or(Duration::ZERO);
        self.warn_at = Instant::now().checked_add(left);
    }

    fn tell(&self, rank: u32, end: TaskEnd) {
        if self.is_batch {
            return;
        }
        let words = match end {
            TaskEnd::Code(0) => return,
            TaskEnd::Code(code) => msg::task_exited(&rank, &code),
            TaskEnd::Signal(signal) => msg::task_killed(&rank, &signal),
        };
        note(Program::Srun, &format!("error: {words}"));
    }

    /// A script alone, or all that the processes of a step have started.
    fn signal(&self, signal: Signal) {
        for pid in &self.pids {
            // It may have ended.
            let _ = if self.is_batch { kill(*pid, signal) } else { killpg(*pid, signal) };
        }
    }
}

fn listen(sender: Sender<StepEvent>) -> Result<(), SlurmError> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2])
        .map_err(|cause| SlurmError::new(msg::could_not_start(&"srun", &cause)))?;
    thread::spawn(move || {
        for signal in signals.forever() {
            if sender.send(StepEvent::Signal(signal)).is_err() {
                return;
            }
        }
    });
    Ok(())
}

/// The server knows since when the job runs and for how long it may; a job without a limit is never warned.
fn ask_for_the_end(sender: Sender<StepEvent>) {
    thread::spawn(move || {
        let job = variable("SLURM_JOB_ID").and_then(|id| id.parse().ok());
        let Some((id, client)) = job.zip(super::client().ok()) else { return };
        let Ok(task) = client.task(id) else { return };
        let started = task.started_at.as_deref().and_then(danlu_slurm::times::read);
        let started = started.unwrap_or_else(Timestamp::now);
        let limit = task.time_limit.and_then(|seconds| i64::try_from(seconds).ok());
        if let Some(end) =
            limit.and_then(|it| started.checked_add(SignedDuration::from_secs(it)).ok())
        {
            let _ = sender.send(StepEvent::EndsAt(end));
        }
    });
}
