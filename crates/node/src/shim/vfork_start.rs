//! Starts a command as a child in the memory of its shim, within a time limit.
#![allow(unsafe_code, reason = "starts a child in the memory of this process")]

use super::launch_progress::{Obstacle, number_of, stage_of};
use super::steps::Steps;
use crate::process::Process;
use crate::system_calls::{exit_now, kill_after};
use crate::vfork::{Stack, vfork};
use danlu_wire::rundir::LaunchStage;
use nix::errno::Errno;
use nix::libc;
use nix::sys::wait::waitpid;
use nix::unistd::Pid;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The input of the child, and the two numbers where it leaves its error.
pub(super) struct VforkStart<'a> {
    steps: Steps<'a>,
    time: libc::itimerspec,
    stage: AtomicI32,
    error: AtomicI32,
}

impl<'a> VforkStart<'a> {
    pub(super) fn new(steps: Steps<'a>) -> VforkStart<'a> {
        // SAFETY: the structure is plain numbers, for which zero is "nothing".
        let time = unsafe { std::mem::zeroed() };
        VforkStart { steps, time, stage: AtomicI32::new(0), error: AtomicI32::new(0) }
    }

    /// `None` where it cannot be done in this way, or not in that time: nothing runs then.
    pub(super) fn start(
        mut self,
        stack: &Stack,
        group: Option<BorrowedFd<'_>>,
        within: Duration,
    ) -> Option<(Pid, Result<(), Obstacle>)> {
        self.time.it_value.tv_sec = i64::try_from(within.as_secs()).ok()?;
        self.time.it_value.tv_nsec = i64::from(within.subsec_nanos());
        let since = Instant::now();
        // SAFETY: `begin` makes system calls and nothing else, and leaves two numbers that are read one after the other.
        let child = unsafe { vfork(stack, group, VforkStart::begin, &self) }.ok()?;
        match self.obstacle() {
            // A kernel that is too old for it.
            Some((LaunchStage::Process, _)) => {}
            // A child that another process kills so early counts as an ended command.
            None if since.elapsed() >= within && died_before_it_began(child) => {}
            obstacle => return Some((child, obstacle.map_or(Ok(()), Err))),
        }
        let _ = waitpid(child, None);
        None
    }

    extern "C" fn begin(&self) -> ! {
        let (stage, error) = match kill_after(&self.time) {
            Ok(()) => self.steps.all(),
            Err(error) => (LaunchStage::Process, error),
        };
        // The stage last: where it is not written, nothing is.
        self.error.store(error as i32, Ordering::Relaxed);
        self.stage.store(i32::from(number_of(stage)) + 1, Ordering::Release);
        exit_now(127)
    }

    fn obstacle(&self) -> Option<Obstacle> {
        let stage = u8::try_from(self.stage.load(Ordering::Acquire) - 1).ok()?;
        Some((stage_of(stage), Errno::from_raw(self.error.load(Ordering::Relaxed))))
    }
}

/// By a signal, before it was the program that it was to be. This process goes on a moment before that is settled: when the child
/// has left the memory, be it for a new one or for good.
fn died_before_it_began(child: Pid) -> bool {
    loop {
        match Process::read(child) {
            Some(Process { unexecuted: true, zombie: false, .. }) => thread::yield_now(),
            Some(Process { unexecuted, .. }) => return unexecuted,
            // It stays a zombie until it is waited for, so `/proc` is missing.
            None => return false,
        }
    }
}

#[cfg(test)]
#[cfg(target_arch = "x86_64")]
mod tests {
    use super::*;
    use crate::shim::identity::{Credentials, Identity};
    use crate::shim::program::{self, Words};
    use nix::sys::signal::Signal;
    use nix::sys::wait::WaitStatus;
    use std::collections::BTreeMap;
    use std::ffi::CString;
    use std::fs::File;
    use std::os::fd::AsFd as _;

