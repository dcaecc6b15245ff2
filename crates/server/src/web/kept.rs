//! The live part of the overview, kept for a moment: all open pages ask for it when something has changed.

use super::language::Language;
use crate::model::ReadModel;
use danlu_core::UserId;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How busy GPUs are changes without a commit.
const LONGEST: Duration = Duration::from_secs(1);
const MOST: usize = 256;

/// Who sees it, as an admin or not, and in which language.
pub(super) type Reader = (UserId, bool, Language);

#[derive(Debug, Default)]
pub(super) struct Kept {
    parts: Mutex<BTreeMap<Reader, Part>>,
}

#[derive(Debug)]
struct Part {
    html: Arc<str>,
    /// What it was made from.
    model: Arc<ReadModel>,
    made: Instant,
}

impl Kept {
    /// `None` when it has to be made anew.
    pub(super) fn get(&self, reader: Reader, model: &Arc<ReadModel>) -> Option<Arc<str>> {
        let parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let part = parts.get(&reader)?;
        let fresh = Arc::ptr_eq(&part.model, model) && part.made.elapsed() < LONGEST;
        fresh.then(|| Arc::clone(&part.html))
    }

    pub(super) fn put(&self, reader: Reader, model: Arc<ReadModel>, html: Arc<str>) {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        if parts.len() >= MOST {
            parts.clear();
        }
        parts.insert(reader, Part { html, model, made: Instant::now() });
    }
}
