//! What runs have printed, wherever it lies.

use crate::api::part_gpu_ids;
use crate::launch;
use crate::logins::Logins;
use crate::model::ReadModel;
use crate::nodes::RemoteLog;
use danlu_core::{NodeId, RunId, Task};
use danlu_node::RunRoot;
use danlu_node::logs::{LogFile, Piece, user_file};
use danlu_node::user_files::UserFiles;
use danlu_wire::Placeholders;
use danlu_wire::agent::{LogPlace, LogStart};
use danlu_wire::launch::{ErrorSink, Sink};
use futures_core::Stream as _;
use inotify::{EventStream, Inotify, WatchMask};
use serde::Deserialize;
use std::io;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;

/// Which of the two streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Which {
    #[default]
    Stdout,
    Stderr,
}

/// Where a stream of a run goes, on this node of several.
pub(crate) fn place_of(
    model: &ReadModel,
    logins: &Logins,
    task: &Task,
    id: RunId,
    node: Option<NodeId>,
    which: Which,
) -> LogPlace {
    let run = model.runs.get(&id);
    let part = run.zip(node).and_then(|(run, node)| run.part_on(node));
    let node = node.and_then(|node| model.nodes.get(&node));
    let node = node.map_or("", |node| node.name.as_str());
    let gpus = part.map_or_else(Vec::new, |part| part_gpu_ids(model, part));
    // They stand in the names of files.
    let words = Placeholders::new(task.id, task.array, node, &gpus).with_values(task.values());
    let owner = model.users.get(&task.owner);
    let owner = owner.map_or_else(String::new, |owner| launch::runs_as(logins, owner, node));
    let output = launch::output(task.id, &task.spec.launch.output);
    let sink = match (which, output.stderr) {
        (Which::Stderr, ErrorSink::Own(sink)) => sink,
        (_, _) => output.stdout,
    };
    let sink = match sink {
        Sink::File { path, append, task_in_directory, own } => {
            let path = words.put_into(&path).into_owned();
            Sink::File { path, append, task_in_directory, own }
        }
        Sink::Log | Sink::Discard => sink,
    };
    let directory = task.spec.launch.directory.clone();
    let ended = run.is_none_or(|run| run.is_ended());
    LogPlace { run: id, sink, directory, owner, ended }
}

/// A log that would stay on its machine goes to a directory that the server has, too.
pub(crate) fn shared(directory: &Path, run: RunId) -> Sink {
    let path = directory.join(format!("danlu-{run}.log")).display().to_string();
    Sink::File { path, append: true, task_in_directory: None, own: true }
}

/// One log, open for reading.
#[derive(Debug)]
pub(crate) enum Log {
    Here(Box<WatchedLog>),
    /// On this machine, outside the data directory.
    Theirs(UserLog),
    There(RemoteLog),
}

/// On this machine.
#[derive(Debug)]
pub(crate) struct WatchedLog {
    file: Arc<LogFile>,
    watch: Option<EventStream<[u8; 1024]>>,
}

/// A file of a user's, which a process that is this user reads.
#[derive(Debug)]
pub(crate) struct UserLog {
    files: UserFiles,
    /// `None` where the server runs everything as itself.
    user: Option<String>,
    place: LogPlace,
    /// Before it is looked at again.
    pause: Duration,
}

/// How long the user's file system has for one part of a file.
const PATIENCE: Duration = Duration::from_secs(2);
/// A network disk tells nobody that another machine has written to a file, so that one looks again and again: less often
/// the longer nothing comes.
const SOONEST: Duration = Duration::from_millis(100);
const LATEST: Duration = Duration::from_secs(1);

impl UserLog {
    async fn piece(&self, from: LogStart, limit: u64) -> io::Result<Piece> {
        let wanted = user_file(&self.place, from, limit).ok_or(io::ErrorKind::NotFound)?;
        let (answer, answered) = oneshot::channel();
        self.files.read(self.user.clone(), wanted, PATIENCE, move |read| {
            let _ = answer.send(read);
        });
        answered.await.map_err(io::Error::other)?
    }
}

