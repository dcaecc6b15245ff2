//! The directory of an active run is deleted: nothing can be recorded there, but the run can still be stopped.

use crate::restart::{pidfd, wait_for_end};
use crate::world::{World, kill};
use danlu_core::run::{Exit, ReportedState};
use danlu_core::{RunId, Span};
use nix::sys::signal::Signal;
use std::fs;
use std::os::fd::OwnedFd;

/// It may have ended by itself: nobody knows.
const VANISHED: Exit = Exit::NoRecord;

/// Does not end by itself, nor for a mere request.
const STUBBORN: &str = "trap '' TERM; (setsid sleep 1000 &); while :; do sleep 0.05; done";

/// Its directory is gone; the id of its command, and a hold on its shim.
fn cut_off(world: &mut World, limit: Option<Span>) -> (RunId, u32, OwnedFd) {
    let mut order = world.shell(STUBBORN);
    order.grace = Span(300);
    order.time_limit = limit;
    let run = world.launch(&order);
    let leader = world.started(run);
    let shim = pidfd(world.shim_of(run));
    fs::remove_dir_all(world.run_path(run)).unwrap();
    (run, leader, shim)
}

pub(crate) fn shim_ends_with_its_command() {
    let mut world = World::new();
    let (run, leader, shim) = cut_off(&mut world, None);
    kill(leader, Signal::SIGKILL);
    wait_for_end(&shim);
    assert_eq!(world.exit(run), VANISHED);
    world.check_nothing_left();
}

pub(crate) fn stop_reaches_it() {
    let mut world = World::without_cgroups();
    let (run, _, shim) = cut_off(&mut world, None);
    assert!(matches!(world.report()[&run], ReportedState::Alive { .. }));
    world.stop(run, Span(300));
    wait_for_end(&shim);
    let ending = world.ended(run);
    assert_eq!((ending.exit, ending.stopped), (VANISHED, true));
    world.check_nothing_left();
}

pub(crate) fn time_limit_is_kept() {
    let mut world = World::new();
    let (run, _, shim) = cut_off(&mut world, Some(Span::from_secs(1)));
    wait_for_end(&shim);
    assert_eq!(world.exit(run), VANISHED);
    world.check_nothing_left();
}

pub(crate) fn signal_ends_it_without_an_agent() {
    let mut world = World::new();
    let (run, _, shim) = cut_off(&mut world, None);
    let lives = world.launch_shell("sleep 1000");
    world.started(lives);
    let healthy = world.shim_of(lives);
    world.end_agent();
    kill(healthy, Signal::SIGTERM);
    let cut_off = world.processes();
    assert!(!cut_off.is_empty());
    kill(shim_pid(&shim), Signal::SIGTERM);
    wait_for_end(&shim);
    world.start_agent();
    let report = world.report();
    assert_eq!(report.get(&run), None);
    // Who has a directory is told by it, and by nothing else.
    assert!(matches!(report[&lives], ReportedState::Alive { .. }), "{report:?}");
}

pub(crate) fn next_agent_knows_it_and_stops_it() {
    let mut world = World::new();
    let (run, _, shim) = cut_off(&mut world, None);
    world.end_agent();
    world.start_agent();
    let report = world.report();
    assert!(matches!(report.get(&run), Some(ReportedState::Alive { .. })), "{report:?}");
    world.stop(run, Span(300));
    wait_for_end(&shim);
    let ending = world.ended(run);
    assert_eq!((ending.exit, ending.stopped), (VANISHED, true));
    world.check_nothing_left();
}

/// As the kernel tells it of a hold on a process.
fn shim_pid(shim: &OwnedFd) -> u32 {
    use std::os::fd::AsRawFd as _;
    let told = fs::read_to_string(format!("/proc/self/fdinfo/{}", shim.as_raw_fd())).unwrap();
    let pid = told.lines().find_map(|line| line.strip_prefix("Pid:")).unwrap();
    pid.trim().parse().unwrap()
}
