//! The socket between agent and launcher: messages with descriptors attached.

use super::{ARGUMENT, WITHOUT_CGROUPS, handover};
use crate::process::Pidfd;
use crate::rundir::RunDir;
use crate::shim::notices::{Notice, parse};
use danlu_core::RunId;
use danlu_wire::LaunchOrder;
use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use rustix::cmsg_space;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, Shutdown, SocketFlags, SocketType, recvmsg, sendmsg, shutdown,
    socketpair,
};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Read as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The agent's end.
#[derive(Debug)]
pub(crate) struct LauncherLink {
    socket: OwnedFd,
    child: Child,
}

/// What shims say of the starts and ends of their commands. One for the whole life of an agent: shims outlive their launcher.
#[derive(Debug)]
pub(crate) struct ShimNotices {
    reader: File,
    /// For the next launcher.
    writer: OwnedFd,
    /// The beginning of a line that has not come whole.
    partial: Vec<u8>,
}

/// Fork a shim. Comes with the run directory, locked, and the order.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ForkRequest {
    pub(super) run: RunId,
    pub(super) user: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct ForkReply {
    run: RunId,
    /// Error number of a fork that failed; otherwise a pidfd comes along.
    error: Option<i32>,
}

#[derive(Debug)]
pub(crate) enum LauncherAnswer {
    /// There is a shim; without a hold on it when this process has no descriptor to spare.
    Forked {
        run: RunId,
        pidfd: Option<Pidfd>,
    },
    Failed {
        run: RunId,
        error: io::Error,
    },
    /// Nothing more for now.
    Nothing,
    /// The launcher is gone.
    Gone,
}

/// Enough for a user name and a run id.
const MESSAGE_BYTES: usize = 4096;

impl LauncherLink {
    /// Starts the running program again, even if its file has been replaced.
    pub(crate) fn start(
        root: &Path,
        with_cgroups: bool,
        notices: &ShimNotices,
    ) -> io::Result<LauncherLink> {
        let (socket, launcher_socket) = packet_pair()?;
        let mut command = Command::new("/proc/self/exe");
        command.arg0("danlu").arg(ARGUMENT).arg(root);
        if !with_cgroups {
            command.arg(WITHOUT_CGROUPS);
        }
        let child = command
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(launcher_socket))
            .stdout(Stdio::from(notices.writer.try_clone()?))
            .spawn()?;
        Ok(LauncherLink { socket, child })
    }

    /// The lock goes along with the directory: the message itself holds it until there is a shim to hold it.
    pub(crate) fn launch(&self, order: &mut LaunchOrder, dir: &RunDir) -> io::Result<()> {
        let request = ForkRequest { run: order.run, user: order.user.clone() };
        let message = serde_json::to_vec(&request).map_err(io::Error::from)?;
        let order = handover::write(order)?;
        Ok(send_message(self.socket.as_fd(), &message, &[dir.as_fd(), order.as_fd()])?)
    }

    /// The next answer of the launcher, without waiting.
    pub(crate) fn answer(&self) -> LauncherAnswer {
        loop {
            let (message, mut fds) = match receive_message(self.socket.as_fd(), RecvFlags::DONTWAIT)
            {
                Ok(Some(received)) => received,
                Ok(None) => return LauncherAnswer::Gone,
                Err(Errno::AGAIN) => return LauncherAnswer::Nothing,
                Err(Errno::INTR) => continue,
                Err(_) => return LauncherAnswer::Gone,
            };
            let Ok(ForkReply { run, error }) = serde_json::from_slice(&message) else {
                return LauncherAnswer::Gone;
            };
            return match error {
                None => LauncherAnswer::Forked { run, pidfd: fds.pop().map(Pidfd::from_fd) },
                Some(error) => {
                    LauncherAnswer::Failed { run, error: io::Error::from_raw_os_error(error) }
                }
            };
        }
    }

    pub(crate) fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// After this, the launcher forks no more shims.
    pub(crate) fn end(mut self) {
        let LauncherLink { socket, child, .. } = &mut self;
        let _ = shutdown(socket, Shutdown::Both);
        let _ = child.kill();
        let _ = child.wait();
    }
}

impl ShimNotices {
    pub(crate) fn new() -> io::Result<ShimNotices> {
        let (reader, writer) = nix::unistd::pipe2(OFlag::O_CLOEXEC | OFlag::O_NONBLOCK)?;
        Ok(ShimNotices { reader: reader.into(), writer, partial: Vec::new() })
    }

