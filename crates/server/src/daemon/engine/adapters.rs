//! The production implementations of `Store`, `Fleet`, `Clock`, `People` and `Watch` of the engine.

use crate::daemon::audit_entry;
use crate::daemon::clock;
use crate::daemon::handle::{self, Asker, NotNow, Question};
use crate::daemon::notices::{self, NoticeKind, Notices};
use crate::daemon::panic_reports::{self, on_purpose};
use crate::fleet::Backends;
use crate::read_model::Publisher;
use crate::store::disk::Disk;
use crate::store::history::History;
use crate::store::history::counts::{self, PastCounts};
use crate::store::restore_guard::RestoreGuard;
use crate::store::{Batch, Deed, Extras, Store, StoreError};
use crate::usage::Usage;
use danlu_core::state::Retired;
use danlu_core::{
    Effect, Event, Input, NodeId, Reply, Row, RowKey, RunId, State, TaskId, Time, UserId,
};
use danlu_engine::{Answer, Clock, Fleet, Notice, Panic, People, Watch};
use danlu_messages::errors;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tracing::warn;

/// A checkpoint is made after this long without a commit, so that the database file alone is complete.
const IDLE: Duration = Duration::from_secs(1);
/// Between two slices of work that can wait.
const BETWEEN_SLICES: Duration = Duration::from_millis(20);
/// And at the latest after this.
const LONGEST: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(super) struct EngineAdapters {
    store: Store,
    history: History,
    pub(super) disk: Disk,
    guard: RestoreGuard,
    publisher: Publisher,
    notices: Notices,
    usage: Usage,
    backends: Backends,
    started: Instant,
    /// Times of the first and the last commit since the last checkpoint.
    unsettled: Option<(Instant, Instant)>,
    /// The database may have something to give back.
    untidy: bool,
}

/// Where to send the reply.
#[derive(Debug)]
pub(super) struct ReplyTo {
    /// The person to name in the audit log, if it is a person's request.
    pub(super) by: Option<Asker>,
    pub(super) reply: oneshot::Sender<handle::EngineReply>,
}

impl EngineAdapters {
    pub(super) fn new(
        (store, history): (Store, History),
        mut disk: Disk,
        guard: RestoreGuard,
        publisher: Publisher,
        notices: Notices,
        usage: Usage,
        backends: Backends,
    ) -> EngineAdapters {
        disk.set_space_aside();
        let (started, unsettled) = (Instant::now(), None);
        EngineAdapters {
            store,
            history,
            disk,
            guard,
            publisher,
            notices,
            usage,
            backends,
            started,
            unsettled,
            untidy: true,
        }
    }

    pub(super) fn due_in(&self) -> Option<Duration> {
        let tidies = self.untidy && self.unsettled.is_none();
        let tidies_in = tidies.then_some(BETWEEN_SLICES);
        [self.settles_in(), self.disk.looks_in(), tidies_in].into_iter().flatten().min()
    }

    pub(super) fn do_what_is_due(&mut self) {
        if self.settles_in().is_some_and(|wait| wait.is_zero()) {
            self.settle();
            self.untidy = true;
        } else if self.untidy && self.unsettled.is_none() {
            self.untidy = self.store.tidy(clock::now()).unwrap_or_else(|cause| {
                warn!(%cause, "the database could not be made smaller");
                false
            });
            if !self.untidy {
                self.settle();
            }
        }
        self.disk.set_space_aside();
    }

    fn settles_in(&self) -> Option<Duration> {
        let (first, last) = self.unsettled?;
        Some(IDLE.saturating_sub(last.elapsed()).min(LONGEST.saturating_sub(first.elapsed())))
    }

    /// Makes a checkpoint: the database file alone is complete afterwards.
    pub(super) fn settle(&mut self) {
        match self.store.settle() {
            Ok(true) => self.unsettled = None,
            // Somebody reads what was there before; again soon.
            Ok(false) => {
                let now = Instant::now();
                self.unsettled = self.unsettled.map(|_| (now, now));
            }
            Err(cause) => {
                self.unsettled = None;
                warn!(%cause, "the database could not be brought up to date; its log has everything");
            }
        }
    }

    /// For the last time: nobody reads any more.
    pub(super) fn close(&mut self) {
        self.history.stop();
        self.settle();
    }

    /// As of the last commit.
    fn past_counts(&self) -> Option<PastCounts> {
        let counts = self.store.past_counts();
        counts.map_err(|cause| warn!(%cause, "the history cannot be counted")).ok()
    }

    fn has_notice(&self, is_it: impl Fn(&NoticeKind) -> bool) -> bool {
        self.notices.all().iter().any(|notice| is_it(&notice.what))
    }
}

impl danlu_engine::Store for EngineAdapters {
    type Error = StoreError;
    type Extras = Extras;

    fn rows(&mut self) -> Result<Vec<Row>, StoreError> {
        self.store.rows()
    }

