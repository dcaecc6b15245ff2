//! What runs have printed, read where it lies.

use crate::rundir::RunRoot;
use crate::user;
use danlu_wire::agent::{LogPlace, LogProblem, LogStart};
use danlu_wire::launch::Sink;
use nix::libc;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// Lines that are longer than this together are shown from there on.
const LONGEST_TAIL: u64 = 16 << 20;

/// One log, open for reading.
#[derive(Debug)]
pub struct LogFile {
    path: PathBuf,
    file: File,
}

impl LogFile {
    /// Files in the run directories are ours; any other must belong to the owner of the task, so that nobody
    /// reads through the daemon what they could not read themselves.
    pub fn of_run(root: &RunRoot, place: &LogPlace) -> io::Result<LogFile> {
        match &place.sink {
            Sink::Log => {
                let path = match root.log_path(place.run) {
                    Some(path) => path,
                    // It has printed nothing.
                    None if place.ended => PathBuf::from("/dev/null"),
                    None => return Err(io::ErrorKind::NotFound.into()),
                };
                LogFile::open(path)
            }
            Sink::Discard => LogFile::open(PathBuf::from("/dev/null")),
            Sink::File { path, .. } => {
                let log = LogFile::open(Path::new(&place.directory).join(path))?;
                let uid = user::find(&place.owner)?.map(|account| account.uid);
                let theirs = uid == Some(log.file.metadata()?.uid());
                if theirs { Ok(log) } else { Err(io::ErrorKind::PermissionDenied.into()) }
            }
        }
    }

    pub fn open(path: PathBuf) -> io::Result<LogFile> {
        // Not to hang on a pipe that somebody gave as an output file.
        let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
        let file = File::options().read(true).custom_flags(flags).open(&path)?;
        if !file.metadata()?.is_file() && path != Path::new("/dev/null") {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(LogFile { path, file })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn size(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// What is there from this offset on, as far as the limit.
    pub fn read(&self, offset: u64, limit: u64) -> io::Result<Vec<u8>> {
        let there = self.size()?.saturating_sub(offset).min(limit);
        let mut bytes = vec![0; usize::try_from(there).unwrap_or(usize::MAX)];
        if there == 0 {
            return Ok(bytes);
        }
        let count = self.file.read_at(&mut bytes, offset)?;
        bytes.truncate(count);
        Ok(bytes)
    }

    pub fn start(&mut self, from: LogStart) -> io::Result<u64> {
        match from {
            LogStart::Offset(offset) => Ok(offset),
            LogStart::Tail(lines) => self.tail_offset(lines),
        }
    }

    /// Where the last so many lines begin; looked for from the end, and not too far.
    fn tail_offset(&mut self, lines: u64) -> io::Result<u64> {
        const BLOCK: u64 = 64 << 10;
        let size = self.size()?;
        let farthest = size.saturating_sub(LONGEST_TAIL);
        let (mut end, mut found) = (size, 0);
        while end > farthest {
            let start = end.saturating_sub(BLOCK).max(farthest);
            let mut block = vec![0; usize::try_from(end - start).unwrap_or_default()];
            self.file.seek(SeekFrom::Start(start))?;
            self.file.read_exact(&mut block)?;
            for (at, byte) in block.iter().enumerate().rev() {
                let position = start + at as u64;
                // The newline that ends the last line begins no other.
                if *byte == b'\n' && position + 1 < size {
                    found += 1;
                    if found == lines {
                        return Ok(position + 1);
                    }
                }
            }
            end = start;
        }
        Ok(if lines == 0 { size } else { farthest })
    }
}

/// As it is told to who asked from afar.
pub(crate) fn problem(error: &io::Error) -> LogProblem {
    match error.kind() {
        io::ErrorKind::NotFound => LogProblem::NotThere,
        io::ErrorKind::PermissionDenied => LogProblem::NotTheirs,
        _ => LogProblem::Other(error.to_string()),
    }
}
