//! One process for each run: starts the command, watches over it, and leaves its result in a file.
//!
//! A shim depends on nobody. It is told what to do by `control.json` and a signal, and tells by `state.json` when the
//! command may begin and by `exit.json` when all of it has ended. It has no threads and no runtime.

pub(crate) mod identity;
mod kernel;
pub(crate) mod notices;
pub(crate) mod refusal;
mod spawn;
mod stop;
mod tail;
mod tree;
mod watch;

use crate::boot::boot_id;
use crate::cgroup::Cgroups;
use crate::launch::command_line;
use crate::nursery::handover::{self, Handover};
use crate::process::Process;
use crate::rundir::{PREEMPT, RunDir};
use crate::shim::identity::{Identity, NoIdentity};
use crate::shim::notices::Notices;
use crate::shim::refusal::Refusal;
use crate::shim::spawn::{Launching, Plan};
use crate::shim::tree::{NoChildren, Tree, reap};
use crate::shim::watch::Watch;
use crate::{activation, clock, record, signals};
use danlu_core::{RunId, Time};
use danlu_wire::launch::LaunchOrder;
use danlu_wire::rundir::{ShimState, V1};
use nix::sys::signalfd::SignalFd;
use nix::unistd::Pid;
use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::time::Duration;

/// As which a shim is listed among the processes.
pub(crate) const NAME: &CStr = c"danlu-shim";

/// What the nursery gives to a shim.
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
    pub(crate) prepared: Prepared,
}

/// A process that can be a shim, whatever its run will be.
#[derive(Debug)]
pub(crate) struct Prepared(io::Result<SignalFd>);

impl Prepared {
    pub(crate) fn new() -> Prepared {
        let prepare = || -> io::Result<SignalFd> {
            nix::unistd::setsid()?;
            nix::sys::prctl::set_child_subreaper(true)?;
            signals::notice_children();
            Ok(signals::listen()?)
        };
        Prepared(prepare())
    }
}

/// The whole life of a shim.
pub(crate) fn run(handed: Handed, cgroups: &Cgroups) {
    let Handed { run, dir, path, order, notices, identity, prepared } = handed;
    let _ = nix::sys::prctl::set_name(NAME);
    let mut notices = Notices::new(notices);
    let record = match launch(run, &dir, &path, order, identity, prepared, cgroups) {
        Ok(launched) => Watch::new(launched, &dir, &mut notices).until_the_end(),
        Err(refusal) => record::refused(&refusal),
    };
    // A full disk has room again some day; until then the run is not over for anybody. A directory that somebody has
    // taken away does not come back.
    while let Err(error) = dir.write(&record)
        && error.kind() != io::ErrorKind::NotFound
    {
        std::thread::sleep(Duration::from_secs(1));
    }
    notices.say_ended(run);
}

/// A command that has been given the word to begin.
struct Launched {
    run: RunId,
    order: LaunchOrder,
    tree: Tree,
    leader: Pid,
    launching: Launching,
    signals: SignalFd,
    started_at: Time,
    identity: Identity,
}

/// Invariant: `state.json` is there before the command may begin. So where there is none, nothing ever ran.
#[allow(
    clippy::needless_pass_by_value,
    reason = "the command must not inherit the order: it is closed here"
)]
fn launch(
    run: RunId,
    dir: &RunDir,
    path: &str,
    order: File,
    identity: Result<Identity, NoIdentity>,
    prepared: Prepared,
    cgroups: &Cgroups,
) -> Result<Launched, Refusal> {
    let signals = prepared.0.map_err(|error| Refusal::process(&error))?;
    let Handover { order, environment } = handover::read(&order)
        .map_err(|error| Refusal::order(&format!("the order cannot be read: {error}")))?;
    let identity = identity.map_err(|problem| Refusal::identity(&problem))?;
    let preempt_file = format!("{path}/{PREEMPT}");
    let mut line = command_line(&order, &environment, &identity.account, &preempt_file);
    if let Some(python) = &order.python {
        activation::enter(python, &order.directory, &mut line.environment)
            .map_err(|missing| Refusal::environment(&missing))?;
    }
    let cgroup = cgroups.create(run, order.memory_limit);
    let spawned = Plan::new(&order, line, &identity, &cgroup, dir)
        .and_then(|plan| plan.spawn().map_err(|error| Refusal::process(&error)));
    let tree = Tree { cgroup };
    let begun = spawned.and_then(|poised| {
        let state = ShimState {
            v: V1,
            shim: Process::this().map_err(|error| Refusal::process(&error))?.mark(),
            boot_id: boot_id().to_owned(),
            leader: poised.leader.as_raw().unsigned_abs(),
            started_at: clock::now(),
            cgroups: tree.cgroup.paths(),
        };
        dir.write(&state).map_err(|error| Refusal::run_directory("write the state", &error))?;
        let leader = poised.leader;
        let launching = poised.go().map_err(|error| Refusal::process(&error))?;
        Ok((leader, launching, state.started_at))
    });
    match begun {
        Ok((leader, launching, started_at)) => {
            Ok(Launched { run, order, tree, leader, launching, signals, started_at, identity })
        }
        Err(refusal) => {
            // A child that waits for the word goes by itself when it hears that there is none.
            while !matches!(reap(), Err(NoChildren)) {
                std::thread::sleep(Duration::from_millis(1));
            }
            tree.cgroup.remove();
            Err(refusal)
        }
    }
}