impl Log {
    /// Of a run on this machine, in the run directories.
    pub(crate) async fn here(root: &Arc<RunRoot>, place: &LogPlace) -> io::Result<Log> {
        let (root, run, ended) = (Arc::clone(root), place.run, place.ended);
        let file = match place.sink {
            Sink::Log => aside(move || LogFile::of_run(&root, run, ended)).await?,
            Sink::Discard | Sink::File { .. } => LogFile::nothing(),
        };
        Ok(Log::Here(Box::new(WatchedLog { file: Arc::new(file), watch: None })))
    }

    /// A file of a user's on this machine, if the user has such a file.
    pub(crate) async fn theirs(
        files: &UserFiles,
        user: Option<String>,
        place: LogPlace,
    ) -> io::Result<Log> {
        let log = UserLog { files: files.clone(), user, place, pause: SOONEST };
        log.piece(LogStart::Offset(0), 0).await?;
        Ok(Log::Theirs(log))
    }

    pub(crate) async fn file(path: PathBuf) -> io::Result<Log> {
        let file = aside(move || LogFile::open(path)).await?;
        Ok(Log::Here(Box::new(WatchedLog { file: Arc::new(file), watch: None })))
    }

    pub(crate) async fn start(&mut self, from: LogStart) -> io::Result<u64> {
        match (self, from) {
            (_, LogStart::Offset(offset)) => Ok(offset),
            (Log::Here(log), from) => {
                let file = Arc::clone(&log.file);
                aside(move || file.start(from)).await
            }
            (Log::Theirs(log), from) => Ok(log.piece(from, 0).await?.offset),
            (Log::There(log), from) => Ok(log.read(from, 0).await?.offset),
        }
    }

    /// What is there from this offset on, as far as the limit, and how much there is in all.
    pub(crate) async fn read(&mut self, offset: u64, limit: u64) -> io::Result<(Vec<u8>, u64)> {
        match self {
            Log::Here(log) => {
                let file = Arc::clone(&log.file);
                aside(move || Ok((file.read(offset, limit)?, file.size()?))).await
            }
            Log::Theirs(log) => {
                let piece = log.piece(LogStart::Offset(offset), limit).await?;
                if !piece.bytes.is_empty() {
                    log.pause = SOONEST;
                }
                Ok((piece.bytes, piece.size))
            }
            Log::There(log) => {
                let piece = log.read(LogStart::Offset(offset), limit).await?;
                Ok((piece.bytes, piece.size))
            }
        }
    }

    /// From now on [`Log::changed`] notices what is written. To be called before the file is read.
    pub(crate) fn start_watching(&mut self) {
        if let Log::Here(log) = self
            && log.watch.is_none()
        {
            log.watch = watch(log.file.path());
        }
    }

    /// Returns when something was written after this offset, or the file has moved.
    pub(crate) async fn changed(&mut self, offset: u64) {
        let log = match self {
            Log::Here(log) => log,
            Log::Theirs(log) => {
                tokio::time::sleep(log.pause).await;
                log.pause = (log.pause * 2).min(LATEST);
                return;
            }
            Log::There(log) => return log.changed(offset).await,
        };
        match &mut log.watch {
            Some(watch) => {
                // What it was does not matter: the file is looked at again.
                let _ =
                    std::future::poll_fn(|context| Pin::new(&mut *watch).poll_next(context)).await;
            }
            // Out of watches: look again soon.
            None => tokio::time::sleep(Duration::from_millis(200)).await,
        }
    }

    /// One in the run directories moves when its run is forgotten.
    pub(crate) fn may_move(&self) -> bool {
        matches!(self, Log::Here(_))
    }

    /// The same file opened again keeps the watch that has seen everything since.
    pub(crate) fn keeping_watch(mut self, before: Log) -> Log {
        if let (Log::Here(now), Log::Here(before)) = (&mut self, before)
            && now.file.path() == before.file.path()
        {
            now.watch = before.watch;
        }
        self
    }
}

/// Files may be slow, on somebody's network disk for one: nobody else waits for them.
async fn aside<T: Send + 'static>(
    read: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    tokio::task::spawn_blocking(read).await.map_err(io::Error::other)?
}

fn watch(path: &Path) -> Option<EventStream<[u8; 1024]>> {
    let inotify = Inotify::init().ok()?;
    let what = WatchMask::MODIFY | WatchMask::MOVE_SELF | WatchMask::ATTRIB;
    inotify.watches().add(path, what).ok()?;
    inotify.into_event_stream([0; 1024]).ok()
}
