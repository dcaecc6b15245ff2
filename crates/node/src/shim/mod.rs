//! One process for each run: starts the command, watches over it, and leaves its result in a file.
//!
//! A shim depends on nobody. It is told what to do by `control.json` and a signal, and tells by `state.json` when the
//! command may begin and by `exit.json` when all of it has ended. It has no threads and no runtime.

pub(crate) mod identity;
pub(crate) mod refusal;
mod spawn;
mod stop;
mod tree;

use crate::boot::boot_id;
use crate::cgroup::Cgroups;
use crate::clock;
use crate::launch::command_line;
use crate::nursery::handover::{self, Handover};
use crate::process::Process;
use crate::rundir::{PREEMPT, RunDir};
use crate::shim::identity::{Identity, NoIdentity};
use crate::shim::refusal::Refusal;
use crate::shim::spawn::{Launching, Plan};
use crate::shim::stop::{Next, Stop};
use crate::shim::tree::{Ended, NoChildren, Tree, reap};
use crate::signals;
use danlu_core::run::Exit;
use danlu_core::{RunId, Span, Time};
use danlu_wire::agent::Used;
use danlu_wire::launch::LaunchOrder;
use danlu_wire::rundir::{Control, ExitRecord, LaunchFailure, ShimState, StopRequest, V1};
use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::{Signal, kill};
use nix::sys::signalfd::SignalFd;
use nix::unistd::Pid;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::AsFd as _;
use std::time::{Duration, Instant};

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
}

/// The whole life of a shim.
pub(crate) fn run(handed: Handed, cgroups: &Cgroups) {
    let Handed { run, dir, path, order, notices, identity } = handed;
    let record = match launch(run, &dir, &path, order, identity, cgroups) {
        Ok(launched) => Watch::new(launched, &dir, Notices::new(notices)).until_the_end(),
        Err(refusal) => Record::refused(&refusal),
    };
    let record = record.0;
    // A full disk has room again some day; until then the run is not over for anybody. A directory that somebody has
    // taken away does not come back.
    while let Err(error) = dir.write(&record)
        && error.kind() != io::ErrorKind::NotFound
    {
        std::thread::sleep(Duration::from_secs(1));
    }
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
    cgroups: &Cgroups,
) -> Result<Launched, Refusal> {
    let prepare = || -> io::Result<SignalFd> {
        nix::unistd::setsid()?;
        nix::sys::prctl::set_child_subreaper(true)?;
        let _ = nix::sys::prctl::set_name(c"danlu-shim");
        signals::notice_children();
        Ok(signals::listen()?)
    };
    let signals = prepare().map_err(|error| Refusal::process(&error))?;
    let Handover { order, environment } = handover::read(&order)
        .map_err(|error| Refusal::order(&format!("the order cannot be read: {error}")))?;
    let identity = identity.map_err(|problem| Refusal::identity(&problem))?;
    let preempt_file = format!("{path}/{PREEMPT}");
    let line = command_line(&order, &environment, &identity.account, &preempt_file);
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
            Ok(Launched { run, order, tree, leader, launching, signals, started_at })
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

/// Watches over a command until nothing of it is left.
struct Watch<'a> {
    launched: Launched,
    dir: &'a RunDir,
    notices: Notices,
    /// Whether the command has begun, or could not, is not known yet.
    undecided: bool,
    refusal: Option<Refusal>,
    stop: Stop,
    leader_ended: Option<Ended>,
    /// Somebody lives below the shim.
    children: bool,
    interrupted: bool,
}

