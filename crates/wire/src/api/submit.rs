//! Arrays of tasks, and answers to a submit.

use danlu_core::task::Axis;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Array {
    /// Left out with a `grid`: one for each combination.
    #[serde(default)]
    pub indices: Vec<u32>,
    pub at_once: Option<u32>,
    /// A sweep over all combinations of these values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "grid")]
    pub grid: Vec<Axis>,
}

fn grid(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": {
        "type": "object",
        "properties": {
            "name": { "type": "string" },
            "values": { "type": "array", "items": { "type": "string" } },
        },
        "required": ["name", "values"],
    } })
}

/// The answer to `POST /tasks`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Submitted {
    /// The first one's of an array.
    pub id: u64,
    /// How many tasks there are; their ids follow each other.
    pub count: u64,
    /// The file system of its directory or of an output did not answer in time, so that they were not checked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub paths_unanswered: bool,
}

/// The answer to `POST /tasks` with `dry_run`: nothing was queued.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DryRun {
    pub dry_run: WouldStart,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct WouldStart {
    /// At once.
    pub now: bool,
    /// At the latest, as far as time limits tell; `None` if unknown.
    pub expected_start_at: Option<String>,
    /// Where, if at once.
    pub node: Option<String>,
    pub gpu_ids: Vec<u32>,
    /// The most bytes of a GPU that this command was seen to use, if it has run before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub learnt_gpu_memory: Option<u64>,
}
