//! Which life of the store this is. A restored backup begins a new one, so that no run directory is met twice.

use crate::store::{Store, StoreError};
use danlu_core::Epoch;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;
use tracing::warn;

/// Beside the database, and not in it: what a backup of the database does not bring back.
#[derive(Debug)]
pub struct Witness {
    /// `None` when it could not be made; a restored backup may then go unnoticed.
    file: Option<File>,
    seen: Seen,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Seen {
    epoch: u32,
    /// The file that held the database.
    inode: u64,
    /// The number of the newest event.
    events: i64,
}

/// The stored epoch, or a new one where the database is not the one that was here last.
pub(crate) fn choose(data: &Path, store: &Store) -> Result<(Epoch, Witness), StoreError> {
    let stored = store.ledger()?.map(|ledger| ledger.epoch.0);
    let path = data.join("epoch.json");
    let seen: Option<Seen> =
        fs::read_to_string(&path).ok().and_then(|text| serde_json::from_str(&text).ok());
    let inode = fs::metadata(data.join("danlu.db")).map_or(0, |facts| facts.ino());
    let events = store.newest_event();
    let epoch = match (&seen, stored) {
        (None, None) => 1,
        (Some(seen), Some(stored)) if seen.inode == inode && seen.events <= events => {
            stored.max(seen.epoch)
        }
        (seen, stored) => stored.unwrap_or(0).max(seen.as_ref().map_or(0, |it| it.epoch)) + 1,
    };
    let seen = Seen { epoch, inode, events };
    let file = make(data, &seen)
        .inspect_err(|cause| warn!(%cause, "could not note the epoch beside the database"));
    Ok((Epoch(epoch), Witness { file: file.ok(), seen }))
}

fn make(data: &Path, seen: &Seen) -> io::Result<File> {
    let fresh = data.join("epoch.json.new");
    let file = File::create(&fresh)?;
    write(&file, seen)?;
    file.sync_all()?;
    fs::rename(&fresh, data.join("epoch.json"))?;
    Ok(file)
}

/// Always as long, so that one write replaces it. It need not reach the disk: an older number is noticed less.
fn write(file: &File, seen: &Seen) -> io::Result<()> {
    let text = serde_json::to_string(seen)?;
    file.write_all_at(format!("{text:<120}\n").as_bytes(), 0)
}

impl Witness {
    /// A commit has brought the events up to this number.
    pub(crate) fn note(&mut self, events: i64) {
        if let Some(file) = self.file.as_ref().filter(|_| events > self.seen.events) {
            self.seen.events = events;
            if let Err(cause) = write(file, &self.seen) {
                warn!(%cause, "could not note the newest event beside the database");
            }
        }
    }
}
