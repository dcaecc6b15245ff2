//! Ends the demo on Ctrl-C, a termination signal, or when the terminal or pipe is closed.

use std::{
    io,
    os::fd::AsFd,
    sync::mpsc::{self, Receiver, RecvTimeoutError, Sender},
    thread,
    time::Duration,
};

use nix::{
    errno::Errno,
    poll::{PollFd, PollFlags, PollTimeout, poll},
};
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM},
    iterator::Signals,
};

use crate::{client::Problem, failure::Failure};

/// Why the tour does not go on.
#[derive(Debug)]
pub(super) enum Stop {
    /// The person wants to leave, which is no failure.
    Left,
    Failed(Failure),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<Problem> for Stop {
    fn from(problem: Problem) -> Self {
        Self::Failed(problem.into())
    }
}

#[derive(Debug)]
pub(super) struct Interrupt {
    left: Receiver<()>,
}

impl Interrupt {
    pub(super) fn watch() -> io::Result<Self> {
        let (sender, left) = mpsc::channel();
        let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP, SIGQUIT])?;
        let by_signal = sender.clone();
        thread::spawn(move || {
            for _ in signals.forever() {
                // The receiver is gone once the demo is being cleaned up.
                let _ = by_signal.send(());
            }
        });
        thread::spawn(move || until_hang_up(&sender));
        Ok(Self { left })
    }

    /// Returns after this time, or at once when the person leaves.
    pub(super) fn wait(&self, time: Duration) -> Result<(), Stop> {
        match self.left.recv_timeout(time) {
            Err(RecvTimeoutError::Timeout) => Ok(()),
            Ok(()) | Err(RecvTimeoutError::Disconnected) => Err(Stop::Left),
        }
    }
}

/// A terminal or a pipe whose other end is gone; `/dev/null` and files never are. Nothing is read.
fn until_hang_up(sender: &Sender<()>) {
    let (input, output) = (io::stdin(), io::stdout());
    let mut streams = [
        PollFd::new(input.as_fd(), PollFlags::empty()),
        PollFd::new(output.as_fd(), PollFlags::empty()),
    ];
    loop {
        match poll(&mut streams, PollTimeout::NONE) {
            Err(Errno::EINTR) => {}
            Err(_) => return,
            Ok(_) => break,
        }
    }
    let gone = |stream: &PollFd<'_>| {
        let seen = stream.revents().unwrap_or(PollFlags::empty());
        seen.intersects(PollFlags::POLLHUP | PollFlags::POLLERR)
    };
    // A stream that was never open is not one that was closed.
    if streams.iter().any(gone) {
        let _ = sender.send(());
    }
}
