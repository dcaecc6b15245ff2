//! From shim to command: a child that gives up all that is the daemon's, and becomes the user's program.

use crate::cgroup::RunCgroup;
use crate::fork::{Fork, fork};
use crate::launch::CommandLine;
use crate::process::Process;
use crate::rundir::{OUTPUT, RunDir};
use crate::shim::identity::Identity;
use crate::shim::launching::{self, Launching, Obstacle};
use crate::shim::program;
use crate::shim::refusal::Refusal;
use crate::signals;
use crate::vfork::{Stack, vfork};
use danlu_wire::Words;
use danlu_wire::launch::{ErrorSink, LaunchOrder, Sink};
use danlu_wire::rundir::LaunchStage;
use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::libc;
use nix::sys::stat::{Mode, fstat, umask};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid, waitpid};
use nix::unistd::{AccessFlags, Pid, access, dup2_stderr, dup2_stdin, dup2_stdout};
use std::ffi::{CStr, CString, NulError};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

/// Everything worked out beforehand, so that the child only has to do it.
pub(super) struct Plan<'a> {
    identity: &'a Identity,
    cgroup: &'a RunCgroup,
    directory: CString,
    umask: Mode,
    stdout: Target,
    stderr: Option<Target>,
    programs: Vec<CString>,
    argv: program::Words,
    environment: program::Words,
}

enum Target {
    Opened(OwnedFd),
    /// To be opened as the user.
    Path(CString, OFlag),
}

const NOTHING: &CStr = c"/dev/null";

/// How long the shim hears nothing at most while a command begins at once. What takes longer, a directory on a machine that does
/// not answer, is waited for in the other way.
const AT_ONCE: i64 = 1;

