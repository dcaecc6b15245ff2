//! Caches paths that were found a moment ago, so that submitting many tasks from one directory checks once.

use danlu_wire::agent::TaskPaths;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A task that starts later may find something else anyway.
const FRESH: Duration = Duration::from_secs(2);
const MOST: usize = 64;

/// Copies are the same.
#[derive(Debug, Clone, Default)]
pub(super) struct Recent(Arc<Mutex<VecDeque<(Instant, UserPaths)>>>);

/// Of one user.
type UserPaths = (Option<String>, TaskPaths);

impl Recent {
    pub(super) fn has(&self, user: &Option<String>, paths: &TaskPaths) -> bool {
        self.fresh().iter().any(|(_, (of, known))| of == user && known == paths)
    }

    pub(super) fn note(&self, place: UserPaths) {
        let mut fresh = self.fresh();
        fresh.truncate(MOST - 1);
        fresh.push_front((Instant::now(), place));
    }

    fn fresh(&self) -> MutexGuard<'_, VecDeque<(Instant, UserPaths)>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|(at, _)| at.elapsed() < FRESH);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_user_has_says_nothing_about_another() {
        let recent = Recent::default();
        let paths =
            |directory: &str| TaskPaths { directory: directory.into(), outputs: Vec::new() };
        recent.note((Some("alice".to_owned()), paths("/a")));
        assert!(recent.has(&Some("alice".to_owned()), &paths("/a")));
        assert!(!recent.has(&Some("alice".to_owned()), &paths("/b")));
        assert!(!recent.has(&Some("bob".to_owned()), &paths("/a")));
        assert!(!recent.has(&None, &paths("/a")));
        for number in 0..100 {
            recent.note((None, paths(&number.to_string())));
        }
        assert_eq!(recent.fresh().len(), MOST);
    }
}
