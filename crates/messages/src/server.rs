//! Sentences of the server.

pub mod daemon;
pub mod gpuman;
pub mod metrics;
