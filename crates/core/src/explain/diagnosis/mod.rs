//! Classifies a failed run by its exit and its last output, with the line of output that proves it.

mod patterns;
mod traceback;

#[cfg(test)]
mod samples;

use crate::model::failure::{Failure, FailureClass};
use crate::model::run::Exit;
use patterns::class_of_line;

/// What a node knows about a run besides its exit.
#[derive(Debug, Clone, Copy, Default)]
pub struct Clues<'a> {
    /// Processes of the run that the kernel's OOM killer ended.
    pub oom_kills: u64,
    /// What the kernel's own log says about the run.
    pub kernel: Option<&'a Failure>,
    /// The end of what it printed.
    pub log: &'a str,
}

/// Bytes of a log that are looked at, from its end.
pub const TAIL_BYTES: usize = 64 * 1024;

/// `None` when it has not failed.
pub fn diagnose(exit: &Exit, clues: &Clues<'_>) -> Option<Failure> {
    let plain = Failure::of_exit(exit)?;
    if !matches!(exit, Exit::Code(_) | Exit::Signal(_)) {
        return Some(plain);
    }
    if let Some(kernel) = clues.kernel {
        return Some(kernel.clone());
    }
    if clues.oom_kills > 0 {
        // How many, the usage of the run tells.
        return Some(Failure::new(FailureClass::HostOom, ""));
    }
    // A program that was killed from outside was not killed because of its output.
    if matches!(exit, Exit::Signal(9 | 15) | Exit::Code(137 | 143)) {
        return Some(plain);
    }
    let lines: Vec<&str> = lines(clues.log);
    Some(by_log(&lines).unwrap_or_else(|| with_last_line(plain, &lines)))
}

/// A progress bar writes many lines into one.
fn lines(log: &str) -> Vec<&str> {
    let pieces = log.split(['\n', '\r']).map(traceback::without_prefix);
    pieces.filter(|line| !line.trim().is_empty()).collect()
}

/// The last exception that is not the echo of another says what happened; what a program caught and went on from
/// stands before it. Where there is none, the gravest line does.
fn by_log(lines: &[&str]) -> Option<Failure> {
    let raised = traceback::raised(lines);
    let own = raised.iter().rev().find(|raised| !is_echo(raised.line(lines)));
    let (begin, exception) = match own {
        Some(raised) => (raised.begin, Some(raised.line(lines))),
        None => (0, raised.last().map(|raised| raised.line(lines))),
    };
    let gravest = lines[begin..]
        .iter()
        .filter_map(|line| class_of_line(line).map(|class| (class, *line)))
        // The first of the gravest: what follows comes of it.
        .min_by_key(|(class, _)| gravity(*class));
    match (gravest, exception) {
        (Some((class, line)), _) => Some(Failure::new(class, line)),
        (None, Some(line)) => Some(Failure::new(FailureClass::PythonException, line)),
        (None, None) => None,
    }
}

/// One part of a task fails because another has: the cause is elsewhere.
fn is_echo(line: &str) -> bool {
    let wrapper = [
        "ChildFailedError",
        "ProcessRaisedException",
        "ProcessExitedException",
        "CalledProcessError",
        "RayTaskError",
        "DistNetworkError",
        "BrokenPipeError",
        "ConnectionResetError",
        "EOFError",
        "KeyboardInterrupt",
        "SystemExit",
    ];
    let name = line.split([':', ' ', '(']).next().unwrap_or(line);
    wrapper.iter().any(|it| name.ends_with(it)) || class_of_line(line) == Some(FailureClass::Nccl)
}

/// A card that breaks explains a collective that fails, and not the other way round.
fn gravity(class: FailureClass) -> u32 {
    match class {
        FailureClass::GpuHardware => 0,
        FailureClass::CudaOom => 1,
        FailureClass::HostOom => 2,
        FailureClass::DiskFull => 3,
        FailureClass::EnvMissing => 4,
        FailureClass::Nccl => 5,
        FailureClass::Launch
        | FailureClass::Timeout
        | FailureClass::Preempted
        | FailureClass::PythonException
        | FailureClass::CommandNotFound
        | FailureClass::Killed
        | FailureClass::NodeLost
        | FailureClass::Idle
        | FailureClass::Other => 6,
    }
}

fn with_last_line(plain: Failure, lines: &[&str]) -> Failure {
    match lines.last() {
        Some(last) => Failure::new(plain.class, last),
        None => plain,
    }
}
