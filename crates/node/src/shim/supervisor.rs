//! Supervises a command until no process of it is left.

use super::launch_progress::Problem;
use super::log_watch::LogWatch;
use super::note::note;
use super::notices::Notices;
use super::refusal::Refusal;
use super::stop::{Next, Stop};
use super::tail::tail;
use super::tree::{Ended, NoChildren, Reaped, reap};
use super::{Launched, kernel_log};
use crate::process::Process;
use crate::rundir::{PREEMPT, RunDir};
use crate::{clock, exit_record, signals};
use danlu_core::Failure;
use danlu_core::diagnosis::{Clues, diagnose};
use danlu_core::run::Exit;
use danlu_core::run::RunUsage;
use danlu_wire::rundir::{Control, ExitRecord, LaunchStage, StopRequest};
use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use std::os::fd::AsFd as _;
use std::time::{Duration, Instant};

pub(super) struct Supervisor<'a> {
    launched: Launched<'a>,
    dir: &'a RunDir,
    notices: &'a mut Notices,
    /// By the processes that have ended.
    used: RunUsage,
    /// Whether the command has begun, or could not, is not known yet.
    undecided: bool,
    refusal: Option<Refusal>,
    stop: Stop,
    leader_ended: Option<Ended>,
    /// The shim has descendants.
    children: bool,
    interrupted: bool,
    begun: Instant,
    /// When to check whether this process can be made inspectable by its own user again.
    hidden_until: Option<Instant>,
    /// The stage that the owner was told the command waits for.
    told: Option<LaunchStage>,
    log: Option<LogWatch>,
}

/// A short command is over by then, and nothing had to be done.
const HIDDEN: Duration = Duration::from_millis(200);
/// A command that has not begun by then notes what it waits for.
const SOON: Duration = Duration::from_secs(5);
/// So long may a file system take to show an environment. A directory is waited for as long as the run may last.
const LOOK_UP: Duration = Duration::from_secs(60);

