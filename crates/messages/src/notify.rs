//! Messages that people are sent, and what is said about channels.

pub mod channels;
pub mod config;
pub mod letters;
