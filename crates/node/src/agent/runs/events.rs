//! What the agent does when the launcher has forked a shim, or when a shim reports or ends.

use super::orders::MOST_TRIES;
use super::{RunPhase, Runs, Token, Watched};
use crate::boot::boot_id;
use crate::classify::{Found, classify};
use crate::process::Pidfd;
use crate::shim::refusal::Refusal;
use crate::{clock, exit_record};
use danlu_core::{RunId, Time};
use danlu_wire::rundir::{ExitRecord, ShimState};
use danlu_wire::{FromAgent, LaunchOrder};
use std::io;

impl Runs {
    pub(in crate::agent) fn forked(&mut self, run: RunId, shim: Option<Pidfd>) {
        let Some(RunPhase::Forking { since, said, ordered, over, .. }) = self.all.get(&run) else {
            return;
        };
        let (since, said, ordered) = (*since, *said, *ordered);
        self.forking -= 1;
        match shim {
            // The shim may have another run already.
            _ if *over => return self.settle(run),
            Some(shim) => self.watch(run, shim, since, said),
            None => self.unsettle(run, RunPhase::Unclear { since, said }),
        }
        if ordered {
            self.apply_control(run);
        }
    }

    pub(in crate::agent) fn not_forked(&mut self, run: RunId, error: &io::Error) {
        if let Some(RunPhase::Forking { .. }) = self.all.get(&run) {
            self.forking -= 1;
            self.end(run, &exit_record::refused(&Refusal::process(error)));
        }
    }

    pub(in crate::agent) fn started(&mut self, run: RunId, at: Time, leader: u32) {
        let (since, said) = match self.all.get_mut(&run) {
            Some(RunPhase::Watched(watched)) => (&mut watched.since, &mut watched.said),
            Some(RunPhase::Forking { since, said, .. } | RunPhase::Unclear { since, said }) => {
                (since, said)
            }
            Some(RunPhase::Queued { .. } | RunPhase::Orphaned { .. } | RunPhase::Ended { .. })
            | None => return,
        };
        if !std::mem::replace(said, true) {
            *since = at;
            self.notices.push(FromAgent::Started { run, at, leader });
        }
    }

    /// Its shim has nothing more to do with it.
    pub(in crate::agent) fn result_is_there(&mut self, run: RunId) {
        match self.all.get_mut(&run) {
            Some(RunPhase::Watched(watched)) => {
                let token = watched.token;
                self.shim_ended(token);
            }
            Some(RunPhase::Forking { over, .. }) => *over = true,
            Some(
                RunPhase::Queued { .. }
                | RunPhase::Unclear { .. }
                | RunPhase::Orphaned { .. }
                | RunPhase::Ended { .. },
            )
            | None => {}
        }
    }

    pub(in crate::agent) fn shim_ended(&mut self, token: Token) {
        let Some(run) = self.by_token.remove(&token) else { return };
        if let Some(RunPhase::Watched(watched)) = self.all.get(&run) {
            // Closing it is not enough: the launcher has it open too, for the next run.
            let _ = self.epoll.delete(&watched.shim);
        }
        self.settle(run);
    }

    /// There is no shim for it any more: takes over what it has left.
    fn settle(&mut self, run: RunId) {
        let left = self.root.dir(run).and_then(|dir| Ok((dir.read()?, dir.read::<ShimState>()?)));
        match left {
            Ok((Some(record), _)) => self.end_by(run, &record),
            Ok((None, Some(state))) => self.clean(run, state),
            // Killed before it wrote its state: nothing ran.
            Ok((None, None)) => {
                self.end(run, &exit_record::refused(&Refusal::shim_killed()));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let stopped = matches!(
                    self.all.get(&run),
                    Some(RunPhase::Watched(Watched { stopped_without_directory: true, .. }))
                );
                self.end_by(run, &ExitRecord { stopped, ..exit_record::unknown() });
            }
            // It cannot be read now, and is to be read later.
            Err(_) => self.unsettle(run, RunPhase::Unclear { since: clock::now(), said: true }),
        }
    }

    /// The launcher is gone. What it has forked lives; the rest is to be forked by the next.
    pub(in crate::agent) fn requeue_forking(&mut self) {
        for Forking { run, order, since, said, tries } in self.take_forking() {
            match self.root.dir(run).and_then(|dir| classify(&dir, boot_id())) {
                Ok(Found::NeverStarted) if tries < MOST_TRIES => {
                    let _ = self.root.remove(run);
                    self.all.insert(run, RunPhase::Queued { order, tries });
                    self.queue.push_back(run);
                }
                Ok(Found::NeverStarted) => {
                    let error = io::Error::other("the launcher dies again and again");
                    self.end(run, &exit_record::refused(&Refusal::launcher(&error)));
                }
                Ok(
                    Found::Ended(_) | Found::Alive { .. } | Found::Unclear | Found::Orphaned { .. },
                )
                | Err(_) => self.look(run, since, said),
            }
        }
    }

    /// There is no launcher, and no new one can be started.
    pub(in crate::agent) fn refuse_forking(&mut self, error: &io::Error) {
        for Forking { run, since, said, .. } in self.take_forking() {
            match self.root.dir(run).and_then(|dir| classify(&dir, boot_id())) {
                Ok(Found::NeverStarted) => {
                    self.end(run, &exit_record::refused(&Refusal::launcher(error)));
                }
                Ok(
                    Found::Ended(_) | Found::Alive { .. } | Found::Unclear | Found::Orphaned { .. },
                )
                | Err(_) => self.look(run, since, said),
            }
        }
    }

    pub(in crate::agent) fn refuse_queued(&mut self, error: &io::Error) {
        for run in std::mem::take(&mut self.queue) {
            self.end(run, &exit_record::refused(&Refusal::launcher(error)));
        }
    }

    fn take_forking(&mut self) -> Vec<Forking> {
        self.forking = 0;
        let forking = |_: &RunId, phase: &mut RunPhase| matches!(phase, RunPhase::Forking { .. });
        self.all
            .extract_if(.., forking)
            .filter_map(|(run, phase)| {
                let RunPhase::Forking { order, since, said, tries, .. } = phase else {
                    return None;
                };
                Some(Forking { run, order, since, said, tries })
            })
            .collect()
    }
}

/// A run that the launcher was to fork when it died.
struct Forking {
    run: RunId,
    order: Box<LaunchOrder>,
    since: Time,
    said: bool,
    tries: u32,
}
