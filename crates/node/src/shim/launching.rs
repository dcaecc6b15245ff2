//! A command on its way: has it begun, or why could it not?

use crate::shim::tail::Starts;
use danlu_wire::rundir::LaunchStage;
use nix::errno::Errno;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::net::UnixStream;

/// What stood in the way, and the error that it was.
pub(super) type Obstacle = (LaunchStage, Errno);

/// A command that has been given the word.
#[derive(Debug)]
pub(super) struct Launching {
    news: News,
    /// Where the files of its streams ended, if others have written there too.
    pub(super) starts: Starts,
}

#[derive(Debug)]
enum News {
    Known(Result<(), Obstacle>),
    /// Brings the obstacle if there is one, and closes when the command has begun.
    Awaited {
        link: UnixStream,
        heard: Vec<u8>,
    },
}

/// What the child says when it cannot go on: a stage and an error number.
type Complaint = [u8; 5];

/// Comes before the two numbers of [`Starts`]; no stage has this number.
const STARTS: u8 = u8::MAX;

const STAGES: [LaunchStage; 9] = [
    LaunchStage::RunDirectory,
    LaunchStage::User,
    LaunchStage::Cgroup,
    LaunchStage::Process,
    LaunchStage::Directory,
    LaunchStage::Stdout,
    LaunchStage::Stderr,
    LaunchStage::Command,
    LaunchStage::Interpreter,
];

/// By the child. Where nobody listens any more, nothing is to be said.
pub(super) fn complain(link: &mut UnixStream, (stage, error): Obstacle) {
    let stage = STAGES.iter().position(|one| *one == stage).unwrap_or(0);
    let mut complaint: Complaint = [0; 5];
    complaint[0] = u8::try_from(stage).unwrap_or(0);
    complaint[1..].copy_from_slice(&(error as i32).to_ne_bytes());
    let _ = link.write_all(&complaint);
}

/// By the child.
pub(super) fn tell_starts(link: &mut UnixStream, starts: Starts) {
    let mut message = vec![STARTS];
    message.extend(starts.into_iter().flat_map(u64::to_ne_bytes));
    let _ = link.write_all(&message);
}

impl Launching {
    pub(super) fn known(outcome: Result<(), Obstacle>) -> Launching {
        Launching { news: News::Known(outcome), starts: [0; 2] }
    }

    pub(super) fn awaited(link: UnixStream) -> io::Result<Launching> {
        link.set_nonblocking(true)?;
        Ok(Launching { news: News::Awaited { link, heard: Vec::new() }, starts: [0; 2] })
    }

    /// Where there will be more to hear.
    pub(super) fn awaits(&self) -> Option<BorrowedFd<'_>> {
        match &self.news {
            News::Known(_) => None,
            News::Awaited { link, .. } => Some(link.as_fd()),
        }
    }

    /// `Ok` when the command has begun; `None` while that is not known.
    pub(super) fn outcome(&mut self) -> Option<Result<(), Obstacle>> {
        let (link, heard) = match &mut self.news {
            News::Known(outcome) => return Some(*outcome),
            News::Awaited { link, heard } => (link, heard),
        };
        let mut block = [0; 32];
        let over = loop {
            match link.read(&mut block) {
                Ok(0) => break true,
                Ok(count) => heard.extend_from_slice(&block[..count]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break false,
                Err(_) => break true,
            }
        };
        if heard.first() == Some(&STARTS) && heard.len() > size_of::<Starts>() {
            let mut numbers = heard[1..].chunks_exact(8).map(|bytes| {
                u64::from_ne_bytes(bytes.try_into().expect("a chunk has eight bytes"))
            });
            self.starts = [numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)];
            heard.drain(..=size_of::<Starts>());
        }
        if let Ok([stage, number @ ..]) = Complaint::try_from(heard.as_slice()) {
            let stage = STAGES.get(usize::from(stage)).copied();
            let error = Errno::from_raw(i32::from_ne_bytes(number));
            return Some(Err((stage.unwrap_or(LaunchStage::Process), error)));
        }
        over.then_some(Ok(()))
    }
}
