//! What runs on a GPU host: the agent, the launcher and its shims, run directories, GPU probes.
//!
//! [`dispatch`] must be the first call in `main`; [`Host`] is what a server talks to.

pub mod activation;
mod agent;
mod allocator;
mod boot;
mod cgroup;
mod classify;
mod clock;
mod exit_record;
mod filesystem;
mod fork;
pub mod gpu;
mod host;
mod launch_command;
mod launcher;
pub mod logs;
mod orphan_processes;
mod orphan_shims;
#[cfg(feature = "pam")]
pub mod pam;
pub mod private;
mod process;
mod run_of_process;
mod rundir;
mod sampler;
mod shim;
mod signals;
mod system_calls;
mod trouble;
pub mod user;
pub mod user_files;
mod vfork;

pub use agent::{Agent, AgentError, Inventory, SendError, Settings};
pub use allocator::return_freed_memory;
pub use boot::boot_id;
pub use filesystem::{Network, network};
pub use host::facts;
pub use host::{Evictions, Host, HostConfig, StdioError, serve as serve_agent};
pub use launcher::dispatch;
pub use run_of_process::run_of_process;
pub use rundir::{RootError, RunRoot};
pub use sampler::SamplingOrders;
