//! Slurm's dialect: command lines become patches and queries, tasks become what Slurm's commands print. Pure: whoever calls
//! it has read the files, asked the server and looked at the clock.

pub mod batch;
pub mod columns;
pub mod environment;
pub mod formats;
pub mod getopt;
pub mod hostlist;
pub mod job;
pub mod job_id;
mod job_values;
pub mod json;
pub mod options;
pub mod pattern;
pub mod queries;
pub mod reason;
pub mod scontrol;
pub mod sinfo;
pub mod state;
pub mod step;
pub mod support_table;
pub mod times;

pub use options::Program;
