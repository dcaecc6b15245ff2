//! What a run directory says about its run.

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
    /// Somebody holds the lock and has not said who: a shim that is just beginning. To be looked at again soon.
    Unclear,
    /// Its shim is gone and left no result; what it watched over may still run.
    Orphaned {
        state: ShimState,
    },
    /// Nothing ran and nothing will: a shim says who it is before its command may begin.
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
        // It may have ended since the first look. It is dead now, and nobody writes any more.
        None => dir.read()?.map_or(Found::Orphaned { state }, Found::Ended),
    })
}
