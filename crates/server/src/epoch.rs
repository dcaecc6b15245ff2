//! Which life of the store this is. A restored backup begins a new one, so that no run directory is met twice.

use crate::store::{Store, StoreError};
use danlu_core::{Epoch, Row};
use serde::{Deserialize, Serialize};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// Beside the database, and not in it: what a backup of the database does not bring back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Witness {
    epoch: u32,
    /// The file that held the database.
    inode: u64,
    /// How many events had been recorded at the last start.
    events: i64,
}

/// The stored epoch, or a new one where the database is not the one that was here before.
pub(crate) fn choose(data: &Path, store: &Store) -> Result<Epoch, StoreError> {
    let stored = store.rows()?.into_iter().find_map(|row| match row {
        Row::Ledger(ledger) => Some(ledger.epoch.0),
        _ => None,
    });
    let path = data.join("epoch.json");
    let witness: Option<Witness> =
        fs::read_to_string(&path).ok().and_then(|text| serde_json::from_str(&text).ok());
    let inode = fs::metadata(data.join("danlu.db")).map_or(0, |facts| facts.ino());
    let events = store.last_event()?;
    let epoch = match (&witness, stored) {
        (None, None) => 1,
        (Some(seen), Some(stored)) if seen.inode == inode && seen.events <= events => {
            stored.max(seen.epoch)
        }
        (seen, stored) => stored.unwrap_or(0).max(seen.as_ref().map_or(0, |it| it.epoch)) + 1,
    };
    let witness = Witness { epoch, inode, events };
    let written = serde_json::to_string(&witness).unwrap_or_default();
    let fresh = data.join("epoch.json.new");
    if let Err(cause) = fs::write(&fresh, written).and_then(|()| fs::rename(&fresh, &path)) {
        tracing::warn!(%cause, "could not note the epoch beside the database");
    }
    Ok(Epoch(epoch))
}
