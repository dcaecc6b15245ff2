//! The simulated machines, network and store behave like the real ones in what the core relies on.

use super::connection::{End, Pipe};
use super::dice::Dice;
use super::gpu::SimGpu;
use super::history::History;
use super::rundir::Stage;
use super::world::World;
use danlu_core::effect::Launch;
use danlu_core::run::Exit;
use danlu_core::task::TaskSpec;
use danlu_core::{
    Effect, Epoch, NodeId, NodeMessage, RowKey, RunId, SessionId, Span, TaskId, Time,
};
use std::sync::Arc;

const RUN: RunId = RunId { epoch: Epoch(0), number: 1 };

/// A world without faults and without clients, in which the first machine is connected.
fn quiet_world() -> World {
    let mut world = World::new(7, 1000);
    world.set_up().expect("nothing can go wrong yet");
    world.faults_on = false;
    world.workload.most_tasks = 0;
    while world.machines[0].link.is_none() {
        advance(&mut world);
    }
    world
}

fn advance(world: &mut World) {
    let (time, happening) = world.agenda.next().expect("something is under way");
    world.now = time;
    world.happen(happening).expect("no promise is broken");
}

fn advance_by(world: &mut World, span: Span) {
    let end = world.now + span;
    while world.now < end {
        advance(world);
    }
}

/// For the connection that machine 0 has now. Of an epoch long gone, so that nobody expects it.
fn launch(world: &World, spec: TaskSpec) -> Launch {
    let session = world.machines[0].link.expect("it is connected");
    let lines = world.daemon.lines.iter();
    let node = lines.filter(|(_, it)| **it == session).map(|(node, _)| *node).next();
    Launch {
        node: node.expect("the daemon knows the connection"),
        session,
        run: RUN,
        task: TaskId(1),
        attempt: 1,
        gpus: Vec::new(),
        time_limit: spec.time_limit,
        spec: Arc::new(spec),
        rank: 0,
        nodes: vec![NodeId(1)],
    }
}

fn work(milliseconds: u64) -> TaskSpec {
    let command = ["work".to_owned(), milliseconds.to_string(), "0".to_owned()];
    TaskSpec { command: command.to_vec(), ..TaskSpec::default() }
}

fn exit_of(world: &World) -> Option<&Exit> {
    match &world.machines[0].dirs.get(&RUN)?.stage {
        Stage::Ended(ending) => Some(&ending.exit),
        _ => None,
    }
}

#[test]
fn a_run_directory_is_launched_once() {
    let mut world = quiet_world();
    let launch = launch(&world, work(60_000));
    world.launch(0, launch.clone()).expect("nothing is known of it");
    world.launch(0, launch).expect("nothing is known of it");
    advance_by(&mut world, Span::from_secs(5));
    assert_eq!((world.machines[0].dirs.len(), world.tally.starts), (1, 1));
}

#[test]
fn the_shim_keeps_the_time_limit_without_an_agent() {
    let mut world = quiet_world();
    let spec = TaskSpec { time_limit: Some(Span(3000)), ..work(60_000) };
    let launch = launch(&world, spec);
    world.launch(0, launch).expect("nothing is known of it");
    advance_by(&mut world, Span(2000));
    world.agent_crashes(0);
    // In small steps: the daemon, which knows nothing of this run, has it forgotten as soon as it hears of it.
    let mut steps = 0..1000;
    while exit_of(&world).is_none() && steps.next().is_some() {
        advance_by(&mut world, Span(10));
    }
    assert_eq!(exit_of(&world), Some(&Exit::TimedOut));
}

#[test]
fn a_reboot_leaves_the_directory_without_a_result() {
    let mut world = quiet_world();
    let launch = launch(&world, work(60_000));
    world.launch(0, launch).expect("nothing is known of it");
    advance_by(&mut world, Span(2000));
    world.reboot(0).expect("no promise is broken");
    assert_eq!(exit_of(&world), Some(&Exit::Vanished { rebooted: true }));
    assert!(world.machines[0].link.is_none());
}

#[test]
fn commands_of_an_old_connection_are_ignored() {
    let mut world = quiet_world();
    let launch = launch(&world, work(60_000));
    world.send_to_agent(Effect::Launch(Box::new(launch)));
    world.machines[0].newest = SessionId(u64::MAX);
    advance_by(&mut world, Span::from_secs(5));
    assert_eq!((world.machines[0].dirs.len(), world.tally.fenced_commands), (0, 1));
}

#[test]
fn the_backend_drops_what_was_decided_for_another_connection() {
    let mut world = quiet_world();
    let mut launch = launch(&world, work(60_000));
    launch.session = SessionId(0);
    world.send_to_agent(Effect::Launch(Box::new(launch)));
    assert_eq!(world.tally.dropped_effects, 1);
}

#[test]
fn a_crashed_daemon_comes_back_with_what_was_committed() {
    let mut world = quiet_world();
    let known: Vec<RowKey> = world.disk.tables.rows.keys().copied().collect();
    world.daemon_crashes("for a test");
    assert!(world.daemon.state().is_none() && world.network.open_at(End::Daemon).is_empty());
    while world.daemon.state().is_none() {
        advance(&mut world);
    }
    assert!(world.disk.tables.rows.keys().eq(&known));
}

#[test]
fn nothing_overtakes_in_a_pipe_and_a_cut_keeps_the_first_frames() {
    let mut pipe = Pipe::new();
    assert_eq!(pipe.put(Time(50), NodeMessage::Connected), Time(50));
    assert_eq!(pipe.put(Time(10), NodeMessage::Lost), Time(50));
    assert_eq!(pipe.take(Time(49)), None);
    assert_eq!(pipe.cut(1, Span(100)), [Time(150)]);
    assert_eq!(pipe.take(Time(149)), None);
    assert_eq!(pipe.take(Time(150)), Some(NodeMessage::Connected));
    assert_eq!(pipe.take(Time(1000)), None);
}

#[test]
fn a_history_keeps_the_last_lines_and_remembers_all() {
    let tell = |first: &str| {
        let mut history = History::new(Time(0), 2);
        for what in [first, "b", "c"] {
            history.note(Time(1500), "n1", format_args!("{what}"));
        }
        (history.hash(), history.into_lines())
    };
    assert_eq!(tell("a").1, ["     1.500s  n1       b", "     1.500s  n1       c"]);
    assert_eq!(tell("a"), tell("a"));
    assert_ne!(tell("a").0, tell("x").0);
}

#[test]
fn dice_stay_within_their_bounds() {
    let mut dice = Dice::new(1);
    assert_eq!(dice.below(0), 0);
    for _ in 0..1000 {
        assert!((20..=5000).contains(&dice.scale(20, 5000)));
        assert!((3..=4).contains(&dice.between(3, 4)));
    }
}

#[test]
fn a_renewed_card_is_another_card() {
    let mut card = SimGpu::new("G0.1".to_owned(), 1, "NVIDIA A100", 1);
    card.renew(1);
    assert_eq!(&*card.id.0, "G0.1#1");
    card.renew(2);
    assert_eq!(&*card.id.0, "G0.1#2");
}
