//! Reads the end of a run's output, to find out why it failed.
#![allow(unsafe_code, reason = "forks")]

use super::identity::Identity;
use crate::fork::{Fork, fork};
use crate::rundir::{OUTPUT, RunDir};
use crate::system_calls::exit_now;
use danlu_core::diagnosis::TAIL_BYTES;
use danlu_wire::Words;
use danlu_wire::launch::{ErrorSink, LaunchOrder, Sink};
use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitPidFlag, waitpid};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A file on a machine that does not answer is not worth a longer wait.
const PATIENCE: Duration = Duration::from_secs(2);
/// Milliseconds until one that was killed is gone.
const GONE: u16 = 1_000;

/// Where the streams' files ended when the command began: what stands before was printed by others.
pub(super) type Starts = [u64; 2];

/// Of both streams, the errors last. Unreadable files are skipped.
pub(super) fn tail(
    order: &LaunchOrder,
    dir: &RunDir,
    identity: &Identity,
    [out, err]: Starts,
) -> String {
    let mut sinks = vec![(&order.output.stdout, out)];
    if let ErrorSink::Own(sink) = &order.output.stderr
        && *sink != order.output.stdout
    {
        sinks.push((sink, err));
    }
    let mut whole = Vec::new();
    for (sink, start) in sinks {
        let part = match sink {
            Sink::Log => dir.open(OUTPUT).and_then(|log| end_of(&log, 0)),
            Sink::Discard => Ok(Vec::new()),
            Sink::File { path, task_in_directory, .. } => {
                let path = Words::of(order).put_into(path).into_owned();
                let path = Path::new(&order.directory).join(path);
                let inside = task_in_directory.map(|task| path.join(format!("{task}.log")));
                as_user(identity, (path, inside), start)
            }
        };
        whole.extend(part.unwrap_or_default());
        whole.push(b'\n');
    }
    String::from_utf8_lossy(&whole).into_owned()
}

/// From `start` on, but not more than is worth looking at.
fn end_of(file: &File, start: u64) -> io::Result<Vec<u8>> {
    let facts = file.metadata()?;
    if !facts.is_file() {
        return Ok(Vec::new());
    }
    // Shorter than before: it was truncated since.
    let start = if start > facts.len() { 0 } else { start };
    let from = start.max(facts.len().saturating_sub(TAIL_BYTES as u64));
    let mut end = vec![0; usize::try_from(facts.len() - from).unwrap_or(0)];
    let count = file.read_at(&mut end, from)?;
    end.truncate(count);
    Ok(end)
}

/// A file, and the one to take where that is a directory.
type OutputPaths = (PathBuf, Option<PathBuf>);

/// A file of the user is read with the user's rights, by a process that has no others and may be given up.
fn as_user(identity: &Identity, place: OutputPaths, start: u64) -> io::Result<Vec<u8>> {
    let (mut ours, theirs) = UnixStream::pair()?;
    // SAFETY: a shim has no threads.
    match unsafe { fork(None) }? {
        Fork::Child { .. } => {
            drop(ours);
            read_and_exit(identity, place, start, theirs)
        }
        Fork::Parent { child, pidfd } => {
            drop(theirs);
            let end = receive(&mut ours);
            pidfd.signal(Signal::SIGKILL);
            // Some file systems do not even let go of the dead. Then this shim has no other run.
            let mut ended = [PollFd::new(pidfd.as_fd(), PollFlags::POLLIN)];
            let _ = poll(&mut ended, PollTimeout::from(GONE));
            let _ = waitpid(child, Some(WaitPidFlag::WNOHANG));
            end
        }
    }
}

fn read_and_exit(
    identity: &Identity,
    (path, inside): OutputPaths,
    start: u64,
    mut to: UnixStream,
) -> ! {
    let read = || -> io::Result<()> {
        identity.credentials().assume()?;
        let flags = libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC;
        let open = |path| File::options().read(true).custom_flags(flags).open(path);
        let mut file = open(path)?;
        if let Some(inside) = inside
            && file.metadata()?.is_dir()
        {
            file = open(inside)?;
        }
        to.write_all(&end_of(&file, start)?)
    };
    let _ = read();
    exit_now(0)
}

fn receive(from: &mut UnixStream) -> io::Result<Vec<u8>> {
    from.set_nonblocking(true)?;
    let deadline = Instant::now() + PATIENCE;
    let (mut all, mut block) = (Vec::new(), [0; 8192]);
    while all.len() < TAIL_BYTES {
        match from.read(&mut block) {
            Ok(0) => break,
            Ok(count) => all.extend_from_slice(&block[..count]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                let left = deadline.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    break;
                }
                let timeout = PollTimeout::try_from(left.as_millis() + 1);
                let mut ready = [PollFd::new(from.as_fd(), PollFlags::POLLIN)];
                let _ = poll(&mut ready, timeout.unwrap_or(PollTimeout::ZERO));
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    Ok(all)
}
