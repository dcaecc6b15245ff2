//! Allocates space for SQLite's write-ahead log before commits need it.
//!
//! A commit that extends the log file also waits for the file system's journal, which adds half to the median and much more to
//! every tenth commit. SQLite goes by checksums and not by the length of the file, and starts at its front after each checkpoint,
//! so zeros behind the last frame do no harm.

use std::fs::File;
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::Path;

/// SQLite copies the log into the database once it has a thousand pages; the last batch before that may be large.
const ROOM: u64 = 6 << 20;

/// Without room on the disk there is less, and commits are slower until there is.
pub(super) fn make(database: &Path) {
    let mut log = database.as_os_str().to_owned();
    log.push("-wal");
    let _ = fill(Path::new(&log));
}

/// Written, not only reserved: the first write to a reserved block goes through the journal too.
fn fill(log: &Path) -> io::Result<()> {
    let mut file = File::options().write(true).open(log)?;
    let mut length = file.seek(SeekFrom::End(0))?;
    let zeros = [0; 64 << 10];
    while length < ROOM {
        file.write_all(&zeros)?;
        length += zeros.len() as u64;
    }
    file.sync_all()
}
