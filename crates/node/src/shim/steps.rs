//! The last steps from a child of the shim to the user's program: system calls on prepared data, and nothing else.
//!
//! The child may share the memory of its shim (`vfork`), and may be killed at any instruction. So nothing here allocates, takes a lock,
//! formats or can panic. It writes to its own stack, to its result (`vfork_start`), and to the two places of [`Words`] that are
//! reserved for it. System calls are made directly (`rustix` and `system_calls`): the C library's functions for users and groups would
//! signal other threads. `rustix` has its own system call instructions and caches nothing about the process, so it does not matter
//! whose memory this is.
#![allow(unsafe_code, reason = "executes a program with lists of pointers")]

use super::identity::Credentials;
use super::launch_progress::Obstacle;
use super::program::Words;
use crate::system_calls::{
    call, close_others_on_exec, join_new_session_keyring, unblock_all_signals,
};
use danlu_wire::rundir::LaunchStage;
use nix::errno::Errno;
use nix::libc;
use rustix::fs::{Access, AtFlags, CWD, Mode, accessat};
use rustix::process::{chdir, setpgid, umask};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};
use std::ffi::{CStr, CString};
use std::os::fd::BorrowedFd;

/// The inputs of the steps, in the order of their use.
pub(super) struct Steps<'a> {
    pub(super) credentials: &'a Credentials,
    pub(super) umask: u32,
    /// `None` where it has been entered.
    pub(super) directory: Option<&'a CStr>,
    /// Input, output, errors.
    pub(super) streams: [BorrowedFd<'a>; 3],
    /// Every other descriptor is closed when the program begins, without a word of ours.
    pub(super) closed: bool,
    /// Where the program may be.
    pub(super) programs: &'a [CString],
    pub(super) argv: &'a Words,
    pub(super) environment: &'a Words,
}

impl Steps<'_> {
    /// Returns only on failure.
    pub(super) fn all(&self) -> Obstacle {
        match leave_shim(self.credentials).and_then(|()| become_user(self.credentials)) {
            Ok(()) => self.begin(),
            Err(obstacle) => obstacle,
        }
    }

    /// Returns only on failure.
    pub(super) fn begin(&self) -> Obstacle {
        match self.enter() {
            Ok(()) => self.execute(),
            Err(obstacle) => obstacle,
        }
    }

    fn enter(&self) -> Result<(), Obstacle> {
        umask(Mode::from_raw_mode(self.umask));
        self.directory.map_or(Ok(()), change_directory)?;
        // All three are open, and none of them is a standard stream.
        let [input, output, errors] = self.streams;
        let put =
            dup2_stdin(input).and_then(|()| dup2_stdout(output)).and_then(|()| dup2_stderr(errors));
        put.map_err(errno).map_err(at(LaunchStage::Process))?;
        // Descriptors that were opened without close-on-exec.
        if !self.closed {
            close_others_on_exec().map_err(at(LaunchStage::Process))?;
        }
        unblock_all_signals().map_err(at(LaunchStage::Process))
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
pub(super) fn leave_shim(credentials: &Credentials) -> Result<(), Obstacle> {
    setpgid(None, None).map_err(errno).map_err(at(LaunchStage::Process))?;
    match join_new_session_keyring() {
        // No keys in this kernel, or a sandbox that keeps the command from them too.
        Ok(()) | Err(Errno::ENOSYS | Errno::EPERM) => Ok(()),
        // The same user's own keys.
        Err(_) if !credentials.change_user() => Ok(()),
        Err(error) => Err((LaunchStage::Process, error)),
    }
}

/// For good: nothing of the shim's rights is left.
pub(super) fn become_user(credentials: &Credentials) -> Result<(), Obstacle> {
    credentials.assume().map_err(at(LaunchStage::User))
}

pub(super) const SHELL: &CStr = c"/bin/sh";

fn look_at(program: &CStr) -> Result<(), Errno> {
    accessat(CWD, program, Access::EXISTS, AtFlags::empty()).map_err(errno)
}

/// Returns only on failure.
fn execute(program: &CStr, argv: *const *const libc::c_char, environment: &Words) -> Errno {
    let what = [program.as_ptr() as usize, argv as usize, environment.pointers() as usize, 0, 0];
    // SAFETY: both lists end with a null pointer, and what they point to has zero bytes at its ends and lives on.
    unsafe { call(libc::SYS_execve, what) }.err().unwrap_or(Errno::EIO)
}

pub(super) fn change_directory(directory: &CStr) -> Result<(), Obstacle> {
    chdir(directory).map_err(errno).map_err(at(LaunchStage::Directory))
}

pub(super) fn errno(error: rustix::io::Errno) -> Errno {
    Errno::from_raw(error.raw_os_error())
}

fn at(stage: LaunchStage) -> impl Fn(Errno) -> Obstacle {
    move |error| (stage, error)
}
