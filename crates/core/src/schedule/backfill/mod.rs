//! The backfill rules: what may start before the first task of the queue.

pub(crate) mod easy;
pub(crate) mod none;
pub(crate) mod skip;
