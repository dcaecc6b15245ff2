//! Names of states in answers of the API.
//!
//! A server of a newer version may send a name that this version does not know. It is read as `Unknown`, so that an
//! older client still understands the rest of the document. A server sends `Unknown` only as the state of a GPU.

use schemars::JsonSchema;
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

/// Of a task.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum TaskStateName {
    Held,
    Blocked,
    Queued,
    Starting,
    Running,
    Paused,
    Stopping,
    Lost,
    Succeeded,
    Failed,
    Cancelled,
    TimedOut,
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

/// Of one attempt to run a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunStateName {
    Starting,
    Running,
    Paused,
    Stopping,
    Lost,
    Ended,
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

/// Of the part of a run on one of several nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PartStateName {
    Starting,
    Running,
    Lost,
    Ended,
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

/// Of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NodeStateName {
    Ready,
    /// It runs what it has and gets no new tasks.
    Draining,
    /// Connected; its first report has not been checked.
    Unverified,
    /// It cannot start tasks; `problem` says why.
    Unfit,
    /// Not connected.
    Down,
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

/// Of a GPU. Alphabetical: keys of JSON objects are written in this order.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum GpuStateName {
    /// Several nodes report it; none of them assigns it.
    Conflict,
    /// A process that has ended did not free its memory.
    Dirty,
    /// An administrator has disabled it.
    Disabled,
    /// Used by a process that Danlu did not start.
    Foreign,
    Free,
    /// Assigned to one task.
    Held,
    /// Set aside because of hardware errors; `why` says which.
    Quarantined,
    /// Assigned to tasks that share it.
    Shared,
    /// The node does not answer or cannot read it.
    #[serde(other)]
    Unknown,
}

impl TaskStateName {
    /// What servers of this version send.
    pub const ALL: [TaskStateName; 12] = [
        TaskStateName::Held,
        TaskStateName::Blocked,
        TaskStateName::Queued,
        TaskStateName::Starting,
        TaskStateName::Running,
        TaskStateName::Paused,
        TaskStateName::Stopping,
        TaskStateName::Lost,
        TaskStateName::Succeeded,
        TaskStateName::Failed,
        TaskStateName::Cancelled,
        TaskStateName::TimedOut,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            TaskStateName::Held => "held",
            TaskStateName::Blocked => "blocked",
            TaskStateName::Queued => "queued",
            TaskStateName::Starting => "starting",
            TaskStateName::Running => "running",
            TaskStateName::Paused => "paused",
            TaskStateName::Stopping => "stopping",
            TaskStateName::Lost => "lost",
            TaskStateName::Succeeded => "succeeded",
            TaskStateName::Failed => "failed",
            TaskStateName::Cancelled => "cancelled",
            TaskStateName::TimedOut => "timed_out",
            TaskStateName::Unknown => "unknown",
        }
    }

    /// Has not run yet, or is to run again.
    pub fn is_waiting(self) -> bool {
        matches!(self, TaskStateName::Held | TaskStateName::Blocked | TaskStateName::Queued)
    }

    pub fn is_over(self) -> bool {
        matches!(
            self,
            TaskStateName::Succeeded
                | TaskStateName::Failed
                | TaskStateName::Cancelled
                | TaskStateName::TimedOut
        )
    }
}

impl RunStateName {
    pub fn as_str(self) -> &'static str {
        match self {
            RunStateName::Starting => "starting",
            RunStateName::Running => "running",
            RunStateName::Paused => "paused",
            RunStateName::Stopping => "stopping",
            RunStateName::Lost => "lost",
            RunStateName::Ended => "ended",
            RunStateName::Unknown => "unknown",
        }
    }
}

impl PartStateName {
    pub fn as_str(self) -> &'static str {
        match self {
            PartStateName::Starting => "starting",
            PartStateName::Running => "running",
            PartStateName::Lost => "lost",
            PartStateName::Ended => "ended",
            PartStateName::Unknown => "unknown",
        }
    }
}

impl NodeStateName {
    pub fn as_str(self) -> &'static str {
        match self {
            NodeStateName::Ready => "ready",
            NodeStateName::Draining => "draining",
            NodeStateName::Unverified => "unverified",
            NodeStateName::Unfit => "unfit",
            NodeStateName::Down => "down",
            NodeStateName::Unknown => "unknown",
        }
    }
}

impl GpuStateName {
    pub const ALL: [GpuStateName; 9] = [
        GpuStateName::Conflict,
        GpuStateName::Dirty,
        GpuStateName::Disabled,
        GpuStateName::Foreign,
        GpuStateName::Free,
        GpuStateName::Held,
        GpuStateName::Quarantined,
        GpuStateName::Shared,
        GpuStateName::Unknown,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            GpuStateName::Conflict => "conflict",
            GpuStateName::Dirty => "dirty",
            GpuStateName::Disabled => "disabled",
            GpuStateName::Foreign => "foreign",
            GpuStateName::Free => "free",
            GpuStateName::Held => "held",
            GpuStateName::Quarantined => "quarantined",
            GpuStateName::Shared => "shared",
            GpuStateName::Unknown => "unknown",
        }
    }
}

/// How many GPUs are in each state.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct GpuCounts(#[serde(deserialize_with = "summed")] BTreeMap<GpuStateName, usize>);

impl GpuCounts {
    pub fn add(&mut self, state: GpuStateName, count: usize) {
        *self.0.entry(state).or_default() += count;
    }

    pub fn of(&self, state: GpuStateName) -> usize {
        self.0.get(&state).copied().unwrap_or(0)
    }

    /// In any of these states.
    pub fn of_any(&self, states: &[GpuStateName]) -> usize {
        states.iter().map(|state| self.of(*state)).sum()
    }

    pub fn total(&self) -> usize {
        self.0.values().sum()
    }
}

impl FromIterator<GpuStateName> for GpuCounts {
    fn from_iter<I: IntoIterator<Item = GpuStateName>>(states: I) -> GpuCounts {
        let mut counts = GpuCounts::default();
        states.into_iter().for_each(|state| counts.add(state, 1));
        counts
    }
}

/// How many GPUs are in each state, and `total`, which is their sum.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GpuTotals(pub GpuCounts);

const TOTAL: &str = "total";

impl Serialize for GpuTotals {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let GpuTotals(counts) = self;
        let states = counts.0.iter().map(|(state, count)| (state.as_str(), *count));
        let entries: BTreeMap<&str, usize> = states.chain([(TOTAL, counts.total())]).collect();
        let mut map = serializer.serialize_map(Some(entries.len()))?;
        for (name, count) in entries {
            map.serialize_entry(name, &count)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for GpuTotals {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<GpuTotals, D::Error> {
        summed(deserializer).map(|counts| GpuTotals(GpuCounts(counts)))
    }
}

impl JsonSchema for GpuTotals {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "GpuTotals".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        BTreeMap::<String, usize>::json_schema(generator)
    }
}

/// States that this version does not know are counted together. The total is not read.
fn summed<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<GpuStateName, usize>, D::Error> {
    struct Counted;
    impl<'de> Visitor<'de> for Counted {
        type Value = BTreeMap<GpuStateName, usize>;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("numbers of GPUs by state")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
            let mut counts = BTreeMap::new();
            while let Some((name, count)) = entries.next_entry::<Cow<'de, str>, usize>()? {
                if name != TOTAL {
                    let known = GpuStateName::ALL.into_iter().find(|it| it.as_str() == name);
                    *counts.entry(known.unwrap_or(GpuStateName::Unknown)).or_default() += count;
                }
            }
            Ok(counts)
        }
    }
    deserializer.deserialize_map(Counted)
}
