//! What Danlu knows things as: tasks, runs, nodes, GPUs, users, and the values they are made of. Data without decisions.

pub mod failure;
pub mod gpu;
pub mod ids;
pub mod limits;
pub mod node;
pub mod number;
pub mod resources;
pub mod run;
pub mod settings;
pub mod task;
pub mod time;
pub mod trouble;
pub mod user;
