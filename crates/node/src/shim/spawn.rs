//! From shim to command: a child that gives up all that is the daemon's, and becomes the user's program.

use crate::cgroup::RunCgroup;
use crate::fork::{Fork, fork};
use crate::launch::CommandLine;
use crate::rundir::{OUTPUT, RunDir};
use crate::shim::identity::Identity;
use crate::shim::refusal::Refusal;
use crate::shim::tail::Starts;
use crate::signals;
use danlu_wire::Words;
use danlu_wire::launch::{ErrorSink, LaunchOrder, Sink};
use danlu_wire::rundir::LaunchStage;
use nix::errno::Errno;
use nix::fcntl::{OFlag, open};
use nix::libc;
use nix::sys::stat::{Mode, fstat, umask};
use nix::unistd::{AccessFlags, Pid, access, dup2_stderr, dup2_stdin, dup2_stdout};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, NulError};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

/// A child that is ready, and waits for the word.
#[derive(Debug)]
pub(super) struct Poised {
    pub(super) leader: Pid,
    /// Gives the word; then brings the refusal if there is one, and closes when the command has begun.
    link: UnixStream,
}

/// A command that has been given the word.
#[derive(Debug)]
pub(super) struct Launching {
    link: UnixStream,
    heard: Vec<u8>,
    /// Where the files of its streams ended, if others have written there too.
    pub(super) starts: Starts,
}

/// Everything worked out beforehand, so that the child only has to do it.
pub(super) struct Plan<'a> {
    identity: &'a Identity,
    cgroup: &'a RunCgroup,
    directory: CString,
    umask: Mode,
    stdout: Target,
    stderr: Option<Target>,
    /// Where the program may be, in the order of the search path.
    programs: Vec<CString>,
    argv: Vec<CString>,
    environment: Block,
}

/// Texts one after the other, each with a zero byte after it, as the system takes them.
struct Block {
    content: Vec<u8>,
    starts: Vec<usize>,
}

enum Target {
    Opened(OwnedFd),
    /// To be opened as the user.
    Path(CString, OFlag),
}

/// What the child says when it cannot go on: a stage and an error number.
type Complaint = [u8; 5];

/// Comes before the two numbers of [`Starts`]; no stage has this number.
const STARTS: u8 = u8::MAX;

const STAGES: [LaunchStage; 9] = [
    LaunchStage::RunDirectory,
    LaunchStage::User,
    LaunchStage::Cgroup,
    LaunchStage::Process,
    LaunchStage::Directory,
    LaunchStage::Stdout,
    LaunchStage::Stderr,
    LaunchStage::Command,
    LaunchStage::Interpreter,
];