    /// Everything that a child is given, which must be the same afterwards.
    struct Given {
        credentials: Credentials,
        nothing: File,
        places: Vec<CString>,
        argv: Words,
        environment: Words,
    }

    impl Given {
        fn new(program: &str) -> Given {
            let argv = [program.to_owned(), "x".repeat(100)];
            let variables =
                BTreeMap::from([("PATH", "/bin".into()), ("A", "b".repeat(999).into())]);
            // Many places, so that there is much to be interrupted.
            let path = format!("{}/usr/bin", "/no/such/place:".repeat(20));
            Given {
                credentials: Identity::find(None).unwrap().credentials(),
                nothing: File::options().read(true).write(true).open("/dev/null").unwrap(),
                places: program::places(program, &path).unwrap(),
                argv: Words::of_argv(&argv).unwrap(),
                environment: Words::of_environment(&variables).unwrap(),
            }
        }

        fn start(&self, stack: &Stack, within: Duration) -> Option<(Pid, Result<(), Obstacle>)> {
            let steps = Steps {
                credentials: &self.credentials,
                umask: 0o022,
                directory: Some(c"/"),
                streams: [self.nothing.as_fd(); 3],
                closed: false,
                programs: &self.places,
                argv: &self.argv,
                environment: &self.environment,
            };
            VforkStart::new(steps).start(stack, None, within)
        }

        fn as_text(&self) -> String {
            format!("{:?} {:?} {:?}", self.places, self.argv, self.environment)
        }
    }

    #[test]
    fn what_stood_in_the_way_is_told() {
        let stack = Stack::new().unwrap();
        let second = Duration::from_secs(1);
        let (child, begun) = Given::new("no-such-program").start(&stack, second).unwrap();
        waitpid(child, None).unwrap();
        assert_eq!(begun, Err((LaunchStage::Command, Errno::ENOENT)));
        let (child, begun) = Given::new("true").start(&stack, second).unwrap();
        assert_eq!(begun, Ok(()));
        assert_eq!(waitpid(child, None).unwrap(), WaitStatus::Exited(child, 0));
    }

    /// Every one is killed after a time of its own: in the middle of a system call, between two of them, or when it is over.
    #[test]
    fn children_that_are_killed_at_any_moment_leave_their_parent_as_it_was() {
        const ROUNDS: u64 = 5_000;
        let stack = Stack::new().unwrap();
        let given = Given::new("true");
        let before = given.as_text();
        let (mut killed, mut begun, mut kept) = (0, 0, Vec::new());
        for round in 0..ROUNDS {
            // Spread evenly, in an order of its own.
            let nanoseconds = 1 + (round * 7_919) % 400_000;
            match given.start(&stack, Duration::from_nanos(nanoseconds)) {
                None => killed += 1,
                Some((child, outcome)) => {
                    assert_eq!(outcome, Ok(()), "round {round}");
                    // A timer that fires while the kernel puts the program in place ends that.
                    let ended = waitpid(child, None).unwrap();
                    let killed = WaitStatus::Signaled(child, Signal::SIGKILL, false);
                    let fine = ended == WaitStatus::Exited(child, 0) || ended == killed;
                    assert!(fine, "round {round}: {ended:?}");
                    begun += 1;
                }
            }
            // What a child had left in the middle of a change would be met here.
            kept.push(format!("{round}: {}", "y".repeat(usize::try_from(round % 97).unwrap())));
            if kept.len() > 100 {
                kept.remove(usize::try_from(round % 90).unwrap());
            }
        }
        println!("{killed} were killed before they had begun, {begun} had begun");
        assert_eq!(given.as_text(), before);
        assert!(killed > 100, "{killed} of {ROUNDS}");
        let (child, outcome) = given.start(&stack, Duration::from_secs(5)).unwrap();
        assert_eq!(outcome, Ok(()));
        assert_eq!(waitpid(child, None).unwrap(), WaitStatus::Exited(child, 0));
    }
}
