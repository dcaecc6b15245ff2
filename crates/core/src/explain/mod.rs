//! Read-only questions about the state: why a task waits, when it may start, why a run failed.

pub mod accuracy;
mod candidates;
pub mod constraint;
pub mod diagnosis;
pub mod forecast;
mod lift;
pub mod wait_reason;
pub mod why;

pub use wait_reason::{SharedGpu, WaitReason, explain};
