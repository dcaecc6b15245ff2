//! Whatever a user's paths lead to: the task can be cancelled, its time limit holds, and its GPUs become free.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use crate::support::daemon::{Daemon, Setup, until};
use crate::support::danlu;
use crate::support::dead_fs::DeadFs;
use crate::support::os_user::{OsUser, open_to_all};
use nix::{sys::stat::Mode, unistd::mkfifo};

struct LaunchMachine {
    daemon: Daemon,
    danlu: PathBuf,
    owner: OsUser,
    home: PathBuf,
}

impl LaunchMachine {
    fn new() -> Option<LaunchMachine> {
        let owner = OsUser::new()?;
        let daemon = Daemon::start_with(Setup::simulated(2));
        let danlu = open_to_all(daemon.directory());
        let home = owner.directory(daemon.directory().join("home"));
        Some(LaunchMachine { daemon, danlu, owner, home })
    }

    /// The id of a task of the user's that wants all GPUs.
    #[track_caller]
    fn submit(&self, options: &[&str]) -> String {
        let mut submit = self.owner.command(&self.danlu);
        submit.env("DANLU_SERVER", self.daemon.socket()).env("HOME", &self.home);
        submit.args(["submit", "-q", "-g", "2"]).args(options).args(["--", "true"]);
        let said = danlu::said(&mut submit);
        assert_eq!(said.status, 0, "{said:?}");
        said.stdout.trim().to_owned()
    }

    #[track_caller]
    fn gpus_are_free(&self) {
        let next = self.daemon.submit("-g 2", "echo next");
        assert_eq!(self.daemon.ask(&["wait", &next]).status, 0);
    }

    fn log(&self, id: &str) -> String {
        self.owner.ask(&self.danlu, self.daemon.socket(), &["logs", id]).stdout
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("it is UTF-8")
}

#[test]
fn a_pipe_in_the_place_of_condas_list_is_not_waited_for() {
    let Some(machine) = LaunchMachine::new() else { return };
    let conda = machine.owner.directory(machine.home.join(".conda"));
    let mode = Mode::from_bits_truncate(0o666);
    mkfifo(&conda.join("environments.txt"), mode).expect("it can be made");
    let id = machine.submit(&["--conda", "y", "-t", "1m"]);
    let begun = Instant::now();
    assert_eq!(machine.daemon.ask(&["wait", &id]).status, 1);
    assert!(begun.elapsed() < Duration::from_secs(20));
    assert_eq!(machine.daemon.show(&id)["failure"]["class"], "env_missing");
    machine.gpus_are_free();
}

/// Root may look at what the user may not: so it is the user that looks.
#[test]
fn environments_are_looked_for_with_the_rights_of_the_user() {
    let Some(machine) = LaunchMachine::new() else { return };
    let Some(other) = OsUser::new() else { return };
    let closed = other.directory(machine.daemon.directory().join("closed"));
    let [there, missing] = ["there", "missing"].map(|name| closed.join(name));
    std::fs::create_dir_all(there.join("bin")).expect("it can be made");
    // Both alike: whether it is there is nothing that this user could know.
    let classes = [there, missing].map(|venv| {
        let id = machine.submit(&["--venv", text(&venv)]);
        (
            machine.daemon.ask(&["wait", &id]).status,
            machine.daemon.show(&id)["failure"]["class"].clone(),
        )
    });
    assert_eq!(classes[0], classes[1]);
}

#[test]
fn an_environment_on_a_dead_file_system_keeps_nobody_from_cancelling() {
    let Some(machine) = LaunchMachine::new() else { return };
    let Some(dead) = DeadFs::mount(machine.daemon.directory().join("dead")) else { return };
    let id = machine.submit(&["--venv", &dead.text("venv")]);
    // Its owner is told what it waits for.
    until("the log says what it waits for", || machine.log(&id).contains("virtual environment"));
    let said = machine.owner.ask(&machine.danlu, machine.daemon.socket(), &["cancel", &id]);
    assert_eq!(said.status, 0, "{said:?}");
    machine.daemon.wait_until(&id, "cancelled");
    machine.gpus_are_free();

    let id = machine.submit(&["--conda", &dead.text("conda"), "-t", "2s"]);
    machine.daemon.wait_until(&id, "timed_out");
    machine.gpus_are_free();
}
