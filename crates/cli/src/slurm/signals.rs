//! Signals of jobs: `--signal=B:USR1@60`, and `scancel --signal`, which finds the processes of a job on this machine.

use std::{fs, process::ExitCode};

use danlu_messages::slurm as msg;
use danlu_slurm::Program;
use danlu_wire::api::TaskView;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use super::{SlurmError, note};

/// The variable of a job that says which signal it gets before its time limit.
pub(super) const VARIABLE: &str = "DANLU_SLURM_SIGNAL";

/// A signal before the time limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Warning {
    pub(super) signal: Signal,
    /// Seconds before the limit.
    pub(super) before: u64,
    /// The batch script gets it, not the steps.
    pub(super) to_batch: bool,
    pub(super) written: String,
}

/// `[{R|B}:]SIG[@SECONDS]`, 60 seconds before the end unless it says so.
pub(super) fn check(written: &str) -> Result<Warning, SlurmError> {
    let wrong = || SlurmError::new(msg::unknown_signal(&written));
    let (flags, rest) = written.split_once(':').unwrap_or(("", written));
    let is_flag = |flag: char| flag == 'B' || flag == 'R';
    let (name, before) = match rest.split_once('@') {
        Some((name, before)) => {
            (name, before.parse().ok().filter(|it| *it <= 65_535).ok_or_else(wrong)?)
        }
        None => (rest, 60),
    };
    let signal = named(name).filter(|_| flags.chars().all(is_flag)).ok_or_else(wrong)?;
    Ok(Warning { signal, before, to_batch: flags.contains('B'), written: written.to_owned() })
}

/// `USR1`, `SIGUSR1`, `10`.
pub(super) fn named(text: &str) -> Option<Signal> {
    if let Ok(number) = text.parse::<i32>() {
        return Signal::try_from(number).ok();
    }
    let name = text.to_ascii_uppercase();
    let name = if name.starts_with("SIG") { name } else { format!("SIG{name}") };
    name.parse().ok()
}

/// Who of a job gets a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Receivers {
    /// What `srun` has started.
    Steps,
    /// The batch script alone.
    Batch,
    All,
}

/// Only processes of this machine that this user may look into.
pub(super) fn send(tasks: &[TaskView], signal: Signal, to: Receivers) -> ExitCode {
    let mut exit = ExitCode::SUCCESS;
    let processes = processes();
    for task in tasks {
        let job = format!("SLURM_JOB_ID={}", task.id);
        let of_job: Vec<&Process> = processes.iter().filter(|it| it.has(&job)).collect();
        // The script is the one whose parent is not of the job.
        let is_script = |it: &Process| !of_job.iter().any(|other| other.pid == it.parent);
        let is_meant = |it: &Process| match to {
            Receivers::Steps => it.has_name("SLURM_STEP_ID"),
            Receivers::Batch => is_script(it),
            Receivers::All => true,
        };
        let meant: Vec<&&Process> = of_job.iter().filter(|it| is_meant(it)).collect();
        if of_job.is_empty() {
            note(Program::Scancel, &format!("error: {}", msg::cannot_signal(&task.id)));
            exit = ExitCode::FAILURE;
        } else if meant.is_empty() {
            note(Program::Scancel, &format!("error: {}", msg::nothing_to_signal(&task.id)));
            exit = ExitCode::FAILURE;
        }
        for process in meant {
            // It may have ended meanwhile.
            let _ = kill(Pid::from_raw(process.pid), signal);
        }
    }
    exit
}

struct Process {
    pid: i32,
    parent: i32,
    environment: Vec<u8>,
}

impl Process {
    fn has(&self, pair: &str) -> bool {
        self.environment.split(|byte| *byte == 0).any(|it| it == pair.as_bytes())
    }

    fn has_name(&self, name: &str) -> bool {
        let start = format!("{name}=");
        self.environment.split(|byte| *byte == 0).any(|it| it.starts_with(start.as_bytes()))
    }
}

fn processes() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let read = |entry: fs::DirEntry| {
        let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
        let environment = fs::read(entry.path().join("environ")).ok()?;
        let status = fs::read_to_string(entry.path().join("status")).ok()?;
        let parent =
            status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()?;
        Some(Process { pid, parent, environment })
    };
    entries.filter_map(Result::ok).filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_are_read_as_slurm_does() {
        for (text, signal, before, to_batch) in [
            ("USR1", Signal::SIGUSR1, 60, false),
            ("B:USR1@120", Signal::SIGUSR1, 120, true),
            ("SIGTERM@5", Signal::SIGTERM, 5, false),
            ("R:10@3", Signal::SIGUSR1, 3, false),
        ] {
            let written = text.to_owned();
            assert_eq!(check(text).expect(text), Warning { signal, before, to_batch, written });
        }
        for wrong in ["", "NONSENSE", "X:USR1", "USR1@soon", "USR1@99999"] {
            assert!(check(wrong).is_err(), "{wrong}");
        }
    }
}
