//! The nursery may die at any time; nobody but the agent notices.

use crate::world::{World, kill};
use danlu_core::RunId;
use danlu_core::run::Exit;
use nix::sys::signal::Signal;

pub(crate) fn killed_nursery_is_replaced() {
    let mut world = World::new();
    let mut fifo = world.fifo("said");
    let mut before = world.shell("echo ready > \"$FIFO\"; read x < go; exit 3");
    before.environment.0.push(format!("FIFO={}", fifo.path));
    let go = world.fifo("go");
    let before = world.launch(&before);
    assert_eq!(fifo.line(), "ready");

    // Some of these are met by its death on their way.
    let mut runs: Vec<RunId> = (0..20).map(|_| world.launch_shell("exit 4")).collect();
    kill(world.agent().nursery(), Signal::SIGKILL);
    runs.extend((0..20).map(|_| world.launch_shell("exit 4")));
    for run in runs {
        assert_eq!(world.exit(run), Exit::Code(4));
        assert!(world.is_started(run));
    }
    std::fs::write(&go.path, "x\n").unwrap();
    assert_eq!(world.exit(before), Exit::Code(3));
}

pub(crate) fn nursery_ends_with_its_agent() {
    let mut world = World::new();
    let nursery = world.agent().nursery();
    let run = world.launch_shell("sleep 1000");
    let leader = world.started(run);
    world.end_agent();
    assert!(!std::fs::exists(format!("/proc/{nursery}")).unwrap());
    assert!(std::fs::exists(format!("/proc/{leader}")).unwrap());
}
