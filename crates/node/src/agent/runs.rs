//! Every run that this agent has a directory for, or is about to have.

use super::life::listen;
use crate::boot::{boot_id, booted_at};
use crate::classify::{Found, classify};
use crate::nursery::Link;
use crate::process::Pidfd;
use crate::rundir::RunRoot;
use crate::shim::refusal::Refusal;
use crate::{clock, leftovers, signals};
use danlu_core::run::{Ending, Exit, ReportedState, RunReport};
use danlu_core::{RunId, Span, Time};
use danlu_wire::agent::Used;
use danlu_wire::rundir::{Control, ExitRecord, ShimState, StopRequest, V1};
use danlu_wire::{FromAgent, LaunchOrder, StopWhy};
use nix::sys::epoll::Epoll;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(super) struct Runs {
    root: RunRoot,
    epoll: Arc<Epoll>,
    all: BTreeMap<RunId, Phase>,
    by_token: BTreeMap<Token, RunId>,
    next_token: Token,
    /// In phase `Queued`, in order.
    queue: VecDeque<RunId>,
    /// How many are in phase `Unborn`.
    unborn: usize,
    /// In a phase that is to be looked at again, and when.
    unsettled: Vec<RunId>,
    look_again_at: Option<Instant>,
    patience: Duration,
    /// To be said, in order.
    pub(super) notices: Vec<FromAgent>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Token(pub(super) u64);

#[derive(Debug)]
enum Phase {
    /// Has no directory yet.
    Queued {
        order: Box<LaunchOrder>,
        tries: u32,
    },
    /// With the nursery, which has not said anything yet.
    Unborn {
        order: Box<LaunchOrder>,
        since: Time,
        tries: u32,
        /// There is a `control.json` that the shim is to be told of.
        ordered: bool,
    },
    Watched(Watched),
    /// The lock of its directory is held, by whom is not known yet.
    Unclear {
        since: Time,
    },
    /// Its shim was killed; what it watched over is being killed too.
    Orphaned {
        state: ShimState,
    },
    Ended {
        ending: Ending,
    },
}

#[derive(Debug)]
struct Watched {
    shim: Pidfd,
    since: Time,
    /// It has been said that the command runs.
    said: bool,
    /// It has been asked to be, and not to stop.
    paused: bool,
}

/// Forks under way: enough to keep every core busy, few enough to fit in a socket.
const MOST_UNBORN: usize = 128;
/// How often a run is given to a nursery that then dies.
const MOST_TRIES: u32 = 3;
/// Between two looks at what is unsettled: little at first, more for what does not settle.
const LEAST_PATIENCE: Duration = Duration::from_millis(20);
const MOST_PATIENCE: Duration = Duration::from_secs(1);
/// Tokens below are for other things.
const FIRST_TOKEN: Token = Token(16);

impl Runs {
    pub(super) fn adopt(root: RunRoot, epoll: Arc<Epoll>) -> io::Result<Runs> {
        let found = root.list()?;
        let mut runs = Runs {
            root,
            epoll,
            all: BTreeMap::new(),
            by_token: BTreeMap::new(),
            next_token: FIRST_TOKEN,
            queue: VecDeque::new(),
            unborn: 0,
            unsettled: Vec::new(),
            look_again_at: None,
            patience: LEAST_PATIENCE,
            notices: Vec::new(),
        };
        for run in found {
            runs.look(run, clock::now());
        }
        // Who connects asks for a report, which says all of this.
        runs.notices.clear();
        Ok(runs)
    }

    pub(super) fn root(&self) -> &RunRoot {
        &self.root
    }

    pub(super) fn report(&self) -> Vec<RunReport> {
        let alive = |since, paused| Some(ReportedState::Alive { since, paused });
        let state = |phase: &Phase| match phase {
            // It may still come to nothing, and then nothing ran.
            Phase::Queued { .. } => None,
            Phase::Unborn { since, .. } | Phase::Unclear { since } => alive(*since, false),
            Phase::Watched(watched) => alive(watched.since, watched.paused),
            Phase::Orphaned { state } => alive(state.started_at, false),
            Phase::Ended { ending } => Some(ReportedState::Ended(ending.clone())),
        };
        self.all
            .iter()
            .filter_map(|(&run, phase)| Some(RunReport { run, state: state(phase)? }))
            .collect()
    }

    // Orders.

    pub(super) fn queue(&mut self, order: Box<LaunchOrder>) {
        let run = order.run;
        if let Entry::Vacant(vacant) = self.all.entry(run) {
            vacant.insert(Phase::Queued { order, tries: 0 });
            self.queue.push_back(run);
        }
    }

    pub(super) fn drop_queued(&mut self) {
        for run in self.queue.drain(..) {
            self.all.remove(&run);
        }
    }

    pub(super) fn has_queued(&self) -> bool {
        !self.queue.is_empty()
    }

    pub(super) fn launch_queued(&mut self, link: &Link) {
        while self.unborn < MOST_UNBORN {
            let Some(run) = self.queue.pop_front() else { return };
            let (mut order, tries) = match self.all.remove(&run) {
                Some(Phase::Queued { order, tries }) => (order, tries + 1),
                other => {
                    self.all.extend(other.map(|phase| (run, phase)));
                    continue;
                }
            };
            match begin(&self.root, &mut order, link) {
                Ok(Begun::Given) => {
                    self.unborn += 1;
                    let since = clock::now();
                    self.all.insert(run, Phase::Unborn { order, since, tries, ordered: false });
                }
                // A directory that is not known here was made by somebody else.
                Ok(Begun::Before) => self.look(run, clock::now()),
                // The next nursery gets it.
                Ok(Begun::NoNursery) => {
                    let _ = self.root.remove(run);
                    self.all.insert(run, Phase::Queued { order, tries });
                    self.queue.push_front(run);
                    return;
                }
                Err(error) => {
                    let refusal = Refusal::run_directory("make the run directory", &error);
                    let _ = self.root.remove(run);
                    self.end(run, &refused(&refusal));
                }
            }
        }
    }

    pub(super) fn stop(&mut self, run: RunId, why: StopWhy, grace: Span) {
        if let Some(Phase::Queued { .. }) = self.all.get(&run) {
            self.queue.retain(|queued| *queued != run);
            let mut record = record(Exit::NeverStarted, None);
            record.stopped = true;
            self.end(run, &record);
            return;
        }
        let preempted = why == StopWhy::Preempted;
        self.control(run, |control| {
            // Asked again, the sooner end counts; the shim sees to that as well.
            let grace = control.stop.map_or(grace, |before| before.grace.min(grace));
            control.stop = Some(StopRequest { grace, preempted });
        });
    }

    pub(super) fn pause(&mut self, run: RunId, paused: bool) {
        self.control(run, |control| control.paused = paused);
    }

    pub(super) fn forget(&mut self, run: RunId) {
        if let Some(Phase::Ended { .. }) = self.all.get(&run) {
            // A directory that stays is met again by the next agent, and forgotten by it.
            let _ = self.root.forget(run);
            self.all.remove(&run);
        }
    }

    pub(super) fn drop_log(&mut self, run: RunId) {
        if !self.all.contains_key(&run) {
            let _ = self.root.drop_log(run);
        }
    }

    fn control(&mut self, run: RunId, change: impl FnOnce(&mut Control)) {
        let Some(phase) = self.all.get_mut(&run) else { return };
        if !matches!(phase, Phase::Unborn { .. } | Phase::Watched(_) | Phase::Unclear { .. }) {
            return;
        }
        let Ok(dir) = self.root.dir(run) else { return };
        let mut control: Control = dir.read().unwrap_or_default();
        change(&mut control);
        // On a full disk the order is lost, and comes again with the next report.
        if dir.write(&control).is_ok() {
            match phase {
                Phase::Watched(watched) => watched.heed(&control),
                Phase::Unborn { ordered, .. } => *ordered = true,
                _ => {}
            }
        }
    }

    // What happens.

    pub(super) fn forked(&mut self, run: RunId, shim: Option<Pidfd>) {
        let Some(Phase::Unborn { since, ordered, .. }) = self.all.get(&run) else { return };
        let (since, ordered) = (*since, *ordered);
        self.unborn -= 1;
        match shim {
            Some(shim) => self.watch(run, shim, since, false),
            None => self.unsettle(run, Phase::Unclear { since }),
        }
        if ordered {
            self.heed_control(run);
        }
    }

    pub(super) fn not_forked(&mut self, run: RunId, error: &io::Error) {
        if let Some(Phase::Unborn { .. }) = self.all.get(&run) {
            self.unborn -= 1;
            self.end(run, &refused(&Refusal::process(error)));
        }
    }

    pub(super) fn started(&mut self, run: RunId, at: Time, leader: u32) {
        match self.all.get_mut(&run) {
            Some(Phase::Watched(watched)) if !watched.said => {
                watched.said = true;
                watched.since = at;
            }
            // The shim was quicker than the nursery.
            Some(Phase::Unborn { since, .. }) => *since = at,
            _ => return,
        }
        self.notices.push(FromAgent::Started { run, at, leader });
    }

    pub(super) fn shim_ended(&mut self, token: Token) {
        // Its pidfd is closed with its phase, and is then waited for no longer.
        let Some(run) = self.by_token.remove(&token) else { return };
        let Ok(dir) = self.root.dir(run) else {
            return self.end(run, &vanished(None));
        };
        match (dir.read::<ExitRecord>(), dir.read::<ShimState>()) {
            (Some(record), _) => self.end_by(run, &record),
            (None, Some(state)) => self.clean(run, state),
            // Killed before it said who it is: nothing ran.
            (None, None) => {
                let refusal = Refusal::process(&io::Error::other("the shim was killed"));
                self.end(run, &refused(&refusal));
            }
        }
    }

    /// The nursery is gone. What it has forked lives; the rest is to be forked by the next.
    pub(super) fn requeue_unborn(&mut self) {
        for (run, order, since, tries) in self.take_unborn() {
            match self.root.dir(run).and_then(|dir| classify(&dir, boot_id())) {
                Ok(Found::NeverStarted) if tries < MOST_TRIES => {
                    let _ = self.root.remove(run);
                    self.all.insert(run, Phase::Queued { order, tries });
                    self.queue.push_back(run);
                }
                Ok(Found::NeverStarted) => {
                    let error = io::Error::other("the nursery dies again and again");
                    self.end(run, &refused(&Refusal::process(&error)));
                }
                _ => self.look(run, since),
            }
        }
    }

    /// There is no nursery, and no new one can be started.
    pub(super) fn refuse_unborn(&mut self, error: &io::Error) {
        for (run, _, since, _) in self.take_unborn() {
            match self.root.dir(run).and_then(|dir| classify(&dir, boot_id())) {
                Ok(Found::NeverStarted) => self.end(run, &refused(&Refusal::process(error))),
                _ => self.look(run, since),
            }
        }
    }

    pub(super) fn refuse_queued(&mut self) {
        for run in std::mem::take(&mut self.queue) {
            let error = io::Error::other("the nursery cannot be started");
            self.end(run, &refused(&Refusal::process(&error)));
        }
    }

    // What is to be looked at again.

    pub(super) fn look_again_at(&self) -> Option<Instant> {
        self.look_again_at
    }

    /// Only after something was killed that should not have been; otherwise there is nothing to look at.
    pub(super) fn look_again(&mut self) {
        if self.look_again_at.is_none_or(|at| Instant::now() < at) {
            return;
        }
        self.look_again_at = None;
        self.patience = (self.patience * 2).min(MOST_PATIENCE);
        for run in std::mem::take(&mut self.unsettled) {
            match self.all.get(&run) {
                Some(Phase::Unclear { since }) => self.look(run, *since),
                Some(Phase::Orphaned { state }) => self.clean(run, state.clone()),
                _ => {}
            }
        }
        if self.unsettled.is_empty() {
            self.patience = LEAST_PATIENCE;
        }
    }

    fn unsettle(&mut self, run: RunId, phase: Phase) {
        self.all.insert(run, phase);
        self.unsettled.push(run);
        self.look_again_at.get_or_insert_with(|| Instant::now() + self.patience);
    }

    /// Learns from its directory what a run is.
    fn look(&mut self, run: RunId, since: Time) {
        let found = self.root.dir(run).and_then(|dir| classify(&dir, boot_id()));
        match found {
            Ok(Found::Ended(record)) => self.end_by(run, &record),
            Ok(Found::Alive { state, shim }) => {
                self.watch(run, shim, state.started_at, true);
                self.heed_control(run);
                let (at, leader) = (state.started_at, state.leader);
                self.notices.push(FromAgent::Started { run, at, leader });
            }
            // Somebody has taken it away, and with it all that was known of the run.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.all.remove(&run);
            }
            Ok(Found::Unclear) | Err(_) => self.unsettle(run, Phase::Unclear { since }),
            Ok(Found::Orphaned { state }) => self.clean(run, state),
            Ok(Found::NeverStarted) => {
                let _ = self.root.remove(run);
                self.all.remove(&run);
            }
        }
    }

    fn clean(&mut self, run: RunId, state: ShimState) {
        let rebooted = state.boot_id != boot_id();
        if rebooted || leftovers::kill(&state, &self.root.run_path(run)) {
            self.end(run, &vanished(Some(&state)));
        } else {
            self.unsettle(run, Phase::Orphaned { state });
        }
    }

    fn watch(&mut self, run: RunId, shim: Pidfd, since: Time, said: bool) {
        let token = self.next_token;
        self.next_token = Token(token.0 + 1);
        if listen(&self.epoll, &shim, token).is_err() {
            // Out of some resource: its end is then found by looking.
            self.unsettle(run, Phase::Unclear { since });
            return;
        }
        self.by_token.insert(token, run);
        self.all.insert(run, Phase::Watched(Watched { shim, since, said, paused: false }));
    }

    /// An order may have come to the file before there was a shim to tell, or without the time to tell it.
    fn heed_control(&mut self, run: RunId) {
        let Some(Phase::Watched(watched)) = self.all.get_mut(&run) else { return };
        if let Some(control) = self.root.dir(run).ok().and_then(|dir| dir.read::<Control>()) {
            watched.heed(&control);
        }
    }

    fn take_unborn(&mut self) -> Vec<(RunId, Box<LaunchOrder>, Time, u32)> {
        self.unborn = 0;
        let unborn = |_: &RunId, phase: &mut Phase| matches!(phase, Phase::Unborn { .. });
        self.all
            .extract_if(.., unborn)
            .filter_map(|(run, phase)| match phase {
                Phase::Unborn { order, since, tries, .. } => Some((run, order, since, tries)),
                _ => None,
            })
            .collect()
    }

    /// Ends a run that has no record of its end, and leaves one.
    fn end(&mut self, run: RunId, record: &ExitRecord) {
        if let Ok(dir) = self.root.dir(run) {
            // Where it cannot be written, the next agent finds the same.
            let _ = dir.write(record);
        }
        self.end_by(run, record);
    }

    fn end_by(&mut self, run: RunId, record: &ExitRecord) {
        let ending = record.ending(boot_id());
        self.notices.push(FromAgent::Ended { run, ending: ending.clone(), used: record.used });
        self.all.insert(run, Phase::Ended { ending });
    }
}

