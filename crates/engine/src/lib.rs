//! The engine: takes messages in batches, decides them with the core, commits, replies, carries out effects, and recovers.
//!
//! It does no I/O, reads no clock and has no thread. The server drives it with a database and real machines, the chaos
//! simulator with fake ones: what is simulated is what runs.
//!
//! Start with [`Engine`]; [`Outside`] is all that it needs.

mod batch;
mod engine;
mod outside;
mod panics;
mod pending;
mod recall;
mod trouble;

pub use batch::{Batch, Extras};
pub use engine::{Engine, Life, Message};
pub use outside::{Answer, Clock, Fleet, Notice, Outside, People, Store, Watch};
pub use panics::{Panic, guarded};
