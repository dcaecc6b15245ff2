//! System calls that neither `rustix` nor `nix` offers, each behind the smallest interface that is needed.
//!
//! A child that shares the memory of its parent makes some of them (`shim/steps.rs`), so none allocates, takes a lock or panics.
#![allow(unsafe_code, reason = "system calls without a safe wrapper in `rustix` or `nix`")]

use nix::errno::Errno;
use nix::libc;

/// Marks every descriptor above the standard streams to be closed when a program is executed. An error before Linux 5.11.
pub(crate) fn close_others_on_exec() -> Result<(), Errno> {
    const CLOSE_ON_EXEC: usize = 1 << 2;
    // SAFETY: takes numbers, and only marks descriptors: none is closed before the program begins.
    unsafe { call(libc::SYS_close_range, [3, LAST_DESCRIPTOR, CLOSE_ON_EXEC, 0, 0]) }
}

/// Closes every descriptor above the standard streams.
///
/// # Safety
/// Nothing in this process may own one of them.
pub(crate) unsafe fn close_others() {
    // SAFETY: takes numbers; the caller promises that the descriptors have no owner. Kernels before 5.9 refuse.
    let _ = unsafe { call(libc::SYS_close_range, [3, LAST_DESCRIPTOR, 0, 0, 0]) };
}

const LAST_DESCRIPTOR: usize = libc::c_uint::MAX as usize;

/// Leaves the session keyring that this process has inherited for a new, empty one.
pub(crate) fn join_new_session_keyring() -> Result<(), Errno> {
    const JOIN_SESSION_KEYRING: usize = 1;
    // SAFETY: takes numbers; no name of a keyring means a new one.
    unsafe { call(libc::SYS_keyctl, [JOIN_SESSION_KEYRING, 0, 0, 0, 0]) }
}

/// Directly: the C library's function leaves out the signals that it keeps for itself.
pub(crate) fn unblock_all_signals() -> Result<(), Errno> {
    let none = 0_u64;
    let how = libc::SIG_SETMASK.unsigned_abs() as usize;
    // SAFETY: the kernel reads the empty set, which has as many bytes as it is told.
    unsafe { call(libc::SYS_rt_sigprocmask, [how, address(&none), 0, size_of::<u64>(), 0]) }
}

/// Kills this process after that time, even if it is stopped, unless it has executed a program by then: that clears timers.
pub(crate) fn kill_after(time: &libc::itimerspec) -> Result<(), Errno> {
    // SAFETY: the structure is plain numbers, for which zero is "nothing". The kernel reads both, and writes the number of the
    // timer. The C library's functions would keep a list.
    unsafe {
        let mut event: libc::sigevent = std::mem::zeroed();
        event.sigev_notify = libc::SIGEV_SIGNAL;
        event.sigev_signo = libc::SIGKILL;
        let mut timer: libc::c_int = 0;
        let (clock, number) = (libc::CLOCK_MONOTONIC.unsigned_abs() as usize, &raw mut timer);
        call(libc::SYS_timer_create, [clock, address(&event), number as usize, 0, 0])?;
        let timer = number.read_volatile().unsigned_abs() as usize;
        call(libc::SYS_timer_settime, [timer, 0, address(time), 0, 0])
    }
}

/// Ends this process at once; nothing that it shares with or copied from its parent is flushed or torn down.
pub(crate) fn exit_now(status: u8) -> ! {
    loop {
        // SAFETY: takes a number, and does not come back.
        unsafe { libc::syscall(libc::SYS_exit_group, libc::c_long::from(status)) };
    }
}

fn address<T>(value: &T) -> usize {
    std::ptr::from_ref(value) as usize
}

/// Without the C library, but for the number of an error.
///
/// # Safety
/// What is passed must be what the call takes: numbers, or the addresses of what it reads and writes.
pub(crate) unsafe fn call(number: libc::c_long, [a, b, c, d, e]: [usize; 5]) -> Result<(), Errno> {
    // SAFETY: the caller's promise is passed on.
    match unsafe { libc::syscall(number, a, b, c, d, e) } {
        -1 => Err(Errno::last()),
        _ => Ok(()),
    }
}
