//! Sentences of the server.

pub mod daemon;
pub mod gpuman;
