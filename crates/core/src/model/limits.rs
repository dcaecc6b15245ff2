//! Upper bounds. Every input from outside is checked against them.

use crate::model::time::Span;

/// GPUs on one node; the free ones are the bits of one machine word.
pub const GPUS_PER_NODE: usize = 128;
/// GPUs of a node with a rule of an administrator, absent ones included.
pub const GPU_RULES_PER_NODE: usize = 1024;
/// Runs of a lost store on one node.
pub const UNKNOWN_RUNS_PER_NODE: usize = 1024;
/// Tasks that share a GPU by its memory.
pub const TASKS_PER_GPU: u32 = 1024;
/// Tasks that share a GPU by count.
pub const SLOTS_PER_GPU: u16 = 64;
pub const GPUS_PER_TASK: u32 = 4096;
/// Nodes that one task runs on at once.
pub const NODES_PER_TASK: u32 = 1024;
/// Tasks that have not ended, over all users.
pub const OPEN_TASKS: usize = 2_000_000;
/// Of one user, where nothing else is set.
pub const OPEN_TASKS_PER_USER: usize = 100_000;
/// Of the log of one run, where nothing else is set.
pub const LOG_BYTES: u64 = 10 << 30;
/// Of the logs of all runs of one user, where nothing else is set.
pub const LOG_BYTES_PER_USER: u64 = 1 << 40;
pub const NODES: usize = 10_000;
pub const USERS: usize = 100_000;
/// Groups of users that have a weight, and projects that have a quota.
pub const GROUPS: usize = 1_000;
pub const DEPENDENCIES_PER_TASK: usize = 1_000;
pub const COMMAND_BYTES: usize = 128 * 1024;
pub const NAME_BYTES: usize = 256;
pub const DESCRIPTION_BYTES: usize = 4 * 1024;
/// A user's template for new tasks.
pub const TEMPLATE_BYTES: usize = 64 * 1024;
/// Ended tasks that stay in memory.
pub const RECENT_TASKS: usize = 1_000_000;
/// Of a node or a task.
pub const LABELS: usize = 64;
/// Of a task: who is told of it.
pub const NOTIFY_RULES: usize = 8;
pub const TASKS_PER_ARRAY: usize = 100_000;
/// Custom resources of a node or a task.
pub const RESOURCES: usize = 32;
/// Names in a sweep.
pub const AXES: usize = 16;
/// Of a file or a directory.
pub const PATH_BYTES: usize = 4 * 1024;
/// A longer time limit is none.
pub const LONGEST: Span = Span::from_secs(10 * 366 * 86_400);
/// Between the signals TERM and KILL to a foreign process.
pub const LONGEST_GRACE: Span = Span::from_secs(3_600);
pub const RETRIES: u32 = 1_000;
