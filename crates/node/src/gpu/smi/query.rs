//! One run of `nvidia-smi` in the background; its output is read as it arrives.

use crate::gpu::error::ProbeError;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::io::{self, PipeReader, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const MOST_OUTPUT: usize = 1 << 20;
/// How much of an unexpected answer is quoted.
const QUOTE: usize = 120;
/// A process ends a moment after its output does.
const LAST_BREATH: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub(super) struct Query {
    command: String,
    child: Child,
    output: PipeReader,
    read: Vec<u8>,
    started: Instant,
    limit: Duration,
}

impl Query {
    pub(super) fn start(
        command: &Path,
        arguments: &[&str],
        limit: Duration,
    ) -> Result<Query, ProbeError> {
        let failed = |action, error: io::Error| ProbeError::Command {
            command: command.display().to_string(),
            action,
            reason: error.to_string(),
        };
        let (output, input) = io::pipe().map_err(|error| failed("prepared", error))?;
        fcntl(&output, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))
            .map_err(|error| failed("prepared", error.into()))?;
        let child = Command::new(command)
            .args(arguments)
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .stdout(input)
            .stderr(Stdio::null())
            // So that what a wrapper script starts can be ended with it.
            .process_group(0)
            .spawn()
            .map_err(|error| failed("started", error))?;
        let command = command.display().to_string();
        Ok(Query { command, child, output, read: Vec::new(), started: Instant::now(), limit })
    }

    /// Readable when there is more to read.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.output.as_fd()
    }

    pub(super) fn deadline(&self) -> Instant {
        self.started + self.limit
    }

    /// Reads what has come, without waiting; the answer once it is complete.
    pub(super) fn advance(&mut self) -> Result<Option<String>, ProbeError> {
        let mut chunk = [0; 16 << 10];
        loop {
            match self.output.read(&mut chunk) {
                Ok(0) => return self.finish().map(Some),
                Ok(length) if self.read.len() + length <= MOST_OUTPUT => {
                    self.read.extend_from_slice(&chunk[..length]);
                }
                Ok(_) => return Err(self.unexpected(&format!("more than {MOST_OUTPUT} bytes"))),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(self.unexpected(&error.to_string())),
            }
        }
        if Instant::now() >= self.deadline() { Err(self.no_answer()) } else { Ok(None) }
    }

    /// Ends it and all that it started; true once it is gone. One that waits for a broken driver cannot be ended.
    pub(super) fn end(&mut self) -> bool {
        if !self.is_gone() {
            // While the child is not reaped its id is its own. This fails only if all have ended by themselves.
            let _ = killpg(Pid::from_raw(self.child.id().cast_signed()), Signal::SIGKILL);
            self.wait_shortly();
        }
        self.is_gone()
    }

    /// An error means that the child was reaped elsewhere.
    pub(super) fn is_gone(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    pub(super) fn no_answer(&self) -> ProbeError {
        ProbeError::NoAnswer { command: self.command.clone(), seconds: self.limit.as_secs() }
    }

    fn finish(&mut self) -> Result<String, ProbeError> {
        let text = String::from_utf8_lossy(&self.read).into_owned();
        match self.wait_shortly() {
            Some(status) if !status.success() => {
                let said = text.lines().map(str::trim).find(|line| !line.is_empty());
                Err(ProbeError::CommandFailed {
                    command: self.command.clone(),
                    status: status.to_string(),
                    output: said.unwrap_or("it said nothing").chars().take(QUOTE).collect(),
                })
            }
            // Without a status: it goes on after its answer, which is complete.
            _ => Ok(text),
        }
    }

    fn unexpected(&self, what: &str) -> ProbeError {
        ProbeError::Answer { command: self.command.clone(), what: what.to_owned() }
    }

    fn wait_shortly(&mut self) -> Option<ExitStatus> {
        let until = Instant::now() + LAST_BREATH;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if Instant::now() < until => thread::sleep(Duration::from_millis(1)),
                Ok(None) | Err(_) => return None,
            }
        }
    }
}

impl Drop for Query {
    fn drop(&mut self) {
        self.end();
    }
}
