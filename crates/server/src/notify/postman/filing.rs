//! Where a message goes first, what is due, and what comes of a delivery.

use super::Postman;
use crate::api::Api;
use crate::notify::channels::Delivered;
use crate::notify::digest::{Collected, bundle};
use crate::notify::expand::{Absence, Addressed, Surroundings};
use crate::notify::letter::{ForeignFacts, Letter, Matter, TaskNews};
use crate::notify::outbox::{NewPost, Outbox, OutboxBatch, PostState};
use crate::notify::quiet_hours;
use crate::notify::recipients::{Occasion, Target};
use danlu_core::{Span, Time, UserId};
use danlu_messages::notify::channels as msg;
use sha2::{Digest as _, Sha256};
use std::sync::atomic::Ordering;
use tracing::warn;

/// Bundles at once; more are sent as they are.
const MOST_BUNDLES: usize = 5_000;

impl Postman {
    fn window(api: &Api) -> Span {
        api.handle.model().ledger.settings.notify.digest
    }

    /// Whether it is the first time; from then on it is told.
    pub(super) fn is_first(&self, cause: &str, batch: &mut OutboxBatch) -> bool {
        let told = |outbox: &Outbox| outbox.is_told(cause).unwrap_or(true);
        let known =
            batch.told.iter().any(|it| it == cause) || self.outbox.as_ref().is_none_or(told);
        if !known {
            batch.told.push(cause.to_owned());
        }
        !known
    }

    /// To the messages that are on their way, or to those that wait for others.
    pub(super) fn file(&mut self, api: &Api, told: Addressed, batch: &mut OutboxBatch, now: Time) {
        let Addressed { cause, to, letter } = told;
        let (window, target) = (Postman::window(api), to.target.to_string());
        let quiet = to.user.filter(|_| to.can_wait).and_then(|user| api.auth.notify(user).quiet);
        let until = quiet.and_then(|quiet| quiet_hours::until(&quiet, now));
        let recent = self.recent.entry(target.clone()).or_default();
        while recent.front().is_some_and(|at| *at + window <= now) {
            recent.pop_front();
        }
        let Some(which) = bundle(&letter, until.is_some(), recent.len()) else {
            if letter.task().is_some() {
                recent.push_back(now);
            }
            return batch.new.push(self.post(&cause, to.user, target, letter));
        };
        let key = (target, which);
        let full = self.bundles.len() >= MOST_BUNDLES;
        match self.bundles.get_mut(&key) {
            Some((_, collected)) => collected.add(&letter, now),
            None if full => return batch.new.push(self.post(&cause, to.user, key.0, letter)),
            None => {
                let collected = Collected::new(cause, &letter, now, until);
                self.bundles.insert(key.clone(), (to.user, collected));
            }
        }
        batch.bundles.insert(key.clone(), self.bundles.get(&key).cloned());
    }

    /// Epoch, event, recipient and channel: the same each time, so that receivers can tell.
    fn post(&self, cause: &str, user: Option<UserId>, target: String, letter: Letter) -> NewPost {
        let epoch = self.cursor.map_or(0, |cursor| cursor.epoch.0);
        let channel = match Target::read(&target) {
            Target::Channel(name) => name,
            // An address is nobody else's business.
            Target::Email(address) => {
                let hash = Sha256::digest(address.as_bytes());
                format!("email.{:02x}{:02x}{:02x}{:02x}", hash[0], hash[1], hash[2], hash[3])
            }
        };
        let id = format!("{epoch}-{cause}-{}-{channel}", user.map_or(0, |user| user.0));
        NewPost { id, target, user, letter }
    }

    pub(super) fn commit(&mut self, batch: &OutboxBatch, now: Time) {
        let Some(outbox) = &mut self.outbox else { return };
        match outbox.commit(batch, now) {
            Ok(added) => {
                if batch.cursor.is_some() {
                    self.save_at = None;
                }
                added.into_iter().for_each(|(number, waiting)| self.lanes.add(number, waiting));
            }
            // What is in memory is wrong now: it is read again from the file, and the events after its cursor.
            Err(error) => self.give_up(&error),
        }
    }

