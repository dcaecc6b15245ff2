//! Runs whose state is unclear, and runs whose shim is gone while processes are left: checked again until they settle.

use super::{RunPhase, Runs, Work};
use crate::boot::boot_id;
use crate::classify::{Found, classify};
use crate::rundir::RunDir;
use crate::{exit_record, orphan_processes};
use danlu_core::{RunId, Time};
use danlu_wire::FromAgent;
use danlu_wire::rundir::ShimState;
use std::io;
use std::time::{Duration, Instant};

/// Between two looks: little at first, more for what does not settle.
pub(super) const LEAST_PATIENCE: Duration = Duration::from_millis(20);
const MOST_PATIENCE: Duration = Duration::from_secs(1);

impl Runs {
    pub(in crate::agent) fn look_again_at(&self) -> Option<Instant> {
        self.look_again_at
    }

    /// Only after something was killed that should not have been; otherwise there is nothing to look at.
    pub(in crate::agent) fn look_again(&mut self) {
        if self.look_again_at.is_none_or(|at| Instant::now() < at) {
            return;
        }
        self.look_again_at = None;
        self.patience = (self.patience * 2).min(MOST_PATIENCE);
        for run in std::mem::take(&mut self.unsettled) {
            match self.all.get(&run) {
                Some(RunPhase::Unclear { since, said }) => self.look(run, *since, *said),
                Some(RunPhase::Orphaned { state }) => self.clean(run, state.clone()),
                Some(
                    RunPhase::Queued { .. }
                    | RunPhase::Forking { .. }
                    | RunPhase::Watched(_)
                    | RunPhase::Ended { .. },
                )
                | None => {}
            }
        }
        if self.unsettled.is_empty() {
            self.patience = LEAST_PATIENCE;
        }
    }

    pub(super) fn unsettle(&mut self, run: RunId, phase: RunPhase) {
        self.all.insert(run, phase);
        self.unsettled.push(run);
        self.look_again_at.get_or_insert_with(|| Instant::now() + self.patience);
    }

    /// Learns from its directory what a run is.
    pub(super) fn look(&mut self, run: RunId, since: Time, said: bool) {
        let dir = self.root.dir(run);
        if !self.works.contains_key(&run)
            && let Ok(Some(state)) = dir.as_ref().map_or(Ok(None), RunDir::read)
        {
            self.works.extend(Work::of_state(state).map(|work| (run, work)));
        }
        let found = dir.and_then(|dir| classify(&dir, boot_id()));
        match found {
            Ok(Found::Ended(record)) => self.end_by(run, &record),
            Ok(Found::Alive { state, shim }) => {
                self.watch(run, shim, state.started_at, true);
                self.apply_control(run);
                if !said {
                    let (at, leader) = (state.started_at, state.leader);
                    self.notices.push(FromAgent::Started { run, at, leader });
                }
            }
            // The directory was deleted, and with it all that was known of the run.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.all.remove(&run);
                self.works.remove(&run);
            }
            Ok(Found::Unclear) | Err(_) => self.unsettle(run, RunPhase::Unclear { since, said }),
            Ok(Found::Orphaned { state }) => self.clean(run, state),
            Ok(Found::NeverStarted) => {
                let _ = self.root.remove(run);
                self.all.remove(&run);
            }
        }
    }

    pub(super) fn clean(&mut self, run: RunId, state: ShimState) {
        let rebooted = state.boot_id != boot_id();
        if rebooted || orphan_processes::kill(&state, &self.root.run_path(run)) {
            self.end(run, &exit_record::vanished(Some(&state)));
        } else {
            self.unsettle(run, RunPhase::Orphaned { state });
        }
    }
}
