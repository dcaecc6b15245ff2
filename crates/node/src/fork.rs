//! Forks a process without threads, optionally into a control group.
#![allow(unsafe_code, reason = "`clone3` has no safe wrapper")]

use crate::process::Pidfd;
use nix::errno::Errno;
use nix::libc;
use nix::unistd::Pid;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

#[derive(Debug)]
pub(crate) enum Fork {
    Child {
        /// Whether it was born in the control group it was meant for.
        in_cgroup: bool,
    },
    Parent {
        child: Pid,
        pidfd: Pidfd,
    },
}

/// Puts the child into `cgroup` from the start where the kernel can (5.7): moving it later makes every
/// fork of the machine wait.
///
/// # Safety
/// The process must have no other thread: a lock that another thread holds would never be released in the child.
pub(crate) unsafe fn fork(cgroup: Option<BorrowedFd<'_>>) -> io::Result<Fork> {
    // SAFETY: the caller's promise is passed on.
    unsafe {
        if let Some(cgroup) = cgroup
            && let Ok(fork) = clone3(CLONE_INTO_CGROUP, cgroup.as_raw_fd())
        {
            return Ok(fork);
        }
        match clone3(0, 0) {
            Err(Errno::ENOSYS) => plain_fork(),
            other => Ok(other?),
        }
    }
}

/// The C library's crate cannot hold it yet.
pub(crate) const CLONE_INTO_CGROUP: u64 = 0x2_0000_0000;

/// # Safety
/// As for [`fork`].
unsafe fn clone3(flags: u64, cgroup: RawFd) -> Result<Fork, Errno> {
    let mut pidfd: RawFd = -1;
    // SAFETY: the structure is plain numbers, for which zero is "not used".
    let mut arguments: libc::clone_args = unsafe { std::mem::zeroed() };
    arguments.flags = libc::CLONE_PIDFD as u64 | flags;
    arguments.pidfd = std::ptr::from_mut(&mut pidfd) as u64;
    arguments.exit_signal = libc::SIGCHLD as u64;
    arguments.cgroup = u64::from(cgroup.unsigned_abs());
    // SAFETY: the arguments live through the call. Memory is not shared (no CLONE_VM), so the child goes on with
    // a copy of this stack, as after `fork`. By the caller's promise no other thread holds a lock.
    let result = unsafe {
        libc::syscall(
            libc::SYS_clone3,
            std::ptr::from_ref(&arguments),
            size_of::<libc::clone_args>(),
        )
    };
    match Errno::result(result)? {
        0 => Ok(Fork::Child { in_cgroup: flags != 0 }),
        child => Ok(Fork::Parent {
            child: Pid::from_raw(i32::try_from(child).expect("a process id is a pid_t")),
            // SAFETY: the kernel has just opened it for this process.
            pidfd: Pidfd::from_fd(unsafe { OwnedFd::from_raw_fd(pidfd) }),
        }),
    }
}

/// For kernels, and sandboxes, without `clone3`.
///
/// # Safety
/// As for [`fork`].
unsafe fn plain_fork() -> io::Result<Fork> {
    // SAFETY: the caller's promise is passed on.
    match unsafe { nix::unistd::fork() }? {
        nix::unistd::ForkResult::Child => Ok(Fork::Child { in_cgroup: false }),
        nix::unistd::ForkResult::Parent { child } => {
            // A child has its id until its parent waits for it.
            let pidfd = Pidfd::of(child)?.ok_or(Errno::ESRCH)?;
            Ok(Fork::Parent { child, pidfd })
        }
    }
}
