//! Reads the output of runs on this machine.
//!
//! Logs in the run directories belong to Danlu and are read here. A file that a user has named is read by [`crate::user_files`] only.

use crate::rundir::RunRoot;
use crate::user_files::ReadFile;
use danlu_core::RunId;
use danlu_wire::agent::{LogPlace, LogProblem, LogStart};
use danlu_wire::launch::Sink;
use nix::libc;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// Lines that are longer than this together are shown from there on.
const LONGEST_TAIL: u64 = 16 << 20;

/// One log, open for reading.
#[derive(Debug)]
pub struct LogFile {
    path: PathBuf,
    /// `None` where nothing was printed.
    file: Option<File>,
}

/// A part of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Where it begins.
    pub offset: u64,
    /// Of the whole log by now.
    pub size: u64,
    pub bytes: Vec<u8>,
}

impl LogFile {
    /// In the run directories.
    pub fn of_run(root: &RunRoot, run: RunId, ended: bool) -> io::Result<LogFile> {
        match root.log_path(run) {
            Some(path) => LogFile::open(path),
            // It has printed nothing.
            None if ended => Ok(LogFile::nothing()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    pub fn nothing() -> LogFile {
        LogFile { path: PathBuf::from("/dev/null"), file: None }
    }

    /// A file of Danlu's own.
    pub fn open(path: PathBuf) -> io::Result<LogFile> {
        let flags = libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_NOFOLLOW;
        let file = File::options().read(true).custom_flags(flags).open(&path)?;
        if !file.metadata()?.is_file() {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(LogFile { path, file: Some(file) })
    }

    /// A file that was opened and checked already.
    pub(crate) fn opened(file: File) -> LogFile {
        LogFile { path: PathBuf::new(), file: Some(file) }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn size(&self) -> io::Result<u64> {
        self.file.as_ref().map_or(Ok(0), |file| Ok(file.metadata()?.len()))
    }

    pub fn piece(&self, from: LogStart, limit: u64) -> io::Result<Piece> {
        let offset = self.start(from)?;
        Ok(Piece { offset, bytes: self.read(offset, limit)?, size: self.size()? })
    }

    /// The content from this offset on, up to the limit.
    pub fn read(&self, offset: u64, limit: u64) -> io::Result<Vec<u8>> {
        let there = self.size()?.saturating_sub(offset).min(limit);
        let mut bytes = vec![0; usize::try_from(there).unwrap_or(usize::MAX)];
        let count = match &self.file {
            Some(file) if there > 0 => file.read_at(&mut bytes, offset)?,
            Some(_) | None => 0,
        };
        bytes.truncate(count);
        Ok(bytes)
    }

    pub fn start(&self, from: LogStart) -> io::Result<u64> {
        match (from, &self.file) {
            (LogStart::Offset(offset), _) => Ok(offset),
            (LogStart::Tail(_), None) => Ok(0),
            (LogStart::Tail(lines), Some(file)) => tail_offset(file, lines),
        }
    }
}

/// Where the last so many lines begin; looked for from the end, and not too far.
fn tail_offset(file: &File, lines: u64) -> io::Result<u64> {
    const BLOCK: u64 = 64 << 10;
    let size = file.metadata()?.len();
    let farthest = size.saturating_sub(LONGEST_TAIL);
    let (mut end, mut found) = (size, 0);
    while end > farthest {
        let start = end.saturating_sub(BLOCK).max(farthest);
        let mut block = vec![0; usize::try_from(end - start).unwrap_or_default()];
        file.read_exact_at(&mut block, start)?;
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

/// How a log is read that is a file of the user's.
pub fn user_file(place: &LogPlace, from: LogStart, limit: u64) -> Option<ReadFile> {
    match &place.sink {
        Sink::Log | Sink::Discard => None,
        Sink::File { path, task_in_directory, own, append: _ } => Some(ReadFile {
            directory: place.directory.clone(),
            path: path.clone(),
            task_in_directory: *task_in_directory,
            follow_links: !own,
            from,
            limit,
        }),
    }
}

/// As it is sent to a remote server.
pub(crate) fn problem(error: &io::Error) -> LogProblem {
    match error.kind() {
        io::ErrorKind::NotFound => LogProblem::NotThere,
        io::ErrorKind::PermissionDenied => LogProblem::NotTheirs,
        _ => LogProblem::Other(error.to_string()),
    }
}
