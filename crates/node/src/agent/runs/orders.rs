//! Carries out the server's orders for runs: launch, stop, pause, time limit, forget, delete the log.

use super::{RunPhase, Runs, Work};
use crate::launcher::LauncherLink;
use crate::rundir::RunRoot;
use crate::shim::refusal::Refusal;
use crate::{clock, exit_record};
use danlu_core::run::Exit;
use danlu_core::{RunId, Span};
use danlu_wire::rundir::{Control, ExitRecord, StopRequest};
use danlu_wire::{FromAgent, LaunchOrder, StopWhy};
use std::collections::btree_map::Entry;
use std::io;

/// Forks under way: enough to keep every core busy, few enough to fit in a socket.
const MOST_FORKING: usize = 128;
/// How often a run is given to a launcher that then dies.
pub(super) const MOST_TRIES: u32 = 3;

impl Runs {
    pub(in crate::agent) fn queue(&mut self, order: Box<LaunchOrder>) {
        let run = order.run;
        if let Entry::Vacant(vacant) = self.all.entry(run) {
            self.works.insert(run, Work::of(&order));
            vacant.insert(RunPhase::Queued { order, tries: 0 });
            self.queue.push_back(run);
        }
    }

    pub(in crate::agent) fn drop_queued(&mut self) {
        for run in self.queue.drain(..) {
            self.all.remove(&run);
            self.works.remove(&run);
        }
    }

    pub(in crate::agent) fn has_queued(&self) -> bool {
        !self.queue.is_empty()
    }

    pub(in crate::agent) fn launch_queued(&mut self, link: &LauncherLink) {
        while self.forking < MOST_FORKING {
            let Some(run) = self.queue.pop_front() else { return };
            let Some(RunPhase::Queued { .. }) = self.all.get(&run) else { continue };
            let Some(RunPhase::Queued { mut order, tries }) = self.all.remove(&run) else {
                continue;
            };
            let tries = tries + 1;
            match begin(&self.root, &mut order, link) {
                Ok(Begun::Given) => {
                    self.forking += 1;
                    let since = clock::now();
                    self.all.insert(
                        run,
                        RunPhase::Forking {
                            order,
                            since,
                            said: false,
                            tries,
                            ordered: false,
                            over: false,
                        },
                    );
                }
                // An unknown directory was made by another agent.
                Ok(Begun::Before) => {
                    self.look(run, clock::now(), false);
                    // The other agent has started nothing: its directory is gone now, and the run can start.
                    if !self.all.contains_key(&run) && tries < MOST_TRIES {
                        self.all.insert(run, RunPhase::Queued { order, tries });
                        self.queue.push_back(run);
                    }
                }
                // The next launcher gets it.
                Ok(Begun::NoLauncher) => {
                    let _ = self.root.remove(run);
                    self.all.insert(run, RunPhase::Queued { order, tries });
                    self.queue.push_front(run);
                    return;
                }
                Err(error) => {
                    let refusal = Refusal::run_directory("make the run directory", &error);
                    let _ = self.root.remove(run);
                    self.end(run, &exit_record::refused(&refusal));
                }
            }
        }
    }

    pub(in crate::agent) fn stop(&mut self, run: RunId, why: StopWhy, grace: Span) {
        if let Some(RunPhase::Queued { .. }) = self.all.get(&run) {
            self.queue.retain(|queued| *queued != run);
            let never = exit_record::ended(Exit::NeverStarted, None);
            self.end(run, &ExitRecord { stopped: true, ..never });
            return;
        }
        if self.root.is_missing(run)
            && let Some(RunPhase::Watched(watched)) = self.all.get_mut(&run)
        {
            return watched.stop_without_directory();
        }
        let preempted = why == StopWhy::Preempted;
        self.control(run, |control| {
            // Asked again, the sooner end counts; the shim sees to that as well.
            let grace = control.stop.map_or(grace, |before| before.grace.min(grace));
            control.stop = Some(StopRequest { grace, preempted });
        });
    }

    pub(in crate::agent) fn pause(&mut self, run: RunId, paused: bool) {
        self.control(run, |control| control.paused = paused);
    }

    pub(in crate::agent) fn set_limit(&mut self, run: RunId, limit: Span) {
        self.control(run, |control| control.limit = Some(limit));
    }

    pub(in crate::agent) fn forget(&mut self, run: RunId) {
        if let Some(RunPhase::Ended { .. }) = self.all.get(&run) {
            self.all.remove(&run);
            self.works.remove(&run);
            self.forgotten.push(run);
        }
    }

    /// Takes away the directories of forgotten runs.
    pub(in crate::agent) fn tidy(&mut self) {
        for run in self.forgotten.drain(..) {
            // A directory that stays is met again by the next agent, and forgotten by it.
            let _ = self.root.forget(run);
        }
    }

    /// Forgets an ended run first. A log that is in use or cannot be deleted now is not confirmed: the server repeats the order.
    pub(in crate::agent) fn drop_log(&mut self, run: RunId) {
        self.forget(run);
        self.tidy();
        if !self.all.contains_key(&run) && self.root.drop_log(run).is_ok() {
            self.notices.push(FromAgent::LogDropped { run });
        }
    }

    fn control(&mut self, run: RunId, change: impl FnOnce(&mut Control)) {
        let Some(phase) = self.all.get_mut(&run) else { return };
        if !matches!(
            phase,
            RunPhase::Forking { .. } | RunPhase::Watched(_) | RunPhase::Unclear { .. }
        ) {
            return;
        }
        // On a full disk, or without a descriptor to spare, the order is lost, and comes again with the next report.
        let Ok(dir) = self.root.dir(run) else { return };
        let Ok(control) = dir.read::<Control>() else { return };
        let mut control = control.unwrap_or_default();
        change(&mut control);
        if dir.write(&control).is_ok() {
            match phase {
                RunPhase::Watched(watched) => watched.apply(&control),
                RunPhase::Forking { ordered, .. } => *ordered = true,
                RunPhase::Queued { .. }
                | RunPhase::Unclear { .. }
                | RunPhase::Orphaned { .. }
                | RunPhase::Ended { .. } => {}
            }
        }
    }

    /// An order may have come to the file before there was a shim to tell, or without the time to tell it.
    pub(super) fn apply_control(&mut self, run: RunId) {
        let Some(RunPhase::Watched(watched)) = self.all.get_mut(&run) else { return };
        let control = self.root.dir(run).and_then(|dir| dir.read::<Control>());
        if let Ok(Some(control)) = control {
            watched.apply(&control);
        }
    }
}

enum Begun {
    Given,
    /// Its directory was there.
    Before,
    NoLauncher,
}

fn begin(root: &RunRoot, order: &mut LaunchOrder, link: &LauncherLink) -> io::Result<Begun> {
    let Some(dir) = root.create(order.run)? else { return Ok(Begun::Before) };
    if !dir.lock()? {
        return Err(io::Error::other("a new run directory is locked"));
    }
    match link.launch(order, &dir) {
        Ok(()) => Ok(Begun::Given),
        Err(error) if is_closed(&error) => Ok(Begun::NoLauncher),
        Err(error) => Err(error),
    }
}

fn is_closed(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, NotConnected};
    matches!(error.kind(), BrokenPipe | ConnectionReset | NotConnected)
}
