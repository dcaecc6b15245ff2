//! Checks and reads files that users have named, by helper processes that have become those users, each within a time limit.
//!
//! Invariant: no process with more rights than the user resolves a path that the user chose, and no thread of the daemon
//! or an agent waits for a file system of the user's: only the helper process does, and it can be abandoned.
//!
//! Each user has one helper and one thread that talks to it. Both end when they have been idle for a while.

pub(crate) mod helper;
mod link;
mod message;
mod recent;

pub use crate::logs::Piece;
pub use message::ReadFile;

use danlu_wire::agent::{LogProblem, PathsSeen, TaskPaths};
use link::{HelperLink, NoAnswer};
use message::{HelperReply, Question};
use recent::Recent;
use std::collections::BTreeMap;
use std::io;
use std::process::Child;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A helper that has been idle for so long ends.
const IDLE: Duration = Duration::from_secs(10);
/// After this another takes its place, which knows the groups that the user has by now.
const OLDEST: Duration = Duration::from_secs(60);
/// Questions of one user that wait for an answer.
const MOST_WAITING: usize = 64;
/// Killed helpers of one user that have not ended: the kernel does not end a process that waits for a dead file system.
const MOST_STUCK: usize = 4;
/// Users with a helper at the same time.
const MOST_USERS: usize = 256;

/// Copies are the same.
#[derive(Debug, Clone, Default)]
pub struct UserFiles {
    workers: Arc<Mutex<BTreeMap<User, SyncSender<Box<Job>>>>>,
    recent: Recent,
}

/// By name. `None` is the user of this process.
type User = Option<String>;

/// With the bytes of a file.
type Said = Result<(HelperReply, Vec<u8>), NoAnswer>;

struct Job {
    question: Question,
    until: Instant,
    answer: Box<dyn FnOnce(Said) + Send>,
}

impl UserFiles {
    /// Would a task of this user find what it names? `answer` is called by another thread.
    pub fn check(
        &self,
        user: User,
        paths: TaskPaths,
        limit: Duration,
        answer: impl FnOnce(PathsSeen) + Send + 'static,
    ) {
        if self.recent.has(&user, &paths) {
            return answer(PathsSeen::Good);
        }
        let (recent, place) = (self.recent.clone(), (user.clone(), paths.clone()));
        self.ask(user, Question::Check(paths), limit, move |said| {
            answer(match said {
                Ok((HelperReply::Checked(None), _)) => {
                    recent.note(place);
                    PathsSeen::Good
                }
                Ok((HelperReply::Checked(Some(problem)), _)) => PathsSeen::Wrong(problem),
                Err(NoAnswer::Silent) => PathsSeen::Silent,
                Ok((
                    HelperReply::Piece { .. }
                    | HelperReply::Unreadable(_)
                    | HelperReply::NoSuchUser,
                    _,
                ))
                | Err(NoAnswer::Busy | NoAnswer::Broken(_)) => PathsSeen::Unseen,
            });
        });
    }

    /// A part of a file that is the user's own. `answer` is called by another thread.
    pub fn read(
        &self,
        user: User,
        wanted: ReadFile,
        limit: Duration,
        answer: impl FnOnce(io::Result<Piece>) + Send + 'static,
    ) {
        self.ask(user, Question::Read(wanted), limit, move |said| {
            answer(match said {
                Ok((HelperReply::Piece { offset, size }, bytes)) => {
                    Ok(Piece { offset, size, bytes })
                }
                Ok((HelperReply::Unreadable(LogProblem::NotThere), _)) => {
                    Err(io::ErrorKind::NotFound.into())
                }
                Ok((
                    HelperReply::Unreadable(LogProblem::NotTheirs) | HelperReply::NoSuchUser,
                    _,
                )) => Err(io::ErrorKind::PermissionDenied.into()),
                Ok((HelperReply::Unreadable(LogProblem::Other(why)), _)) => {
                    Err(io::Error::other(why))
                }
                Ok((HelperReply::Checked(_), _)) => Err(io::ErrorKind::InvalidData.into()),
                Err(NoAnswer::Silent) => {
                    Err(io::Error::new(io::ErrorKind::TimedOut, "the file system does not answer"))
                }
                Err(NoAnswer::Busy) => Err(io::ErrorKind::ResourceBusy.into()),
                Err(NoAnswer::Broken(error)) => Err(error),
            });
        });
    }

