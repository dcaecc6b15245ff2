//! Trace evaluation: what the production scheduler would have done with recorded jobs.
//!
//! [`read_trace`] reads a file, [`evaluate()`] replays it once for each policy, and
//! [`report`] shows the [`Evaluation`]s to programs.

pub mod cluster;
pub mod evaluate;
pub mod lab_week;
pub mod metrics;
pub mod per_job;
pub mod plot;
pub mod policy_list;
pub mod problem;
pub mod read;
pub mod replay;
pub mod report;
mod value;

pub use cluster::{Cluster, ClusterError, Sizes};
pub use evaluate::{Evaluation, Progress, evaluate};
pub use metrics::Metrics;
pub use policy_list::{Estimates, Policy, PolicyError};
pub use problem::{RowProblem, TraceError, Wrong};
pub use read::{Job, Trace, read_trace};
pub use replay::{JobResult, ReplayError, replay};
