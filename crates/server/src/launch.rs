//! From a decision of the core to an order for a node; and where the output of a run is.

use crate::environment;
use crate::store::Store;
use danlu_core::effect::Launch;
use danlu_core::task::{Output, Stream};
use danlu_core::{GpuId, RunId, State, Task};
use danlu_node::{RunRoot, user};
use danlu_wire::Words;
use danlu_wire::launch::{
    AssignedGpu, Command, Environment, ErrorSink, GpuNames, GpuOrder, LaunchOrder, Sink,
};
use futures_core::Stream as _;
use inotify::{EventStream, Inotify, WatchMask};
use serde::Deserialize;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::pin::Pin;

/// Everything the node needs. The environment comes from the store, where it is kept once.
pub(crate) fn order(state: &State, store: &Store, launch: &Launch, as_root: bool) -> LaunchOrder {
    let (task, spec) = (&state.tasks[&launch.task], &launch.spec);
    let node = &state.nodes[&launch.node];
    let how = &spec.launch;
    let packed = how.environment.as_ref().and_then(|hash| store.environment(hash).ok().flatten());
    let mut variables = packed.map_or_else(Vec::new, |packed| environment::variables(&packed));
    let replaced = |line: &String| {
        line.split_once('=').is_some_and(|(name, _)| how.variables.contains_key(name))
    };
    variables.retain(|line| !replaced(line));
    variables.extend(how.variables.iter().map(|(name, value)| format!("{name}={value}")));
    variables.extend(task.values().into_iter().map(|(name, value)| swept(name, value)));
    let command = match (how.shell, spec.command.as_slice()) {
        (true, words) => Command::Shell { shell: String::from("/bin/sh"), line: words.join(" ") },
        (false, words) => Command::Argv(words.to_vec()),
    };
    let index = |id: &GpuId| node.gpus.iter().find(|gpu| gpu.id == *id).map_or(0, |gpu| gpu.index);
    let assigned = launch.gpus.iter().map(|id| AssignedGpu { uuid: id.clone(), index: index(id) });
    let mut order = LaunchOrder::new(launch.run, launch.task, command, &how.directory);
    order.attempt = launch.attempt;
    order.array = task.array;
    let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    order.values = task.values().into_iter().map(owned).collect();
    order.environment = Environment(variables);
    order.python.clone_from(&how.python);
    order.user = as_root.then(|| state.users[&task.owner].os_name().to_owned());
    order.output = output(task, &how.output);
    order.gpus = GpuOrder {
        assigned: assigned.collect(),
        named_by: if how.gpus_by_uuid { GpuNames::Uuid } else { GpuNames::Index },
        argument: how.gpu_argument.clone(),
        ..GpuOrder::default()
    };
    order.time_limit = launch.time_limit;
    order.grace = state.settings().stop_grace;
    order.memory_limit = (spec.request.memory > 0).then_some(spec.request.memory);
    order.gpu_memory = (spec.request.gpu_memory > 0).then_some(spec.request.gpu_memory);
    order.node = node.name.clone();
    order
}

/// `DANLU_GRID_LR=1e-3`.
fn swept(name: &str, value: &str) -> String {
    let plain = |it: char| if it.is_ascii_alphanumeric() { it.to_ascii_uppercase() } else { '_' };
    let name: String = name.chars().map(plain).collect();
    format!("DANLU_GRID_{name}={value}")
}

fn output(task: &Task, wanted: &Output) -> danlu_wire::launch::Output {
    let sink = |stream: &Stream| match stream {
        Stream::Append { path } => Sink::File { path: path.clone(), append: true },
        Stream::Truncate { path } => Sink::File { path: path.clone(), append: false },
        Stream::Discard => Sink::Discard,
    };
    let both = wanted
        .both
        .as_ref()
        .map(|path| Sink::File { path: in_directory(task, path), append: true });
    let stdout = wanted.stdout.as_ref().map(sink).or(both);
    let stderr = match &wanted.stderr {
        // The same file twice is one stream.
        Some(stream) if Some(sink(stream)) != stdout => ErrorSink::Own(sink(stream)),
        _ => ErrorSink::WithStdout,
    };
    danlu_wire::launch::Output { stdout: stdout.unwrap_or_default(), stderr }
}

/// A directory gets `<id>.log`.
fn in_directory(task: &Task, path: &str) -> String {
    let whole = Path::new(&task.spec.launch.directory).join(path);
    if whole.is_dir() { format!("{path}/{}.log", task.id) } else { path.to_owned() }
}

/// Which of the two streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Which {
    #[default]
    Stdout,
    Stderr,
}

/// What must be known of a run to find its output.
#[derive(Debug)]
pub(crate) struct RunLog {
    pub(crate) id: RunId,
    pub(crate) ended: bool,
    /// That stand in the names of files.
    pub(crate) words: Words,
}

/// Finds what runs of the local node have printed.
#[derive(Debug)]
pub struct RunFiles {
    root: RunRoot,
}