impl<'a> Watch<'a> {
    fn new(launched: Launched, dir: &'a RunDir, notices: Notices) -> Watch<'a> {
        let limit = launched.order.time_limit.map(clock::duration);
        let stop = Stop::new(Instant::now(), limit, clock::duration(launched.order.grace));
        Watch {
            launched,
            dir,
            notices,
            undecided: true,
            refusal: None,
            stop,
            leader_ended: None,
            children: true,
            interrupted: false,
        }
    }

    fn until_the_end(mut self) -> Record {
        loop {
            self.wait();
            self.hear_signals();
            self.hear_child();
            self.reap_children();
            let now = Instant::now();
            match self.stop.next(now, self.leader_ended.is_some(), self.children) {
                Next::Wait => {}
                Next::SignalLeader => {
                    if self.stop.is_paused() {
                        self.launched.tree.thaw();
                    }
                    // Not waited for yet, so this id is the leader's own.
                    let _ = kill(self.launched.leader, Signal::SIGTERM);
                }
                Next::SignalRest => self.launched.tree.signal_all(Signal::SIGTERM),
                Next::KillAll => self.launched.tree.kill(),
                Next::Finish => {
                    let used = self.used();
                    if self.launched.tree.cgroup.remove() {
                        return self.record(used);
                    }
                    // Something is left that has nobody below the shim to account for it.
                    self.launched.tree.kill();
                    self.stop.killing(now);
                }
            }
        }
    }

    fn wait(&mut self) {
        let now = Instant::now();
        let wake = [self.stop.wake_at(now), self.notices.wake_at(now)].into_iter().flatten().min();
        // Rounded up: waking before the time is waking twice.
        let timeout = wake.map_or(PollTimeout::NONE, |at| {
            let wait = at.saturating_duration_since(now).as_micros().div_ceil(1000);
            PollTimeout::try_from(wait.min(60_000)).unwrap_or(PollTimeout::MAX)
        });
        let signals = PollFd::new(self.launched.signals.as_fd(), PollFlags::POLLIN);
        let child = PollFd::new(self.launched.launching.as_fd(), PollFlags::POLLIN);
        let mut both = [signals, child];
        let count = if self.undecided { 2 } else { 1 };
        // An error here is an interruption, and the loop looks at everything anyway.
        let _ = poll(&mut both[..count], timeout);
        self.notices.send_rest();
    }

    fn hear_signals(&mut self) {
        while let Ok(Some(signal)) = self.launched.signals.read_signal() {
            match i32::try_from(signal.ssi_signo) {
                Ok(number) if number == signals::LOOK as i32 => self.obey(),
                Ok(number) if number == Signal::SIGTERM as i32 => self.interrupted = true,
                _ => {}
            }
        }
    }

    fn obey(&mut self) {
        let Some(control) = self.dir.read::<Control>() else { return };
        let now = Instant::now();
        if let Some(StopRequest { grace, preempted }) = control.stop {
            if preempted {
                let _ = self.dir.create(PREEMPT, OFlag::empty(), 0o644);
            }
            self.stop.ask(now, clock::duration(grace));
        } else if control.paused && !self.stop.is_paused() {
            self.launched.tree.freeze();
            self.stop.pause(now);
        } else if !control.paused && self.stop.is_paused() {
            self.launched.tree.thaw();
            self.stop.resume(now);
        }
    }

    fn hear_child(&mut self) {
        if !self.undecided {
            return;
        }
        match self.launched.launching.outcome() {
            None => {}
            Some(Ok(())) => {
                self.undecided = false;
                let Launched { run, started_at, leader, .. } = self.launched;
                self.notices.say(run, started_at, leader);
            }
            Some(Err((stage, error))) => {
                self.undecided = false;
                self.refusal = Some(Refusal::child(&self.launched.order, stage, error));
            }
        }
    }

    fn reap_children(&mut self) {
        loop {
            match reap() {
                Ok(None) => return,
                Ok(Some((pid, ended))) if pid == self.launched.leader => {
                    self.leader_ended = Some(ended);
                    // Whatever it had to say of its launch is there now.
                    self.hear_child();
                }
                Ok(Some(_)) => {}
                Err(NoChildren) => {
                    self.children = false;
                    return;
                }
            }
        }
    }

    fn used(&self) -> Used {
        let mut used = Used::default();
        if let Ok(usage) = getrusage(UsageWho::RUSAGE_CHILDREN) {
            // In kilobytes there.
            used.largest_process = u64::try_from(usage.max_rss()).unwrap_or(0).saturating_mul(1024);
            let milliseconds = |time: nix::sys::time::TimeVal| {
                u64::try_from(time.tv_sec() * 1000 + time.tv_usec() / 1000).unwrap_or(0)
            };
            used.cpu_time =
                Span(milliseconds(usage.user_time()) + milliseconds(usage.system_time()));
        }
        self.launched.tree.cgroup.add_to(&mut used);
        used
    }

    fn record(self, used: Used) -> Record {
        let exit = match (self.leader_ended, &self.refusal) {
            (_, Some(refusal)) => Exit::Launch { message: refusal.message.clone() },
            _ if self.stop.timed_out() => Exit::TimedOut,
            (Some(Ended::Code(code)), None) => Exit::Code(code),
            (Some(Ended::Signal(signal)), None) => Exit::Signal(signal),
            (None, None) => unreachable!("a watch ends after its leader"),
        };
        let started = self.refusal.is_none().then_some(self.launched.started_at);
        let mut record = Record::new(exit, self.refusal.map(|refusal| refusal.failure));
        record.0.stopped = self.stop.was_asked();
        record.0.interrupted = self.interrupted;
        record.0.started_at = started;
        record.0.used = used;
        record
    }
}

struct Record(ExitRecord);

impl Record {
    fn new(exit: Exit, launch_failure: Option<LaunchFailure>) -> Record {
        Record(ExitRecord {
            v: V1,
            boot_id: boot_id().to_owned(),
            exit,
            launch_failure,
            stopped: false,
            interrupted: false,
            started_at: None,
            ended_at: clock::now(),
            used: Used::default(),
        })
    }

    fn refused(refusal: &Refusal) -> Record {
        let exit = Exit::Launch { message: refusal.message.clone() };
        Record::new(exit, Some(refusal.failure.clone()))
    }
}

/// Tells the agent of the start. It may be slow to listen, or gone: then `state.json` tells its successor.
struct Notices {
    pipe: File,
    unsaid: Option<String>,
}

impl Notices {
    fn new(pipe: File) -> Notices {
        Notices { pipe, unsaid: None }
    }

    fn say(&mut self, run: RunId, started_at: Time, leader: Pid) {
        self.unsaid = Some(started_line(run, started_at, leader));
        self.send_rest();
    }

    fn send_rest(&mut self) {
        let Some(line) = &self.unsaid else { return };
        // So short a line is written whole or not at all.
        match self.pipe.write(line.as_bytes()) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            _ => self.unsaid = None,
        }
    }

    fn wake_at(&self, now: Instant) -> Option<Instant> {
        self.unsaid.is_some().then(|| now + Duration::from_secs(1))
    }
}

fn started_line(run: RunId, started_at: Time, leader: Pid) -> String {
    format!("{} {} {} {leader}\n", run.epoch, run.number, started_at.0)
}

/// What [`started_line`] has written.
pub(crate) fn parse_started(line: &str) -> Option<(RunId, Time, u32)> {
    let mut words = line.split(' ');
    let epoch = danlu_core::Epoch(words.next()?.parse().ok()?);
    let run = RunId { epoch, number: words.next()?.parse().ok()? };
    Some((run, Time(words.next()?.parse().ok()?), words.next()?.parse().ok()?))
}
