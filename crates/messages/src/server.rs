//! Sentences of the server.

pub mod daemon;
