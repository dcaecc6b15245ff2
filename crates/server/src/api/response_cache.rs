//! Caches responses that many clients request at once, until the read model changes.

use crate::read_model::ReadModel;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Utilization of GPUs and waiting times change without a commit.
const LONGEST: Duration = Duration::from_secs(1);
const MOST: usize = 256;

/// By request and caller.
#[derive(Debug)]
pub(crate) struct ResponseCache<Key, Body> {
    parts: Mutex<BTreeMap<Key, Part<Body>>>,
}

#[derive(Debug)]
struct Part<Body> {
    body: Body,
    /// The read model it was made from, as a weak reference.
    model: Weak<ReadModel>,
    made: Instant,
}

impl<Key: Ord, Body: Clone> ResponseCache<Key, Body> {
    /// `None` if it is missing or outdated.
    pub(crate) fn get(&self, key: &Key, model: &Arc<ReadModel>) -> Option<Body> {
        let parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let part = parts.get(key)?;
        let same = part.model.ptr_eq(&Arc::downgrade(model));
        (same && part.made.elapsed() < LONGEST).then(|| part.body.clone())
    }

    pub(crate) fn put(&self, key: Key, model: &Arc<ReadModel>, body: Body) {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        parts.retain(|_, part| part.made.elapsed() < LONGEST);
        if parts.len() < MOST {
            parts.insert(key, Part { body, model: Arc::downgrade(model), made: Instant::now() });
        }
    }
}

impl<Key: Ord, Body> Default for ResponseCache<Key, Body> {
    fn default() -> Self {
        ResponseCache { parts: Mutex::new(BTreeMap::new()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_kept_until_something_changes() {
        let kept: ResponseCache<&str, u32> = ResponseCache::default();
        let (before, after) = (Arc::new(ReadModel::default()), Arc::new(ReadModel::default()));
        assert_eq!(kept.get(&"a", &before), None);
        kept.put("a", &before, 1);
        assert_eq!(kept.get(&"a", &before), Some(1));
        assert_eq!(kept.get(&"b", &before), None);
        assert_eq!(kept.get(&"a", &after), None);
    }
}
