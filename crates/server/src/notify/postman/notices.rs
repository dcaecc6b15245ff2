//! What administrators are shown while messages to a target cannot be delivered.

use super::Postman;
use crate::api::Api;
use crate::daemon::clock;
use crate::daemon::notices::{self, NoticeKind};
use crate::notify::channels::Delivered;
use crate::notify::recipients::Target;
use crate::store::RecordChange;
use std::path::Path;
use std::sync::Arc;
use tracing::warn;

/// After so many failures in a row there is a notice: once may be chance.
const FAILURES: u32 = 3;

impl Postman {
    /// Which targets fail, and what they say.
    pub(super) fn note_state(&mut self, target: &str, outcome: &Delivered) {
        let failures = self.lanes.failing();
        let mut failing = (*self.parts.shared.failing.load_full()).clone();
        let before = failing.clone();
        match outcome {
            Delivered::Yes { .. } => drop(failing.remove(target)),
            Delivered::Later { answer, .. } => {
                let count = failures.get(target).copied().unwrap_or(1);
                warn!(target, answer, failures = count, "a message could not be delivered");
                failing.insert(target.to_owned(), (count, answer.clone()));
            }
            // The target answers: it is this message that is refused.
            Delivered::Never { answer } => {
                warn!(target, answer, "a message was refused");
            }
        }
        if failing != before {
            self.parts.shared.failing.store(Arc::new(failing.clone()));
            let count = |of: &std::collections::BTreeMap<String, (u32, String)>| {
                of.get(target).map_or(0, |(count, _)| *count)
            };
            match (count(&before) >= FAILURES, count(&failing) >= FAILURES) {
                (false, true) => self.show_notice(target),
                (true, false) => self.take_notice_away(target),
                (true, true) | (false, false) => {}
            }
        }
    }

    /// Its file could not be used, and is there now.
    pub(super) fn show_file(&self, aside: &Path) {
        let Some(api) = self.parts.api.upgrade() else { return };
        self.keep(api, notices::file_set_aside(&self.parts.path, aside));
    }

    /// Not waited for: the engine may be slow.
    fn keep(&self, api: Api, what: NoticeKind) {
        let (record, deed) = notices::record(what, clock::now());
        let keep = async move { drop(api.handle.keep(vec![record], Some(deed)).await) };
        self.parts.runtime.spawn(keep);
    }

    fn show_notice(&self, target: &str) {
        let Some(api) = self.parts.api.upgrade() else { return };
        let channel = channel(target);
        let there = |kind: &NoticeKind| matches!(kind, NoticeKind::ChannelFailing { channel: it } if *it == channel);
        if api.handle.notices().all().iter().any(|notice| there(&notice.what)) {
            return;
        }
        self.keep(api, NoticeKind::ChannelFailing { channel });
    }

    fn take_notice_away(&self, target: &str) {
        let Some(api) = self.parts.api.upgrade() else { return };
        let gone = channel(target);
        let still = |(target, (count, _)): (&String, &(u32, String))| {
            *count >= FAILURES && channel(target) == gone
        };
        if self.parts.shared.failing.load().iter().any(still) {
            return;
        }
        let all = api.handle.notices().all();
        let of = all.iter().filter(|notice| {
            matches!(&notice.what, NoticeKind::ChannelFailing { channel } if *channel == gone)
        });
        let changes: Vec<RecordChange> = of
            .map(|notice| RecordChange::Delete { kind: notices::KIND, id: notice.id.clone() })
            .collect();
        if !changes.is_empty() {
            self.parts.runtime.spawn(async move { drop(api.handle.keep(changes, None).await) });
        }
    }
}

/// All mail goes through one server.
fn channel(target: &str) -> String {
    match Target::read(target) {
        Target::Email(_) => crate::daemon::config::EMAIL.to_owned(),
        Target::Channel(name) => name,
    }
}
