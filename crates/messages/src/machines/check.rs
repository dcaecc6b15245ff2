//! What `danlu node check` has found at each step.

use super::MachineProblem;
use super::words as msg;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckOutcome {
    /// It is the server's own machine: there is no connection.
    Server,
    Reached {
        route: String,
    },
    HasProgram,
    AgentRuns,
    Speaks {
        version: String,
    },
    Login {
        login: String,
        is_root: bool,
    },
    Clock {
        off_ms: u64,
    },
    Disk {
        free_gb: u64,
        directory: String,
        file_system: String,
    },
    /// Named as it names itself.
    Driver {
        version: String,
    },
    NoDriver,
    Gpus {
        probe: String,
    },
    SameMachine {
        others: Vec<String>,
    },
    Failed(MachineProblem),
}

impl CheckOutcome {
    pub fn message(&self) -> String {
        use CheckOutcome::*;
        match self {
            Server => msg::server_machine().to_owned(),
            Reached { route } => msg::reached(route),
            HasProgram => msg::has_program().to_owned(),
            AgentRuns => msg::agent_runs().to_owned(),
            Speaks { version } => msg::speaks(version),
            Login { login, is_root: true } => msg::login_of_root(login),
            Login { login, is_root: false } => msg::login_of_one(login),
            Clock { off_ms } => msg::clock_off(off_ms),
            Disk { free_gb, directory, file_system } => {
                msg::disk_free(free_gb, directory, file_system)
            }
            Driver { version } => version.clone(),
            NoDriver => msg::no_driver().to_owned(),
            Gpus { probe } => msg::gpu_probe(probe),
            SameMachine { others } => msg::same_machine(&others.join(", ")),
            Failed(problem) => problem.message(),
        }
    }

    /// What to do if the step has failed.
    pub fn hint(&self) -> String {
        use CheckOutcome::*;
        match self {
            Clock { .. } => msg::use_ntp().to_owned(),
            Disk { .. } => msg::make_room().to_owned(),
            Failed(problem) => problem.hint(),
            Server
            | Reached { .. }
            | HasProgram
            | AgentRuns
            | Speaks { .. }
            | Login { .. }
            | Driver { .. }
            | NoDriver
            | Gpus { .. }
            | SameMachine { .. } => String::new(),
        }
    }
}
