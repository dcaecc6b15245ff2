//! The launcher: a small process without threads that forks all shims. It keeps one pre-forked shim, and gives shims that have finished
//! a run the next one.
//!
//! The agent starts it and talks to it by a socket; it ends with the agent. Shims are its children, but it never waits for them, and
//! they continue without it.

pub(crate) mod handover;
mod idle_shim;
mod link;
mod users;

pub(crate) use link::{LauncherAnswer, LauncherLink, ShimNotices};

use crate::cgroup::Cgroups;
use crate::system_calls::{close_others, exit_now};
use crate::{shim, signals, user_files};
use idle_shim::{BusyShims, IdleShim, LaunchRequest, Note, Side};
use link::{is_waiting, receive, send};
use nix::fcntl::{OFlag, open};
use nix::sys::stat::Mode;
use nix::unistd::{dup2_stderr, dup2_stdin, dup2_stdout};
use rustix::io::fcntl_dupfd_cloexec;
use rustix::stdio::{stdin, stdout};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use users::Users;

/// The hidden first argument that makes a launcher of this program.
pub(crate) const ARGUMENT: &str = "__launcher";

/// The argument of a launcher that must not use control groups.
pub(crate) const WITHOUT_CGROUPS: &str = "--without-cgroups";

/// To be called first in `main`, before there is any thread. `Some` when this process was to be something else than
/// its command line seems to say, and has been.
pub fn dispatch() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    let first = arguments.next()?;
    if first == user_files::helper::ARGUMENT {
        let user = arguments.next().map(|user| user.to_string_lossy().into_owned());
        return Some(user_files::helper::main(user.as_deref()));
    }
    if first != ARGUMENT {
        return None;
    }
    let root = PathBuf::from(arguments.next()?);
    let cgroups = arguments.next().is_none_or(|argument| argument != WITHOUT_CGROUPS);
    Some(match Launcher::new(&root, cgroups) {
        Ok(mut launcher) => {
            launcher.serve();
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("danlu: the launcher could not start: {error}");
            ExitCode::FAILURE
        }
    })
}

struct Launcher {
    requests: OwnedFd,
    notices: File,
    root: PathBuf,
    cgroups: Cgroups,
    users: Users,
}

impl Launcher {
    fn new(root: &Path, with_cgroups: bool) -> io::Result<Launcher> {
        signals::block_and_reset()?;
        signals::ignore_children();
        let (requests, notices) = take_streams()?;
        let _ = nix::unistd::setsid();
        nix::sys::stat::umask(Mode::from_bits_truncate(0o022));
        let _ = nix::sys::prctl::set_name(c"danlu-launcher");
        // A daemon that the kernel is to spare must not make its tasks so.
        let _ = std::fs::write("/proc/self/oom_score_adj", "0");
        // Read once, for all shims.
        crate::boot::boot_id();
        let cgroups = if with_cgroups { Cgroups::prepare(root) } else { Cgroups::default() };
        Ok(Launcher {
            requests,
            notices: notices.into(),
            root: root.to_owned(),
            cgroups,
            users: Users::default(),
        })
    }

    /// Until the agent is gone.
    fn serve(&mut self) {
        let mut idle = self.fork(None).ok();
        let mut busy = BusyShims::default();
        while let Ok(Some((request, dir, order))) = receive(&self.requests) {
            let run = request.run;
            let identity = self.users.find(request.user.as_deref());
            let request = LaunchRequest { note: Note { run, identity }, dir, order };
            let free = busy.take_free().or_else(|| idle.take());
            // Gone by the end of this, in this process: a fork that had its directory would hold its lock.
            let sent = match free.filter(|free| free.send(&request).is_ok()) {
                Some(free) => {
                    drop(request);
                    Ok(free)
                }
                None => self.fork(Some(request)),
            };
            match sent {
                Ok(shim) => {
                    send(&self.requests, run, Ok(shim.process()));
                    busy.keep(shim);
                }
                Err(error) => send(&self.requests, run, Err(&error)),
            }
            // Not in a burst: waiting requests go first.
            if idle.is_none() && !is_waiting(&self.requests) {
                idle = self.fork(None).ok();
            }
        }
    }

    /// A shim, for this request and then for others.
    fn fork(&self, first: Option<LaunchRequest>) -> io::Result<IdleShim> {
        match IdleShim::fork()? {
            Side::Launcher(shim) => Ok(shim),
            Side::Shim(link) => self.in_child(|| {
                let prepared = shim::Prepared::new();
                let mut next = first;
                while let Some(request) =
                    next.take().or_else(|| idle_shim::receive(&link, &prepared))
                    && self.run_shim(request, &prepared)
                    && idle_shim::is_free_again(&link)
                {}
            }),
        }
    }

    fn in_child(&self, life: impl FnOnce()) -> ! {
        // The agent must see the launcher's end even while shims live.
        // This process does not use it again: it ends below.
        let _ = nix::unistd::close(self.requests.as_raw_fd());
        // The words of a panic would go nowhere, and the run counts as vanished either way.
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(life));
        exit_now(0)
    }

    /// True when this process is free for another run.
    fn run_shim(&self, request: LaunchRequest, prepared: &shim::Prepared) -> bool {
        let LaunchRequest { note: Note { run, identity }, dir, order } = request;
        let Ok(notices) = self.notices.try_clone() else { return false };
        let path = self.root.join("runs").join(run.to_string());
        let path = path.to_string_lossy().into_owned();
        let handed = shim::Handed { run, dir, path, order, notices, identity };
        shim::run(handed, prepared, &self.cgroups)
    }
}

/// The agent's socket is handed over as standard input and its pipe as standard output. Neither may stay there, and
/// nothing else that the daemon had open may stay at all.
#[allow(unsafe_code, reason = "closes descriptors that it does not own")]
fn take_streams() -> io::Result<(OwnedFd, OwnedFd)> {
    // SAFETY: the process has just begun and has opened nothing yet.
    unsafe { close_others() };
    let requests = fcntl_dupfd_cloexec(stdin(), 3)?;
    let notices = fcntl_dupfd_cloexec(stdout(), 3)?;
    let nothing = open(c"/dev/null", OFlag::O_RDWR | OFlag::O_CLOEXEC, Mode::empty())?;
    dup2_stdin(nothing.as_fd())?;
    dup2_stdout(nothing.as_fd())?;
    dup2_stderr(nothing.as_fd())?;
    Ok((requests, notices))
}