    pub(super) fn save_cursor(&mut self) {
        self.save_at = None;
        if self.cursor.is_some() {
            let batch = OutboxBatch { cursor: self.cursor, ..OutboxBatch::default() };
            self.commit(&batch, crate::daemon::clock::now());
        }
    }

    pub(super) fn wake_at(&self) -> Option<Time> {
        if self.outbox.is_none() {
            return self.retry_at;
        }
        let window = self.parts.api.upgrade().map_or(Span::ZERO, |api| Postman::window(&api));
        let bundle = self.bundles.values().map(|(_, collected)| collected.due_at(window)).min();
        let limit = self.limits.keys().next().map(|(at, _)| *at);
        let away = self.away.values().min().copied();
        let lanes = self.lanes.wake_at();
        [self.retry_at, self.save_at, self.month_at, bundle, limit, away, lanes]
            .into_iter()
            .flatten()
            .min()
    }

    pub(super) fn do_what_is_due(&mut self, now: Time) {
        if self.retry_at.is_some_and(|at| at <= now) {
            self.retry_at = None;
            match self.parts.api.upgrade() {
                Some(api) if self.outbox.is_some() => self.catch_up(&api),
                _ => self.open(),
            }
        }
        let Some(api) = self.parts.api.upgrade() else { return };
        if self.outbox.is_none() {
            return;
        }
        self.send_bundles(&api, now);
        self.tell_of_limits(&api, now);
        self.tell_of_machines(&api, now);
        if std::mem::take(&mut self.look) {
            self.look_for_free_gpus(&api, now);
        }
        self.look_at_month(&api, now);
        if self.save_at.is_some_and(|at| at <= now) {
            self.save_cursor();
        }
        self.drop_oldest(now);
        self.dispatch(now);
    }

    fn send_bundles(&mut self, api: &Api, now: Time) {
        let window = Postman::window(api);
        let due = self.bundles.iter().filter(|(_, (_, collected))| collected.due_at(window) <= now);
        let due: Vec<_> = due.map(|(key, _)| key.clone()).collect();
        if due.is_empty() {
            return;
        }
        let mut batch = OutboxBatch::default();
        for key in due {
            let Some((user, collected)) = self.bundles.remove(&key) else { continue };
            let (cause, which, alone) = (collected.cause.clone(), key.1, collected.count == 1);
            let letter = collected.letter(which);
            let cause = if alone { cause } else { format!("{cause}.digest") };
            batch.new.push(self.post(&cause, user, key.0.clone(), letter));
            batch.bundles.insert(key, None);
        }
        self.commit(&batch, now);
    }

    fn tell_of_limits(&mut self, api: &Api, now: Time) {
        let mut batch = OutboxBatch::default();
        while let Some(((at, run), ends_at)) = self.limits.first_key_value().map(|(k, v)| (*k, *v))
        {
            if at > now {
                break;
            }
            self.limits.pop_first();
            let cause = format!("expiring.{run}");
            let model = api.handle.model();
            let found = model.runs.get(&run).filter(|run| !run.is_ended());
            let Some(found) = found.filter(|_| self.is_first(&cause, &mut batch)) else {
                continue;
            };
            let news = TaskNews::Expiring { ends_at };
            let told = self.around(api, |around| {
                around.task(&cause, now, found.task, Occasion::Expiring, news.clone())
            });
            told.into_iter().for_each(|told| self.file(api, told, &mut batch, now));
        }
        if !batch.told.is_empty() {
            self.commit(&batch, now);
        }
    }

