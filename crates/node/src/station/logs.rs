//! Reads logs for who asks from afar: one thread, so that a slow disk holds up nobody but readers of logs.

use super::stdio::Mouth;
use crate::logs::{LogFile, problem};
use crate::rundir::RunRoot;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use danlu_wire::FromAgent;
use danlu_wire::agent::{LogContent, LogPiece, LogProblem, ReadLog};
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
/// After this an answer comes, whatever there is.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// How many may wait for more at the same time.
const MOST_WAITING: usize = 1_000;

#[derive(Debug)]
pub(super) struct Logs {
    wanted: Sender<ReadLog>,
    wake: Arc<EventFd>,
}

/// Ends with the process.
pub(super) fn start(root: RunRoot, mouth: Mouth) -> Logs {
    let (wanted, asked) = channel();
    let wake = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK);
    let wake = Arc::new(wake.expect("a process that begins has descriptors to spare"));
    let reader = Reader {
        root,
        mouth,
        asked,
        wake: Arc::clone(&wake),
        waiting: Vec::new(),
        watched: BTreeSet::new(),
    };
    let started = std::thread::Builder::new().name("logs".into()).spawn(move || reader.run());
    if let Err(error) = started {
        eprintln!("danlu: logs cannot be read: {error}");
    }
    Logs { wanted, wake }
}

impl Logs {
    pub(super) fn read(&self, wanted: ReadLog) {
        if self.wanted.send(wanted).is_ok() {
            let _ = self.wake.write(1);
        }
    }
}

struct Reader {
    root: RunRoot,
    mouth: Mouth,
    asked: Receiver<ReadLog>,
    wake: Arc<EventFd>,
    waiting: Vec<Waiting>,
    watched: BTreeSet<WatchDescriptor>,
}

struct Waiting {
    wanted: ReadLog,
    until: Instant,
}

impl Reader {
    fn run(mut self) {
        let Ok(inotify) = Inotify::init(InitFlags::IN_NONBLOCK | InitFlags::IN_CLOEXEC) else {
            return;
        };
        loop {
            let now = Instant::now();
            let next = self.waiting.iter().map(|waiting| waiting.until).min();
            let timeout = next.map_or(PollTimeout::NONE, |at| {
                let wait = at.saturating_duration_since(now).as_millis() + 1;
                PollTimeout::try_from(wait).unwrap_or(PollTimeout::MAX)
            });
            let mut both =
                [self.wake.as_fd(), inotify.as_fd()].map(|fd| PollFd::new(fd, PollFlags::POLLIN));
            let _ = poll(&mut both, timeout);
            let _ = self.wake.read();
            while matches!(inotify.read_events(), Ok(events) if !events.is_empty()) {}
            let fresh: Vec<ReadLog> = self.asked.try_iter().collect();
            for wanted in fresh {
                self.waiting.push(Waiting { wanted, until: Instant::now() + LONGEST_WAIT });
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
            let may_wait = one.wanted.wait && !crowded && Instant::now() < one.until;
            // Watched before it is read: what comes in between is seen.
            let watch =
                LogFile::of_run(&self.root, &one.wanted.log).ok().filter(|_| may_wait).map(|log| {
                    inotify.add_watch(
                        log.path(),
                        AddWatchFlags::IN_MODIFY
                            | AddWatchFlags::IN_MOVE_SELF
                            | AddWatchFlags::IN_ATTRIB,
                    )
                });
            let content = self.read(&one.wanted);
            let nothing = match &content {
                Ok(content) => content.base64.is_empty() && !one.wanted.log.ended,
                Err(LogProblem::NotThere) => !one.wanted.log.ended,
                Err(_) => false,
            };
            if nothing && may_wait {
                match watch {
                    Some(Ok(watch)) => {
                        watched.insert(watch);
                        self.waiting.push(one);
                    }
                    // Not there yet, or out of watches: soon again.
                    Some(Err(Errno::ENOSPC | Errno::ENOENT)) | None => {
                        let until = one.until.min(Instant::now() + Duration::from_millis(200));
                        self.waiting.push(Waiting { until, ..one });
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

    fn answer(&self, wanted: &ReadLog, content: Result<LogContent, LogProblem>) {
        self.mouth.say(FromAgent::Log(LogPiece { ask: wanted.ask, content }));
    }

    fn read(&self, wanted: &ReadLog) -> Result<LogContent, LogProblem> {
        let read = || -> io::Result<LogContent> {
            let mut log = LogFile::of_run(&self.root, &wanted.log)?;
            let offset = log.start(wanted.from)?;
            let bytes = log.read(offset, wanted.limit.min(MOST_BYTES))?;
            Ok(LogContent { offset, size: log.size()?, base64: STANDARD.encode(bytes) })
        };
        read().map_err(|error| problem(&error))
    }
}