impl RunFiles {
    pub fn new(root: RunRoot) -> RunFiles {
        RunFiles { root }
    }

    /// Files in the run directories are ours; any other must belong to the owner of the task, so that nobody
    /// reads through the daemon what they could not read themselves.
    pub(crate) fn open_log(
        &self,
        task: &Task,
        run: &RunLog,
        which: Which,
        owner: &str,
    ) -> io::Result<LogFile> {
        let output = output(task, &task.spec.launch.output);
        let sink = match (which, output.stderr) {
            (Which::Stderr, ErrorSink::Own(sink)) => sink,
            (_, _) => output.stdout,
        };
        match sink {
            Sink::Log => {
                let path = match self.root.log_path(run.id) {
                    Some(path) => path,
                    // It has printed nothing.
                    None if run.ended => PathBuf::from("/dev/null"),
                    None => return Err(io::ErrorKind::NotFound.into()),
                };
                LogFile::open(path)
            }
            Sink::Discard => LogFile::open(PathBuf::from("/dev/null")),
            Sink::File { path, .. } => {
                let path = run.words.put_into(&path);
                let log = LogFile::open(Path::new(&task.spec.launch.directory).join(&*path))?;
                let uid = user::find(owner)?.map(|account| account.uid);
                let theirs = uid == Some(log.file.metadata()?.uid());
                if theirs { Ok(log) } else { Err(io::ErrorKind::PermissionDenied.into()) }
            }
        }
    }
}

/// Lines that are longer than this together are shown from there on.
const LONGEST_TAIL: u64 = 16 << 20;

/// One log, open for reading.
#[derive(Debug)]
pub(crate) struct LogFile {
    path: PathBuf,
    file: File,
    watch: Option<EventStream<[u8; 1024]>>,
}

impl LogFile {
    pub(crate) fn open(path: PathBuf) -> io::Result<LogFile> {
        // Not to hang on a pipe that somebody gave as an output file.
        let flags = nix::libc::O_NONBLOCK | nix::libc::O_NOCTTY;
        let file = File::options().read(true).custom_flags(flags).open(&path)?;
        if !file.metadata()?.is_file() && path != Path::new("/dev/null") {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(LogFile { path, file, watch: None })
    }

    pub(crate) fn size(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// What is there from this offset on, as far as the limit.
    pub(crate) fn read(&self, offset: u64, limit: u64) -> io::Result<Vec<u8>> {
        let there = self.size()?.saturating_sub(offset).min(limit);
        let mut bytes = vec![0; usize::try_from(there).unwrap_or(usize::MAX)];
        let count = self.file.read_at(&mut bytes, offset)?;
        bytes.truncate(count);
        Ok(bytes)
    }

    /// Where the last so many lines begin; looked for from the end, and not too far.
    pub(crate) fn tail_offset(&mut self, lines: u64) -> io::Result<u64> {
        const BLOCK: u64 = 64 << 10;
        let size = self.size()?;
        let farthest = size.saturating_sub(LONGEST_TAIL);
        let (mut end, mut found) = (size, 0);
        while end > farthest {
            let start = end.saturating_sub(BLOCK).max(farthest);
            let mut block = vec![0; usize::try_from(end - start).unwrap_or_default()];
            self.file.seek(SeekFrom::Start(start))?;
            self.file.read_exact(&mut block)?;
            for (at, byte) in block.iter().enumerate().rev() {
                let position = start + at as u64;
                // The newline that ends the last line begins no other.
                if *byte == b'\n' && position + 1 < size {
                    found += 1;
                    if found == lines {
                        return Ok(position + 1);
                    }
                }
            }
            end = start;
        }
        Ok(if lines == 0 { size } else { farthest })
    }

    /// From now on [`LogFile::changed`] notices what is written. To be called before the file is read.
    pub(crate) fn start_watching(&mut self) {
        if self.watch.is_none() {
            self.watch = watch(&self.path);
        }
    }

    /// Returns when something was written since the last call, or the file has moved.
    pub(crate) async fn changed(&mut self) {
        match &mut self.watch {
            Some(watch) => {
                // What it was does not matter: the file is looked at again.
                let _ =
                    std::future::poll_fn(|context| Pin::new(&mut *watch).poll_next(context)).await;
            }
            // Out of watches: look again soon.
            None => tokio::time::sleep(std::time::Duration::from_millis(200)).await,
        }
    }

    /// The same file opened again keeps the watch that has seen everything since.
    pub(crate) fn keeping_watch(mut self, before: LogFile) -> LogFile {
        if self.path == before.path {
            self.watch = before.watch;
        }
        self
    }
}

fn watch(path: &Path) -> Option<EventStream<[u8; 1024]>> {
    let inotify = Inotify::init().ok()?;
    let what = WatchMask::MODIFY | WatchMask::MOVE_SELF | WatchMask::ATTRIB;
    inotify.watches().add(path, what).ok()?;
    inotify.into_event_stream([0; 1024]).ok()
}
