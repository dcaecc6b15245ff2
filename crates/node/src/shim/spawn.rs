//! Starts the command: a child drops everything that belongs to the daemon, and executes the user's program.
//!
//! There are two ways. A child in the shim's memory (`vfork`, `steps`) is quick, but blocks the shim until it has executed: so it gets
//! one second, and only commands that need nothing of the user's but a directory and a program start this way. All others, and those
//! that take longer, are started by a forked copy of the shim, which becomes the user first and may then take as long as it needs.
#![allow(unsafe_code, reason = "forks")]

use crate::activation;
use crate::cgroup::RunCgroup;
use crate::fork::{Fork, fork};
use crate::launch_command::CommandLine;
use crate::rundir::{OUTPUT, RunDir};
use crate::shim::file_target::FileTarget;
use crate::shim::identity::{Credentials, Identity};
use crate::shim::launch_progress::{self, LaunchProgress, Obstacle, Problem};
use crate::shim::program;
use crate::shim::refusal::Refusal;
use crate::shim::steps::{self, Steps};
use crate::shim::vfork_start::VforkStart;
use crate::system_calls::{close_others_on_exec, exit_now};
use crate::vfork::Stack;
use danlu_core::task::PythonEnvironment;
use danlu_wire::Words;
use danlu_wire::launch::{ErrorSink, LaunchOrder, Sink};
use danlu_wire::rundir::LaunchStage;
use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::libc;
use nix::sys::stat::{Mode, fstat, umask};
use nix::unistd::Pid;
use std::convert::Infallible;
use std::ffi::{CStr, CString, NulError};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// Everything worked out beforehand, so that the child only has to do it.
pub(super) struct Plan<'a> {
    credentials: Credentials,
    cgroup: &'a RunCgroup,
    line: &'a CommandLine<'a>,
    python: Option<&'a PythonEnvironment>,
    directory: CString,
    umask: u32,
    nothing: OwnedFd,
    stdout: Target,
    stderr: Option<Target>,
    program: Program,
}

/// The program that is executed.
struct Program {
    places: Vec<CString>,
    argv: program::Words,
    environment: program::Words,
}

enum Target {
    Opened(OwnedFd),
    /// To be opened as the user.
    Path(FileTarget),
}

const NOTHING: &CStr = c"/dev/null";

/// How long the shim hears nothing at most while a command begins at once. What takes longer, a directory on a machine that does
/// not answer, is waited for in the other way.
const VFORK_LIMIT: Duration = Duration::from_secs(1);

