//! The worker's end of a helper: starts it, asks it, and kills it when it exceeds its time limit.

use super::helper::ARGUMENT;
use super::message::{self, HelperReply, Question};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

#[derive(Debug)]
pub(super) struct HelperLink {
    socket: UnixStream,
    child: Child,
}

/// Why there is none.
#[derive(Debug)]
pub(super) enum NoAnswer {
    /// Not in time.
    Silent,
    /// Too much is asked for already.
    Busy,
    Broken(io::Error),
}

impl From<io::Error> for NoAnswer {
    fn from(error: io::Error) -> NoAnswer {
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => NoAnswer::Silent,
            _ => NoAnswer::Broken(error),
        }
    }
}

impl HelperLink {
    /// Starts the running program again, even if its file has been replaced. It becomes the user by itself: the lookup
    /// may have to ask a directory server that does not respond.
    pub(super) fn start(user: Option<&str>) -> io::Result<HelperLink> {
        let (socket, theirs) = UnixStream::pair()?;
        let child = Command::new("/proc/self/exe")
            .arg0("danlu")
            .arg(ARGUMENT)
            .args(user)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(HelperLink { socket, child })
    }

    pub(super) fn ask(
        &mut self,
        question: &Question,
        until: Instant,
    ) -> Result<(HelperReply, Vec<u8>), NoAnswer> {
        let mut line = Until { socket: &self.socket, until };
        message::write(&mut line, question, &[])?;
        Ok(message::read(&mut line)?)
    }

    /// It has ended, for example because its user killed it.
    pub(super) fn is_gone(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Returns the process if it was killed and has not ended.
    pub(super) fn end(mut self) -> Option<Child> {
        const AT_ONCE: Duration = Duration::from_millis(100);
        let _ = self.child.kill();
        let since = Instant::now();
        while since.elapsed() < AT_ONCE {
            match self.child.try_wait() {
                Ok(None) => sleep(Duration::from_millis(1)),
                Ok(Some(_)) | Err(_) => return None,
            }
        }
        Some(self.child)
    }
}

/// The other side has until then for all of it, however it divides it.
struct Until<'a> {
    socket: &'a UnixStream,
    until: Instant,
}

impl Until<'_> {
    fn left(&self) -> io::Result<Option<Duration>> {
        match self.until.saturating_duration_since(Instant::now()) {
            Duration::ZERO => Err(io::ErrorKind::TimedOut.into()),
            left => Ok(Some(left)),
        }
    }
}

impl Read for Until<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.socket.set_read_timeout(self.left()?)?;
        (&mut &*self.socket).read(buffer)
    }
}

impl Write for Until<'_> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.socket.set_write_timeout(self.left()?)?;
        (&mut &*self.socket).write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
