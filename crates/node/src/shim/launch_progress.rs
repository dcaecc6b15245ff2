//! The progress of a launch: whether the command has begun, what it waits for, or why it failed; and the messages by which the child
//! reports that.

use crate::activation::Missing;
use crate::shim::tail::Starts;
use danlu_wire::rundir::LaunchStage;
use nix::errno::Errno;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Instant;

/// What stood in the way, and the error that it was.
pub(super) type Obstacle = (LaunchStage, Errno);

/// Why a command cannot begin.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Problem {
    Met(Obstacle),
    Missing(Missing),
}

/// A command that has been allowed to begin.
#[derive(Debug)]
pub(super) struct LaunchProgress {
    report: ChildReport,
    /// Where the files of its streams ended, if others have written there too.
    pub(super) starts: Starts,
    /// The stage that the child is at, which may block on a file system of the user.
    pub(super) waits: Option<(LaunchStage, Instant)>,
}

#[derive(Debug)]
enum ChildReport {
    Known(Result<(), Obstacle>),
    /// Brings messages of the child, and closes when the command has begun.
    Awaited {
        link: UnixStream,
        heard: Vec<u8>,
    },
}

/// Messages of the child: one of these bytes, the length of the content in two bytes, and the content.
mod kind {
    /// The number of a stage.
    pub(super) const STAGE: u8 = 1;
    /// The two numbers of `Starts`.
    pub(super) const STARTS: u8 = 2;
    /// The number of a stage, and that of an error.
    pub(super) const OBSTACLE: u8 = 3;
    /// The words of what is missing.
    pub(super) const MISSING: u8 = 4;
}

const HEAD: usize = 3;
/// Words of what is missing are cut there.
const MOST_WORDS: usize = 8 * 1024;

const STAGES: [LaunchStage; 10] = [
    LaunchStage::Process,
    LaunchStage::RunDirectory,
    LaunchStage::User,
    LaunchStage::Cgroup,
    LaunchStage::Directory,
    LaunchStage::Stdout,
    LaunchStage::Stderr,
    LaunchStage::Command,
    LaunchStage::Interpreter,
    LaunchStage::Environment,
];

pub(super) fn number_of(stage: LaunchStage) -> u8 {
    let found = (0_u8..).zip(STAGES).find(|(_, one)| *one == stage);
    found.map_or(0, |(number, _)| number)
}

pub(super) fn stage_of(number: u8) -> LaunchStage {
    STAGES.get(usize::from(number)).copied().unwrap_or(LaunchStage::Process)
}

/// By the child: it begins with something that may take long.
pub(super) fn tell_stage(link: &mut UnixStream, stage: LaunchStage) {
    tell(link, kind::STAGE, &[number_of(stage)]);
}

/// By the child.
pub(super) fn tell_starts(link: &mut UnixStream, starts: Starts) {
    let numbers: Vec<u8> = starts.into_iter().flat_map(u64::to_ne_bytes).collect();
    tell(link, kind::STARTS, &numbers);
}

/// By the child.
pub(super) fn complain(link: &mut UnixStream, problem: &Problem) {
    match problem {
        Problem::Met((stage, error)) => {
            let [a, b, c, d] = (*error as i32).to_ne_bytes();
            tell(link, kind::OBSTACLE, &[number_of(*stage), a, b, c, d]);
        }
        Problem::Missing(Missing(words)) => {
            let words = words.as_bytes();
            tell(link, kind::MISSING, words.get(..MOST_WORDS).unwrap_or(words));
        }
    }
}

/// Errors are ignored: the shim is gone then.
fn tell(link: &mut UnixStream, kind: u8, content: &[u8]) {
    let Ok(length) = u16::try_from(content.len()) else { return };
    let mut message = vec![kind];
    message.extend(length.to_ne_bytes());
    message.extend(content);
    let _ = link.write_all(&message);
}

impl LaunchProgress {
    pub(super) fn known(outcome: Result<(), Obstacle>) -> LaunchProgress {
        LaunchProgress { report: ChildReport::Known(outcome), starts: [0; 2], waits: None }
    }

    pub(super) fn awaited(link: UnixStream) -> io::Result<LaunchProgress> {
        link.set_nonblocking(true)?;
        let report = ChildReport::Awaited { link, heard: Vec::new() };
        Ok(LaunchProgress { report, starts: [0; 2], waits: None })
    }

    /// Where there will be more to hear.
    pub(super) fn awaits(&self) -> Option<BorrowedFd<'_>> {
        match &self.report {
            ChildReport::Known(_) => None,
            ChildReport::Awaited { link, .. } => Some(link.as_fd()),
        }
    }

    /// `Ok` when the command has begun; `None` while that is not known.
    pub(super) fn outcome(&mut self) -> Option<Result<(), Problem>> {
        let (link, heard) = match &mut self.report {
            ChildReport::Known(outcome) => return Some(outcome.map_err(Problem::Met)),
            ChildReport::Awaited { link, heard } => (link, heard),
        };
        let mut block = [0; 256];
        let over = loop {
            match link.read(&mut block) {
                Ok(0) => break true,
                Ok(count) => heard.extend_from_slice(&block[..count]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break false,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break true,
            }
        };
        while let Some((kind, content)) = next_message(heard) {
            match (kind, content.as_slice()) {
                (kind::STAGE, &[stage]) => self.waits = Some((stage_of(stage), Instant::now())),
                (kind::STARTS, numbers) => {
                    let mut numbers = numbers.chunks_exact(8).map(|bytes| {
                        u64::from_ne_bytes(bytes.try_into().expect("a chunk has eight bytes"))
                    });
                    self.starts = [numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)];
                }
                (kind::OBSTACLE, &[stage, a, b, c, d]) => {
                    let error = Errno::from_raw(i32::from_ne_bytes([a, b, c, d]));
                    return Some(Err(Problem::Met((stage_of(stage), error))));
                }
                (kind::MISSING, words) => {
                    let words = String::from_utf8_lossy(words).into_owned();
                    return Some(Err(Problem::Missing(Missing(words))));
                }
                _ => {}
            }
        }
        over.then_some(Ok(()))
    }
}

/// `None` until it has come whole.
fn next_message(heard: &mut Vec<u8>) -> Option<(u8, Vec<u8>)> {
    let &[kind, low, high] = heard.first_chunk::<HEAD>()?;
    let end = HEAD + usize::from(u16::from_ne_bytes([low, high]));
    if heard.len() < end {
        return None;
    }
    let content = heard.drain(..end).skip(HEAD).collect();
    Some((kind, content))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_understood_whatever_it_says() {
        let (mut child, link) = UnixStream::pair().unwrap();
        let mut progress = LaunchProgress::awaited(link).unwrap();
        assert_eq!(progress.outcome(), None);
        tell_stage(&mut child, LaunchStage::Environment);
        tell_starts(&mut child, [5, 1 << 40]);
        assert_eq!(progress.outcome(), None);
        assert_eq!(progress.starts, [5, 1 << 40]);
        assert_eq!(progress.waits.unwrap().0, LaunchStage::Environment);
        for problem in [
            Problem::Met((LaunchStage::Stderr, Errno::EACCES)),
            Problem::Missing(Missing("there is no conda".to_owned())),
        ] {
            complain(&mut child, &problem);
            assert_eq!(progress.outcome(), Some(Err(problem)));
        }
        drop(child);
        // Children of other tests may have it for a moment.
        let deadline = Instant::now() + std::time::Duration::from_secs(10);
        while progress.outcome() != Some(Ok(())) {
            assert!(Instant::now() < deadline, "it has begun");
            std::thread::yield_now();
        }
    }
}