    fn tell_of_machines(&mut self, api: &Api, now: Time) {
        let due: Vec<_> =
            self.away.iter().filter(|(_, at)| **at <= now).map(|(node, _)| *node).collect();
        let mut batch = OutboxBatch::default();
        for node in due {
            self.away.remove(&node);
            let model = api.handle.model();
            let Some(absence) = model.nodes.get(&node).and_then(|node| Absence::of(node)) else {
                continue;
            };
            if self.is_first(&absence.cause(), &mut batch) {
                let told = self.around(api, |around| around.lost_node(&absence));
                told.into_iter().for_each(|told| self.file(api, told, &mut batch, now));
            }
        }
        if !batch.told.is_empty() {
            self.commit(&batch, now);
        }
    }

    pub(super) fn around<T>(&self, api: &Api, look: impl FnOnce(&Surroundings<'_>) -> T) -> T {
        let (model, known) = (api.handle.model(), self.channels().known());
        let (wanted, announced) = (|user| api.auth.notify(user), self.announced.as_str());
        look(&Surroundings { model: &model, wanted: &wanted, known: &known, announced })
    }

    pub(super) fn tell_admins(&mut self, api: &Api, cause: &str, letter: &Letter, now: Time) {
        let mut batch = OutboxBatch::default();
        let to_each = |to| Addressed { cause: cause.to_owned(), to, letter: letter.clone() };
        let told: Vec<Addressed> =
            self.around(api, |around| around.admins().into_iter().map(to_each).collect());
        told.into_iter().for_each(|told| self.file(api, told, &mut batch, now));
        self.commit(&batch, now);
    }

    /// The owner of the run, and whose process it is.
    pub(in crate::notify) fn tell_of_foreign(
        &mut self,
        cause: &str,
        facts: &ForeignFacts,
        owner: UserId,
        theirs: Option<UserId>,
        now: Time,
    ) {
        let Some(api) = self.parts.api.upgrade() else { return };
        let told = self.outbox.as_ref().is_none_or(|outbox| outbox.is_told(cause).unwrap_or(true));
        if told || !self.parts.shared.active.load(Ordering::Relaxed) {
            return;
        }
        let mut batch = OutboxBatch { told: vec![cause.to_owned()], ..OutboxBatch::default() };
        for (user, yours) in [(Some(owner), false), (theirs, true)] {
            let Some(user) = user else { continue };
            let matter = Matter::ForeignProcess { facts: Box::new(facts.clone()), yours };
            let letter = Letter { at: now, matter };
            let to = self.around(&api, |around| around.person(user, |wanted| wanted.trouble));
            for to in to {
                let cause = format!("{cause}.{user}");
                let told = Addressed { cause, to, letter: letter.clone() };
                self.file(&api, told, &mut batch, now);
            }
        }
        self.commit(&batch, now);
    }

    pub(super) fn settle(&mut self, number: i64, outcome: &Delivered) {
        let now = crate::daemon::clock::now();
        let Some(outbox) = &self.outbox else { return };
        let target = outbox.post(number).ok().flatten().map(|post| post.target).unwrap_or_default();
        let counts = &self.parts.shared.counts;
        let stored = match outcome {
            Delivered::Yes { answer } => {
                self.lanes.delivered(number, now);
                counts.settled(PostState::Sent);
                outbox.settle(number, PostState::Sent, answer, now)
            }
            Delivered::Never { answer } => {
                self.lanes.remove(number);
                counts.settled(PostState::Failed);
                outbox.settle(number, PostState::Failed, answer, now)
            }
            Delivered::Later { answer, after } => match self.lanes.failed(number, now, *after) {
                Some(waiting) => outbox.retry(number, &waiting, answer),
                None => {
                    self.lanes.remove(number);
                    counts.settled(PostState::Failed);
                    let answer = format!("{}: {answer}", msg::gave_up());
                    outbox.settle(number, PostState::Failed, &answer, now)
                }
            },
        };
        if let Err(error) = stored {
            warn!(%error, "what became of a message cannot be stored: it may be sent again");
        }
        self.note_state(&target, outcome);
    }
}
