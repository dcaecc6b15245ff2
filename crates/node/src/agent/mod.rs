//! The agent: starts and stops runs for a server, and reports how they end.
//!
//! It keeps no state of its own: the run directories are the truth, and the agent adopts all of them when it starts.

mod event_loop;
mod fitness;
mod runs;

use crate::launcher::{LauncherLink, ShimNotices};
use crate::private;
use crate::rundir::{RootError, RunRoot};
use danlu_core::gpu::GpuReport;
use danlu_core::node::Capacity;
use danlu_wire::{FromAgent, ToAgent};
use event_loop::{EventLoop, Inbox};
use nix::sys::eventfd::{EfdFlags, EventFd};
use std::fmt;
use std::fs::{File, TryLockError};
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use thiserror::Error;

/// A running agent. When it is dropped it ends; its runs go on.
#[derive(Debug)]
pub struct Agent {
    orders: Option<Sender<ToAgent>>,
    /// How many orders have not been taken yet. A channel that counts for itself has room for all of them from the start.
    waiting: Arc<AtomicUsize>,
    wake: Arc<EventFd>,
    thread: Option<JoinHandle<()>>,
    launcher: u32,
}

pub struct Settings {
    /// Where the run directories are: a directory on a local disk, of this agent alone.
    pub root: PathBuf,
    /// Hold runs by control groups where there are any.
    pub cgroups: bool,
    /// Asked for each report.
    pub inventory: Box<dyn FnMut() -> Inventory + Send>,
    /// Gets all the agent says, in order, on the agent's thread: it must not wait for long.
    pub notice: Box<dyn FnMut(FromAgent) + Send>,
}

/// The part of a report that is not about runs.
#[derive(Debug, Clone)]
pub struct Inventory {
    pub capacity: Capacity,
    /// Free memory in bytes; `None` where it is not measured.
    pub free_memory: Option<u64>,
    pub gpus: Vec<GpuReport>,
}

#[derive(Debug, Error)]
pub enum AgentError {
    #[error(transparent)]
    Root(#[from] RootError),
    #[error(
        "another agent uses `{root}`\n\
         hint: a data directory belongs to one daemon; stop the other one first"
    )]
    Busy { root: PathBuf },
    #[error("could not {action}: {error}")]
    System { action: &'static str, error: io::Error },
}

#[derive(Debug, Error)]
pub enum SendError {
    #[error("the agent has too many orders waiting")]
    Full,
    #[error("the agent has ended")]
    Gone,
}

/// More than any burst of a scheduler: an agent with so many waiting orders is stuck.
const ORDERS: usize = 65_536;

impl Agent {
    /// Adopts every run directory there is before it returns. Call it before the process has threads of its own if
    /// that is possible; it need not be.
    pub fn start(settings: Settings) -> Result<Agent, AgentError> {
        let Settings { root, cgroups, inventory, notice } = settings;
        let system = |action| move |error: io::Error| AgentError::System { action, error };
        let root = RunRoot::open(&root)?;
        let lock = lock(&root)?;
        root.drop_spares().map_err(system("empty the directory for spare ones"))?;
        let notices = ShimNotices::new().map_err(system("make a pipe"))?;
        let link = LauncherLink::start(root.path(), cgroups, &notices)
            .map_err(system("start the launcher"))?;
        let launcher = link.pid();
        let wake = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)
            .map_err(|error| system("make an event")(error.into()))?;
        let wake = Arc::new(wake);
        let (orders, received) = channel();
        let waiting = Arc::default();
        let inbox = Inbox { orders: received, waiting: Arc::clone(&waiting) };
        let event_loop = EventLoop::new(
            root,
            cgroups,
            (link, notices),
            Arc::clone(&wake),
            inbox,
            inventory,
            notice,
        )
        .map_err(system("adopt the run directories"))?;
        let thread = std::thread::Builder::new()
            .name("danlu-agent".to_owned())
            .spawn(move || {
                event_loop.run();
                drop(lock);
            })
            .map_err(system("start a thread"))?;
        Ok(Agent { orders: Some(orders), waiting, wake, thread: Some(thread), launcher })
    }

    /// In order, and without waiting. After an error the connection counts as lost.
    pub fn send(&self, order: ToAgent) -> Result<(), SendError> {
        let orders = self.orders.as_ref().ok_or(SendError::Gone)?;
        // Counted before it is sent, so that it is never taken before it is counted.
        if self.waiting.fetch_add(1, Ordering::Relaxed) >= ORDERS {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
            return Err(SendError::Full);
        }
        orders.send(order).map_err(|_| SendError::Gone)?;
        // Refused only when it is about to overflow, and then it is awake.
        let _ = self.wake.write(1);
        Ok(())
    }

    /// The process id of the first launcher, for tests.
    pub fn launcher(&self) -> u32 {
        self.launcher
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.orders = None;
        let _ = self.wake.write(1);
        if let Some(thread) = self.thread.take() {
            // A panic there has been reported by the thread itself.
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("root", &self.root)
            .field("cgroups", &self.cgroups)
            .finish_non_exhaustive()
    }
}

/// Held as long as the agent lives.
fn lock(root: &RunRoot) -> Result<File, AgentError> {
    let failed = |error| AgentError::System { action: "lock the data directory", error };
    // Readable by this user only: everybody who may open it could hold the lock for ever.
    let file = private::lock_file(&root.path().join("agent.lock")).map_err(failed)?;
    let deadline = Instant::now() + LOCK_PATIENCE;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(10));
            }
            Err(TryLockError::WouldBlock) => {
                return Err(AgentError::Busy { root: root.path().to_owned() });
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
    }
}

/// A process that a killed daemon was just starting has its descriptors for a moment longer.
const LOCK_PATIENCE: Duration = Duration::from_secs(1);
