//! Changes of the tasks since the last look, in the order in which they happened.

use std::collections::BTreeMap;

use danlu_core::WaitReason;
use danlu_messages::cli::demo as msg;
use danlu_wire::api::{TaskStateName, TaskView};
use jiff::Timestamp;

use crate::screen::{clock, colour, places, states, tasks, width};

/// What was last told of each task.
#[derive(Debug)]
pub(super) struct TaskChanges {
    since: Timestamp,
    told: BTreeMap<u64, ChangeKind>,
    /// Seen once. Most that wait for a moment only are not worth a line.
    seen: BTreeMap<u64, ChangeKind>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ChangeKind {
    Waits(TaskStateName),
    Runs,
    Ended(TaskStateName),
}

/// Something that happened to one task, or to several of an array at once.
#[derive(Debug)]
struct Change {
    at: Timestamp,
    kind: ChangeKind,
    ids: Vec<u64>,
    indices: Vec<u64>,
    array: Option<u64>,
    name: String,
    gpus: Vec<u32>,
    words: String,
}

impl TaskChanges {
    pub(super) fn since(since: Timestamp) -> Self {
        Self { since, told: BTreeMap::new(), seen: BTreeMap::new() }
    }

    /// One line each. Every task is given, also those of which nothing is new.
    pub(super) fn of(&mut self, all: &[TaskView], now: Timestamp) -> Vec<ChangeLine> {
        let mut items: Vec<Change> = Vec::new();
        for task in all {
            for kind in self.unheard(task) {
                join(&mut items, item(task, kind, now));
            }
        }
        items.sort_by_key(|item| (item.at, item.kind, item.ids[0]));
        items.iter().map(|item| item.line(self.since)).collect()
    }

    fn unheard(&mut self, task: &TaskView) -> Vec<ChangeKind> {
        let Some(kind) = kind(task) else { return Vec::new() };
        let before = self.told.get(&task.id).copied();
        let just_seen = self.seen.insert(task.id, kind) != Some(kind);
        if before == Some(kind) || (just_seen && matches!(kind, ChangeKind::Waits(_))) {
            return Vec::new();
        }
        self.told.insert(task.id, kind);
        // Short ones begin and end between two looks.
        let began = task.started_at.is_some() && task.exit_code.is_some();
        let missed =
            matches!(kind, ChangeKind::Ended(_)) && before != Some(ChangeKind::Runs) && began;
        missed.then_some(ChangeKind::Runs).into_iter().chain([kind]).collect()
    }
}

/// `None` while there is nothing to tell.
fn kind(task: &TaskView) -> Option<ChangeKind> {
    if task.wait == Some(WaitReason::AboutToStart) {
        return None;
    }
    match task.state {
        TaskStateName::Starting | TaskStateName::Unknown => None,
        TaskStateName::Held | TaskStateName::Blocked | TaskStateName::Queued => {
            Some(ChangeKind::Waits(task.state))
        }
        TaskStateName::Succeeded
        | TaskStateName::Failed
        | TaskStateName::Cancelled
        | TaskStateName::TimedOut => Some(ChangeKind::Ended(task.state)),
        TaskStateName::Running
        | TaskStateName::Paused
        | TaskStateName::Stopping
        | TaskStateName::Lost => Some(ChangeKind::Runs),
    }
}

fn item(task: &TaskView, kind: ChangeKind, now: Timestamp) -> Change {
    let time = |stamp: &Option<String>| stamp.as_deref().and_then(clock::read).unwrap_or(now);
    let (at, gpus, words) = match kind {
        ChangeKind::Waits(_) => (now, Vec::new(), tasks::why(task, now)),
        ChangeKind::Runs => (time(&task.started_at), task.gpu_ids.clone(), String::new()),
        ChangeKind::Ended(_) => (time(&task.ended_at), Vec::new(), ending(task, now)),
    };
    let indices = task.index.into_iter().map(u64::from).collect();
    let name = task.name.clone();
    Change { at, kind, ids: vec![task.id], indices, array: task.array, name, gpus, words }
}

fn ending(task: &TaskView, now: Timestamp) -> String {
    let read = |stamp: &Option<String>| stamp.as_deref().and_then(clock::read);
    match (task.state, read(&task.started_at), read(&task.ended_at)) {
        (TaskStateName::Succeeded, Some(started), Some(ended)) => {
            let took = seconds(started, ended);
            msg::after_took(&took)
        }
        _ => tasks::why_or_where(task, now),
    }
}

/// Elements of an array to which the same happened are told in one line.
fn join(items: &mut Vec<Change>, new: Change) {
    let same = |item: &&mut Change| {
        let ended = matches!(item.kind, ChangeKind::Ended(_));
        let words = ended || item.words == new.words;
        item.array.is_some() && item.array == new.array && item.kind == new.kind && words
    };
    match items.iter_mut().find(same) {
        Some(item) => {
            item.ids.extend(new.ids);
            item.indices.extend(new.indices);
            item.gpus.extend(new.gpus);
            item.at = item.at.max(new.at);
        }
        None => items.push(new),
    }
}

/// What is told in one line.
#[derive(Debug)]
pub(super) struct ChangeLine {
    time: String,
    ids: String,
    name: String,
    state: TaskStateName,
    words: String,
}

/// Time, ids and name.
const WIDTHS: [usize; 3] = [4, 3, 10];

impl Change {
    fn line(&self, since: Timestamp) -> ChangeLine {
        let (state, words) = match self.kind {
            ChangeKind::Waits(state) | ChangeKind::Ended(state) => (state, self.words.clone()),
            ChangeKind::Runs => (TaskStateName::Running, on_gpus(&self.gpus)),
        };
        let indices = places::list(&self.indices);
        let element = if indices.is_empty() { String::new() } else { format!("[{indices}]") };
        ChangeLine {
            time: seconds(since, self.at),
            ids: places::list(&self.ids),
            name: format!("{}{element}", self.name),
            state,
            words,
        }
    }
}

impl ChangeLine {
    pub(super) fn render(&self, columns: Option<usize>, colour: bool) -> String {
        let pad = |words: &str, width| " ".repeat(usize::saturating_sub(width, width::of(words)));
        let [time, ids, name] =
            [&self.time, &self.ids, &self.name].map(|words| width::plain(words));
        let state = states::word(self.state);
        let start = format!(
            "{}{time}  {}{ids}  {name}{}  ",
            pad(&time, WIDTHS[0]),
            pad(&ids, WIDTHS[1]),
            pad(&name, WIDTHS[2]),
        );
        let state_width = state_width();
        let used = width::of(&start) + state_width + 2;
        let room = columns.map_or(usize::MAX, |columns| columns.saturating_sub(used));
        let words = width::cut(&width::plain(&self.words), room);
        let state_padding = pad(state, state_width);
        let state = colour::paint(state, states::colour(self.state), colour);
        format!("{start}{state}{state_padding}  {words}").trim_end().to_owned() + "\n"
    }
}

/// Of the widest that happens here.
fn state_width() -> usize {
    width::of(states::word(TaskStateName::Succeeded))
}

fn on_gpus(gpus: &[u32]) -> String {
    let numbers: Vec<u64> = gpus.iter().copied().map(u64::from).collect();
    let list = places::list(&numbers);
    match gpus.len() {
        0 => msg::without_a_gpu().to_owned(),
        1 => msg::on_gpu_list(&list),
        _ => msg::on_gpus_list(&list),
    }
}

/// `1.2s`.
fn seconds(from: Timestamp, to: Timestamp) -> String {
    let length = to.duration_since(from).as_secs_f64().max(0.0);
    format!("{length:.1}s")
}
