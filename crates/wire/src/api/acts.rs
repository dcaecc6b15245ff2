//! Actions on existing tasks.

use super::ErrorBody;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `POST /tasks/act`: the same for many tasks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Act {
    pub act: ActName,
    pub ids: Vec<u64>,
    /// For `move`.
    #[serde(default)]
    pub position: usize,
    /// For `extend` and `keep`: seconds.
    #[serde(default)]
    pub more: u64,
    /// For `cancel` and `remove`: also cancel all that wait for them.
    #[serde(default)]
    pub cascade: bool,
}

/// `GET /dependents?ids=`: who waits for these tasks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Dependents {
    pub ids: Vec<u64>,
}

impl Act {
    pub fn new(act: ActName, ids: Vec<u64>) -> Act {
        Act { act, ids, position: 0, more: 0, cascade: false }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ActName {
    Cancel,
    Hold,
    Release,
    Pause,
    Resume,
    Retry,
    Start,
    Move,
    Extend,
    /// The GPUs, although they are not used.
    Keep,
    Requeue,
    Remove,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Acted {
    pub results: Vec<ActResult>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ActResult {
    pub id: u64,
    /// Left out when it was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorBody>,
    /// For `cancel`: machines that are away now. It is cancelled there when they are back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits_for: Vec<String>,
}

/// `POST /archive`: which ended tasks are written to the archive.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Archive {
    /// These; empty: all that the rest allows.
    pub ids: Vec<u64>,
    /// Whose; one's own unless told, `*` for everybody's.
    pub user: Option<String>,
    /// Ended so many seconds ago.
    pub older_than: Option<u64>,
    /// All but so many, the newest.
    pub keep: Option<usize>,
    /// So many, the oldest.
    pub first: Option<usize>,
    /// `POST /archive/lines`: only those with higher ids, for the next page.
    pub after: Option<u64>,
}

/// `POST /archive/lines`: some of them, the lowest ids first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ArchiveLines {
    /// A JSON document each.
    pub lines: Vec<String>,
    /// Where the next page begins; none after the last one.
    pub next: Option<u64>,
}

/// `POST /archive/import`: lines of an archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ArchiveImport {
    /// Which line of the file the first one is, for errors.
    #[serde(default)]
    #[schemars(range(max = 1_000_000_000_000_u64))]
    pub first_line: u64,
    #[schemars(length(max = 10_000))]
    pub lines: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Imported {
    pub imported: usize,
    /// Their ids were there already.
    pub skipped: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Archived {
    pub archived: usize,
}
