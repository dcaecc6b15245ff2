//! Many runs at once, and the same run twice.

use crate::world::World;
use danlu_core::run::{Exit, ReportedState};
use danlu_core::{RunId, Span};
use danlu_node::run_of_process;
use danlu_wire::ToAgent;
use std::fs;
use std::path::Path;
use std::process::Command;

pub(crate) fn two_hundred_at_once() {
    let mut world = World::new();
    let runs: Vec<RunId> = (0..200)
        .map(|number| world.launch_shell(&format!("echo {number}; exit {}", number % 7)))
        .collect();
    for (number, run) in runs.into_iter().enumerate() {
        assert_eq!(world.exit(run), Exit::Code(i32::try_from(number % 7).unwrap()));
        assert!(world.is_started(run));
        assert_eq!(world.log(run), format!("{number}\n"));
    }
}

pub(crate) fn launched_twice_starts_once() {
    let mut world = World::new();
    let order = world.shell("echo started >> count; sleep 0.1");
    world.launch(&order);
    world.launch(&order);
    world.started(order.run);
    world.launch(&order);
    assert_eq!(world.exit(order.run), Exit::Code(0));
    world.launch(&order);
    assert!(matches!(world.report()[&order.run], ReportedState::Ended(_)));
    // Not even by another agent, that has not seen any of this.
    world.end_agent();
    world.start_agent();
    world.launch(&order);
    assert!(matches!(world.report()[&order.run], ReportedState::Ended(_)));
    assert_eq!(fs::read_to_string(world.path("count")).unwrap(), "started\n");
}

pub(crate) fn forgotten_leaves_its_log() {
    let mut world = World::new();
    let (loud, quiet) = (world.launch_shell("echo hello"), world.launch_shell("true"));
    let alive = world.launch_shell("sleep 1000");
    world.started(alive);
    for run in [loud, quiet] {
        world.ended(run);
        world.send(ToAgent::Forget { run });
    }
    world.send(ToAgent::Forget { run: alive });
    assert_eq!(world.report().into_keys().collect::<Vec<_>>(), [alive]);
    assert!(!world.run_path(loud).exists() && !world.run_path(quiet).exists());
    assert_eq!((world.log(loud), world.root().log_path(quiet)), ("hello\n".to_owned(), None));
    for run in [loud, alive] {
        world.send(ToAgent::DropLog { run });
    }
    world.report();
    assert_eq!(world.root().log_path(loud), None);
    assert!(world.dropped_logs.contains(&loud), "the server is told");
    assert!(world.run_path(alive).exists(), "what runs keeps its log");
}

pub(crate) fn report_shows_every_run() {
    let mut world = World::new();
    let (alive, ended) = (world.launch_shell("sleep 1000"), world.launch_shell("exit 5"));
    world.started(alive);
    let ending = world.ended(ended);
    let report = world.report();
    assert!(matches!(report[&alive], ReportedState::Alive { paused: false, .. }));
    assert_eq!(report[&ended], ReportedState::Ended(ending));
    assert_eq!(report.len(), 2);
}

pub(crate) fn processes_know_their_run() {
    for mut world in [World::new(), World::without_cgroups()] {
        let mut fifo = world.fifo("said");
        let mut order =
            world.shell("(setsid sh -c 'echo $$ > \"$FIFO\"; sleep 1000' &); sleep 1000");
        order.environment.0.push(format!("FIFO={}", fifo.path));
        let run = world.launch(&order);
        let (leader, away) = (world.started(run), fifo.line().parse().unwrap());
        let root = world.root();
        assert_eq!(run_of_process(&root, leader), Some(run));
        assert_eq!(run_of_process(&root, away), Some(run));
        assert_eq!(run_of_process(&root, std::process::id()), None);
        assert_eq!(run_of_process(&root, 1), None);
        assert_eq!(run_of_process(&root, 4_000_000_000), None);
    }
}

/// How often a thread of this process has been put to sleep by itself.
fn switches() -> u64 {
    fs::read_dir("/proc/self/task")
        .unwrap()
        .map(|task| task.unwrap().path())
        .find(|task| fs::read_to_string(task.join("comm")).unwrap().trim() == "danlu-agent")
        .map(|task| fs::read_to_string(task.join("status")).unwrap())
        .unwrap()
        .lines()
        .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:")?.trim().parse().ok())
        .unwrap()
}

pub(crate) fn idle_agent_sleeps() {
    let mut world = World::new();
    let run = world.launch_shell("sleep 1000");
    world.started(run);
    world.report();
    let mut silence = world.fifo("silence");
    silence.check_falls_silent();
    let before = switches();
    silence.check_falls_silent();
    assert_eq!(switches(), before, "the agent woke up with nothing to do");
    world.stop(run, Span::ZERO);
    world.ended(run);
}

/// A task, or anybody else with a group of their own, may give names to what is below it.
pub(crate) fn a_group_of_the_same_name_is_of_nobody() {
    let mut world = World::new();
    let order = world.shell("sleep 1000");
    let run = world.launch(&order);
    let leader = world.started(run);
    let state = fs::read(world.run_path(run).join("state.json")).unwrap();
    let state: serde_json::Value = serde_json::from_slice(&state).unwrap();
    let Some(group) = state["cgroups"]["unified"].as_str().map(Path::new) else {
        println!("skipped: there are no control groups here");
        return;
    };
    let other = world.shell("sleep 1000");
    let other = world.launch(&other);
    world.started(other);
    // Beside all runs, and inside another run.
    let elsewhere = group.parent().unwrap().parent().unwrap().join("danlu-test-elsewhere");
    // The tag before it may end with the same digit.
    let tag = group.file_name().unwrap().to_str().unwrap().strip_suffix(&run.to_string()).unwrap();
    let theirs = group.with_file_name(format!("{tag}{other}"));
    for (place, expected) in [(elsewhere, None), (theirs, Some(other))] {
        let planted = place.join("danlu").join(group.file_name().unwrap());
        fs::create_dir_all(&planted).unwrap();
        let mut sleep = Command::new("sleep").arg("1000").spawn().unwrap();
        fs::write(planted.join("cgroup.procs"), sleep.id().to_string()).unwrap();
        let found = run_of_process(&world.root(), sleep.id());
        sleep.kill().unwrap();
        sleep.wait().unwrap();
        for made in [planted.as_path(), planted.parent().unwrap()] {
            fs::remove_dir(made).unwrap();
        }
        if expected.is_none() {
            fs::remove_dir(&place).unwrap();
        }
        assert_eq!(found, expected, "{}", planted.display());
    }
    assert_eq!(run_of_process(&world.root(), leader), Some(run));
}
