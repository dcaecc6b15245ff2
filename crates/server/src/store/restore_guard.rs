//! Detects a database that was replaced by an older copy, and chooses the epoch.
//!
//! A file beside the database records the newest event and ids, because a copy of the database alone does not bring them back.

use crate::store::{Store, StoreError};
use danlu_core::Epoch;
use danlu_core::rows::Ledger;
use danlu_node::private;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use tracing::warn;

/// The epoch of the store, and what the first step has to know.
#[derive(Debug)]
pub struct Life {
    pub(crate) epoch: Epoch,
    /// No task id below this is given out again.
    pub(crate) ids_from: u64,
    /// Acknowledged data that is missing.
    pub(crate) loss: Option<Loss>,
    pub(crate) guard: RestoreGuard,
}

/// The database is older than what was acknowledged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Loss {
    /// An administrator accepted the loss (`up --accept-loss`).
    Accepted { known: i64, found: i64 },
    /// By `danlu restore`, from a backup that was begun then.
    Restored { backup_at: String },
}

/// Kept up to date for as long as the server runs.
#[derive(Debug)]
pub(crate) struct RestoreGuard {
    /// `None` when it could not be made; an older database may then go unnoticed.
    file: Option<File>,
    seen: GuardRecord,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct GuardRecord {
    pub(crate) epoch: u32,
    /// The file that held the database.
    pub(crate) inode: u64,
    /// The number of the newest event.
    pub(crate) events: i64,
    /// The number that the next task and the next run would have had.
    pub(crate) next_task: u64,
    pub(crate) next_run: u64,
    /// A loss that is not yet recorded in the database.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) loss: Option<Loss>,
}

pub(crate) fn path(data: &Path) -> PathBuf {
    data.join("epoch.json")
}

pub(crate) fn read(data: &Path) -> Option<GuardRecord> {
    fs::read_to_string(path(data)).ok().and_then(|text| serde_json::from_str(&text).ok())
}

/// The stored epoch, or a new one where the database is not the one that was here last. One that lacks what it had is
/// refused, unless that was said to be well.
pub(crate) fn choose(data: &Path, store: &Store, accept_loss: bool) -> Result<Life, StoreError> {
    let ledger = store.ledger()?;
    let stored = ledger.as_ref().map(|ledger| ledger.epoch.0);
    let seen = read(data);
    let inode = fs::metadata(data.join("danlu.db")).map_or(0, |facts| facts.ino());
    let found = store.newest_event();
    let known = seen.as_ref().map_or(0, |seen| seen.events);
    let loss = match seen.as_ref().and_then(|seen| seen.loss.clone()) {
        Some(loss) => Some(loss),
        None if found >= known => None,
        None if accept_loss => Some(Loss::Accepted { known, found }),
        None => return Err(store.behind(found, known)),
    };
    let last = seen.as_ref().map_or(0, |seen| seen.epoch);
    let epoch = match (&seen, stored) {
        (None, None) => 1,
        (Some(seen), Some(stored)) if seen.inode == inode && loss.is_none() => {
            stored.max(seen.epoch)
        }
        (_, stored) => stored.unwrap_or(0).max(last) + 1,
    };
    let (next_task, next_run) = next_ids(ledger.as_ref());
    let ids_from = seen.as_ref().map_or(0, |seen| seen.next_task);
    let seen = GuardRecord {
        epoch,
        inode,
        events: found,
        next_task: next_task.max(ids_from),
        next_run: next_run.max(seen.map_or(0, |seen| seen.next_run)),
        loss: loss.clone(),
    };
    let file = make(data, &seen)
        .inspect_err(|cause| warn!(%cause, "could not note the epoch beside the database"));
    let guard = RestoreGuard { file: file.ok(), seen };
    Ok(Life { epoch: Epoch(epoch), ids_from, loss, guard })
}

fn next_ids(ledger: Option<&Ledger>) -> (u64, u64) {
    ledger.map_or((0, 0), |ledger| (ledger.next_task.0, ledger.next_run))
}

fn make(data: &Path, seen: &GuardRecord) -> io::Result<File> {
    let path = path(data);
    private::replace_durably(&path, line(seen)?.as_bytes())?;
    private::lock_file(&path)
}

/// For `danlu restore`: what the next start has to know.
pub(crate) fn write(data: &Path, seen: &GuardRecord) -> io::Result<()> {
    private::replace_durably(&path(data), line(seen)?.as_bytes())
}

/// Of fixed length, so that one write replaces it.
fn line(seen: &GuardRecord) -> io::Result<String> {
    let text = serde_json::to_string(seen)?;
    Ok(format!("{text:<320}\n"))
}

impl Life {
    /// For tests and tools without a file beside the database.
    pub fn first() -> Life {
        let guard = RestoreGuard { file: None, seen: GuardRecord::default() };
        Life { epoch: Epoch(1), ids_from: 0, loss: None, guard }
    }
}

impl RestoreGuard {
    /// A commit has brought the events up to this number. It need not reach the disk: an older number is noticed less.
    /// `ledger` where it has changed.
    pub(crate) fn note(&mut self, events: i64, ledger: Option<&Ledger>) {
        let (next_task, next_run) = next_ids(ledger);
        let seen = &mut self.seen;
        let settled = seen.loss.take().is_some();
        if let Some(file) = self.file.as_ref().filter(|_| events > seen.events || settled) {
            seen.events = events;
            seen.next_task = seen.next_task.max(next_task);
            seen.next_run = seen.next_run.max(next_run);
            let written = line(seen).and_then(|text| file.write_all_at(text.as_bytes(), 0));
            if let Err(cause) = written {
                warn!(%cause, "could not note the newest event beside the database");
            }
        }
    }
}
