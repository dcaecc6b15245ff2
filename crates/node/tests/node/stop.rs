//! Stopping: SIGTERM to the leader, then the whole tree is killed.

use crate::world::{DEADLINE, World};
use danlu_core::Span;
use danlu_core::run::Exit;
use danlu_wire::{StopWhy, ToAgent};
use std::fs;
use std::time::Instant;

/// Forks twice to get away, ignores the signal, begins sessions, forgets its environment, and forks all the time.
const STUBBORN: &str = r#"
trap '' TERM
(setsid sh -c 'trap "" TERM; echo away $$ > "$FIFO"; while :; do sleep 0.01; done' &)
(env -i setsid sh -c 'trap "" TERM; echo bare $$ > "$0"; while :; do sleep 0.01; done' "$FIFO" &)
(sh -c 'trap "" TERM; echo forker $$ > "$FIFO"; while :; do (setsid sleep 100 &) ; sleep 0.01; done' &)
echo leader $$ > "$FIFO"
while :; do sleep 0.01; done
"#;

fn stubborn_tree_is_gone(mut world: World) {
    let mut fifo = world.fifo("said");
    let mut order = world.shell(STUBBORN);
    order.environment.0.push(format!("FIFO={}", fifo.path));
    let run = world.launch(&order);
    let pids: Vec<String> = (0..4).map(|_| fifo.line()).collect();
    // Some of the forks have got away by now.
    while world.processes().len() < 10 {
        assert!(fifo.line_within(std::time::Duration::from_millis(10)).is_none());
    }
    let begun = Instant::now();
    world.stop(run, Span(300));
    let ending = world.ended(run);
    world.check_nothing_left();
    for said in pids {
        let (who, pid) = said.split_once(' ').unwrap();
        assert!(!fs::exists(format!("/proc/{pid}")).unwrap(), "{who} is left");
    }
    assert_eq!((ending.exit, ending.stopped), (Exit::Signal(9), true));
    assert!(begun.elapsed() >= std::time::Duration::from_millis(295) && begun.elapsed() < DEADLINE);
}

pub(crate) fn stubborn_tree_is_gone_with_cgroups() {
    stubborn_tree_is_gone(World::new());
}

pub(crate) fn stubborn_tree_is_gone_without_cgroups() {
    stubborn_tree_is_gone(World::without_cgroups());
}

pub(crate) fn only_the_leader_is_asked() {
    let mut world = World::new();
    let mut fifo = world.fifo("said");
    let line = r#"
        trap 'echo leader asked > "$FIFO"; touch go; wait; exit 7' TERM
        sh -c 'trap "echo child asked > $FIFO" TERM; echo ready > "$FIFO"; while [ ! -e go ]; do sleep 0.01; done' &
        while :; do wait; done
    "#;
    let mut order = world.shell(line);
    order.environment.0.push(format!("FIFO={}", fifo.path));
    let run = world.launch(&order);
    assert_eq!(fifo.line(), "ready");
    world.stop(run, Span::from_secs(20));
    assert_eq!(fifo.line(), "leader asked");
    let ending = world.ended(run);
    assert_eq!((ending.exit, ending.stopped), (Exit::Code(7), true));
    assert_eq!(fifo.line_within(std::time::Duration::ZERO), None);
}

/// A shell that is the leader dies at once, and its program must have its time to clean up.
pub(crate) fn rest_of_the_tree_is_asked_after_its_leader() {
    let mut world = World::new();
    let mut fifo = world.fifo("said");
    let line = r#"
        sh -c 'trap "echo saved > $FIFO; exit 0" TERM; echo ready > "$FIFO"; while :; do sleep 0.01; done'
        echo not reached
    "#;
    let mut order = world.shell(line);
    order.environment.0.push(format!("FIFO={}", fifo.path));
    let run = world.launch(&order);
    assert_eq!(fifo.line(), "ready");
    let begun = Instant::now();
    world.stop(run, Span::from_secs(20));
    let ending = world.ended(run);
    assert_eq!(fifo.line(), "saved");
    assert_eq!((ending.exit, ending.stopped), (Exit::Signal(15), true));
    assert!(begun.elapsed().as_secs() < 15, "it did not wait for the grace to pass");
}

pub(crate) fn what_an_ended_command_leaves_is_ended() {
    for mut world in [World::new(), World::without_cgroups()] {
        let mut fifo = world.fifo("said");
        let line = r#"(setsid sh -c 'trap "" TERM; echo ready > "$FIFO"; while :; do sleep 0.01; done' &); read x < go; exit 4"#;
        fs::write(world.path("go"), "x\n").unwrap();
        let mut order = world.shell(line);
        order.environment.0.push(format!("FIFO={}", fifo.path));
        order.grace = Span(200);
        let run = world.launch(&order);
        let ending = world.ended(run);
        assert_eq!((ending.exit, ending.stopped), (Exit::Code(4), false));
        world.check_nothing_left();
        let _ = fifo.line_within(std::time::Duration::ZERO);
    }
}

pub(crate) fn asked_again_with_less_grace() {
    let mut world = World::new();
    let mut fifo = world.fifo("said");
    let mut order =
        world.shell("trap '' TERM; echo ready > \"$FIFO\"; while :; do sleep 0.05; done");
    order.environment.0.push(format!("FIFO={}", fifo.path));
    let run = world.launch(&order);
    assert_eq!(fifo.line(), "ready");
    world.stop(run, Span::from_secs(1000));
    world.stop(run, Span::from_secs(2000));
    world.stop(run, Span::ZERO);
    let ending = world.ended(run);
    assert_eq!((ending.exit, ending.stopped), (Exit::Signal(9), true));
}

pub(crate) fn end_before_the_stop_is_its_own() {
    let mut world = World::new();
    let run = world.launch_shell("exit 3");
    world.ended(run);
    world.stop(run, Span::ZERO);
    let report = world.report();
    let danlu_core::run::ReportedState::Ended(ending) = &report[&run] else { panic!("{report:?}") };
    assert_eq!((&ending.exit, ending.stopped), (&Exit::Code(3), false));
}

pub(crate) fn preempted_finds_the_file() {
    let mut world = World::new();
    let mut fifo = world.fifo("said");
    let line = r#"
        [ -e "$DANLU_PREEMPT_FILE" ] && echo too early
        trap 'cat "$DANLU_PREEMPT_FILE" && echo seen; exit 0' TERM
        echo ready > "$FIFO"
        while :; do sleep 0.02; done
    "#;
    let mut order = world.shell(line);
    order.environment.0.push(format!("FIFO={}", fifo.path));
    let run = world.launch(&order);
    assert_eq!(fifo.line(), "ready");
    world.send(ToAgent::Stop { run, why: StopWhy::Preempted, grace: Span::from_secs(20) });
    assert_eq!(world.exit(run), Exit::Code(0));
    assert_eq!(world.log(run), "seen\n");
}

pub(crate) fn stopped_before_it_started() {
    let mut world = World::new();
    let order = world.shell("sleep 1000");
    for _ in 0..20 {
        let mut order = order.clone();
        order.run.number += 1000;
        let run = world.launch(&order);
        world.stop(run, Span::ZERO);
        let ending = world.ended(run);
        let expected = [Exit::Signal(15), Exit::Signal(9), Exit::NeverStarted];
        assert!(ending.stopped && expected.contains(&ending.exit), "{ending:?}");
        world.send(ToAgent::Forget { run });
        world.forget_notices(run);
    }
}
