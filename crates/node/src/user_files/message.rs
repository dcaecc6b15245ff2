//! Messages between worker and helper: the lengths of both parts, a JSON document, then the bytes of a file.

use danlu_core::TaskId;
use danlu_wire::agent::{LogProblem, LogStart, PathProblem, TaskPaths};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Question {
    Check(TaskPaths),
    Read(ReadFile),
}

/// A part of a file that must be a regular one of the user's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadFile {
    /// An absolute path.
    pub directory: String,
    /// Relative to it.
    pub path: String,
    /// Where that is a directory, the file is `<id>.log` in it.
    pub task_in_directory: Option<TaskId>,
    /// False where others may have put a link in its place.
    pub follow_links: bool,
    pub from: LogStart,
    pub limit: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum HelperReply {
    Checked(Option<PathProblem>),
    /// The bytes follow.
    Piece {
        offset: u64,
        size: u64,
    },
    Unreadable(LogProblem),
    /// This process could not become the user.
    NoSuchUser,
}

/// Enough for a few paths.
const MOST_WORDS: usize = 128 << 10;
/// Of a file, at a time.
pub(super) const MOST_BYTES: usize = 1 << 20;

pub(super) fn write(to: &mut impl Write, words: &impl Serialize, bytes: &[u8]) -> io::Result<()> {
    let words = serde_json::to_vec(words)?;
    if words.len() > MOST_WORDS || bytes.len() > MOST_BYTES {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut message = Vec::with_capacity(words.len() + bytes.len() + 8);
    for length in [words.len(), bytes.len()] {
        message.extend(u32::try_from(length).unwrap_or(u32::MAX).to_ne_bytes());
    }
    message.extend(words);
    message.extend(bytes);
    to.write_all(&message)
}

pub(super) fn read<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<(T, Vec<u8>)> {
    let mut length = || -> io::Result<usize> {
        let mut number = [0; 4];
        from.read_exact(&mut number)?;
        usize::try_from(u32::from_ne_bytes(number)).map_err(io::Error::other)
    };
    let (words, bytes) = (length()?, length()?);
    if words > MOST_WORDS || bytes > MOST_BYTES {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut said = vec![0; words];
    from.read_exact(&mut said)?;
    let mut content = vec![0; bytes];
    from.read_exact(&mut content)?;
    Ok((serde_json::from_slice(&said)?, content))
}
