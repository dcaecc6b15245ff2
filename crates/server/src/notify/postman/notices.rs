//! What administrators are shown while messages to a target cannot be delivered.

use super::Postman;
use crate::daemon::notices::{self, NoticeKind};
use crate::notify::channels::Delivered;
use crate::notify::recipients::Target;
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
        let what = notices::file_set_aside(&self.parts.path, aside);
        notices::raise(&api.handle, &self.parts.runtime, what);
    }

    fn show_notice(&self, target: &str) {
        let Some(api) = self.parts.api.upgrade() else { return };
        let what = NoticeKind::ChannelFailing { channel: channel(target) };
        notices::raise(&api.handle, &self.parts.runtime, what);
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
        let over = NoticeKind::ChannelFailing { channel: gone };
        notices::withdraw(&api.handle, &self.parts.runtime, |what| *what == over);
    }
}

/// All mail goes through one server.
fn channel(target: &str) -> String {
    match Target::read(target) {
        Target::Email(_) => crate::daemon::config::EMAIL.to_owned(),
        Target::Channel(name) => name,
    }
}