impl Watched {
    fn heed(&mut self, control: &Control) {
        self.paused = control.paused && control.stop.is_none();
        self.shim.signal(signals::LOOK);
    }
}

enum Begun {
    Given,
    /// Its directory was there.
    Before,
    NoNursery,
}

fn begin(root: &RunRoot, order: &mut LaunchOrder, link: &Link) -> io::Result<Begun> {
    let Some(dir) = root.create(order.run)? else { return Ok(Begun::Before) };
    if !dir.lock()? {
        return Err(io::Error::other("a new run directory is locked"));
    }
    match link.launch(order, &dir) {
        Ok(()) => Ok(Begun::Given),
        Err(error) if is_closed(&error) => Ok(Begun::NoNursery),
        Err(error) => Err(error),
    }
}

fn is_closed(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, NotConnected};
    matches!(error.kind(), BrokenPipe | ConnectionReset | NotConnected)
}

fn vanished(state: Option<&ShimState>) -> ExitRecord {
    let rebooted = state.is_some_and(|state| state.boot_id != boot_id());
    let mut record = record(Exit::Vanished { rebooted }, state.map(|state| state.started_at));
    if rebooted {
        // It was over when this boot began.
        record.ended_at = booted_at().unwrap_or(record.ended_at).min(record.ended_at);
    }
    record
}

fn refused(refusal: &Refusal) -> ExitRecord {
    let mut record = record(Exit::Launch { message: refusal.message.clone() }, None);
    record.launch_failure = Some(refusal.failure.clone());
    record
}

fn record(exit: Exit, started_at: Option<Time>) -> ExitRecord {
    ExitRecord {
        v: V1,
        boot_id: boot_id().to_owned(),
        exit,
        launch_failure: None,
        stopped: false,
        interrupted: false,
        started_at,
        ended_at: clock::now(),
        used: Used::default(),
    }
}
