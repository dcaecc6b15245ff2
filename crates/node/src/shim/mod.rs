//! The shim: one process for each active run. It starts the command, supervises it, and writes its result to a file.
//!
//! A shim works without agent and launcher. Its orders are `control.json` and a signal; it writes `state.json` before the command may
//! begin and `exit.json` when everything has ended. It has no threads and no async runtime.

mod file_target;
pub(crate) mod identity;
mod kernel_log;
mod launch_progress;
mod log_watch;
mod note;
pub(crate) mod notices;
mod program;
pub(crate) mod refusal;
mod spawn;
mod steps;
mod stop;
mod supervisor;
mod tail;
mod tree;
mod vfork_start;

use crate::boot::boot_id;
use crate::cgroup::Cgroups;
use crate::launch_command::command_line;
use crate::launcher::handover::{self, Handover};
use crate::process::Process;
use crate::rundir::{PREEMPT, RunDir};
use crate::shim::identity::{Identity, NoIdentity};
use crate::shim::launch_progress::LaunchProgress;
use crate::shim::notices::Notices;
use crate::shim::refusal::Refusal;
use crate::shim::spawn::Plan;
use crate::shim::supervisor::Supervisor;
use crate::shim::tree::{NoChildren, Tree, reap};
use crate::vfork::Stack;
use crate::{clock, exit_record, signals};
use danlu_core::{RunId, Time};
use danlu_wire::launch::LaunchOrder;
use danlu_wire::rundir::{ExitRecord, ProcessMark, ShimState, V1};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use nix::sys::signalfd::SignalFd;
use nix::unistd::Pid;
use std::cell::Cell;
use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::time::Duration;

/// As which a shim with a run is listed among the processes.
pub(crate) const NAME: &CStr = c"danlu-shim";

/// The run that the launcher hands to a shim.
#[derive(Debug)]
pub(crate) struct Handed {
    pub(crate) run: RunId,
    /// Locked, as long as this process lives.
    pub(crate) dir: RunDir,
    /// Where the run directory is, for the command.
    pub(crate) path: String,
    pub(crate) order: File,
    /// Where the agent listens, if it still does.
    pub(crate) notices: File,
    pub(crate) identity: Result<Identity, NoIdentity>,
}

/// A process that is ready to be the shim of any run.
#[derive(Debug)]
pub(crate) struct Prepared(io::Result<Ready>);

#[derive(Debug)]
struct Ready {
    signals: SignalFd,
    /// For the children that become commands.
    stack: Stack,
    this: ProcessMark,
}

impl Prepared {
    pub(crate) fn new() -> Prepared {
        let prepare = || -> io::Result<Ready> {
            nix::unistd::setsid()?;
            nix::sys::prctl::set_child_subreaper(true)?;
            signals::notice_children();
            let this = Process::this()?.mark();
            Ok(Ready { signals: signals::listen()?, stack: Stack::new()?, this })
        };
        Prepared(prepare())
    }

    /// Waits, without a run, for something to come by the link. False when this process is told to end instead.
    pub(crate) fn wait_for(&self, link: BorrowedFd<'_>) -> bool {
        let Ok(Ready { signals, .. }) = &self.0 else { return true };
        let _ = nix::sys::prctl::set_name(c"danlu-idle");
        loop {
            let mut both = [link, signals.as_fd()].map(|fd| PollFd::new(fd, PollFlags::POLLIN));
            let _ = poll(&mut both, PollTimeout::NONE);
            // First: a signal that came after the run may be meant for it, and is left to it.
            if both[0].any() == Some(true) {
                return true;
            }
            while let Ok(Some(signal)) = signals.read_signal() {
                if signal.ssi_signo == Signal::SIGTERM as u32 {
                    return false;
                }
            }
        }
    }
}

/// All that a shim does for a run. True when the agent has been told where to find the result, so that it need not see
/// this process end.
pub(crate) fn run(handed: Handed, prepared: &Prepared, cgroups: &Cgroups) -> bool {
    let Handed { run, dir, path, order, notices, identity } = handed;
    let _ = nix::sys::prctl::set_name(NAME);
    let mut notices = Notices::new(notices);
    let record = match launch(run, &dir, &path, order, identity, prepared, cgroups) {
        Ok(launched) => Supervisor::new(launched, &dir, &mut notices).run(),
        Err(refusal) => exit_record::refused(&refusal),
    };
    let left = leave(&dir, &record);
    // The agent may reuse the directory as soon as it hears of the end.
    drop(dir);
    // A descendant that is left would count as a process of the next run.
    let alone = matches!(reap(), Err(NoChildren));
    notices.send_ended(run) && left && alone
}

/// Retries while the disk is full: until then the run counts as active. False when the directory is
/// gone: a deleted directory does not come back.
fn leave(dir: &RunDir, record: &ExitRecord) -> bool {
    loop {
        match dir.write(record) {
            Ok(()) => return true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return false,
            Err(_) => std::thread::sleep(Duration::from_secs(1)),
        }
    }
}

/// A command that has been allowed to begin.
struct Launched<'a> {
    run: RunId,
    order: LaunchOrder,
    tree: Tree,
    leader: Pid,
    progress: LaunchProgress,
    signals: &'a SignalFd,
    started_at: Time,
    identity: Identity,
}

/// Invariant: `state.json` is there before the command may begin. So where there is none, nothing ever ran.
#[allow(
    clippy::needless_pass_by_value,
    reason = "the command must not inherit the order: it is closed here"
)]
fn launch<'a>(
    run: RunId,
    dir: &RunDir,
    path: &str,
    order: File,
    identity: Result<Identity, NoIdentity>,
    prepared: &'a Prepared,
    cgroups: &Cgroups,
) -> Result<Launched<'a>, Refusal> {
    let Ready { signals, stack, this } = prepared.0.as_ref().map_err(Refusal::process)?;
    let Handover { order, environment } = handover::read(&order)
        .map_err(|error| Refusal::order(&format!("the order cannot be read: {error}")))?;
    let identity = identity.map_err(|problem| Refusal::identity(&problem))?;
    let preempt_file = format!("{path}/{PREEMPT}");
    let line = command_line(&order, &environment, &identity.account, &preempt_file);
    let cgroup = cgroups.create(run, order.memory_limit);
    let started_at = clock::now();
    let announced = Cell::new(false);
    let announce = |leader: Option<Pid>| {
        let state = ShimState {
            v: V1,
            shim: *this,
            boot_id: boot_id().to_owned(),
            leader: leader.map_or(0, |leader| leader.as_raw().unsigned_abs()),
            started_at,
            cgroups: cgroup.paths(),
            task: Some(order.task),
            gpus: order.gpus.assigned.iter().map(|gpu| gpu.uuid.clone()).collect(),
        };
        if announced.replace(true) {
            // The leader's id is for information only.
            let _ = dir.write_over(&state);
            return Ok(());
        }
        dir.write(&state).map_err(|error| Refusal::run_directory("write the state", &error))
    };
    let started = Plan::new(&order, &line, &identity, &cgroup, dir)
        .and_then(|plan| plan.start(stack, announce));
    match started {
        Ok((leader, progress)) => Ok(Launched {
            run,
            order,
            tree: Tree { cgroup },
            leader,
            progress,
            signals,
            started_at,
            identity,
        }),
        Err(refusal) => {
            // A child that waits for permission to begin exits when its socket is closed.
            while !matches!(reap(), Err(NoChildren)) {
                std::thread::sleep(Duration::from_millis(1));
            }
            cgroup.remove();
            Err(refusal)
        }
    }
}
