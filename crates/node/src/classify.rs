//! Classifies a run by its directory: ended, alive, orphaned, never started, or not clear yet.

use crate::process::Pidfd;
use crate::rundir::RunDir;
use danlu_wire::rundir::{ExitRecord, ShimState};
use std::io;

#[derive(Debug)]
pub(crate) enum Found {
    Ended(ExitRecord),
    Alive {
        state: ShimState,
        shim: Pidfd,
    },
    /// The lock is held, but there is no state yet: a shim that is starting. To be checked again soon.
    Unclear,
    /// Its shim is gone and left no result; what it watched over may still run.
    Orphaned {
        state: ShimState,
    },
    /// Nothing ran and nothing will: a shim writes its state before its command may begin.
    NeverStarted,
}

pub(crate) fn classify(dir: &RunDir, boot_id: &str) -> io::Result<Found> {
    if let Some(record) = dir.read()? {
        return Ok(Found::Ended(record));
    }
    let free = dir.is_free()?;
    let Some(state) = dir.read::<ShimState>()? else {
        let nothing = if free { Found::NeverStarted } else { Found::Unclear };
        return Ok(dir.read()?.map_or(nothing, Found::Ended));
    };
    // The lock may be held by a child of a shim that is no more, so a shim lives if its process does.
    let shim = if free || state.boot_id != boot_id { None } else { Pidfd::open(state.shim)? };
    Ok(match shim {
        Some(shim) => Found::Alive { state, shim },
        // It may have ended since the first read. It is dead now, so the record is final.
        None => dir.read()?.map_or(Found::Orphaned { state }, Found::Ended),
    })
}