impl<'a> Plan<'a> {
    pub(super) fn new(
        order: &LaunchOrder,
        line: &CommandLine<'_>,
        identity: &'a Identity,
        cgroup: &'a RunCgroup,
        dir: &RunDir,
    ) -> Result<Plan<'a>, Refusal> {
        let zero_byte = || Refusal::order("the order has a zero byte in it");
        let no_text = |_: NulError| zero_byte();
        let Some(program) = line.argv.first().filter(|program| !program.is_empty()) else {
            return Err(Refusal::order("there is no command"));
        };
        let words = Words::of(order);
        let target = |sink: &Sink| target(sink, &words, dir, identity);
        let stderr = match &order.output.stderr {
            ErrorSink::Own(sink) if *sink != order.output.stdout => Some(target(sink)?),
            ErrorSink::Own(_) | ErrorSink::WithStdout => None,
        };
        Ok(Plan {
            identity,
            cgroup,
            directory: CString::new(order.directory.as_str()).map_err(no_text)?,
            umask: Mode::from_bits_truncate(order.umask),
            stdout: target(&order.output.stdout)?,
            stderr,
            programs: program::places(
                program,
                line.environment.get("PATH").map_or("", |path| path),
            )
            .map_err(no_text)?,
            argv: program::Words::of_argv(&line.argv).ok_or_else(zero_byte)?,
            environment: program::Words::of_environment(&line.environment).ok_or_else(zero_byte)?,
        })
    }

    /// The command begins. Before that, `announce` is called with its process id, and can keep it from beginning.
    pub(super) fn start(
        self,
        stack: &Stack,
        announce: impl Fn(Pid) -> Result<(), Refusal>,
    ) -> Result<(Pid, Launching), Refusal> {
        if self.can_begin_at_once()
            && let Some(started) = self.start_at_once(stack, &announce)
        {
            return started;
        }
        let (leader, mut link) = self.spawn().map_err(|error| Refusal::process(&error))?;
        // Without the word, the child goes by itself.
        announce(leader)?;
        // A child that has died already is noticed as any other.
        let _ = link.write_all(&[1]);
        let launching = Launching::awaited(link).map_err(|error| Refusal::process(&error))?;
        Ok((leader, launching))
    }

    /// To open a file of the user's may take for ever: a pipe that nobody reads.
    fn can_begin_at_once(&self) -> bool {
        [Some(&self.stdout), self.stderr.as_ref()].into_iter().flatten().all(
            |target| match target {
                Target::Opened(_) => true,
                Target::Path(path, _) => path.as_c_str() == NOTHING,
            },
        )
    }

    /// Without a copy of this process. `None` where that cannot be done, or takes long.
    fn start_at_once(
        &self,
        stack: &Stack,
        announce: &impl Fn(Pid) -> Result<(), Refusal>,
    ) -> Option<Result<(Pid, Launching), Refusal>> {
        let (mut hurried, mut refused, mut obstacle) = (false, None, None);
        let group = self.cgroup.open();
        // SAFETY: a shim has no threads. What the child makes it gives back, or it is lost with a command that cannot begin.
        let child = unsafe {
            vfork(stack, group.as_ref().map(AsFd::as_fd), |in_cgroup| {
                hurried = end_after(AT_ONCE).is_ok();
                if !hurried {
                    return;
                }
                let joined = self.leave_shim(in_cgroup);
                if let Err(refusal) = announce(nix::unistd::getpid()) {
                    refused = Some(refusal);
                    return;
                }
                obstacle = joined
                    .and_then(|()| self.identity.assume().map_err(at(LaunchStage::User)))
                    .and_then(|()| self.execute(None))
                    .err();
            })
        };
        let leader = child.ok()?;
        if let Some(refusal) = refused {
            return Some(Err(refusal));
        }
        if !hurried || obstacle.is_none() && died_before_it_began(leader) {
            let _ = waitpid(leader, None);
            return None;
        }
        Some(Ok((leader, Launching::known(obstacle.map_or(Ok(()), Err)))))
    }

    /// A child that does nothing yet: it waits for a word, and goes when it hears that there will be none.
    fn spawn(&self) -> io::Result<(Pid, UnixStream)> {
        let (link, child_link) = UnixStream::pair()?;
        let group = self.cgroup.open();
        // SAFETY: a shim has no threads.
        match unsafe { fork(group.as_ref().map(AsFd::as_fd)) }? {
            Fork::Parent { child, .. } => Ok((child, link)),
            Fork::Child { in_cgroup } => {
                drop(link);
                self.become_command(child_link, in_cgroup)
            }
        }
    }

    fn become_command(&self, mut link: UnixStream, in_cgroup: bool) -> ! {
        let ready = self
            .leave_shim(in_cgroup)
            .and_then(|()| self.identity.assume().map_err(at(LaunchStage::User)));
        // Without the word it goes silently: the shim is gone, and nothing must run.
        if link.read_exact(&mut [0]).is_ok()
            && let Err(obstacle) = ready.and_then(|()| self.execute(Some(&mut link)))
        {
            launching::complain(&mut link, obstacle);
        }
        // SAFETY: ends the process at once; nothing of the parent's is flushed or torn down here.
        unsafe { libc::_exit(127) }
    }

    /// A process of its own, for signals and for limits.
    fn leave_shim(&self, in_cgroup: bool) -> Result<(), Obstacle> {
        let own = Pid::from_raw(0);
        let grouped = nix::unistd::setpgid(own, own).map_err(at(LaunchStage::Process));
        let joined = self.cgroup.join(in_cgroup);
        grouped.and_then(|()| joined.map_err(|error| (LaunchStage::Cgroup, errno(&error))))
    }

    /// Comes back only if it could not. `link` is where to tell of files that others have written to.
    fn execute(&self, link: Option<&mut UnixStream>) -> Result<(), Obstacle> {
        umask(self.umask);
        nix::unistd::chdir(self.directory.as_c_str()).map_err(at(LaunchStage::Directory))?;
        self.connect_streams()?;
        if let Some(link) = link {
            self.tell_starts(link);
        }
        close_others_on_exec().map_err(at(LaunchStage::Process))?;
        signals::unblock_all().map_err(at(LaunchStage::Process))?;
        Err(self.execute_program())
    }

    fn connect_streams(&self) -> Result<(), Obstacle> {
        let nothing = open(NOTHING, OFlag::O_RDONLY | OFlag::O_CLOEXEC, Mode::empty());
        nothing.and_then(dup2_stdin).map_err(at(LaunchStage::Process))?;
        let stdout = self.stdout.open().map_err(at(LaunchStage::Stdout))?;
        dup2_stdout(stdout.as_fd()).map_err(at(LaunchStage::Stdout))?;
        let stderr = match &self.stderr {
            Some(own) => own.open().map_err(at(LaunchStage::Stderr))?,
            None => stdout,
        };
        dup2_stderr(stderr.as_fd()).map_err(at(LaunchStage::Stderr))
    }

    /// Files that others have written to before: what they wrote says nothing about this run.
    fn tell_starts(&self, link: &mut UnixStream) {
        let appends = |target: &Target| matches!(target, Target::Path(_, flags) if !flags.contains(OFlag::O_TRUNC));
        if !appends(&self.stdout) && !self.stderr.as_ref().is_some_and(appends) {
            return;
        }
        let size = |fd: BorrowedFd<'_>| fstat(fd).map_or(0, |facts| facts.st_size).unsigned_abs();
        let starts = [size(io::stdout().as_fd()), size(io::stderr().as_fd())];
        launching::tell_starts(link, starts);
    }

    /// As `execvp` does it: a place that has not got it is passed over, and a script without a first line is for the shell.
    fn execute_program(&self) -> Obstacle {
        let mut refused = Errno::ENOENT;
        for program in &self.programs {
            // A failed execution costs far more than a look, and a search path is long.
            if let Err(Errno::ENOENT | Errno::ENOTDIR) =
                access(program.as_c_str(), AccessFlags::F_OK)
            {
                continue;
            }
            match program::execute(program, &self.argv, &self.environment) {
                Errno::ENOEXEC => {
                    let refused = program::execute_by_shell(program, &self.argv, &self.environment);
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

impl Target {
    fn open(&self) -> Result<OwnedFd, Errno> {
        match self {
            Target::Opened(fd) => fd.try_clone().map_err(|error| errno(&error)),
            Target::Path(path, flags) => {
                let flags =
                    *flags | OFlag::O_WRONLY | OFlag::O_CREAT | OFlag::O_NOCTTY | OFlag::O_CLOEXEC;
                open(path.as_c_str(), flags, Mode::from_bits_truncate(0o666))
            }
        }
    }
}

/// What is in the run directory is opened by the shim, and given to the user.
fn target(
    sink: &Sink,
    words: &Words,
    dir: &RunDir,
    identity: &Identity,
) -> Result<Target, Refusal> {
    match sink {
        Sink::Log => {
            let opened = dir
                .create(OUTPUT, OFlag::O_APPEND, 0o600)
                .and_then(|log| identity.give(&log).map(|()| log));
            let log: File =
                opened.map_err(|error| Refusal::run_directory("open the log", &error))?;
            Ok(Target::Opened(log.into()))
        }
        Sink::File { path, append } => {
            let path = CString::new(words.put_into(path).into_owned())
                .map_err(|_| Refusal::order("the order has a zero byte in it"))?;
            // Appending in both cases: several writers then never write over each other.
            let start = if *append { OFlag::empty() } else { OFlag::O_TRUNC };
            Ok(Target::Path(path, start | OFlag::O_APPEND))
        }
        Sink::Discard => Ok(Target::Path(NOTHING.to_owned(), OFlag::empty())),
    }
}

/// This process is killed then, even if somebody has stopped it; not once it has executed a program, which begins without timers.
fn end_after(seconds: i64) -> Result<(), Errno> {
    // SAFETY: the structures are plain numbers, for which zero is "nothing".
    let (mut event, mut time): (libc::sigevent, libc::itimerspec) =
        unsafe { (std::mem::zeroed(), std::mem::zeroed()) };
    event.sigev_notify = libc::SIGEV_SIGNAL;
    event.sigev_signo = libc::SIGKILL;
    time.it_value.tv_sec = seconds;
    let mut timer: libc::c_int = 0;
    // SAFETY: the kernel reads what is there, and writes the number of the timer. The C library's functions keep a list.
    unsafe {
        let (event, number) = (std::ptr::from_ref(&event), std::ptr::from_mut(&mut timer));
        Errno::result(libc::syscall(libc::SYS_timer_create, libc::CLOCK_MONOTONIC, event, number))?;
        let (time, before) = (std::ptr::from_ref(&time), std::ptr::null_mut::<libc::itimerspec>());
        Errno::result(libc::syscall(libc::SYS_timer_settime, timer, 0, time, before))?;
    }
    Ok(())
}

/// By a signal, before it was the program that it was to be.
fn died_before_it_began(child: Pid) -> bool {
    let look = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
    let ended = waitid(Id::Pid(child), look);
    matches!(ended, Ok(WaitStatus::Signaled(..)))
        && Process::read(child).is_none_or(|process| process.unexecuted)
}

/// Whatever somebody opened without saying that it is not for others.
fn close_others_on_exec() -> Result<(), Errno> {
    const CLOSE_ON_EXEC: libc::c_uint = 1 << 2;
    // SAFETY: only marks descriptors; nothing is closed before the program begins.
    let marked =
        unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, CLOSE_ON_EXEC) };
    if marked == 0 {
        return Ok(());
    }
    // Before Linux 5.11.
    let entries = std::fs::read_dir("/proc/self/fd").map_err(|error| errno(&error))?;
    for fd in entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
    {
        if fd > 2 {
            // SAFETY: as above; a number that is no descriptor is refused.
            unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) };
        }
    }
    Ok(())
}

fn at(stage: LaunchStage) -> impl Fn(Errno) -> Obstacle {
    move |error| (stage, error)
}

fn errno(error: &io::Error) -> Errno {
    Errno::from_raw(error.raw_os_error().unwrap_or(libc::EIO))
}
