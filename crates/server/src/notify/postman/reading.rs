//! News and events become messages, and times to look again.

use super::{AWAY, CURSOR_LAG, PAGE, Postman, TRY_AGAIN};
use crate::api::Api;
use crate::daemon::clock;
use crate::notify::expand::{self, Absence, Surroundings};
use crate::notify::outbox::{Cursor, OutboxBatch};
use crate::notify::tidings::Tidings;
use crate::notify::{expiring, when_free};
use crate::read_model::News;
use crate::store::StoredEvent;
use danlu_core::RunId;
use tracing::warn;

impl Postman {
    pub(super) fn read_news(&mut self, news: &News) {
        let (Some(cursor), Some(api)) = (self.cursor, self.parts.api.upgrade()) else { return };
        if news.first() > cursor.event + 1 {
            return self.catch_up(&api);
        }
        let numbered = (news.first()..).zip(&news.events);
        let new = numbered.filter(|(number, _)| *number > cursor.event);
        let events: Vec<StoredEvent> = new
            .map(|(number, (at, event))| StoredEvent { number, at: *at, event: event.clone() })
            .collect();
        self.expand(&api, &events);
    }

    /// From the event table.
    pub(super) fn catch_up(&mut self, api: &Api) {
        while let Some(cursor) = self.cursor {
            match self.parts.events.after(cursor.event, PAGE) {
                Ok(events) if events.is_empty() => return,
                Ok(events) => self.expand(api, &events),
                Err(error) => {
                    warn!(%error, "events cannot be read; trying again");
                    self.retry_at = Some(clock::now() + TRY_AGAIN);
                    return;
                }
            }
        }
    }

    fn expand(&mut self, api: &Api, events: &[StoredEvent]) {
        let (Some(cursor), Some(last)) = (self.cursor, events.last()) else { return };
        let now = clock::now();
        for event in events {
            self.note(api, event);
        }
        let interesting: Vec<&StoredEvent> =
            events.iter().filter(|it| Tidings::of(&it.event).are_for_now()).collect();
        let mut batch = OutboxBatch::default();
        if !interesting.is_empty() {
            let tasks: Vec<_> =
                interesting.iter().filter_map(|it| Tidings::of(&it.event).task()).collect();
            let live = api.handle.model();
            let known = tasks.iter().all(|task| live.tasks.contains_key(task));
            // After a pause the tasks may have left memory.
            let model = match known {
                true => live,
                false => self.parts.runtime.block_on(api.model_with(&tasks)).unwrap_or(live),
            };
            let (known, wanted) = (self.channels().known(), |user| api.auth.notify(user));
            for event in interesting {
                let around = Surroundings {
                    model: &model,
                    wanted: &wanted,
                    known: &known,
                    announced: &self.announced,
                };
                let told = expand::expand(event, &around);
                let once = told.first().map(|it| &it.cause).filter(|it| expand::is_once(it));
                let told = match once {
                    Some(cause) if !self.is_first(cause, &mut batch) => Vec::new(),
                    Some(_) | None => told,
                };
                if event.event == danlu_core::Event::SettingsChanged {
                    let text = &model.ledger.settings.announcement;
                    self.announced.clone_from(text);
                    batch.announced = Some(text.clone());
                }
                told.into_iter().for_each(|told| self.file(api, told, &mut batch, now));
            }
        }
        let cursor = Cursor { event: last.number, ..cursor };
        self.cursor = Some(cursor);
        if batch.new.is_empty() && batch.bundles.is_empty() && batch.announced.is_none() {
            self.save_at = self.save_at.or(Some(now + CURSOR_LAG));
        } else {
            batch.cursor = Some(cursor);
            self.commit(&batch, now);
        }
    }

    /// Times that follow from an event.
    fn note(&mut self, api: &Api, stored: &StoredEvent) {
        self.look |= when_free::may_change(&stored.event);
        match Tidings::of(&stored.event) {
            Tidings::Started { run, .. } | Tidings::LimitChanged { run } => {
                self.watch_limit(api, run);
            }
            // From now on: after a restart machines need a moment to come back.
            Tidings::NodeLost { node } => {
                self.away.entry(node).or_insert(clock::now() + AWAY);
            }
            Tidings::NodeBack { node } => drop(self.away.remove(&node)),
            Tidings::Finished { .. }
            | Tidings::Requeued { .. }
            | Tidings::InDoubt { .. }
            | Tidings::Settings
            | Tidings::Quarantined { .. }
            | Tidings::RunEnded { .. }
            | Tidings::Idle { .. }
            | Tidings::Nothing => {}
        }
    }

    /// Those that were away already. Where nobody could be told then, that is no news.
    pub(super) fn watch_machines(&mut self, api: &Api, are_news: bool) {
        let model = api.handle.model();
        let mut batch = OutboxBatch::default();
        for absence in model.nodes.values().filter_map(|node| Absence::of(node)) {
            if are_news {
                self.away.entry(absence.node).or_insert(clock::now() + AWAY);
            } else {
                self.is_first(&absence.cause(), &mut batch);
            }
        }
        if !batch.told.is_empty() {
            self.commit(&batch, clock::now());
        }
    }

    pub(super) fn watch_limits(&mut self, api: &Api) {
        let runs: Vec<RunId> = api.handle.model().active_runs().map(|run| run.id).collect();
        runs.into_iter().for_each(|run| self.watch_limit(api, run));
    }

    fn watch_limit(&mut self, api: &Api, run: RunId) {
        self.limits.retain(|(_, it), _| *it != run);
        let model = api.handle.model();
        let found = model.runs.get(&run);
        let task = found.and_then(|run| model.tasks.get(&run.task));
        let warning = found.zip(task).and_then(|(run, task)| expiring::warning(task, run));
        self.limits.extend(warning.map(|(at, ends)| ((at, run), ends)));
    }
}
