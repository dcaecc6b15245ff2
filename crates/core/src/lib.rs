//! The part of Danlu that decides: pure types and transitions, no I/O, no clock.
//!
//! Start with [`step()`]: every change of [`State`] is one call of it.

mod account;
pub mod accuracy;
mod batches;
mod check;
mod claims;
pub mod diagnosis;
pub mod effect;
pub mod event;
pub mod explain;
pub mod failure;
mod fair_turns;
pub mod forecast;
mod fraction;
pub mod gpu;
mod history;
pub mod ids;
mod index;
pub mod input;
mod learnt;
pub mod limits;
mod logarithm;
mod mix;
mod mutant;
pub mod node;
pub mod plan;
pub mod policy;
pub mod pool;
pub mod queue;
pub mod quota;
pub mod refusal;
pub mod resources;
pub mod rows;
pub mod run;
pub mod settings;
mod shares;
pub mod state;
pub mod step;
mod steps;
pub mod task;
pub mod thousandths;
pub mod time;
pub mod trouble;
mod turns;
pub mod usage;
pub mod user;
pub mod view;

pub use accuracy::{Accuracy, StartPrediction};
pub use effect::Effect;
pub use event::Event;
pub use explain::{WaitReason, explain};
pub use failure::{Failure, FailureClass};
pub use forecast::{Forecast, dry_run, expected_start};
pub use fraction::Fraction;
pub use ids::{Epoch, GpuId, NodeId, RunId, SessionId, SpecId, TaskId, UserId};
pub use input::{Actor, Input, NodeMessage};
pub use learnt::learnt_gpu_memory;
#[cfg(feature = "mutants")]
pub use mutant::with_mutant;
#[doc(hidden)]
pub use mutant::{Mutant, mutated};
pub use node::Node;
pub use refusal::Refusal;
pub use resources::Request;
pub use rows::{Row, RowKey};
pub use run::Run;
pub use settings::Settings;
pub use state::State;
pub use step::{Reply, Step, step};
pub use task::Task;
pub use thousandths::Thousandths;
pub use time::{Span, Time};
pub use trouble::{Trouble, TroubleKind};
pub use user::User;
