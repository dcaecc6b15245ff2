//! The event loop of the agent's thread: waits for orders, launcher replies, shim notices and process ends, and handles each.

use super::Inventory;
use super::fitness::Fitness;
use super::runs::{Runs, Token};
use crate::boot::boot_id;
use crate::launcher::{LauncherAnswer, LauncherLink, ShimNotices};
use crate::rundir::RunRoot;
use crate::shim::notices::Notice;
use crate::shim::refusal::Refusal;
use danlu_core::input::NodeReport;
use danlu_wire::agent::PROTOCOL;
use danlu_wire::{FromAgent, Hello, ToAgent};
use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::eventfd::EventFd;
use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::Instant;

/// Where orders come from.
pub(super) struct Inbox {
    pub(super) orders: Receiver<ToAgent>,
    /// How many have been sent and not taken.
    pub(super) waiting: Arc<AtomicUsize>,
}

pub(super) struct EventLoop {
    epoll: Arc<Epoll>,
    wake: Arc<EventFd>,
    inbox: Inbox,
    /// `None` after a new one could not be started.
    link: Option<LauncherLink>,
    shim_notices: ShimNotices,
    with_cgroups: bool,
    runs: Runs,
    fitness: Fitness,
    /// The protocol version of the server.
    protocol: u32,
    inventory: Box<dyn FnMut() -> Inventory + Send>,
    notice: Box<dyn FnMut(FromAgent) + Send>,
}

const ORDERS: Token = Token(0);
const ANSWERS: Token = Token(1);
const NOTICES: Token = Token(2);

impl EventLoop {
    pub(super) fn new(
        root: RunRoot,
        with_cgroups: bool,
        (link, shim_notices): (LauncherLink, ShimNotices),
        wake: Arc<EventFd>,
        inbox: Inbox,
        inventory: Box<dyn FnMut() -> Inventory + Send>,
        notice: Box<dyn FnMut(FromAgent) + Send>,
    ) -> io::Result<EventLoop> {
        let epoll = Arc::new(Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?);
        listen(&epoll, wake.as_fd(), ORDERS)?;
        listen(&epoll, link.socket(), ANSWERS)?;
        listen(&epoll, &shim_notices, NOTICES)?;
        let runs = Runs::adopt(root, Arc::clone(&epoll))?;
        let link = Some(link);
        let (fitness, protocol) = (Fitness::default(), PROTOCOL);
        Ok(EventLoop {
            epoll,
            wake,
            inbox,
            link,
            shim_notices,
            with_cgroups,
            runs,
            fitness,
            protocol,
            inventory,
            notice,
        })
    }

    pub(super) fn run(mut self) {
        let mut events = vec![EpollEvent::empty(); 256];
        loop {
            let looks = [self.runs.look_again_at(), self.fitness.look_at()];
            let timeout = looks.into_iter().flatten().min().map_or(EpollTimeout::NONE, |at| {
                let wait = at.saturating_duration_since(Instant::now()).as_micros().div_ceil(1000);
                EpollTimeout::try_from(wait).unwrap_or(EpollTimeout::MAX)
            });
            let count = match self.epoll.wait(&mut events, timeout) {
                Ok(count) => count,
                Err(Errno::EINTR) => continue,
                Err(error) => panic!("epoll cannot fail on descriptors of our own: {error}"),
            };
            // Notices first: a start is reported before the end that follows it.
            self.read_shim_notices();
            let mut go_on = true;
            for event in &events[..count] {
                match Token(event.data()) {
                    ORDERS => go_on = self.take_orders(),
                    ANSWERS => self.read_launcher_answers(),
                    NOTICES => {}
                    shim => self.runs.shim_ended(shim),
                }
            }
            self.runs.look_again();
            self.launch_queued();
            self.update_fitness();
            self.send_notices();
            // After the launches: they wait for the GPUs of what is forgotten.
            self.runs.tidy();
            if !go_on {
                break;
            }
        }
        if let Some(link) = self.link.take() {
            link.end();
        }
    }

    /// False when the sender of orders is gone.
    fn take_orders(&mut self) -> bool {
        let _ = self.wake.read();
        loop {
            match self.inbox.orders.try_recv() {
                Ok(order) => {
                    self.inbox.waiting.fetch_sub(1, Ordering::Relaxed);
                    self.carry_out(order);
                }
                Err(TryRecvError::Empty) => return true,
                Err(TryRecvError::Disconnected) => return false,
            }
        }
    }

