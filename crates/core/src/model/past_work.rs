//! What is remembered of a user's tasks that have left the state: enough to predict run times, to give hints, and to
//! count the bytes of logs. Bounded, however many there were.

use crate::model::ids::{TaskId, UserId};
use crate::model::run::Run;
use crate::model::task::{Task, TaskSpec};
use crate::model::time::{Span, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Run times that are kept of each kind of work: as many as a prediction averages. What all tasks of a user, or of a
/// project, have in common is predicted from the newest of them, and those are among the newest of their own kind.
pub(crate) const RUN_TIMES: usize = 6;
/// Kinds of work that are kept: those that ended last.
const KINDS_OF_WORK: usize = 1_000;
/// Programs whose memory is kept: those that ended last.
const PROGRAMS: usize = 1_000;
/// This much of a name or command distinguishes kinds of work …
const WORDS_BYTES: usize = 64;
/// … and programs.
const PROGRAM_BYTES: usize = 128;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PastWork {
    pub user: UserId,
    /// Of the logs of all their runs. Wide enough for whatever nodes say.
    #[serde(default)]
    pub log_bytes: u128,
    #[serde(default, with = "pairs")]
    pub(crate) run_times: BTreeMap<WorkKind, BTreeSet<EndedWork>>,
    #[serde(default)]
    peaks: BTreeMap<String, GpuMemoryPeak>,
}

/// What tasks that are likely to run equally long have in common.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct WorkKind {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) project: Option<String>,
    pub(crate) gpus: u32,
    /// What is executed.
    pub(crate) words: String,
}

/// When a task ended, which one it was, and how long it had run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct EndedWork(pub(crate) Time, pub(crate) TaskId, pub(crate) Span);

/// The most bytes of a GPU that a program was seen to use, and when a task of it ended last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct GpuMemoryPeak {
    bytes: u64,
    at: Time,
}

impl PastWork {
    pub(crate) fn new(user: UserId) -> PastWork {
        PastWork { user, ..PastWork::default() }
    }

    /// An ended task leaves the state. Answers the older ones that are not remembered any more.
    pub(crate) fn add(&mut self, task: &Task, runs: &[Arc<Run>]) -> Vec<(WorkKind, EndedWork)> {
        self.log_bytes += log_bytes(runs);
        self.remember_memory(task, runs);
        let Some(ended) = EndedWork::of(task) else { return Vec::new() };
        let kind = WorkKind::of(&task.spec);
        let run_times = self.run_times.entry(kind.clone()).or_default();
        run_times.insert(ended);
        let mut forgotten = Vec::new();
        if run_times.len() > RUN_TIMES {
            forgotten.extend(run_times.pop_first().map(|oldest| (kind, oldest)));
        }
        if self.run_times.len() > KINDS_OF_WORK {
            let by_end = self.run_times.iter().min_by_key(|(_, run_times)| run_times.last());
            if let Some(kind) = by_end.map(|(kind, _)| kind.clone()) {
                let run_times = self.run_times.remove(&kind).unwrap_or_default();
                forgotten.extend(run_times.into_iter().map(|ended| (kind.clone(), ended)));
            }
        }
        forgotten
    }

    /// It is in the state again. The memory that its program needs stays known.
    pub(crate) fn take_back(&mut self, task: &Task, runs: &[Arc<Run>]) {
        self.log_bytes = self.log_bytes.saturating_sub(log_bytes(runs));
        let Some(ended) = EndedWork::of(task) else { return };
        let kind = WorkKind::of(&task.spec);
        if let Some(run_times) = self.run_times.get_mut(&kind) {
            run_times.remove(&ended);
            if run_times.is_empty() {
                self.run_times.remove(&kind);
            }
        }
    }

    /// Nothing is remembered.
    pub(crate) fn is_empty(&self) -> bool {
        self.log_bytes == 0 && self.run_times.is_empty() && self.peaks.is_empty()
    }

    pub(crate) fn is_bounded(&self) -> bool {
        self.run_times.len() <= KINDS_OF_WORK
            && self.peaks.len() <= PROGRAMS
            && self.run_times.values().all(|ended| (1..=RUN_TIMES).contains(&ended.len()))
    }

