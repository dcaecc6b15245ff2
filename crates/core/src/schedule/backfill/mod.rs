//! The backfill rules: which tasks may start before the head of the queue.

pub(crate) mod easy;
pub(crate) mod none;
pub(crate) mod skip;
