//! The last steps from a shim's child to the user's program: system calls on data that was prepared before, and nothing else.
//!
//! The child may be in the memory of its shim (`vfork`), and may be killed at any instruction. So nothing here allocates, takes a
//! lock, formats or can panic. What is written are the child's own stack, what it met (`vfork_start`), and the two places of [`Words`] that are kept for it.
//! System calls are made directly: the C library's functions for users and groups would speak to other threads.

use super::identity::Identity;
use super::launch_progress::Obstacle;
use super::program::Words;
use danlu_wire::rundir::LaunchStage;
use nix::errno::Errno;
use nix::libc;
use std::ffi::{CStr, CString};
use std::os::fd::RawFd;

/// What is done, in this order.
pub(super) struct Steps<'a> {
    pub(super) identity: &'a Identity,
    pub(super) umask: u32,
    /// `None` where it has been entered.
    pub(super) directory: Option<&'a CStr>,
    /// Input, output, errors.
    pub(super) streams: [RawFd; 3],
    /// Every other descriptor is closed when the program begins, without a word of ours.
    pub(super) closed: bool,
    /// Where the program may be.
    pub(super) programs: &'a [CString],
    pub(super) argv: &'a Words,
    pub(super) environment: &'a Words,
}

impl Steps<'_> {
    /// Comes back only if it could not.
    pub(super) fn all(&self) -> Obstacle {
        match leave_shim(self.identity).and_then(|()| become_user(self.identity)) {
            Ok(()) => self.begin(),
            Err(obstacle) => obstacle,
        }
    }

    /// Comes back only if it could not.
    pub(super) fn begin(&self) -> Obstacle {
        match self.enter() {
            Ok(()) => self.execute(),
            Err(obstacle) => obstacle,
        }
    }

    fn enter(&self) -> Result<(), Obstacle> {
        // SAFETY: takes a number.
        let _ = unsafe { call(libc::SYS_umask, [self.umask as usize, 0, 0, 0, 0]) };
        self.directory.map_or(Ok(()), change_directory)?;
        for (stream, fd) in (0..).zip(self.streams) {
            // SAFETY: takes numbers; the first is open, and none of the three.
            let put =
                unsafe { call(libc::SYS_dup3, [fd.unsigned_abs() as usize, stream, 0, 0, 0]) };
            put.map_err(at(LaunchStage::Process))?;
        }
        // Whatever somebody opened without saying that it is not for others.
        let others = [3, libc::c_uint::MAX as usize, CLOSE_ON_EXEC, 0, 0];
        if !self.closed {
            // SAFETY: only marks descriptors; nothing is closed before the program begins.
            let marked = unsafe { call(libc::SYS_close_range, others) };
            marked.map_err(at(LaunchStage::Process))?;
        }
        let none = 0_u64;
        let mask =
            [libc::SIG_SETMASK.unsigned_abs() as usize, address(&none), 0, size_of::<u64>(), 0];
        // SAFETY: the kernel reads the empty set, which has as many bytes as it is told.
        unsafe { call(libc::SYS_rt_sigprocmask, mask) }.map_err(at(LaunchStage::Process))
    }

    /// As `execvp` does it: a place that has not got it is passed over, and a script without a first line is for the shell.
    fn execute(&self) -> Obstacle {
        let mut refused = Errno::ENOENT;
        for program in self.programs {
            // A failed execution costs far more than a look, and a search path is long.
            if let Err(Errno::ENOENT | Errno::ENOTDIR) = look_at(program) {
                continue;
            }
            match execute(program, self.argv.for_program(program), self.environment) {
                Errno::ENOEXEC => {
                    let refused = execute(SHELL, self.argv.for_shell(program), self.environment);
                    return (LaunchStage::Command, refused);
                }
                // The program is there, so that it is what its first line names that is not.
                Errno::ENOENT => return (LaunchStage::Interpreter, Errno::ENOENT),
                Errno::ENOTDIR => {}
                // Remembered: the search may still find one that may be run.
                Errno::EACCES => refused = Errno::EACCES,
                error => return (LaunchStage::Command, error),
            }
        }
        (LaunchStage::Command, refused)
    }
}

/// A process of its own for signals, and with no key of the daemon's.
pub(super) fn leave_shim(identity: &Identity) -> Result<(), Obstacle> {
    // SAFETY: takes numbers; no name of a keyring means a new one.
    let (grouped, joined) = unsafe {
        let grouped = call(libc::SYS_setpgid, [0; 5]);
        (grouped, call(libc::SYS_keyctl, [JOIN_SESSION_KEYRING, 0, 0, 0, 0]))
    };
    grouped.map_err(at(LaunchStage::Process))?;
    match joined {
        // No keys in this kernel, or a sandbox that keeps the command from them too.
        Ok(()) | Err(Errno::ENOSYS | Errno::EPERM) => Ok(()),
        // The same user's own keys.
        Err(_) if !identity.changes_user() => Ok(()),
        Err(error) => Err((LaunchStage::Process, error)),
    }
}

/// For good: nothing of the shim's rights is left.
pub(super) fn become_user(identity: &Identity) -> Result<(), Obstacle> {
    identity.assume().map_err(at(LaunchStage::User))
}

pub(super) const SHELL: &CStr = c"/bin/sh";
const JOIN_SESSION_KEYRING: usize = 1;
const CLOSE_ON_EXEC: usize = 1 << 2;
/// Paths are relative to the working directory.
const HERE: usize = libc::AT_FDCWD as isize as usize;

fn look_at(program: &CStr) -> Result<(), Errno> {
    // SAFETY: the text ends with a zero byte.
    unsafe { call(libc::SYS_faccessat, [HERE, program.as_ptr() as usize, 0, 0, 0]) }
}

/// Comes back only if it could not.
fn execute(program: &CStr, argv: *const *const libc::c_char, environment: &Words) -> Errno {
    let what = [program.as_ptr() as usize, argv as usize, environment.pointers() as usize, 0, 0];
    // SAFETY: both lists end with a null pointer, and what they point to has zero bytes at its ends and lives on.
    unsafe { call(libc::SYS_execve, what) }.err().unwrap_or(Errno::EIO)
}

pub(super) fn change_directory(directory: &CStr) -> Result<(), Obstacle> {
    // SAFETY: the text ends with a zero byte.
    unsafe { call(libc::SYS_chdir, [directory.as_ptr() as usize, 0, 0, 0, 0]) }
        .map_err(at(LaunchStage::Directory))
}

/// This process is killed then, even if somebody has stopped it; not once it has executed a program, which begins without timers.
pub(super) fn end_after(time: &libc::itimerspec) -> Result<(), Errno> {
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

fn address<T>(value: &T) -> usize {
    std::ptr::from_ref(value) as usize
}

/// Without the C library, but for the number of an error.
///
/// # Safety
/// What is passed must be what the call takes: numbers, or the addresses of what it reads and writes.
pub(super) unsafe fn call(number: libc::c_long, [a, b, c, d, e]: [usize; 5]) -> Result<(), Errno> {
    // SAFETY: the caller's promise is passed on.
    match unsafe { libc::syscall(number, a, b, c, d, e) } {
        -1 => Err(Errno::last()),
        _ => Ok(()),
    }
}

fn at(stage: LaunchStage) -> impl Fn(Errno) -> Obstacle {
    move |error| (stage, error)
}
