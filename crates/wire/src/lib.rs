//! Messages and files that cross a process border: agent protocol, run directory files, bodies of the API.

pub mod agent;
pub mod api;
mod downgrade;
pub mod frame;
pub mod gpu;
pub mod launch;
pub mod placeholders;
pub mod rundir;
pub mod samples;

pub use agent::{FromAgent, Hello, StopWhy, ToAgent};
pub use launch::LaunchOrder;
pub use placeholders::Placeholders;