impl<'a> Plan<'a> {
    pub(super) fn new(
        order: &'a LaunchOrder,
        line: &'a CommandLine<'a>,
        identity: &'a Identity,
        cgroup: &'a RunCgroup,
        dir: &RunDir,
    ) -> Result<Plan<'a>, Refusal> {
        let words = Words::of(order);
        let target = |sink: &Sink| target(sink, &words, dir, identity);
        let stderr = match &order.output.stderr {
            ErrorSink::Own(sink) if *sink != order.output.stdout => Some(target(sink)?),
            ErrorSink::Own(_) | ErrorSink::WithStdout => None,
        };
        let nothing = open(NOTHING, OFlag::O_RDONLY | OFlag::O_CLOEXEC, Mode::empty())
            .map_err(|error| Refusal::process(&error.into()))?;
        Ok(Plan {
            credentials: identity.credentials(),
            cgroup,
            line,
            python: order.python.as_ref(),
            directory: CString::new(order.directory.as_str())
                .map_err(|_| Refusal::order(ZERO_BYTE))?,
            umask: order.umask,
            nothing,
            stdout: target(&order.output.stdout)?,
            stderr,
            program: Program::of(line).map_err(Refusal::order)?,
        })
    }

    /// The command begins. Before that `announce` is called, with its process id if there is one yet, and can keep it from beginning.
    pub(super) fn start(
        self,
        stack: &Stack,
        announce: impl Fn(Option<Pid>) -> Result<(), Refusal>,
    ) -> Result<(Pid, LaunchProgress), Refusal> {
        if let Some(streams) = self.opened_streams() {
            announce(None)?;
            if let Some((leader, progress)) = self.start_by_vfork(stack, streams) {
                announce(Some(leader))?;
                return Ok((leader, progress));
            }
        }
        let (leader, mut link) = self.spawn().map_err(|error| Refusal::process(&error))?;
        // Without the word, the child goes by itself.
        announce(Some(leader))?;
        // A child that has died already is noticed as any other.
        let _ = link.write_all(&[1]);
        let progress = LaunchProgress::awaited(link).map_err(|error| Refusal::process(&error))?;
        Ok((leader, progress))
    }

    /// The streams, if all are open already: opening a file of the user or searching an environment may block for ever.
    fn opened_streams(&self) -> Option<[BorrowedFd<'_>; 3]> {
        let stdout = self.stdout.opened()?;
        let stderr = self.stderr.as_ref().map_or(Some(stdout), Target::opened)?;
        self.python.is_none().then(|| [self.nothing.as_fd(), stdout, stderr])
    }

    /// `None` where that cannot be done, or takes long: nothing runs then.
    fn start_by_vfork(
        &self,
        stack: &Stack,
        streams: [BorrowedFd<'_>; 3],
    ) -> Option<(Pid, LaunchProgress)> {
        let group = self.cgroup.open();
        if !self.cgroup.is_entered_by_birth_in(group.as_ref()) {
            return None;
        }
        let steps = self.steps(&self.program, Some(&self.directory), streams, false);
        let (leader, begun) =
            VforkStart::new(steps).start(stack, group.as_ref().map(AsFd::as_fd), VFORK_LIMIT)?;
        Some((leader, LaunchProgress::known(begun)))
    }

    fn steps<'b>(
        &'b self,
        program: &'b Program,
        directory: Option<&'b CStr>,
        streams: [BorrowedFd<'b>; 3],
        closed: bool,
    ) -> Steps<'b> {
        let Program { places, argv, environment } = program;
        let (credentials, umask) = (&self.credentials, self.umask);
        Steps {
            credentials,
            umask,
            directory,
            streams,
            closed,
            programs: places,
            argv,
            environment,
        }
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
        let joined =
            self.cgroup.join(in_cgroup).map_err(|error| (LaunchStage::Cgroup, errno(&error)));
        let ready = steps::leave_shim(&self.credentials)
            .and(joined)
            .and_then(|()| steps::become_user(&self.credentials));
        // Without the word it goes silently: the shim is gone, and nothing must run.
        if link.read_exact(&mut [0]).is_ok()
            && let Err(problem) =
                ready.map_err(Problem::Met).and_then(|()| self.begin_as_user(&mut link))
        {
            launch_progress::complain(&mut link, &problem);
        }
        exit_now(127)
    }

    /// Returns only on failure. Every step may block on a file system of the user.
    fn begin_as_user(&self, link: &mut UnixStream) -> Result<Infallible, Problem> {
        umask(Mode::from_bits_truncate(self.umask));
        let program = match self.python {
            Some(python) => {
                launch_progress::tell_stage(link, LaunchStage::Environment);
                Some(self.activated(python)?)
            }
            None => None,
        };
        launch_progress::tell_stage(link, LaunchStage::Directory);
        steps::change_directory(&self.directory).map_err(Problem::Met)?;
        let streams = self.open_streams(link).map_err(Problem::Met)?;
        mark_others().map_err(|error| Problem::Met((LaunchStage::Process, error)))?;
        launch_progress::tell_stage(link, LaunchStage::Command);
        let program = program.as_ref().unwrap_or(&self.program);
        let fds = [self.nothing.as_fd(), streams[0].as_fd(), streams[1].as_fd()];
        Err(Problem::Met(self.steps(program, None, fds, true).begin()))
    }

    /// In the environment of the user's that was asked for.
    fn activated(&self, python: &PythonEnvironment) -> Result<Program, Problem> {
        let mut line = self.line.clone();
        let directory = self.directory.to_string_lossy();
        activation::enter(python, &directory, &mut line.environment).map_err(Problem::Missing)?;
        Program::of(&line).map_err(|_| Problem::Met((LaunchStage::Environment, Errno::EINVAL)))
    }

    /// For output and errors.
    fn open_streams(&self, link: &mut UnixStream) -> Result<[OwnedFd; 2], Obstacle> {
        launch_progress::tell_stage(link, LaunchStage::Stdout);
        let stdout = self.stdout.open().map_err(|error| (LaunchStage::Stdout, error))?;
        launch_progress::tell_stage(link, LaunchStage::Stderr);
        let stderr = match &self.stderr {
            Some(own) => own.open(),
            None => stdout.try_clone().map_err(|error| errno(&error)),
        };
        let streams = [stdout, stderr.map_err(|error| (LaunchStage::Stderr, error))?];
        self.tell_starts(link, &streams);
        Ok(streams)
    }

    /// Files that others have written to before: what they wrote says nothing about this run.
    fn tell_starts(&self, link: &mut UnixStream, streams: &[OwnedFd; 2]) {
        let appends = |target: &Target| matches!(target, Target::Path(file) if file.appends());
        if appends(&self.stdout) || self.stderr.as_ref().is_some_and(appends) {
            let size = |fd: &OwnedFd| fstat(fd).map_or(0, |facts| facts.st_size).unsigned_abs();
            launch_progress::tell_starts(link, streams.each_ref().map(size));
        }
    }
}

