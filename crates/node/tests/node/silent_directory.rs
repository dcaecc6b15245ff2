//! A directory on a file server that does not respond delays the command, but its shim still obeys.

use crate::world::{DEADLINE, World, is_root};
use danlu_core::run::Exit;
use danlu_core::task::PythonEnvironment;
use danlu_core::{RunId, Span};
use danlu_wire::LaunchOrder;
use danlu_wire::launch::Command;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use serde_json::json;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::fd::AsRawFd as _;
use std::time::Instant;

/// A file system whose server never says a word.
struct Silent {
    path: String,
    server: Option<File>,
}

impl Silent {
    /// `None`, and it says so, where none can be mounted.
    fn mount(path: String) -> Option<Silent> {
        let server = File::options().read(true).write(true).open("/dev/fuse");
        let Some(server) = server.ok().filter(|_| is_root()) else {
            println!("skipped: no FUSE here, or not root");
            return None;
        };
        fs::create_dir(&path).unwrap();
        let options = format!("fd={},rootmode=40000,user_id=0,group_id=0", server.as_raw_fd());
        let (from, kind) = (Some("silent"), Some("fuse"));
        mount(from, path.as_str(), kind, MsFlags::MS_NODEV, Some(options.as_str())).unwrap();
        Some(Silent { path, server: Some(server) })
    }
}

impl Drop for Silent {
    fn drop(&mut self) {
        // Whoever still waits is told that there is no server.
        drop(self.server.take());
        let _ = umount2(self.path.as_str(), MntFlags::MNT_DETACH);
    }
}

pub(crate) fn stop_is_heard() {
    check_stop(|order, silent| order.directory = silent.to_owned());
}

pub(crate) fn stop_is_heard_while_output_is_opened() {
    check_stop(|order, silent| {
        let file = json!({"file": {"path": format!("{silent}/output"), "append": true}});
        order.output.stdout = serde_json::from_value(file).unwrap();
    });
}

pub(crate) fn stop_is_heard_while_an_environment_is_looked_for() {
    check_stop(|order, silent| {
        order.python = Some(PythonEnvironment::Venv(format!("{silent}/venv")));
    });
    check_stop(|order, silent| {
        order.environment.0.push(format!("HOME={silent}"));
        order.python = Some(PythonEnvironment::Conda("any".to_owned()));
    });
}

pub(crate) fn stop_is_heard_while_the_program_is_looked_for() {
    check_stop(|order, silent| order.command = Command::Argv(vec![format!("{silent}/program")]));
}

fn check_stop(put: impl Fn(&mut LaunchOrder, &str)) {
    let mut world = World::new();
    let Some(silent) = Silent::mount(world.path("silent")) else { return };
    let mut order = world.shell("echo never");
    put(&mut order, &silent.path);
    let run = world.launch(&order);
    see_leaders(&world, run, 1);
    world.stop(run, Span(100));
    let ending = world.ended(run);
    // Only the last step, to the program, can be asked to end.
    assert!(matches!(ending.exit, Exit::Signal(9 | 15)) && ending.stopped, "{ending:?}");
    world.check_nothing_left();
}

/// Waited for as long as it takes, and then it is the command's own failure.
pub(crate) fn answer_is_awaited() {
    let mut world = World::new();
    let Some(mut silent) = Silent::mount(world.path("silent")) else { return };
    let mut order = world.shell("echo never");
    order.directory = silent.path.clone();
    let run = world.launch(&order);
    // The patient way has been taken when it is known which process is to become the command.
    see_leaders(&world, run, 1);
    drop(silent.server.take());
    let Exit::Launch { message } = world.exit(run) else { panic!("it has begun") };
    assert!(message.contains("could not enter the directory"), "{message}");
    world.check_nothing_left();
}

/// Waits until so many processes, one after the other, were to become the command.
fn see_leaders(world: &World, run: RunId, count: usize) {
    let mut leaders = BTreeSet::new();
    let deadline = Instant::now() + DEADLINE;
    while leaders.len() < count {
        assert!(Instant::now() < deadline, "{leaders:?}");
        let state = fs::read(world.run_path(run).join("state.json")).unwrap_or_default();
        let state: serde_json::Value = serde_json::from_slice(&state).unwrap_or_default();
        // Not known yet while it is 0.
        leaders.extend(state["leader"].as_u64().filter(|leader| *leader > 0));
    }
}
