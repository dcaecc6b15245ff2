//! Why a command could not be started: a sentence, and a class for programs.

use crate::activation::Missing;
use crate::shim::identity::NoIdentity;
use crate::shim::launch_progress::Problem;
use crate::trouble;
use danlu_core::task::PythonEnvironment;
use danlu_core::{Trouble, TroubleKind};
use danlu_wire::launch::{Command, ErrorSink, LaunchOrder, Sink};
use danlu_wire::rundir::{LaunchFailure, LaunchStage};
use nix::errno::Errno;
use std::io;

#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) message: String,
    pub(crate) failure: LaunchFailure,
    /// It is the machine's, not the task's.
    pub(crate) trouble: Option<TroubleKind>,
}

impl Refusal {
    pub(crate) fn run_directory(action: &str, error: &io::Error) -> Refusal {
        let errno = error.raw_os_error().unwrap_or(0);
        Refusal::new(LaunchStage::RunDirectory, errno, format!("could not {action}: {error}"))
    }

    pub(crate) fn process(error: &io::Error) -> Refusal {
        let errno = error.raw_os_error().unwrap_or(0);
        Refusal::new(LaunchStage::Process, errno, format!("could not make a process: {error}"))
    }

    /// The launcher is gone and cannot be restarted.
    pub(crate) fn launcher(error: &io::Error) -> Refusal {
        let refusal = Refusal::process(error);
        Refusal { trouble: refusal.trouble.or(Some(TroubleKind::Launcher)), ..refusal }
    }

    /// Before it wrote its state: nothing ran.
    pub(crate) fn shim_killed() -> Refusal {
        let refusal = Refusal::process(&io::Error::other("the shim was killed"));
        Refusal { trouble: Some(TroubleKind::Other), ..refusal }
    }

    pub(crate) fn order(message: &str) -> Refusal {
        Refusal::new(LaunchStage::Command, 0, message.to_owned())
    }

    pub(crate) fn identity(problem: &NoIdentity) -> Refusal {
        let message = match problem {
            NoIdentity::NoProcess { errno } => {
                return Refusal::process(&io::Error::from_raw_os_error(*errno));
            }
            NoIdentity::Unknown { name } => format!("there is no user `{name}` on this machine"),
            NoIdentity::NotRoot { name } => {
                format!("cannot run as `{name}`: the agent does not run as root")
            }
            NoIdentity::NotAsked { name, error } => {
                format!("could not look up the user `{name}`: {error}")
            }
        };
        Refusal::new(LaunchStage::User, 0, message)
    }

    /// The problem that the child reported.
    pub(super) fn child(order: &LaunchOrder, problem: &Problem) -> Refusal {
        let (stage, error) = match problem {
            Problem::Met(obstacle) => *obstacle,
            Problem::Missing(Missing(words)) => {
                return Refusal::new(LaunchStage::Environment, 0, words.clone());
            }
        };
        let what = action(order, stage);
        let message = match stage {
            LaunchStage::Command if error == Errno::ENOENT => {
                format!("command not found: `{}`", program(&order.command))
            }
            LaunchStage::Interpreter => {
                format!("could not {what}: the program that its first line names is missing")
            }
            LaunchStage::Environment if error == Errno::ETIMEDOUT => {
                format!("could not {what}: a file system that it may be on does not answer")
            }
            LaunchStage::Process
            | LaunchStage::RunDirectory
            | LaunchStage::User
            | LaunchStage::Cgroup
            | LaunchStage::Directory
            | LaunchStage::Stdout
            | LaunchStage::Stderr
            | LaunchStage::Command
            | LaunchStage::Environment => format!("could not {what}: {}", error.desc()),
        };
        Refusal::new(stage, error as i32, message)
    }

    /// For the owner of a command that has not begun after a while.
    pub(super) fn waits(order: &LaunchOrder, stage: LaunchStage) -> String {
        let what = action(order, stage);
        format!(
            "the command has not begun: it waits to {what}, and the file system does not answer"
        )
    }

    pub(crate) fn into_trouble(self) -> Trouble {
        Trouble::new(self.trouble.unwrap_or(TroubleKind::Other), &self.message)
    }

    fn new(stage: LaunchStage, errno: i32, message: String) -> Refusal {
        let failure = LaunchFailure { stage, errno };
        let trouble = trouble::kind(&failure);
        Refusal { message, failure, trouble }
    }
}

fn action(order: &LaunchOrder, stage: LaunchStage) -> String {
    let user = order.user.as_deref().unwrap_or("its user");
    match stage {
        LaunchStage::RunDirectory => "use the run directory".to_owned(),
        LaunchStage::User => format!("become `{user}`"),
        LaunchStage::Environment => match &order.python {
            Some(PythonEnvironment::Conda(name)) => format!("find the conda environment `{name}`"),
            Some(PythonEnvironment::Venv(path)) => {
                format!("find the virtual environment `{path}`")
            }
            None => "enter the environment".to_owned(),
        },
        LaunchStage::Cgroup => "enter the control group".to_owned(),
        LaunchStage::Process => "prepare the process".to_owned(),
        LaunchStage::Directory => format!("enter the directory `{}`", order.directory),
        LaunchStage::Stdout => format!("open the output {}", path(&order.output.stdout)),
        LaunchStage::Stderr => match &order.output.stderr {
            ErrorSink::Own(sink) => format!("open the error output {}", path(sink)),
            ErrorSink::WithStdout => "open the error output".to_owned(),
        },
        LaunchStage::Command | LaunchStage::Interpreter => {
            format!("start `{}`", program(&order.command))
        }
    }
}

fn program(command: &Command) -> &str {
    match command {
        Command::Argv(argv) => argv.first().map_or("", String::as_str),
        Command::Shell { shell, .. } => shell,
    }
}

fn path(sink: &Sink) -> String {
    match sink {
        Sink::Log => "log".to_owned(),
        Sink::File { path, .. } => format!("`{path}`"),
        Sink::Discard => "`/dev/null`".to_owned(),
    }
}
