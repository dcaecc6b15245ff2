//! Whatever a user's paths lead to, a task can be cancelled, its time limit holds, and its GPUs come free.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use crate::support::daemon::{Daemon, Setup, until};
use crate::support::danlu;
use crate::support::dead_fs::DeadFs;
use crate::support::os_user::{Guest, open_to_all};
use nix::{sys::stat::Mode, unistd::mkfifo};

struct Lab {
    daemon: Daemon,
    danlu: PathBuf,
    owner: Guest,
    home: PathBuf,
}

impl Lab {
    fn new() -> Option<Lab> {
        let owner = Guest::new()?;
        let daemon = Daemon::start_with(Setup::simulated(2));
        let danlu = open_to_all(daemon.directory());
        let home = owner.directory(daemon.directory().join("home"));
        Some(Lab { daemon, danlu, owner, home })
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
    let Some(lab) = Lab::new() else { return };
    let conda = lab.owner.directory(lab.home.join(".conda"));
    let mode = Mode::from_bits_truncate(0o666);
    mkfifo(&conda.join("environments.txt"), mode).expect("it can be made");
    let id = lab.submit(&["--conda", "y", "-t", "1m"]);
    let begun = Instant::now();
    assert_eq!(lab.daemon.ask(&["wait", &id]).status, 1);
    assert!(begun.elapsed() < Duration::from_secs(20));
    assert_eq!(lab.daemon.show(&id)["failure"]["class"], "env_missing");
    lab.gpus_are_free();
}

/// Root may look at what the user may not: so it is the user that looks.
#[test]
fn environments_are_looked_for_with_the_rights_of_the_user() {
    let Some(lab) = Lab::new() else { return };
    let Some(other) = Guest::new() else { return };
    let closed = other.directory(lab.daemon.directory().join("closed"));
    let [there, missing] = ["there", "missing"].map(|name| closed.join(name));
    std::fs::create_dir_all(there.join("bin")).expect("it can be made");
    // Both alike: whether it is there is nothing that this user could know.
    let classes = [there, missing].map(|venv| {
        let id = lab.submit(&["--venv", text(&venv)]);
        (lab.daemon.ask(&["wait", &id]).status, lab.daemon.show(&id)["failure"]["class"].clone())
    });
    assert_eq!(classes[0], classes[1]);
}

#[test]
fn an_environment_on_a_dead_file_system_keeps_nobody_from_cancelling() {
    let Some(lab) = Lab::new() else { return };
    let Some(dead) = DeadFs::mount(lab.daemon.directory().join("dead")) else { return };
    let id = lab.submit(&["--venv", &dead.text("venv")]);
    // Its owner is told what it waits for.
    until("the log says what it waits for", || lab.log(&id).contains("virtual environment"));
    let said = lab.owner.ask(&lab.danlu, lab.daemon.socket(), &["cancel", &id]);
    assert_eq!(said.status, 0, "{said:?}");
    lab.daemon.wait_until(&id, "cancelled");
    lab.gpus_are_free();

    let id = lab.submit(&["--conda", &dead.text("conda"), "-t", "2s"]);
    lab.daemon.wait_until(&id, "timed_out");
    lab.gpus_are_free();
}
