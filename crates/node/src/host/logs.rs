//! Reads logs for a remote server in one thread, which touches the run directories only. Files of users are read by [`UserFiles`].

use super::stdio::ServerSink;
use crate::logs::{LogFile, Piece, problem, user_file};
use crate::rundir::RunRoot;
use crate::user_files::UserFiles;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use danlu_wire::FromAgent;
use danlu_wire::agent::{LogContent, LogPiece, LogProblem, ReadLog};
use danlu_wire::launch::Sink;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify, WatchDescriptor};
use std::collections::BTreeSet;
use std::io;
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// Bytes in one answer: other messages wait for it.
const MOST_BYTES: u64 = 256 << 10;
/// After this a reply is sent, even an empty one.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// How many may wait for more at the same time.
const MOST_WAITING: usize = 1_000;
/// A file system of a user's has so long for one part of a file.
const PATIENCE: Duration = Duration::from_secs(2);
/// Files of users are polled, less often the longer nothing arrives: a file on a network file system tells
/// no watcher that another machine has written to it.
const SOONEST: Duration = Duration::from_millis(100);
const LATEST: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct Logs {
    events: Sender<LogEvent>,
    wake: Arc<EventFd>,
}

enum LogEvent {
    Asked(ReadLog),
    /// Of a user's file.
    Read(Waiting, io::Result<Piece>),
}

/// Ends with the process.
pub(super) fn start(root: RunRoot, files: UserFiles, sink: ServerSink) -> Logs {
    let (events, inbox) = channel();
    let wake = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK);
    let wake = Arc::new(wake.expect("a process that begins has descriptors to spare"));
    let reader = Reader {
        root,
        files,
        sink,
        inbox,
        events: events.clone(),
        wake: Arc::clone(&wake),
        waiting: Vec::new(),
        watched: BTreeSet::new(),
    };
    let started = std::thread::Builder::new().name("logs".into()).spawn(move || reader.run());
    if let Err(error) = started {
        eprintln!("danlu: logs cannot be read: {error}");
    }
    Logs { events, wake }
}

impl Logs {
    pub(super) fn read(&self, wanted: ReadLog) {
        if self.events.send(LogEvent::Asked(wanted)).is_ok() {
            let _ = self.wake.write(1);
        }
    }
}

struct Reader {
    root: RunRoot,
    files: UserFiles,
    sink: ServerSink,
    inbox: Receiver<LogEvent>,
    /// For what is read elsewhere.
    events: Sender<LogEvent>,
    wake: Arc<EventFd>,
    waiting: Vec<Waiting>,
    watched: BTreeSet<WatchDescriptor>,
}

struct Waiting {
    wanted: ReadLog,
    until: Instant,
    /// When to look again, whether anything has happened or not.
    look_at: Instant,
    pause: Duration,
}

impl Waiting {
    fn new(wanted: ReadLog) -> Waiting {
        let now = Instant::now();
        Waiting { wanted, until: now + LONGEST_WAIT, look_at: now, pause: SOONEST }
    }

    fn later(self) -> Waiting {
        let pause = (self.pause * 2).min(LATEST);
        Waiting { look_at: Instant::now() + self.pause, pause, ..self }
    }

    fn is_of_user(&self) -> bool {
        matches!(self.wanted.log.sink, Sink::File { .. })
    }
}

impl Reader {
    fn run(mut self) {
        let Ok(inotify) = Inotify::init(InitFlags::IN_NONBLOCK | InitFlags::IN_CLOEXEC) else {
            return;
        };
        loop {
            let now = Instant::now();
            let next = self.waiting.iter().map(|waiting| waiting.until.min(waiting.look_at)).min();
            let timeout = next.map_or(PollTimeout::NONE, |at| {
                let wait = at.saturating_duration_since(now).as_millis() + 1;
                PollTimeout::try_from(wait).unwrap_or(PollTimeout::MAX)
            });
            let mut both =
                [self.wake.as_fd(), inotify.as_fd()].map(|fd| PollFd::new(fd, PollFlags::POLLIN));
            let _ = poll(&mut both, timeout);
            let _ = self.wake.read();
            while matches!(inotify.read_events(), Ok(events) if !events.is_empty()) {}
            let received: Vec<LogEvent> = self.inbox.try_iter().collect();
            for one in received {
                match one {
                    LogEvent::Asked(wanted) => self.waiting.push(Waiting::new(wanted)),
                    LogEvent::Read(waiting, read) => self.take(waiting, read),
                }
            }
            self.look(&inotify);
        }
    }

