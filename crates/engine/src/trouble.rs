//! Handles panics of the core, which are bugs: the engine neither loops nor loses what was acknowledged.
//!
//! The batch is dropped and decided again on the state that the store holds. An input that panics again is left out: a
//! user's request is refused, a machine has to report again before it gets work, and scheduling pauses until an
//! administrator resumes it.

use crate::engine::{Engine, Mode, load};
use crate::outside::{Notice, Outside};
use crate::panics::{Panic, guarded};
use crate::pending::{Culprit, Halt, Job};
use danlu_core::{Input, Mutant, NodeId, NodeMessage, SessionId, Time, mutated};
use std::collections::BTreeMap;
use std::time::Duration;
use tracing::{error, info};

/// For one batch. With more something else is wrong.
const MOST_RELOADS: u32 = 8;
/// Before a machine is asked again; twice as long each time.
const FIRST_WAIT: Duration = Duration::from_secs(10);
const LONGEST_WAIT: Duration = Duration::from_secs(600);

#[derive(Debug, Default)]
pub(crate) struct Trouble {
    /// The newest report.
    report: String,
    paused: bool,
    /// Scheduling has been resumed a moment ago.
    resumed: bool,
    distrusted: BTreeMap<NodeId, Distrust>,
}

#[derive(Debug)]
struct Distrust {
    /// When it is asked anew; `None` once it has been.
    due: Option<Duration>,
    /// Stands for the connection that it does not have until then.
    session: SessionId,
    wait: Duration,
}

impl Trouble {
    pub(crate) fn scheduling_is_paused(&self) -> bool {
        self.paused
    }

    pub(crate) fn has_just_ended(&mut self) -> bool {
        std::mem::take(&mut self.resumed)
    }

    /// Acknowledging the notice resumes scheduling.
    pub(crate) fn look_at(&mut self, paused: bool) {
        if self.paused && !paused {
            info!("scheduling is resumed");
            (self.paused, self.resumed) = (false, true);
        }
    }

    pub(crate) fn next_due(&self) -> Option<Duration> {
        self.distrusted.values().filter_map(|distrust| distrust.due).min()
    }

    /// Machines that are to be asked now.
    pub(crate) fn due(&mut self, now: Duration) -> Vec<(NodeId, SessionId)> {
        let due = |distrust: &Distrust| distrust.due.is_some_and(|due| due <= now);
        let nodes = self.distrusted.iter_mut().filter(|(_, distrust)| due(distrust));
        nodes
            .map(|(node, distrust)| {
                distrust.due = None;
                (*node, distrust.session)
            })
            .collect()
    }

    fn distrust(&mut self, node: NodeId, session: SessionId, now: Duration) {
        let wait = self.distrusted.get(&node).map_or(FIRST_WAIT, |before| before.wait * 2);
        let wait = wait.min(LONGEST_WAIT);
        self.distrusted.insert(node, Distrust { due: Some(now + wait), session, wait });
    }
}

impl<O: Outside> Engine<O> {
    /// `false` if the whole batch was dropped; its callers have been answered.
    pub(crate) fn decide_all(&mut self, outside: &mut O) -> bool {
        while self.pending.has_more() {
            let Mode::Working(state) = &mut self.mode else { return false };
            match guarded(|| self.pending.decide_next(state, outside)) {
                Ok(Ok(())) => {}
                Ok(Err(halt)) => {
                    let cause = match halt {
                        Halt::Store(cause) => cause,
                        Halt::Refused(refusal) => outside.damaged(format!("{refusal:?}")),
                    };
                    let pending = std::mem::take(&mut self.pending);
                    self.recover(outside, cause, pending);
                    return false;
                }
                Err(panic) => {
                    self.blame(outside, &panic);
                    if !self.reload(outside) {
                        return false;
                    }
                }
            }
        }
        true
    }

    /// When something is due by itself.
    pub(crate) fn wake_at(&mut self, outside: &mut O, now: Time) -> Option<Time> {
        for again in [false, true] {
            let Mode::Working(state) = &self.mode else { return Some(now) };
            let asked = || {
                outside.before_wake();
                state.wake_at(now)
            };
            let panic = match guarded(asked) {
                Ok(at) => return at,
                Err(panic) => panic,
            };
            if again {
                self.pause_scheduling(outside);
            } else {
                self.note_panic(outside, &panic, None);
            }
            if self.reload(outside) {
                self.decide_all(outside);
            }
        }
        // Committed at once, so that administrators see the notice.
        Some(now)
    }

    fn blame(&mut self, outside: &mut O, panic: &Panic) {
        match self.pending.blame() {
            Culprit::New(input) => self.note_panic(outside, panic, input.as_deref()),
            Culprit::Person => self.pending.give_up(self.trouble.report.clone()),
            Culprit::Machine(node, session) => {
                self.pending.give_up(self.trouble.report.clone());
                self.distrust(outside, node, session);
            }
            Culprit::Scheduler => self.pause_scheduling(outside),
        }
    }

    fn note_panic(&mut self, outside: &mut O, panic: &Panic, input: Option<&Input>) {
        error!(panic.message, panic.place, "internal error, please report it");
        self.trouble.report = outside.report(panic, input);
    }

    /// Its connection counts no more, and a new one is made later.
    fn distrust(&mut self, outside: &mut O, node: NodeId, session: SessionId) {
        error!(%node, "its message cannot be processed; it has to report anew");
        if !mutated(Mutant::DistrustedStillHeard) {
            let next = SessionId(session.0 + 1);
            self.trouble.distrust(node, next, outside.elapsed());
            let input = Input::Node { node, session: next, message: NodeMessage::Connected };
            self.pending.push(Job::Node { input, panics: 0 });
        }
        let report = &self.trouble.report;
        self.note(outside.notice(Notice::MachineDistrusted { node, report }));
    }

    fn pause_scheduling(&mut self, outside: &mut O) {
        self.pending.give_up_passes();
        if !self.trouble.paused {
            self.trouble.paused = true;
            error!("scheduling is paused; danlu resume-queue resumes it");
            let report = &self.trouble.report;
            self.note(outside.notice(Notice::SchedulingPaused { report }));
        }
    }

    fn note(&mut self, notice: Option<O::Extras>) {
        if let Some(extras) = notice {
            self.pending.push(Job::Keep { extras, caller: None });
        }
    }

    /// Reload the state from the store; later inputs are decided again.
    fn reload(&mut self, outside: &mut O) -> bool {
        if mutated(Mutant::PanickedStateKept) {
            self.pending.begin_again();
            return true;
        }
        let loaded = match self.pending.reloads {
            ..=MOST_RELOADS => load(outside, self.life.slice),
            _ => Err(outside.damaged("its state makes the server panic".into())),
        };
        match loaded {
            Ok(state) => {
                self.mode = Mode::Working(Box::new(state));
                self.pending.begin_again();
                true
            }
            Err(cause) => {
                let pending = std::mem::take(&mut self.pending);
                self.recover(outside, cause, pending);
                false
            }
        }
    }
}
