//! What the engine does about a bug of ours that makes the core panic: neither loop, nor lose what was acknowledged.
//!
//! The batch is thrown away and decided again on the state that the store holds. What panics there again is left out: a
//! person's request is refused, a machine has to report anew before it gets work, and scheduling pauses until an admin
//! resumes it.

use super::pending::{Culprit, Job, Pending};
use super::{Engine, load};
use crate::clock;
use crate::handle::NotNow;
use crate::notices::{self, NoticeKind, Notices};
use crate::panics::{self, Panic, on_purpose};
use danlu_core::{Input, NodeId, NodeMessage, SessionId, Time};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tracing::{error, info};

/// For one batch. With more something else is wrong.
const MOST_RELOADS: u32 = 8;
/// Before a machine is asked again; twice as long each time.
const FIRST_WAIT: Duration = Duration::from_secs(10);
const LONGEST_WAIT: Duration = Duration::from_secs(600);

#[derive(Debug, Default)]
pub(super) struct Trouble {
    /// The newest report.
    report: PathBuf,
    paused: bool,
    /// Scheduling has been resumed a moment ago.
    resumed: bool,
    distrusted: BTreeMap<NodeId, Distrust>,
}

#[derive(Debug)]
struct Distrust {
    /// When it is asked anew; `None` once it has been.
    due: Option<Instant>,
    wait: Duration,
}

impl Trouble {
    pub(super) fn scheduling_is_paused(&self) -> bool {
        self.paused
    }

    pub(super) fn has_just_ended(&mut self) -> bool {
        std::mem::take(&mut self.resumed)
    }

    /// Who acknowledges that scheduling is paused resumes it.
    pub(super) fn look_at(&mut self, notices: &Notices) {
        let said = |kind: &NoticeKind| matches!(kind, NoticeKind::SchedulingPaused { .. });
        if self.paused && !notices.all().iter().any(|notice| said(&notice.what)) {
            info!("scheduling is resumed");
            (self.paused, self.resumed) = (false, true);
        }
    }

    pub(super) fn next_due(&self) -> Option<Duration> {
        let due = self.distrusted.values().filter_map(|distrust| distrust.due).min()?;
        Some(due.saturating_duration_since(Instant::now()))
    }

    /// Machines that are to be asked now.
    pub(super) fn due(&mut self) -> Vec<NodeId> {
        let now = Instant::now();
        let due = |distrust: &Distrust| distrust.due.is_some_and(|due| due <= now);
        let nodes = self.distrusted.iter_mut().filter(|(_, distrust)| due(distrust));
        nodes
            .map(|(node, distrust)| {
                distrust.due = None;
                *node
            })
            .collect()
    }

    fn distrust(&mut self, node: NodeId) {
        let wait = self.distrusted.get(&node).map_or(FIRST_WAIT, |before| before.wait * 2);
        let wait = wait.min(LONGEST_WAIT);
        self.distrusted.insert(node, Distrust { due: Some(Instant::now() + wait), wait });
    }

    fn report(&self) -> String {
        self.report.display().to_string()
    }
}

impl Engine {
    /// `false` when all of it had to be thrown away; whoever waits has been told.
    pub(super) fn decide_all(&mut self, pending: &mut Pending) -> bool {
        while pending.has_more() {
            let state = &mut self.state;
            if let Err(panic) = panics::guarded(|| pending.decide_next(state)) {
                self.blame(pending, &panic);
                if !self.reload(pending) {
                    return false;
                }
            }
        }
        true
    }

    /// When something is due by itself.
    pub(super) fn wake_at(&mut self, now: Time, pending: &mut Pending) -> Option<Time> {
        for again in [false, true] {
            let state = &self.state;
            let asked = || {
                on_purpose::strike("wake");
                state.wake_at(now)
            };
            let panic = match panics::guarded(asked) {
                Ok(at) => return at,
                Err(panic) => panic,
            };
            if again {
                self.pause_scheduling(pending);
            } else {
                self.trouble.report = panics::report(&self.data, &panic, None);
            }
            if self.reload(pending) {
                self.decide_all(pending);
            }
        }
        // At once: people have to be told.
        Some(now)
    }

    fn blame(&mut self, pending: &mut Pending, panic: &Panic) {
        match pending.blame() {
            Culprit::New(input) => {
                self.trouble.report = panics::report(&self.data, panic, input.as_deref());
            }
            Culprit::Person => pending.give_up(self.internal_error()),
            Culprit::Machine(node, session) => {
                pending.give_up(self.internal_error());
                self.distrust(pending, node, session);
            }
            Culprit::Scheduler => self.pause_scheduling(pending),
        }
    }

    fn internal_error(&self) -> NotNow {
        let report = self.trouble.report();
        NotNow {
            message: format!("internal error: this cannot be decided; a report is in {report}"),
            hint: "nothing has changed; ask an admin to send that report to the authors of Danlu",
        }
    }

    /// Its connection counts no more, and a new one is made later.
    fn distrust(&mut self, pending: &mut Pending, node: NodeId, session: SessionId) {
        self.trouble.distrust(node);
        let next = SessionId(session.0 + 1);
        let input = Input::Node { node, session: next, message: NodeMessage::Connected };
        pending.push(Job::Node { input, panics: 0 });
        let name = self.publisher.node_name(node);
        error!(node = name, "its message cannot be processed; it has to report anew");
        let all = self.notices.all();
        let known = all.iter().any(|notice| match &notice.what {
            NoticeKind::MachineDistrusted { node, .. } => *node == name,
            NoticeKind::DataLost { .. }
            | NoticeKind::Restored { .. }
            | NoticeKind::SchedulingPaused { .. } => false,
        });
        if !known {
            let report = self.trouble.report();
            note(pending, NoticeKind::MachineDistrusted { node: name, report });
        }
    }

    fn pause_scheduling(&mut self, pending: &mut Pending) {
        pending.give_up_passes();
        if !self.trouble.paused {
            self.trouble.paused = true;
            error!("scheduling is paused; danlu resume-queue resumes it");
            note(pending, NoticeKind::SchedulingPaused { report: self.trouble.report() });
        }
    }

    /// The state as the store holds it; what has come since is to be decided again.
    fn reload(&mut self, pending: &mut Pending) -> bool {
        let loaded = match pending.reloads {
            ..=MOST_RELOADS => load(&self.store),
            _ => Err(self.store.damaged("its state makes the server panic".into())),
        };
        match loaded {
            Ok(state) => {
                self.state = state;
                pending.begin_again();
                true
            }
            Err(cause) => {
                self.recover(&cause, std::mem::take(pending));
                false
            }
        }
    }
}

fn note(pending: &mut Pending, what: NoticeKind) {
    let (record, deed) = notices::record(what, clock::now());
    pending.push(Job::Keep { changes: vec![record], deed: Some(deed), reply: None });
}
