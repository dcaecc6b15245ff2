//! A paused run does not run at all, and loses nothing.

use crate::world::{Fifo, World};
use danlu_core::run::{Exit, ReportedState};
use danlu_core::{RunId, Span};
use danlu_wire::{LaunchOrder, ToAgent};
use std::collections::BTreeSet;

const TICKING: &str = r#"
(setsid sh -c 'while :; do echo child > "$FIFO"; sleep 0.02; done' &)
while :; do echo leader > "$FIFO"; sleep 0.02; done
"#;

fn ticking(world: &mut World) -> (LaunchOrder, Fifo) {
    let fifo = world.fifo("said");
    let mut order = world.shell(TICKING);
    order.environment.0.push(format!("FIFO={}", fifo.path));
    (order, fifo)
}

fn check_ticks(fifo: &mut Fifo) {
    let mut heard = BTreeSet::new();
    while heard.len() < 2 {
        heard.insert(fifo.line());
    }
}

fn is_paused(world: &mut World, run: RunId) -> bool {
    match &world.report()[&run] {
        ReportedState::Alive { paused, .. } => *paused,
        ended @ ReportedState::Ended(_) => panic!("{ended:?}"),
    }
}

fn whole_tree_is_paused(mut world: World) {
    let (order, mut fifo) = ticking(&mut world);
    let run = world.launch(&order);
    check_ticks(&mut fifo);
    for _ in 0..2 {
        world.send(ToAgent::Pause { run });
        assert!(is_paused(&mut world, run));
        fifo.check_falls_silent();
        world.send(ToAgent::Resume { run });
        assert!(!is_paused(&mut world, run));
        check_ticks(&mut fifo);
    }
}

pub(crate) fn whole_tree_is_paused_with_cgroups() {
    whole_tree_is_paused(World::new());
}

pub(crate) fn whole_tree_is_paused_without_cgroups() {
    whole_tree_is_paused(World::without_cgroups());
}

pub(crate) fn paused_time_does_not_count() {
    let mut world = World::new();
    let (mut order, mut fifo) = ticking(&mut world);
    order.time_limit = Some(Span(600));
    order.grace = Span(100);
    let run = world.launch(&order);
    check_ticks(&mut fifo);
    world.send(ToAgent::Pause { run });
    // Silent for longer than the limit.
    for _ in 0..3 {
        fifo.check_falls_silent();
    }
    world.send(ToAgent::Resume { run });
    check_ticks(&mut fifo);
    let ending = world.ended(run);
    assert_eq!(ending.exit, Exit::TimedOut);
    let took = ending.ended_at.since(ending.started_at.unwrap());
    // The limit and three silences, the first of which may have begun a tick before the pause.
    assert!(took >= Span(1400), "{took:?}");
}

pub(crate) fn paused_run_can_be_stopped() {
    for mut world in [World::new(), World::without_cgroups()] {
        let mut fifo = world.fifo("said");
        let line = r#"trap 'echo saved > "$FIFO"; exit 0' TERM; echo ready > "$FIFO"; while :; do sleep 0.02; done"#;
        let mut order = world.shell(line);
        order.environment.0.push(format!("FIFO={}", fifo.path));
        let run = world.launch(&order);
        assert_eq!(fifo.line(), "ready");
        world.send(ToAgent::Pause { run });
        world.stop(run, Span::from_secs(20));
        let ending = world.ended(run);
        assert_eq!((ending.exit, ending.stopped), (Exit::Code(0), true));
        assert_eq!(fifo.line(), "saved");
    }
}
