//! The part of Danlu that decides: pure types and transitions, no I/O, no clock.
//!
//! Start with [`step()`]: every change of [`State`] is one call of it.
//!
//! * [`model`]: the values: tasks, runs, nodes, GPUs, users, settings
//! * [`state`]: all rows and the indexes derived from them
//! * [`mod@step`]: inputs, events, effects, refusals, and one function for each input
//! * [`schedule`]: what starts next: queue, quotas, orders, backfill rules, placement
//! * [`mod@explain`]: read-only questions: why, forecast, diagnosis

pub mod explain;
mod fault_injection;
pub mod model;
pub mod schedule;
pub mod state;
pub mod step;

pub use explain::accuracy::{Accuracy, StartPrediction};
pub use explain::diagnosis;
pub use explain::forecast::{Forecast, dry_run, expected_start};
pub use explain::{WaitReason, explain};
#[cfg(feature = "mutants")]
pub use fault_injection::with_mutant;
#[doc(hidden)]
pub use fault_injection::{Mutant, mutated};
pub use model::failure::{Failure, FailureClass};
pub use model::ids::{Epoch, GpuId, NodeId, RunId, SessionId, SpecId, TaskId, UserId};
pub use model::node::Node;
pub use model::number::fraction::Fraction;
pub use model::number::thousandths::Thousandths;
pub use model::past_work::PastWork;
pub use model::resources::Request;
pub use model::run::Run;
pub use model::settings::Settings;
pub use model::task::Task;
pub use model::time::{Span, Time};
pub use model::trouble::{Trouble, TroubleKind};
pub use model::user::User;
pub use model::{
    failure, gpu, idle, ids, limits, node, notify_rule, resources, run, settings, task, time,
    trail, trouble, user,
};
pub use schedule::memory_estimate::learnt_gpu_memory;
pub use schedule::{plan, quota, view};
pub use state::State;
pub use state::rows::{self, Row, RowKey};
pub use step::effect::{self, Effect};
pub use step::event::{self, Event};
pub use step::feasibility::nearest as nearest_name;
pub use step::input::{self, Actor, Input, NodeMessage};
pub use step::refusal::{self, Refusal};
pub use step::retire::Missing;
pub use step::{Reply, Step, check_description, step};
