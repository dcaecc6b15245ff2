//! The values that everything else is about: tasks, runs, nodes, GPUs, users, settings. Data without decisions.

pub mod failure;
pub mod gpu;
pub mod idle;
pub mod ids;
pub mod limits;
pub mod node;
pub mod notify_rule;
pub mod number;
pub mod past_work;
pub mod resources;
pub mod run;
pub mod settings;
pub mod shared;
pub mod task;
mod task_row;
pub mod time;
pub mod trail;
pub mod trouble;
pub mod user;
