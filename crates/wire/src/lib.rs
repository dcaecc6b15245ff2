//! What crosses a process border: agent messages and run directory files.

pub mod agent;
pub mod api;
mod earlier;
pub mod frame;
pub mod gpu;
pub mod launch;
pub mod rundir;
pub mod words;

pub use agent::{FromAgent, Hello, StopWhy, ToAgent};
pub use launch::LaunchOrder;
pub use words::Words;