    fn commit(&mut self, batch: &Batch) -> Result<(), StoreError> {
        on_purpose::for_commit(&self.store)?;
        let since = self.publisher.counters().is_wanted().then(Instant::now);
        let mut committed = self.store.commit(batch);
        if committed.as_ref().is_err_and(StoreError::is_full) && self.disk.give_up_reserve() {
            committed = self.store.commit(batch);
        }
        committed?;
        if !batch.is_empty() {
            let ledger = match batch.rows.get(&RowKey::Ledger) {
                Some(Some(Row::Ledger(ledger))) => Some(&**ledger),
                _ => None,
            };
            self.guard.note(self.store.newest_event(), ledger);
            let now = Instant::now();
            self.unsettled = Some((self.unsettled.map_or(now, |(first, _)| first), now));
            if let Some(since) = since {
                self.publisher.counters().committed(now - since);
            }
        }
        Ok(())
    }

    fn retired(&mut self, task: TaskId) -> Result<Option<Retired>, StoreError> {
        self.store.retired(task)
    }

    fn retired_with_key(&mut self, user: UserId, key: &str) -> Result<Option<TaskId>, StoreError> {
        self.store.retired_with_key(user, key)
    }

    fn damaged(&mut self, what: String) -> StoreError {
        self.store.damaged(what)
    }
}

impl Fleet for EngineAdapters {
    fn carry_out(&mut self, state: &State, effect: Effect) {
        self.backends.carry_out(state, &self.store, effect);
    }

    fn reconnect(&mut self, state: &State) {
        self.backends.reconnect(state);
    }

    fn reconnect_one(&mut self, state: &State, node: NodeId) {
        self.backends.reconnect_one(state, node);
    }
}

impl Clock for EngineAdapters {
    fn now(&self) -> Time {
        clock::now()
    }

    fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}

impl People for EngineAdapters {
    type Caller = ReplyTo;
    type Question = Question;
    type Deed = Deed;

    fn answer(&mut self, caller: ReplyTo, answer: Answer<'_, StoreError>) {
        let answer = match answer {
            Answer::Decided(decided) => decided.map_err(Into::into),
            Answer::Unavailable(cause) => Err(NotNow::from(cause).into()),
            Answer::InternalError { report } => {
                let words = || (errors::internal_error(&report), errors::send_report());
                Err(NotNow::new(words).into())
            }
        };
        // The caller may have gone; the change is committed all the same.
        let _ = caller.reply.send(answer);
    }

    fn consider(&mut self, question: Question, state: Result<&State, &StoreError>) {
        question(state, &self.store, clock::now());
    }

    fn publish(&mut self, batch: &Batch) {
        let past = counts::are_changed_by(batch).then(|| self.past_counts()).flatten();
        self.publisher.publish(batch, self.store.newest_event(), past);
        self.notices.take_over(&batch.extras.records);
        self.usage.forget(removed_runs(batch));
    }

    fn publish_all(&mut self, state: &State, batch: &Batch) {
        self.notices.take_over(&batch.extras.records);
        self.publisher.publish_all(state, self.past_counts().unwrap_or_default());
    }

    fn deed(&self, state: &State, caller: &ReplyTo, input: &Input) -> Option<Deed> {
        audit_entry::deed(state, caller.by.clone()?, input)
    }

    fn log(&self, deed: Deed, reply: Reply) -> Extras {
        let deeds = vec![(clock::now(), audit_entry::with_reply(deed, reply))];
        Extras { deeds, ..Extras::default() }
    }
}

/// Of tasks that are gone.
fn removed_runs(batch: &Batch) -> Vec<RunId> {
    let runs = batch.events.iter().filter_map(|(_, event)| match event {
        Event::TaskRemoved { runs, .. } => Some(runs),
        _ => None,
    });
    runs.flatten().copied().collect()
}

impl Watch for EngineAdapters {
    fn report(&mut self, panic: &Panic, input: Option<&Input>) -> String {
        panic_reports::report(self.store.directory(), panic, input).display().to_string()
    }

    fn notice(&self, notice: Notice<'_>) -> Option<Extras> {
        let what = match notice {
            Notice::SchedulingPaused { report } => {
                NoticeKind::SchedulingPaused { report: report.to_owned() }
            }
            Notice::MachineDistrusted { node, report } => {
                let name = self.publisher.node_name(node);
                let known = |kind: &NoticeKind| match kind {
                    NoticeKind::MachineDistrusted { node, .. } => *node == name,
                    NoticeKind::DataLost { .. }
                    | NoticeKind::Restored { .. }
                    | NoticeKind::SchedulingPaused { .. }
                    | NoticeKind::ChannelFailing { .. }
                    | NoticeKind::FileSetAside { .. }
                    | NoticeKind::ExportFailing { .. }
                    | NoticeKind::ForeignProcess { .. }
                    | NoticeKind::Unknown => false,
                };
                if self.has_notice(known) {
                    return None;
                }
                NoticeKind::MachineDistrusted { node: name, report: report.to_owned() }
            }
        };
        let now = clock::now();
        let (record, deed) = notices::record(what, now);
        let (records, deeds) = (vec![record], vec![(now, deed)]);
        Some(Extras { records, deeds, ..Extras::default() })
    }

    fn scheduling_is_paused(&self) -> bool {
        self.has_notice(|kind| matches!(kind, NoticeKind::SchedulingPaused { .. }))
    }

    fn before_step(&mut self, _: &State, input: &Input) {
        on_purpose::for_input(input);
    }

    fn before_wake(&mut self) {
        on_purpose::strike("wake");
    }
}
