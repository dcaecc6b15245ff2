//! Danlu's own lines in the log of a run.

use crate::rundir::{OUTPUT, RunDir};
use nix::fcntl::OFlag;
use std::io::Write as _;

/// Writes a separate line. Only to a log of Danlu: a file that the user has named belongs to the command.
pub(super) fn note(dir: &RunDir, words: &str) {
    if let Ok(mut log) = dir.open_to_write(OUTPUT, OFlag::O_APPEND) {
        let _ = log.write_all(format!("danlu: {words}\n").as_bytes());
    }
}