impl<'a> Supervisor<'a> {
    pub(super) fn new(
        launched: Launched<'a>,
        dir: &'a RunDir,
        notices: &'a mut Notices,
    ) -> Supervisor<'a> {
        let limit = launched.order.time_limit.map(clock::duration);
        let begun = Instant::now();
        let stop = Stop::new(begun, limit, clock::duration(launched.order.grace));
        let log = LogWatch::new(&launched.order, begun);
        let hidden_until = launched.identity.changes_user().then(|| begun + HIDDEN);
        Supervisor {
            launched,
            dir,
            notices,
            used: RunUsage::default(),
            undecided: true,
            refusal: None,
            stop,
            leader_ended: None,
            children: true,
            interrupted: false,
            begun,
            hidden_until,
            told: None,
            log,
        }
    }

    pub(super) fn run(mut self) -> ExitRecord {
        // The signal to look may have come to this process while it had another run, or none.
        self.read_control();
        self.read_progress();
        loop {
            self.wait();
            self.read_signals();
            self.read_progress();
            self.reap_children();
            let now = Instant::now();
            self.make_inspectable(now);
            self.check_patience(now);
            if let Some(log) = &mut self.log {
                log.look(self.dir, now);
            }
            match self.stop.next(now, self.leader_ended.is_some(), self.children) {
                Next::Wait => {}
                // Nothing of the user's runs yet that could heed a signal.
                Next::SignalLeader if self.undecided => {
                    self.launched.tree.kill();
                    self.stop.killing(now);
                }
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
                    let mut used = self.used;
                    self.launched.tree.cgroup.add_to(&mut used);
                    if self.launched.tree.cgroup.remove() {
                        if let Some(log) = &mut self.log {
                            log.end(self.dir);
                        }
                        return self.record(used);
                    }
                    // A process is left in the group that is no descendant of the shim.
                    self.launched.tree.kill();
                    self.stop.killing(now);
                }
            }
        }
    }

    fn wait(&mut self) {
        let now = Instant::now();
        let log = self.log.as_ref().map(LogWatch::look_at);
        let (stop, notices) = (self.stop.wake_at(now), self.notices.wake_at(now));
        let wakes = [stop, notices, self.hidden_until, self.patience(), log];
        let wake = wakes.into_iter().flatten().min();
        // Rounded up: waking before the time is waking twice.
        let timeout = wake.map_or(PollTimeout::NONE, |at| {
            let wait = at.saturating_duration_since(now).as_micros().div_ceil(1000);
            PollTimeout::try_from(wait.min(60_000)).unwrap_or(PollTimeout::MAX)
        });
        let signals = self.launched.signals.as_fd();
        let child = self.launched.progress.awaits().filter(|_| self.undecided);
        let mut both =
            [signals, child.unwrap_or(signals)].map(|fd| PollFd::new(fd, PollFlags::POLLIN));
        let count = if child.is_some() { 2 } else { 1 };
        // An error here is an interruption, and the loop looks at everything anyway.
        let _ = poll(&mut both[..count], timeout);
        self.notices.send_rest();
    }

    /// The kernel hides the memory of a process in which a thread has changed its user, as our child has. While both shared it that was
    /// right. Later an agent without power over all processes must see what this one holds open (`orphan_shims`).
    fn make_inspectable(&mut self, now: Instant) {
        if self.hidden_until.is_none_or(|until| now < until) {
            return;
        }
        let executed = Process::read(self.launched.leader).is_none_or(|leader| !leader.unexecuted);
        self.hidden_until = if executed { None } else { Some(now + HIDDEN) };
        if executed {
            let _ = nix::sys::prctl::set_dumpable(true);
        }
    }

    /// How long the child may wait for a file system of its user's before something is done about it.
    fn patience(&self) -> Option<Instant> {
        let (stage, since) = self.launched.progress.waits.filter(|_| self.undecided)?;
        if self.told != Some(stage) {
            return Some(since + SOON);
        }
        (stage == LaunchStage::Environment).then_some(since + LOOK_UP)
    }

    /// Its owner is told, and may stop it.
    fn check_patience(&mut self, now: Instant) {
        let Some((stage, _)) = self.launched.progress.waits else { return };
        if self.patience().is_none_or(|until| now < until) {
            return;
        }
        if self.told.replace(stage) != Some(stage) {
            note(self.dir, &Refusal::waits(&self.launched.order, stage));
            return;
        }
        self.undecided = false;
        let problem = Problem::Met((stage, Errno::ETIMEDOUT));
        self.refusal = Some(Refusal::child(&self.launched.order, &problem));
        self.launched.tree.kill();
        self.stop.killing(now);
    }

    fn read_signals(&mut self) {
        while let Ok(Some(signal)) = self.launched.signals.read_signal() {
            match i32::try_from(signal.ssi_signo) {
                Ok(number) if number == signals::LOOK as i32 => self.read_control(),
                Ok(number) if number == Signal::SIGTERM as i32 => {
                    self.interrupted = true;
                    self.stop_if_directory_removed();
                }
                _ => {}
            }
        }
    }

    fn read_control(&mut self) {
        // What cannot be read now is ordered again with the next report.
        let Ok(Some(control)) = self.dir.read::<Control>() else {
            return self.stop_if_directory_removed();
        };
        let now = Instant::now();
        if let Some(limit) = control.limit {
            self.stop.set_limit(clock::duration(limit));
        }
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

    /// Without a run directory there is no way to leave an order, so that any signal is the order to stop.
    fn stop_if_directory_removed(&mut self) {
        if self.dir.is_removed() {
            self.stop.ask(Instant::now(), clock::duration(self.launched.order.grace));
        }
    }

    fn read_progress(&mut self) {
        if !self.undecided {
            return;
        }
        match self.launched.progress.outcome() {
            None => {}
            Some(Ok(())) => {
                self.undecided = false;
                let Launched { run, started_at, leader, .. } = self.launched;
                self.notices.send_started(run, started_at, leader);
            }
            Some(Err(problem)) => {
                self.undecided = false;
                self.refusal = Some(Refusal::child(&self.launched.order, &problem));
            }
        }
    }

    fn reap_children(&mut self) {
        loop {
            match reap() {
                Ok(None) => return,
                Ok(Some(Reaped { pid, ended, cpu_time, largest })) => {
                    self.used.cpu_time += cpu_time;
                    self.used.largest_process = self.used.largest_process.max(largest);
                    if pid == self.launched.leader {
                        self.leader_ended = Some(ended);
                        // All its launch messages have arrived now.
                        self.read_progress();
                    }
                }
                Err(NoChildren) => {
                    self.children = false;
                    return;
                }
            }
        }
    }

    fn record(self, used: RunUsage) -> ExitRecord {
        let begun = if let Some(refusal) = &self.refusal {
            exit_record::refused(refusal)
        } else {
            let exit = match self.leader_ended {
                _ if self.stop.timed_out() => Exit::TimedOut,
                Some(Ended::Code(code)) => Exit::Code(code),
                Some(Ended::Signal(signal)) => Exit::Signal(signal),
                None => unreachable!("a watch ends after its leader"),
            };
            exit_record::ended(exit, Some(self.launched.started_at))
        };
        let (stopped, interrupted) = (self.stop.was_asked(), self.interrupted);
        let failure = match &begun.failure {
            _ if stopped => None,
            Some(known) => Some(known.clone()),
            None => self.diagnose(&begun.exit, &used),
        };
        ExitRecord { stopped, interrupted, used, failure, ..begun }
    }

    /// Why it failed, from all that is left of it.
    fn diagnose(&self, exit: &Exit, used: &RunUsage) -> Option<Failure> {
        if !matches!(exit, Exit::Code(_) | Exit::Signal(_)) || exit.is_success() {
            return None;
        }
        let Launched { order, identity, progress, leader, .. } = &self.launched;
        let log = tail(order, self.dir, identity, progress.starts);
        let signs = ["Killed", "SIGKILL", "signal 9", "exitcode: -9"];
        let subject = kernel_log::Subject {
            since: kernel_log::stamp(self.begun.elapsed()),
            leader: leader.as_raw().unsigned_abs(),
            uid: identity.account.uid,
            killed: matches!(exit, Exit::Signal(9) | Exit::Code(137))
                || signs.iter().any(|sign| log.contains(sign)),
            cards: kernel_log::cards(&order.gpus),
        };
        // Reading a whole log of a kernel takes a moment: only where it may have something to say.
        let told = subject.killed || !subject.cards.is_empty();
        let kernel = told.then(|| kernel_log::look(&subject)).flatten();
        let oom_kills = used.oom_kills.unwrap_or(0);
        diagnose(exit, &Clues { oom_kills, kernel: kernel.as_ref(), log: &log })
    }
}