impl<'a> Plan<'a> {
    pub(super) fn new(
        order: &LaunchOrder,
        line: CommandLine<'_>,
        identity: &'a Identity,
        cgroup: &'a RunCgroup,
        dir: &RunDir,
    ) -> Result<Plan<'a>, Refusal> {
        let no_text = |_: NulError| Refusal::order("the order has a zero byte in it");
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
            programs: programs(program, line.environment.get("PATH").map_or("", |path| path))
                .map_err(no_text)?,
            argv: line
                .argv
                .into_iter()
                .map(CString::new)
                .collect::<Result<_, _>>()
                .map_err(no_text)?,
            environment: Block::of(&line.environment)
                .ok_or_else(|| Refusal::order("the order has a zero byte in it"))?,
        })
    }

    /// A child that does nothing yet.
    pub(super) fn spawn(self) -> io::Result<Poised> {
        let (link, child_link) = UnixStream::pair()?;
        let group = self.cgroup.open();
        // SAFETY: a shim has no threads.
        match unsafe { fork(group.as_ref().map(AsFd::as_fd)) }? {
            Fork::Parent { child, .. } => Ok(Poised { leader: child, link }),
            Fork::Child { in_cgroup } => {
                drop(link);
                self.become_command(child_link, in_cgroup)
            }
        }
    }

    fn become_command(self, mut link: UnixStream, in_cgroup: bool) -> ! {
        let refused = self.prepare_and_execute(&mut link, in_cgroup);
        if let Some((stage, error)) = refused {
            let stage = STAGES.iter().position(|one| *one == stage).unwrap_or(0);
            let mut complaint: Complaint = [0; 5];
            complaint[0] = u8::try_from(stage).unwrap_or(0);
            complaint[1..].copy_from_slice(&(error as i32).to_ne_bytes());
            let _ = link.write_all(&complaint);
        }
        // SAFETY: ends the process at once; nothing of the parent's is flushed or torn down here.
        unsafe { libc::_exit(127) }
    }

    /// Comes back only if it could not. Without the word it goes silently: the shim is gone, and nothing must run.
    fn prepare_and_execute(
        &self,
        link: &mut UnixStream,
        in_cgroup: bool,
    ) -> Option<(LaunchStage, Errno)> {
        let at = |stage| move |error: Errno| (stage, error);
        let entered = self.cgroup.join(in_cgroup).map_err(|error| errno(&error));
        let ready = nix::unistd::setpgid(Pid::from_raw(0), Pid::from_raw(0))
            .map_err(at(LaunchStage::Process))
            .and_then(|()| entered.map_err(at(LaunchStage::Cgroup)))
            .and_then(|()| self.identity.assume().map_err(at(LaunchStage::User)));
        if link.read_exact(&mut [0]).is_err() {
            return None;
        }
        ready.and_then(|()| self.execute(link, at)).err()
    }

    fn execute<F>(
        &self,
        link: &mut UnixStream,
        at: impl Fn(LaunchStage) -> F,
    ) -> Result<(), (LaunchStage, Errno)>
    where
        F: Fn(Errno) -> (LaunchStage, Errno),
    {
        umask(self.umask);
        nix::unistd::chdir(self.directory.as_c_str()).map_err(at(LaunchStage::Directory))?;
        self.connect_streams(&at)?;
        self.tell_starts(link);
        close_others_on_exec().map_err(at(LaunchStage::Process))?;
        signals::unblock_all().map_err(at(LaunchStage::Process))?;
        Err(self.execute_program())
    }

    fn connect_streams<F>(&self, at: impl Fn(LaunchStage) -> F) -> Result<(), (LaunchStage, Errno)>
    where
        F: Fn(Errno) -> (LaunchStage, Errno),
    {
        let nothing = open(c"/dev/null", OFlag::O_RDONLY | OFlag::O_CLOEXEC, Mode::empty());
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
        let mut message = vec![STARTS];
        message.extend(size(io::stdout().as_fd()).to_ne_bytes());
        message.extend(size(io::stderr().as_fd()).to_ne_bytes());
        let _ = link.write_all(&message);
    }

    /// As `execvp` does it: a place that has not got it is passed over, and a script without a first line is for the shell.
    fn execute_program(&self) -> (LaunchStage, Errno) {
        let mut refused = Errno::ENOENT;
        for program in &self.programs {
            // A failed execution costs far more than a look, and a search path is long.
            if let Err(Errno::ENOENT | Errno::ENOTDIR) =
                access(program.as_c_str(), AccessFlags::F_OK)
            {
                continue;
            }
            match execute(program, &self.argv, &self.environment) {
                Errno::ENOEXEC => return (LaunchStage::Command, self.execute_by_shell(program)),
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

    fn execute_by_shell(&self, script: &CStr) -> Errno {
        let shell = [c"/bin/sh".to_owned(), script.to_owned()];
        let argv: Vec<CString> =
            shell.into_iter().chain(self.argv.iter().skip(1).cloned()).collect();
        execute(c"/bin/sh", &argv, &self.environment)
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

impl Poised {
    /// The command may begin.
    pub(super) fn go(mut self) -> io::Result<Launching> {
        // A child that has died already is noticed as any other.
        let _ = self.link.write_all(&[1]);
        self.link.set_nonblocking(true)?;
        Ok(Launching { link: self.link, heard: Vec::new(), starts: [0; 2] })
    }
}

impl Launching {
    /// `Ok` when the command has begun; `None` while that is not known.
    pub(super) fn outcome(&mut self) -> Option<Result<(), (LaunchStage, Errno)>> {
        let mut block = [0; 32];
        let over = loop {
            match self.link.read(&mut block) {
                Ok(0) => break true,
                Ok(count) => self.heard.extend_from_slice(&block[..count]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break false,
                Err(_) => break true,
            }
        };
        if self.heard.first() == Some(&STARTS) && self.heard.len() > size_of::<Starts>() {
            let mut numbers = self.heard[1..].chunks_exact(8).map(|bytes| {
                u64::from_ne_bytes(bytes.try_into().expect("a chunk has eight bytes"))
            });
            self.starts = [numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)];
            self.heard.drain(..=size_of::<Starts>());
        }
        if let Ok([stage, number @ ..]) = Complaint::try_from(self.heard.as_slice()) {
            let stage = STAGES.get(usize::from(stage)).copied();
            let error = Errno::from_raw(i32::from_ne_bytes(number));
            return Some(Err((stage.unwrap_or(LaunchStage::Process), error)));
        }
        over.then_some(Ok(()))
    }
}

impl AsFd for Launching {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.link.as_fd()
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
        Sink::Discard => Ok(Target::Path(c"/dev/null".to_owned(), OFlag::empty())),
    }
}

fn programs(program: &str, path: &str) -> Result<Vec<CString>, NulError> {
    if program.contains('/') {
        return Ok(vec![CString::new(program)?]);
    }
    path.split(':')
        .map(|place| if place.is_empty() { "." } else { place })
        .map(|place| CString::new(format!("{place}/{program}")))
        .collect()
}

fn execute(program: &CStr, argv: &[CString], environment: &Block) -> Errno {
    let argv: Vec<*const libc::c_char> =
        argv.iter().map(|word| word.as_ptr()).chain([std::ptr::null()]).collect();
    let environment = environment.pointers();
    // SAFETY: both lists end with a null pointer, and what they point to has zero bytes at its ends and lives on.
    unsafe { libc::execve(program.as_ptr(), argv.as_ptr(), environment.as_ptr()) };
    Errno::last()
}

impl Block {
    /// `None` when there is a zero byte inside.
    fn of(variables: &BTreeMap<&str, Cow<'_, str>>) -> Option<Block> {
        let length = variables.iter().map(|(name, value)| name.len() + value.len() + 2).sum();
        let mut block = Block {
            content: Vec::with_capacity(length),
            starts: Vec::with_capacity(variables.len()),
        };
        for (name, value) in variables {
            block.starts.push(block.content.len());
            for part in [name.as_bytes(), b"=", value.as_bytes()] {
                block.content.extend_from_slice(part);
            }
            block.content.push(0);
        }
        let zeros = block.content.iter().filter(|&&byte| byte == 0).count();
        (zeros == variables.len()).then_some(block)
    }

    fn pointers(&self) -> Vec<*const libc::c_char> {
        let starts = self.starts.iter().map(|&start| self.content[start..].as_ptr().cast());
        starts.chain([std::ptr::null()]).collect()
    }
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

fn errno(error: &io::Error) -> Errno {
    Errno::from_raw(error.raw_os_error().unwrap_or(libc::EIO))
}