    /// The notices that have arrived, without waiting for more.
    pub(crate) fn read(&mut self) -> Vec<Notice> {
        let mut buffer = [0; 4096];
        while let Ok(count) = self.reader.read(&mut buffer)
            && count > 0
        {
            self.partial.extend_from_slice(&buffer[..count]);
        }
        let Some(end) = self.partial.iter().rposition(|&byte| byte == b'\n') else {
            return Vec::new();
        };
        let whole: Vec<u8> = self.partial.drain(..=end).collect();
        String::from_utf8_lossy(&whole).lines().filter_map(parse).collect()
    }
}

impl AsFd for ShimNotices {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.reader.as_fd()
    }
}

/// Whether the next request is there already.
pub(super) fn is_waiting(socket: &OwnedFd) -> bool {
    let mut request = [PollFd::new(socket.as_fd(), PollFlags::POLLIN)];
    poll(&mut request, PollTimeout::ZERO).is_ok_and(|count| count > 0)
}

/// The launcher's side. `None` when the agent is gone.
pub(super) fn receive(socket: &OwnedFd) -> io::Result<Option<(ForkRequest, RunDir, File)>> {
    loop {
        let (message, fds) = match receive_message(socket.as_fd(), RecvFlags::empty()) {
            Ok(Some(received)) => received,
            Ok(None) => return Ok(None),
            Err(Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        };
        let request: ForkRequest = serde_json::from_slice(&message)?;
        let Ok([dir, order]) = <[OwnedFd; 2]>::try_from(fds) else {
            send(socket, request.run, Err(&Errno::MFILE.into()));
            continue;
        };
        return Ok(Some((request, RunDir::from_fd(dir), File::from(order))));
    }
}

pub(super) fn send(socket: &OwnedFd, run: RunId, forked: Result<&Pidfd, &io::Error>) {
    let error =
        forked.err().map(|error| error.raw_os_error().unwrap_or(Errno::AGAIN.raw_os_error()));
    let Ok(message) = serde_json::to_vec(&ForkReply { run, error }) else { return };
    let fds: Vec<BorrowedFd<'_>> = forked.iter().map(|pidfd| pidfd.as_fd()).collect();
    // An agent that is gone does not need to know.
    let _ = send_message(socket.as_fd(), &message, &fds);
}

/// Sockets that keep messages apart.
pub(super) fn packet_pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let (family, kind) = (AddressFamily::UNIX, SocketType::SEQPACKET);
    Ok(socketpair(family, kind, SocketFlags::CLOEXEC, None)?)
}

/// The most descriptors that come with a message: a run directory and an order.
const MOST_DESCRIPTORS: usize = 2;

pub(super) fn send_message(
    socket: BorrowedFd<'_>,
    message: &[u8],
    fds: &[BorrowedFd<'_>],
) -> Result<(), Errno> {
    if message.len() > MESSAGE_BYTES {
        return Err(Errno::MSGSIZE);
    }
    let content = [IoSlice::new(message)];
    loop {
        let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
        let mut rights = SendAncillaryBuffer::new(&mut space);
        if !fds.is_empty() && !rights.push(SendAncillaryMessage::ScmRights(fds)) {
            return Err(Errno::MSGSIZE);
        }
        match sendmsg(socket, &content, &mut rights, SendFlags::NOSIGNAL) {
            Err(Errno::INTR) => {}
            other => return other.map(drop),
        }
    }
}

/// A message and the descriptors that came with it.
type Received = (Vec<u8>, Vec<OwnedFd>);

pub(super) fn receive_message(
    socket: BorrowedFd<'_>,
    flags: RecvFlags,
) -> Result<Option<Received>, Errno> {
    let mut content = vec![0; MESSAGE_BYTES];
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(MOST_DESCRIPTORS))];
    let mut rights = RecvAncillaryBuffer::new(&mut space);
    let mut slices = [IoSliceMut::new(&mut content)];
    let received = recvmsg(socket, &mut slices, &mut rights, flags | RecvFlags::CMSG_CLOEXEC)?;
    let mut fds = Vec::new();
    for message in rights.drain() {
        if let RecvAncillaryMessage::ScmRights(descriptors) = message {
            fds.extend(descriptors);
        }
    }
    content.truncate(received.bytes);
    Ok((received.bytes > 0).then_some((content, fds)))
}
