//! The launcher can be killed at any time: only the agent notices.

use crate::restart::{pidfd, wait_for_end};
use crate::world::{World, kill};
use danlu_core::RunId;
use danlu_core::run::Exit;
use nix::sys::signal::Signal;
use std::collections::BTreeSet;

pub(crate) fn killed_launcher_is_replaced() {
    let mut world = World::new();
    let mut fifo = world.fifo("said");
    let mut before = world.shell("echo ready > \"$FIFO\"; read x < go; exit 3");
    before.environment.0.push(format!("FIFO={}", fifo.path));
    let go = world.fifo("go");
    let before = world.launch(&before);
    assert_eq!(fifo.line(), "ready");

    // Some of these are met by its death on their way.
    let mut runs: Vec<RunId> = (0..20).map(|_| world.launch_shell("exit 4")).collect();
    kill(world.agent().launcher(), Signal::SIGKILL);
    runs.extend((0..20).map(|_| world.launch_shell("exit 4")));
    for run in runs {
        assert_eq!(world.exit(run), Exit::Code(4));
        assert!(world.is_started(run));
    }
    std::fs::write(&go.path, "x\n").unwrap();
    assert_eq!(world.exit(before), Exit::Code(3));
}

pub(crate) fn launcher_ends_with_its_agent() {
    let mut world = World::new();
    let launcher = world.agent().launcher();
    let run = world.launch_shell("sleep 1000");
    let leader = world.started(run);
    world.end_agent();
    assert!(!std::fs::exists(format!("/proc/{launcher}")).unwrap());
    assert!(std::fs::exists(format!("/proc/{leader}")).unwrap());
}

pub(crate) fn shims_get_one_run_after_the_other() {
    let mut world = World::new();
    let mut shims = BTreeSet::new();
    // Has some hundred megabytes for a moment.
    let heavy = world.launch_shell("head -c 200M /dev/zero | tail > /dev/null");
    let heavy_shim = {
        world.started(heavy);
        world.shim_of(heavy)
    };
    let (_, used) = world.used(heavy);
    assert!(used.largest_process > 100 << 20, "{used:?}");
    let mut used_again = false;
    for number in 0..20 {
        let run = world.launch_shell(&format!("test \"$PWD\" || exit 99; exit {number}"));
        let (ending, used) = world.used(run);
        assert_eq!(ending.exit, Exit::Code(number));
        assert!(used.largest_process < 50 << 20, "nothing of the run before counts: {used:?}");
        assert!(used.cpu_time < danlu_core::Span(500), "{used:?}");
        let shim = world.shim_of(run);
        used_again |= shim == heavy_shim;
        shims.insert(shim);
    }
    assert!(shims.len() < 10, "{shims:?}");
    assert!(used_again);
    // Those that wait for a run go with the launcher.
    let waiting = pidfd(*shims.iter().max().unwrap());
    world.end_agent();
    wait_for_end(&waiting);
}

/// A stop meant for one run must not reach the next that its shim has.
pub(crate) fn late_stop_hits_nobody_else() {
    let mut world = World::new();
    for _ in 0..20 {
        let first = world.launch_shell("exit 0");
        world.started(first);
        world.stop(first, danlu_core::Span(0));
        let second = world.launch_shell("read x < /dev/null; exit 7");
        world.stop(first, danlu_core::Span(0));
        assert_eq!(world.exit(second), Exit::Code(7));
        world.exit(first);
    }
}

/// Somebody who wants the idle gone gets it, and nobody misses them.
pub(crate) fn idle_shims_can_be_told_to_end() {
    let mut world = World::new();
    let first = world.launch_shell("exit 0");
    world.exit(first);
    let shim = world.shim_of(first);
    let held = pidfd(shim);
    kill(shim, Signal::SIGTERM);
    wait_for_end(&held);
    let second = world.launch_shell("exit 5");
    assert_eq!(world.exit(second), Exit::Code(5));
}
