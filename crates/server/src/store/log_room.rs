//! Room for SQLite's log, ahead of the commits that need it.
//!
//! A commit that makes the log file longer has to wait for the file system's own journal as well as for its data: half as
//! long again in the middle, and many times as long every tenth time. SQLite goes by checksums and not by the file's
//! length, starts over at the front after each checkpoint, and so never minds the zeros behind its last frame.

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