    fn carry_out(&mut self, order: ToAgent) {
        match order {
            ToAgent::Hello(hello) => self.begin_session(&hello),
            ToAgent::Launch(order) => self.runs.queue(order),
            ToAgent::Stop { run, why, grace } => self.runs.stop(run, why, grace),
            ToAgent::Pause { run } => self.runs.pause(run, true),
            ToAgent::SetLimit { run, limit } => self.runs.set_limit(run, limit),
            ToAgent::Resume { run } => self.runs.pause(run, false),
            ToAgent::Forget { run } => self.runs.forget(run),
            ToAgent::DropLog { run } => self.runs.drop_log(run),
            ToAgent::AskReport => self.report(),
            // For the host around this agent.
            ToAgent::AskFacts
            | ToAgent::ReadLog(_)
            | ToAgent::CheckPaths(_)
            | ToAgent::Sampling(_)
            | ToAgent::EndForeign(_) => {}
        }
    }

    /// A new connection: what the old one ordered and has not begun must never begin, for the report of the new one
    /// will not show it. Messages after the hello belong to the new connection.
    fn begin_session(&mut self, hello: &Hello) {
        self.runs.drop_queued();
        self.send_notices();
        self.protocol = hello.protocol.min(PROTOCOL);
        let session = hello.session;
        let boot = Some(boot_id().to_owned());
        (self.notice)(FromAgent::Hello(Hello::new(env!("CARGO_PKG_VERSION"), session, boot)));
    }

    fn report(&mut self) {
        let Inventory { capacity, free_memory, gpus } = (self.inventory)();
        self.runs.tidy();
        let runs = self.runs.report();
        // Earlier notices are sent first.
        self.send_notices();
        let trouble = self.fitness.trouble().cloned();
        let report = NodeReport { capacity, free_memory, gpus, runs, trouble };
        self.send(FromAgent::Report(report));
    }

    fn send_notices(&mut self) {
        for notice in std::mem::take(&mut self.runs.notices) {
            self.send(notice);
        }
    }

    fn send(&mut self, notice: FromAgent) {
        if let Some(notice) = notice.for_protocol(self.protocol) {
            (self.notice)(notice);
        }
    }

    /// A failed start makes this machine unfit; a self test shows when it is fit again.
    fn update_fitness(&mut self) {
        let now = Instant::now();
        let mut news = match self.runs.trouble.take() {
            Some(trouble) => self.fitness.met(trouble, now),
            None => false,
        };
        if self.fitness.look_at().is_some_and(|at| at <= now) {
            let found = self.self_test().err().map(Refusal::into_trouble);
            news |= self.fitness.looked(found, now);
        }
        if news {
            let trouble = self.fitness.trouble().cloned();
            self.runs.notices.push(FromAgent::Fitness { trouble });
        }
    }

    /// Tries everything that a run needs of this machine: a directory, descriptors, a process.
    fn self_test(&mut self) -> Result<(), Refusal> {
        let tried = self.runs.root().self_test();
        tried.map_err(|error| Refusal::run_directory("make a run directory", &error))?;
        let failed = |error: io::Error| Refusal::launcher(&error);
        if self.link.is_none() {
            return self.start_launcher().map_err(failed);
        }
        let root = self.runs.root().path();
        LauncherLink::start(root, self.with_cgroups, &self.shim_notices)
            .map(LauncherLink::end)
            .map_err(failed)
    }

    fn read_shim_notices(&mut self) {
        for notice in self.shim_notices.read() {
            match notice {
                Notice::Started { run, at, leader } => self.runs.started(run, at, leader),
                Notice::Ended { run } => self.runs.result_is_there(run),
            }
        }
    }

    fn read_launcher_answers(&mut self) {
        while let Some(link) = &self.link {
            match link.answer() {
                LauncherAnswer::Nothing => return,
                LauncherAnswer::Forked { run, pidfd } => self.runs.forked(run, pidfd),
                LauncherAnswer::Failed { run, error } => self.runs.not_forked(run, &error),
                LauncherAnswer::Gone => self.replace_launcher(),
            }
        }
    }

    /// Running tasks are not affected. The new launcher starts what the old one had not.
    fn replace_launcher(&mut self) {
        if let Some(link) = self.link.take() {
            link.end();
        }
        if let Err(error) = self.start_launcher() {
            self.runs.refuse_forking(&error);
            return;
        }
        self.runs.requeue_forking();
    }

    fn start_launcher(&mut self) -> io::Result<()> {
        let link =
            LauncherLink::start(self.runs.root().path(), self.with_cgroups, &self.shim_notices)?;
        listen(&self.epoll, link.socket(), ANSWERS)?;
        self.link = Some(link);
        Ok(())
    }

    fn launch_queued(&mut self) {
        if self.link.is_none()
            && self.runs.has_queued()
            && let Err(error) = self.start_launcher()
        {
            self.runs.refuse_queued(&error);
        }
        if let Some(link) = &self.link {
            self.runs.launch_queued(link);
        }
    }
}

pub(super) fn listen(epoll: &Epoll, fd: impl AsFd, token: Token) -> io::Result<()> {
    Ok(epoll.add(fd, EpollEvent::new(EpollFlags::EPOLLIN, token.0))?)
}
