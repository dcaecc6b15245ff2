//! The bodies of `/api/v1`: what the server answers and what clients send.
//!
//! Times are RFC 3339, lengths of time seconds, sizes bytes. Every document has `"v": 1`; fields may be
//! added, none changes or goes away within a version.

mod accounts;
mod acts;
mod cluster;
mod errors;
mod newer;
mod notices;
mod notify;
mod reports;
mod states;
mod submit;
mod tasks;
mod usage;
mod users;

pub use accounts::*;
pub use acts::*;
pub use cluster::*;
pub use errors::*;
pub use newer::*;
pub use notices::*;
pub use notify::*;
pub use reports::*;
pub use states::*;
pub use submit::*;
pub use tasks::*;
pub use usage::*;
pub use users::*;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub const VERSION: u32 = 1;

/// The socket and the TCP listener refuse larger bodies.
pub const MOST_BODY_BYTES: usize = 8 << 20;
/// Rows of a list in one answer, unless less is asked for.
pub const MOST_ROWS: usize = 1_000;

/// Instead of a user's name: who asks.
pub const ME: &str = "@me";

/// A document with its version.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "{T}Document")]
pub struct Document<T> {
    pub v: u32,
    #[serde(flatten)]
    pub content: T,
}

impl<T> Document<T> {
    pub fn new(content: T) -> Document<T> {
        Document { v: VERSION, content }
    }
}
