//! Signal masks and dispositions of launcher and shims, which read their signals from a descriptor.
#![allow(unsafe_code, reason = "sets signals that the C library keeps for itself")]

use nix::errno::Errno;
use nix::libc;
use nix::sys::signal::{SigSet, SigmaskHow, Signal, sigprocmask};
use nix::sys::signalfd::{SfdFlags, SignalFd};

/// The agent has written a new `control.json`.
pub(crate) const LOOK: Signal = Signal::SIGUSR1;

/// Blocks all signals, and resets those that the daemon or `nohup` ignores.
pub(crate) fn block_and_reset() -> Result<(), Errno> {
    sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::all()), None)?;
    // The kernel's own structure: all zero is the default. The C library would refuse to touch the two signals that it
    // keeps for itself, and hand them on as they came.
    let default = [0_u64; 4];
    for number in 1..=64 {
        // SAFETY: longer than the structure is on any architecture; the mask in it has 8 bytes. Numbers that cannot be
        // set are refused, which is as good.
        unsafe {
            libc::syscall(
                libc::SYS_rt_sigaction,
                number,
                default.as_ptr(),
                std::ptr::null::<u64>(),
                size_of::<u64>(),
            );
        }
    }
    Ok(())
}

/// Ended children are reaped by the kernel at once.
pub(crate) fn ignore_children() {
    // SAFETY: SIG_IGN is no function of ours.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
}

pub(crate) fn notice_children() {
    // SAFETY: SIG_DFL is no function of ours.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
}

/// The signals that a shim reads; all are blocked, so none is lost.
pub(crate) fn listen() -> Result<SignalFd, Errno> {
    let mut heard = SigSet::empty();
    heard.add(Signal::SIGCHLD);
    heard.add(Signal::SIGTERM);
    heard.add(LOOK);
    SignalFd::with_flags(&heard, SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)
}