    fn ask(
        &self,
        user: User,
        question: Question,
        limit: Duration,
        answer: impl FnOnce(Said) + Send + 'static,
    ) {
        let until = Instant::now() + limit;
        let job = Box::new(Job { question, until, answer: Box::new(answer) });
        if let Err(job) = self.hand_over(user, job) {
            (job.answer)(Err(NoAnswer::Busy));
        }
    }

    /// To the thread of this user, which is started if there is none. The job comes back where it cannot be done.
    fn hand_over(&self, user: User, job: Box<Job>) -> Result<(), Box<Job>> {
        let mut workers = self.workers();
        let job = match workers.get(&user) {
            None if workers.len() >= MOST_USERS => return Err(job),
            None => job,
            Some(worker) => match worker.try_send(job) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Full(job)) => return Err(job),
                // It has panicked.
                Err(TrySendError::Disconnected(job)) => job,
            },
        };
        let (jobs, worker) = Worker::new(self.clone(), user.clone());
        let started =
            std::thread::Builder::new().name("user-files".into()).spawn(move || worker.run());
        if started.is_err() {
            return Err(job);
        }
        let sent = jobs.try_send(job);
        workers.insert(user, jobs);
        sent.map_err(|error| match error {
            TrySendError::Full(job) | TrySendError::Disconnected(job) => job,
        })
    }

    fn workers(&self) -> MutexGuard<'_, BTreeMap<User, SyncSender<Box<Job>>>> {
        self.workers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Speaks with the helper of one user, one question after the other.
struct Worker {
    all: UserFiles,
    user: User,
    jobs: Receiver<Box<Job>>,
    helper: Option<(HelperLink, Instant)>,
    stuck: Vec<Child>,
}

impl Worker {
    fn new(all: UserFiles, user: User) -> (SyncSender<Box<Job>>, Worker) {
        let (sender, jobs) = sync_channel(MOST_WAITING);
        (sender, Worker { all, user, jobs, helper: None, stuck: Vec::new() })
    }

    fn run(mut self) {
        loop {
            match self.jobs.recv_timeout(IDLE) {
                Ok(job) => self.work(*job),
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {
                    self.end_helper();
                    self.reap();
                    // No job is handed over while the map is locked.
                    let all = self.all.clone();
                    let mut workers = all.workers();
                    match self.jobs.try_recv() {
                        Ok(job) => {
                            drop(workers);
                            self.work(*job);
                        }
                        // They count against the user for as long as they are there.
                        Err(_) if !self.stuck.is_empty() => {}
                        Err(_) => {
                            workers.remove(&self.user);
                            return;
                        }
                    }
                }
            }
        }
    }

    fn work(&mut self, Job { question, until, answer }: Job) {
        answer(self.answer(&question, until));
    }

    fn answer(&mut self, question: &Question, until: Instant) -> Said {
        // Others of this user have taken all its time.
        if Instant::now() >= until {
            return Err(NoAnswer::Silent);
        }
        self.reap();
        if self.stuck.len() >= MOST_STUCK {
            return Err(NoAnswer::Silent);
        }
        if self
            .helper
            .as_mut()
            .is_some_and(|(link, born)| born.elapsed() > OLDEST || link.is_gone())
        {
            self.end_helper();
        }
        let (link, _) = match &mut self.helper {
            Some(helper) => helper,
            none => none.insert((HelperLink::start(self.user.as_deref())?, Instant::now())),
        };
        let said = link.ask(question, until);
        if said.is_err() {
            self.end_helper();
        }
        said
    }

    fn end_helper(&mut self) {
        if let Some((link, _)) = self.helper.take()
            && let Some(child) = link.end()
        {
            self.stuck.push(child);
        }
    }

    fn reap(&mut self) {
        self.stuck.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
    }
}

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Job").field("question", &self.question).finish_non_exhaustive()
    }
}