    /// Answers what can be answered, and watches the files of the rest.
    fn look(&mut self, inotify: &Inotify) {
        let crowded = self.waiting.len() > MOST_WAITING;
        let mut watched: BTreeSet<WatchDescriptor> = BTreeSet::new();
        let waiting = std::mem::take(&mut self.waiting);
        for one in waiting {
            if one.is_of_user() {
                if one.look_at <= Instant::now() {
                    self.ask_helper(one);
                } else {
                    self.waiting.push(one);
                }
                continue;
            }
            let may_wait = one.wanted.wait && !crowded && Instant::now() < one.until;
            // Watched before it is read: what comes in between is seen.
            let watch = self.open(&one.wanted).ok().filter(|_| may_wait).map(|log| {
                inotify.add_watch(
                    log.path(),
                    AddWatchFlags::IN_MODIFY
                        | AddWatchFlags::IN_MOVE_SELF
                        | AddWatchFlags::IN_ATTRIB,
                )
            });
            let content = self.read(&one.wanted);
            if may_wait && is_nothing(&one.wanted, &content) {
                match watch {
                    Some(Ok(watch)) => {
                        watched.insert(watch);
                        let look_at = one.until;
                        self.waiting.push(Waiting { look_at, ..one });
                    }
                    // Not there yet, or out of watches: soon again.
                    Some(Err(Errno::ENOSPC | Errno::ENOENT)) | None => {
                        self.waiting.push(one.later());
                    }
                    Some(Err(_)) => self.answer(&one.wanted, content),
                }
            } else {
                self.answer(&one.wanted, content);
            }
        }
        for idle in self.watched.difference(&watched) {
            // It may have gone with its file.
            let _ = inotify.rm_watch(*idle);
        }
        self.watched = watched;
    }

    /// The reply arrives as an event.
    fn ask_helper(&self, one: Waiting) {
        let wanted = &one.wanted;
        let limit = wanted.limit.min(MOST_BYTES);
        let Some(file) = user_file(&wanted.log, wanted.from, limit) else { return };
        let (events, wake) = (self.events.clone(), Arc::clone(&self.wake));
        let owner = Some(wanted.log.owner.clone());
        self.files.read(owner, file, PATIENCE, move |read| {
            if events.send(LogEvent::Read(one, read)).is_ok() {
                let _ = wake.write(1);
            }
        });
    }

    fn take(&mut self, one: Waiting, read: io::Result<Piece>) {
        let content = read.map(content).map_err(|error| problem(&error));
        let crowded = self.waiting.len() > MOST_WAITING;
        let may_wait = one.wanted.wait && !crowded && Instant::now() < one.until;
        if may_wait && is_nothing(&one.wanted, &content) {
            self.waiting.push(one.later());
        } else {
            self.answer(&one.wanted, content);
        }
    }

    fn answer(&self, wanted: &ReadLog, content: Result<LogContent, LogProblem>) {
        self.sink.say(FromAgent::Log(LogPiece { ask: wanted.ask, content }));
    }

    /// In the run directories.
    fn open(&self, wanted: &ReadLog) -> io::Result<LogFile> {
        match wanted.log.sink {
            Sink::Log => LogFile::of_run(&self.root, wanted.log.run, wanted.log.ended),
            Sink::Discard | Sink::File { .. } => Ok(LogFile::nothing()),
        }
    }

    fn read(&self, wanted: &ReadLog) -> Result<LogContent, LogProblem> {
        let limit = wanted.limit.min(MOST_BYTES);
        let read = self.open(wanted).and_then(|log| log.piece(wanted.from, limit));
        read.map(content).map_err(|error| problem(&error))
    }
}

fn content(Piece { offset, size, bytes }: Piece) -> LogContent {
    LogContent { offset, size, base64: STANDARD.encode(bytes) }
}

/// There may be more when one looks again.
fn is_nothing(wanted: &ReadLog, content: &Result<LogContent, LogProblem>) -> bool {
    match content {
        Ok(content) => content.base64.is_empty() && !wanted.log.ended,
        Err(LogProblem::NotThere) => !wanted.log.ended,
        Err(LogProblem::NotTheirs | LogProblem::Other(_)) => false,
    }
}
