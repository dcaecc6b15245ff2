//! Waits for a file descriptor, with a deadline.

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::os::fd::BorrowedFd;

const DEADLINE_MS: u16 = 20_000;

pub(crate) fn until_readable(fd: BorrowedFd<'_>) {
    let mut fds = [PollFd::new(fd, PollFlags::POLLIN)];
    assert_eq!(poll(&mut fds, PollTimeout::from(DEADLINE_MS)), Ok(1), "nothing came");
}

pub(crate) fn is_readable(fd: BorrowedFd<'_>) -> bool {
    poll(&mut [PollFd::new(fd, PollFlags::POLLIN)], PollTimeout::ZERO) == Ok(1)
}