impl Program {
    fn of(line: &CommandLine<'_>) -> Result<Program, &'static str> {
        let Some(program) = line.argv.first().filter(|program| !program.is_empty()) else {
            return Err("there is no command");
        };
        let path = line.environment.get("PATH").map_or("", |path| path);
        let chosen = line.programs.iter().map(|program| CString::new(program.as_str()));
        let places = match line.programs.is_empty() {
            true => program::places(program, path),
            false => chosen.collect(),
        };
        let places = places.map_err(|_: NulError| ZERO_BYTE)?;
        let mut argv = program::Words::of_argv(&line.argv).ok_or(ZERO_BYTE)?;
        argv.begins_with_program = !line.programs.is_empty();
        let environment = program::Words::of_environment(&line.environment).ok_or(ZERO_BYTE)?;
        Ok(Program { places, argv, environment })
    }
}

const ZERO_BYTE: &str = "the order has a zero byte in it";

impl Target {
    fn opened(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Target::Opened(fd) => Some(fd.as_fd()),
            Target::Path(_) => None,
        }
    }

    fn open(&self) -> Result<OwnedFd, Errno> {
        match self {
            Target::Opened(fd) => fd.try_clone().map_err(|error| errno(&error)),
            Target::Path(file) => file.open(),
        }
    }
}

/// Opens a log in the run directory, and makes the user its owner.
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
        Sink::File { path, append, task_in_directory, own } => {
            let file = FileTarget::new(&words.put_into(path), *append, *task_in_directory, *own);
            Ok(Target::Path(file.map_err(|_| Refusal::order(ZERO_BYTE))?))
        }
        Sink::Discard => {
            let nothing = open(NOTHING, OFlag::O_WRONLY | OFlag::O_CLOEXEC, Mode::empty());
            Ok(Target::Opened(nothing.map_err(|error| Refusal::process(&error.into()))?))
        }
    }
}

/// Marks descriptors that were opened without close-on-exec.
fn mark_others() -> Result<(), Errno> {
    if close_others_on_exec().is_ok() {
        return Ok(());
    }
    // Before Linux 5.11.
    let entries = std::fs::read_dir("/proc/self/fd").map_err(|error| errno(&error))?;
    for fd in entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
    {
        if fd > 2 {
            // SAFETY: only marks it; a number that is no descriptor any more is refused.
            unsafe { libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC) };
        }
    }
    Ok(())
}

fn errno(error: &io::Error) -> Errno {
    Errno::from_raw(error.raw_os_error().unwrap_or(libc::EIO))
}
