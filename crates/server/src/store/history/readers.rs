//! The threads that read the history, each with a connection of its own.

use super::blocks::interrupted;
use crate::store::StoreError;
use rusqlite::{Connection, OpenFlags};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// Lists are short; a long search must not make everybody wait.
const THREADS: usize = 2;
/// More questions than that at once are refused.
const MOST_WAITING: usize = 256;
/// A question that takes longer is given up.
const LONGEST: Duration = Duration::from_secs(5);
/// Instructions of SQLite between two looks at the time.
const INSTRUCTIONS: i32 = 20_000;

/// Of each connection.
const CACHE_KIB: i64 = 512;

type Job = Box<dyn FnOnce(Result<&HistoryReader, StoreError>) + Send>;

#[derive(Debug)]
pub(super) struct Readers {
    path: PathBuf,
    jobs: Mutex<Option<SyncSender<Job>>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

/// A connection, and when its present question has to be answered.
#[derive(Debug)]
pub(super) struct HistoryReader {
    pub(super) connection: Connection,
    deadline: Arc<QueryDeadline>,
    path: PathBuf,
    /// Closed after the connection: to close any descriptor of the file gives SQLite's locks away.
    _file: Arc<File>,
}

#[derive(Debug)]
struct QueryDeadline {
    start: Instant,
    /// Milliseconds after the start.
    at: AtomicU64,
}

impl Readers {
    pub(super) fn start(path: &Path, file: &Arc<File>) -> Readers {
        let (sender, receiver) = sync_channel(MOST_WAITING);
        let receiver = Arc::new(Mutex::new(receiver));
        let spawn = |number: usize| {
            let (receiver, path, file) = (Arc::clone(&receiver), path.to_owned(), Arc::clone(file));
            let name = format!("history-{number}");
            let thread = std::thread::Builder::new().name(name);
            thread.spawn(move || serve(&receiver, &path, &file)).ok()
        };
        let threads = (0..THREADS).filter_map(spawn).collect();
        Readers {
            path: path.to_owned(),
            jobs: Mutex::new(Some(sender)),
            threads: Mutex::new(threads),
        }
    }

    /// Asks in one read transaction.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&HistoryReader) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        let job: Job = Box::new(move |reader| {
            // Nobody waits for it any more.
            if !reply.is_closed() {
                let _ = reply.send(reader.and_then(|reader| reader.answer(question)));
            }
        });
        let sender = self.jobs.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let closed = || StoreError::Closed { path: self.path.clone() };
        match sender.ok_or_else(closed)?.try_send(job) {
            Ok(()) => answer.await.unwrap_or_else(|_| Err(closed())),
            Err(TrySendError::Full(_)) => Err(StoreError::Slow { path: self.path.clone() }),
            Err(TrySendError::Disconnected(_)) => Err(closed()),
        }
    }

    /// Returns when every connection is closed.
    pub(super) fn stop(&self) {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        threads.drain(..).for_each(|thread| drop(thread.join()));
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        self.stop();
    }
}

fn serve(jobs: &Mutex<Receiver<Job>>, path: &Path, file: &Arc<File>) {
    let mut reader = None;
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = job else { return };
        if reader.is_none() {
            match HistoryReader::open(path, file) {
                Ok(opened) => reader = Some(opened),
                Err(error) => {
                    job(Err(error));
                    continue;
                }
            }
        }
        if let Some(reader) = &reader {
            job(Ok(reader));
        }
    }
}

impl HistoryReader {
    fn open(path: &Path, file: &Arc<File>) -> Result<HistoryReader, StoreError> {
        let failed = |error| StoreError::from_sqlite(path, error);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(path, flags).map_err(failed)?;
        connection.busy_timeout(Duration::from_secs(1)).map_err(failed)?;
        connection.set_prepared_statement_cache_capacity(64);
        // What is read often stays in the system's own cache.
        connection.pragma_update(None, "cache_size", -CACHE_KIB).map_err(failed)?;
        let deadline = QueryDeadline { start: Instant::now(), at: AtomicU64::new(u64::MAX) };
        let deadline = Arc::new(deadline);
        let watched = Arc::clone(&deadline);
        let is_late = move || watched.is_over();
        connection.progress_handler(INSTRUCTIONS, Some(is_late)).map_err(failed)?;
        let _file = Arc::clone(file);
        Ok(HistoryReader { connection, deadline, path: path.to_owned(), _file })
    }

    fn answer<T>(
        &self,
        question: impl FnOnce(&HistoryReader) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.deadline.set(LONGEST);
        let one = self.connection.unchecked_transaction();
        let answer = one.map_err(|error| self.failed(error)).and_then(|_one| question(self));
        self.deadline.set(Duration::MAX);
        answer
    }

    pub(super) fn is_in_time(&self) -> bool {
        !self.deadline.is_over()
    }

    pub(super) fn in_time(&self) -> rusqlite::Result<()> {
        if self.is_in_time() { Ok(()) } else { Err(interrupted()) }
    }

    pub(super) fn failed(&self, error: rusqlite::Error) -> StoreError {
        StoreError::from_sqlite(&self.path, error)
    }

    pub(super) fn damaged(&self, what: String) -> StoreError {
        StoreError::damaged(&self.path, what)
    }
}

impl QueryDeadline {
    fn set(&self, longest: Duration) {
        let at = self.start.elapsed().saturating_add(longest).as_millis();
        self.at.store(u64::try_from(at).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    fn is_over(&self) -> bool {
        self.start.elapsed().as_millis() > u128::from(self.at.load(Ordering::Relaxed))
    }
}