    /// All that is remembered of single tasks.
    pub(crate) fn ended(&self) -> impl Iterator<Item = (&WorkKind, EndedWork)> {
        let kinds = self.run_times.iter();
        kinds.flat_map(|(kind, ended)| ended.iter().map(move |ended| (kind, *ended)))
    }

    /// The most bytes of a GPU that runs of this command were seen to use.
    pub(crate) fn peak_of(&self, command: &[String]) -> Option<u64> {
        self.peaks.get(&program_text(command)).map(|peak| peak.bytes)
    }

    fn remember_memory(&mut self, task: &Task, runs: &[Arc<Run>]) {
        let used = runs.iter().filter_map(|run| run.peak_gpu_memory).filter(|bytes| *bytes > 0);
        let Some(bytes) = used.max() else { return };
        let at = task.ended_at().unwrap_or_default();
        let peak = self.peaks.entry(program_text(&task.spec.command));
        let peak = peak.or_insert(GpuMemoryPeak { bytes, at });
        *peak = GpuMemoryPeak { bytes: peak.bytes.max(bytes), at: peak.at.max(at) };
        if self.peaks.len() > PROGRAMS {
            let by_end = self.peaks.iter().min_by_key(|(_, peak)| peak.at);
            if let Some(program) = by_end.map(|(program, _)| program.clone()) {
                self.peaks.remove(&program);
            }
        }
    }
}

impl WorkKind {
    pub(crate) fn of(spec: &TaskSpec) -> WorkKind {
        let (project, gpus) = (spec.project.clone(), spec.request.gpus);
        WorkKind { project, gpus, words: words(spec) }
    }
}

impl EndedWork {
    /// `None` if it has not ended, or not run.
    pub(crate) fn of(task: &Task) -> Option<EndedWork> {
        let at = task.ended_at().filter(|_| task.trail().attained > Span::ZERO)?;
        Some(EndedWork(at, task.id, task.trail().attained))
    }
}

/// `python train.py --lr 0.1` and `python train.py --lr 0.2` are the same program.
pub(crate) fn program(command: &[String]) -> (Option<&String>, Option<&String>) {
    (command.first(), command.get(1).filter(|word| !word.starts_with('-')))
}

fn program_text(command: &[String]) -> String {
    let (program, script) = program(command);
    let mut text = program.cloned().unwrap_or_default();
    if let Some(script) = script {
        // No word contains it.
        text.push('\0');
        text.push_str(script);
    }
    cut(&mut text, PROGRAM_BYTES);
    text
}

/// Its name, or the program and what it is to execute: `python train.py`, whatever the options are.
fn words(spec: &TaskSpec) -> String {
    let named = Some(spec.name.as_str()).filter(|name| !name.is_empty());
    let mut words = match named {
        Some(name) => name.to_owned(),
        None => {
            let words = spec.command.iter().flat_map(|word| word.split_whitespace());
            words.take(2).collect::<Vec<_>>().join(" ")
        }
    };
    cut(&mut words, WORDS_BYTES);
    words
}

fn cut(text: &mut String, bytes: usize) {
    let end = (0..=bytes.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    text.truncate(end.unwrap_or(0));
}

fn log_bytes(runs: &[Arc<Run>]) -> u128 {
    runs.iter().map(|run| u128::from(run.used.log_bytes)).sum()
}

/// A list of pairs: keys of JSON objects are text.
mod pairs {
    use super::{EndedWork, WorkKind};
    use serde::{Deserialize, Deserializer, Serializer};
    use std::collections::{BTreeMap, BTreeSet};

    type RunTimes = BTreeMap<WorkKind, BTreeSet<EndedWork>>;

    pub(super) fn serialize<S: Serializer>(map: &RunTimes, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(map)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<RunTimes, D::Error> {
        let pairs = Vec::<(WorkKind, BTreeSet<EndedWork>)>::deserialize(from)?;
        Ok(pairs.into_iter().collect())
    }
}
