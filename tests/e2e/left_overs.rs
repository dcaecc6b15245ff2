//! Run directories, spare directories, shims and control groups do not outnumber what runs, whatever was killed.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::support::daemon::{Daemon, Setup, processes, until};
use crate::support::seeded_random::SeededRandom;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

const GPUS: usize = 8;
/// Kept for runs that come next: directories, and shims with their launcher.
const MOST_SPARE: usize = 64;
const MOST_IDLE: usize = 12;

fn entries(path: &Path) -> usize {
    fs::read_dir(path).map_or(0, Iterator::count)
}

/// Where the runs of this machine have their groups, if they have any.
fn home_of_groups() -> Option<PathBuf> {
    let homes = ["/sys/fs/cgroup/danlu", "/sys/fs/cgroup/unified/danlu"];
    homes.map(PathBuf::from).into_iter().find(|home| home.join("shims").is_dir())
}

/// What the names of groups of one data directory begin with.
fn tag(daemon: &Daemon) -> String {
    let root = daemon.data().join("node").canonicalize().expect("it is there");
    let hash =
        root.as_os_str().as_encoded_bytes().iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
    format!("{hash:016x}-")
}

fn groups(tag: &str) -> Vec<String> {
    let entries = home_of_groups().and_then(|home| fs::read_dir(home).ok()).into_iter().flatten();
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| name.starts_with(tag)).collect()
}

#[test]
fn nothing_is_left_of_hundreds_of_tasks_whatever_was_killed() {
    let mut daemon = Daemon::start_with(Setup::simulated(GPUS));
    let mut random = SeededRandom::new();
    daemon.say(&["set", "stop_grace", "200ms"]);
    daemon.say(&["set", "max_losses", "100"]);
    let (node, tag) = (daemon.data().join("node"), tag(&daemon));
    let word = node.display().to_string();
    let first = daemon.say(&["submit", "-q", "-g", "1", "-a", "1-400", "--", "sleep", "0.03"]);
    let long = daemon.say(&["submit", "-q", "-g", "1", "-a", "1-8", "--", "sleep", "1000"]);
    let long: u32 = long.trim().parse().expect("an id");
    for round in 0..12 {
        // Some more have ended each time, in any way.
        let next = first.trim().parse::<u32>().expect("an id") + (round + 1) * 20;
        daemon.ask(&["wait", &next.to_string()]);
        for _ in 0..3 {
            if let Some(one) = random.one_of(&processes::with(&word)) {
                let _ = kill(Pid::from_raw(one.pid), Signal::SIGKILL);
            }
        }
        assert!(entries(&node.join("runs")) <= GPUS + MOST_SPARE);
        match round {
            3 => daemon.crash_and_restart(),
            7 => {
                daemon.terminate();
                daemon.start_again();
            }
            _ => {}
        }
    }
    daemon.say(&["cancel", "--yes", &format!("{long}-{}", long + 7)]);
    daemon.ask(&["wait", "--all"]);

    until("all run directories are gone", || entries(&node.join("runs")) == 0);
    assert!(entries(&node.join("spare")) <= MOST_SPARE);
    until("only a launcher and idle shims are left", || processes::with(&word).len() <= MOST_IDLE);
    // A shim that is killed in the moment in which it has a group and no record of it leaves one; so does this.
    if let Some(home) = home_of_groups() {
        fs::create_dir(home.join(format!("{tag}1-999999"))).expect("it can be made");
    }
    daemon.crash_and_restart();
    until("no control group is left", || groups(&tag).is_empty());
    assert_eq!(entries(&node.join("spare")), 0);
    until("run directories stay away", || entries(&node.join("runs")) == 0);
}
