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
    /// For `extend`: seconds.
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

/// `POST /archive`: which ended tasks leave the lists.
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
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Archived {
    pub archived: usize,
}
