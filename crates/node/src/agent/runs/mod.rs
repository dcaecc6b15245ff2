//! Every run that has a directory on this node or is about to get one, and its phase.

mod events;
mod orders;
mod unsettled;

use super::event_loop::listen;
use crate::boot::boot_id;
use crate::orphan_shims;
use crate::process::Pidfd;
use crate::rundir::RunRoot;
use crate::{clock, signals};
use danlu_core::run::{Ending, Exit, ReportedState, RunReport};
use danlu_core::{GpuId, RunId, Span, TaskId, Time, Trouble};
use danlu_wire::rundir::{Control, ExitRecord, ShimState};
use danlu_wire::{FromAgent, LaunchOrder};
use nix::sys::epoll::Epoll;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};
use unsettled::LEAST_PATIENCE;

pub(super) struct Runs {
    root: RunRoot,
    epoll: Arc<Epoll>,
    all: BTreeMap<RunId, RunPhase>,
    by_token: BTreeMap<Token, RunId>,
    next_token: Token,
    /// In phase `Queued`, in order.
    queue: VecDeque<RunId>,
    /// How many are in phase `Forking`.
    forking: usize,
    /// Runs in a phase that has to be checked again, and when.
    unsettled: Vec<RunId>,
    look_again_at: Option<Instant>,
    /// Their directories are still there, for a moment.
    forgotten: Vec<RunId>,
    patience: Duration,
    /// To be said, in order.
    pub(super) notices: Vec<FromAgent>,
    /// What they are for, as far as it is known.
    works: BTreeMap<RunId, Work>,
    /// Why the last one could not be started, if the machine is to blame.
    pub(super) trouble: Option<Trouble>,
}

/// Task and GPUs of a run, so that a server that has lost its database can tell which GPUs are in use.
#[derive(Debug, Clone)]
struct Work {
    task: TaskId,
    gpus: Vec<GpuId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Token(pub(super) u64);

#[derive(Debug)]
enum RunPhase {
    /// Has no directory yet.
    Queued {
        order: Box<LaunchOrder>,
        tries: u32,
    },
    /// The launcher has the request and has not answered yet.
    Forking {
        order: Box<LaunchOrder>,
        since: Time,
        /// The server knows that the command runs: the shim's notice came before the launcher's answer.
        said: bool,
        tries: u32,
        /// A `control.json` was written before there was a shim to signal.
        ordered: bool,
        /// The notice of its end came before the launcher's answer too: the result is there.
        over: bool,
    },
    Watched(Watched),
    /// The lock of its directory is held, but the holder is not known yet.
    Unclear {
        since: Time,
        said: bool,
    },
    /// Its shim was killed; the processes of the run are being killed too.
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
    token: Token,
    since: Time,
    /// The server knows that the command runs.
    said: bool,
    /// Requested, and no stop was requested.
    paused: bool,
    /// As last requested.
    limit: Option<Span>,
    /// It was signalled to stop without an order in its directory, which is gone.
    stopped_without_directory: bool,
}

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
            forking: 0,
            unsettled: Vec::new(),
            look_again_at: None,
            forgotten: Vec::new(),
            patience: LEAST_PATIENCE,
            notices: Vec::new(),
            works: BTreeMap::new(),
            trouble: None,
        };
        for run in found {
            runs.look(run, clock::now(), false);
        }
        for (run, shim) in orphan_shims::find(&runs.root) {
            runs.watch(run, shim, clock::now(), true);
        }
        // A server that connects asks for a report, which contains all of this.
        runs.notices.clear();
        runs.trouble = None;
        Ok(runs)
    }

    pub(super) fn root(&self) -> &RunRoot {
        &self.root
    }

    pub(super) fn report(&self) -> Vec<RunReport> {
        let alive = |since, paused, limit| Some(ReportedState::Alive { since, paused, limit });
        let state = |phase: &RunPhase| match phase {
            // It may still come to nothing, and then nothing ran.
            RunPhase::Queued { .. } => None,
            RunPhase::Forking { since, .. } | RunPhase::Unclear { since, .. } => {
                alive(*since, false, None)
            }
            RunPhase::Watched(watched) => alive(watched.since, watched.paused, watched.limit),
            RunPhase::Orphaned { state } => alive(state.started_at, false, None),
            RunPhase::Ended { ending } => Some(ReportedState::Ended(ending.clone())),
        };
        self.all
            .iter()
            .filter_map(|(&run, phase)| {
                let report = RunReport::new(run, state(phase)?);
                Some(match self.works.get(&run).cloned() {
                    Some(Work { task, gpus }) => RunReport { task: Some(task), gpus, ..report },
                    None => report,
                })
            })
            .collect()
    }

    fn watch(&mut self, run: RunId, shim: Pidfd, since: Time, said: bool) {
        let token = self.next_token;
        self.next_token = Token(token.0 + 1);
        if listen(&self.epoll, &shim, token).is_err() {
            // Out of some resource: its end is then found by looking.
            self.unsettle(run, RunPhase::Unclear { since, said });
            return;
        }
        self.by_token.insert(token, run);
        let (paused, stopped_without_directory) = (false, false);
        let watched =
            Watched { shim, token, since, said, paused, limit: None, stopped_without_directory };
        self.all.insert(run, RunPhase::Watched(watched));
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
        let mut ending = record.ending(boot_id());
        ending.used.log_bytes = self.root.log_bytes(run);
        if let Exit::Trouble(trouble) = &ending.exit {
            self.trouble = Some(trouble.clone());
        }
        let used = ending.used;
        self.notices.push(FromAgent::Ended { run, ending: ending.clone(), used });
        self.all.insert(run, RunPhase::Ended { ending });
    }
}

impl Work {
    fn of(order: &LaunchOrder) -> Work {
        let gpus = order.gpus.assigned.iter().map(|gpu| gpu.uuid.clone());
        Work { task: order.task, gpus: gpus.collect() }
    }

    /// `None` for one that an earlier version began.
    fn of_state(state: ShimState) -> Option<Work> {
        Some(Work { task: state.task?, gpus: state.gpus })
    }
}

impl Watched {
    fn apply(&mut self, control: &Control) {
        self.paused = control.paused && control.stop.is_none();
        self.limit = control.limit;
        self.shim.signal(signals::LOOK);
    }

    fn stop_without_directory(&mut self) {
        self.stopped_without_directory = true;
        self.shim.signal(signals::LOOK);
    }
}
