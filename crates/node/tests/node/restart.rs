//! The agent restarts, or a shim is killed: the run directories tell what happened.

use crate::agent_process::AgentProcess;
use crate::world::{DEADLINE, World, kill};
use danlu_core::run::{Ending, Exit, ReportedState};
use danlu_core::{RunId, Span, Time};
use danlu_wire::rundir::{Control, ExitRecord, RunFile, ShimState, StopRequest, V1};
use danlu_wire::{FromAgent, StopWhy, ToAgent};
use nix::sys::signal::Signal;
use std::collections::BTreeMap;
use std::fs;
use std::time::{Duration, Instant};

fn state_of(agent: &mut AgentProcess) -> BTreeMap<RunId, ReportedState> {
    agent.send(&ToAgent::AskReport);
    loop {
        if let FromAgent::Report(report) = agent.next() {
            return report.runs.into_iter().map(|report| (report.run, report.state)).collect();
        }
    }
}

fn ended(agent: &AgentProcess, wanted: RunId) -> Ending {
    loop {
        if let FromAgent::Ended { run, ending, .. } = agent.next()
            && run == wanted
        {
            return ending;
        }
    }
}

pub(crate) fn runs_survive_a_killed_agent() {
    let mut world = World::new();
    world.end_agent();
    let mut fifo = world.fifo("said");
    let go = world.fifo("go");
    let mut order = world.shell("echo $$ > \"$FIFO\"; read x < go; echo done; exit 42");
    order.environment.0.push(format!("FIFO={}", fifo.path));
    let mut agent = AgentProcess::start(&world.root_path());
    agent.send(&ToAgent::Launch(Box::new(order.clone())));
    let pid = fifo.line();
    agent.kill();

    let mut agent = AgentProcess::start(&world.root_path());
    let report = state_of(&mut agent);
    assert!(matches!(report[&order.run], ReportedState::Alive { .. }), "{report:?}");
    fs::write(&go.path, "x\n").unwrap();
    assert_eq!(ended(&agent, order.run).exit, Exit::Code(42));
    assert_eq!(world.log(order.run), "done\n");
    assert_eq!(fifo.line_within(Duration::ZERO), None, "started twice, once as {pid}");
    // And it can still be stopped by one that has not started it.
    let next = world.shell("echo $$ > \"$FIFO\"; sleep 1000");
    let mut next = next;
    next.environment.0.push(format!("FIFO={}", fifo.path));
    agent.send(&ToAgent::Launch(Box::new(next.clone())));
    fifo.line();
    agent.kill();
    let mut agent = AgentProcess::start(&world.root_path());
    agent.send(&ToAgent::Stop {
        run: next.run,
        why: StopWhy::Cancelled,
        grace: Span::from_secs(20),
    });
    let ending = ended(&agent, next.run);
    assert_eq!((ending.exit, ending.stopped), (Exit::Signal(15), true));
    agent.kill();
}

pub(crate) fn end_without_an_agent_is_true() {
    let mut world = World::new();
    let mut fifo = world.fifo("said");
    let go = world.fifo("go");
    let mut order = world.shell("read x < go; echo last words; exit 9");
    order.environment.0.push(format!("FIFO={}", fifo.path));
    let run = world.launch(&order);
    world.started(run);
    let shim = pidfd(world.shim_of(run));
    world.end_agent();
    let before = now();
    fs::write(&go.path, "x\n").unwrap();
    wait_for_end(&shim);
    let after = now();
    // Long enough that a wrong time would show.
    fifo.check_falls_silent();
    world.start_agent();
    let report = world.report();
    let ReportedState::Ended(ending) = &report[&run] else { panic!("{report:?}") };
    assert_eq!(ending.exit, Exit::Code(9));
    assert!(
        ending.ended_at >= before && ending.ended_at <= after,
        "{before:?} {ending:?} {after:?}"
    );
    assert_eq!(world.log(run), "last words\n");
}

/// Each run must happen at most once whenever its agent dies, and exactly once if it is ever reported.
pub(crate) fn agent_killed_at_any_moment() {
    let mut world = World::new();
    world.end_agent();
    let mut orders = BTreeMap::new();
    let mut ends: BTreeMap<RunId, Exit> = BTreeMap::new();
    for round in 0..25_u64 {
        let mut agent = AgentProcess::start(&world.root_path());
        for number in 0..8 {
            let line = format!("echo {round}.{number} >> ran; sleep 0.0{number}; exit {number}");
            let order = world.shell(&line);
            orders.insert(order.run, (format!("{round}.{number}"), number));
            agent.send(&ToAgent::Launch(Box::new(order)));
        }
        // From "not even read" to "all are over": each says two things.
        for _ in 0..round % 17 {
            if let FromAgent::Ended { run, ending, .. } = agent.next() {
                assert_eq!(ends.insert(run, ending.exit), None);
            }
        }
        agent.kill();
    }
    let mut agent = AgentProcess::start(&world.root_path());
    let deadline = Instant::now() + DEADLINE;
    let report = loop {
        let report = state_of(&mut agent);
        if report.values().all(|state| matches!(state, ReportedState::Ended(_))) {
            break report;
        }
        assert!(Instant::now() < deadline, "{report:?}");
        agent.next_within(Duration::from_millis(50));
    };
    agent.kill();
    let ran = fs::read_to_string(world.path("ran")).unwrap_or_default();
    for (run, (mark, code)) in &orders {
        let times = ran.lines().filter(|line| line == mark).count();
        let reported = report.get(run).map(|state| match state {
            ReportedState::Ended(ending) => ending.exit.clone(),
            ReportedState::Alive { .. } => unreachable!("all have ended"),
        });
        let expected = reported.as_ref().map(|_| Exit::Code(*code));
        assert_eq!(reported, expected, "{run}");
        assert_eq!(times, usize::from(reported.is_some()), "{run} ran {times} times: {reported:?}");
        if let Some(heard) = ends.get(run) {
            assert_eq!(Some(heard), reported.as_ref(), "{run}");
        }
    }
    println!("{} of {} runs were started", report.len(), orders.len());
    assert!(report.len() > 20, "hardly anything was started");
}

/// The order lies in the socket of a launcher that sleeps, and its lock with it: the next agent must not think that it
/// will never start.
pub(crate) fn launch_under_way_is_not_taken_for_dead() {
    let mut world = World::new();
    world.end_agent();
    let mut said = world.fifo("said");
    let order = world.shell("echo ran >> ran; exit 5");
    let mut agent = AgentProcess::start(&world.root_path());
    assert!(state_of(&mut agent).is_empty());
    let launcher = agent.launcher();
    kill(launcher, Signal::SIGSTOP);
    agent.send(&ToAgent::Launch(Box::new(order.clone())));
    // A report that is asked for at once may come before the launch.
    while state_of(&mut agent).is_empty() {}
    agent.kill();

    let mut agent = AgentProcess::start(&world.root_path());
    let report = state_of(&mut agent);
    assert!(matches!(report.get(&order.run), Some(ReportedState::Alive { .. })), "{report:?}");
    said.check_falls_silent();
    assert!(matches!(state_of(&mut agent)[&order.run], ReportedState::Alive { .. }));
    kill(launcher, Signal::SIGCONT);
    assert_eq!(ended(&agent, order.run).exit, Exit::Code(5));
    agent.kill();
    assert_eq!(fs::read_to_string(world.path("ran")).unwrap(), "ran\n");
}

pub(crate) fn order_that_reached_only_the_file_is_obeyed() {
    let mut world = World::new();
    let run = world.launch_shell("sleep 1000");
    world.started(run);
    world.end_agent();
    let stop = Some(StopRequest { grace: Span::from_secs(20), preempted: false });
    let control = Control { v: V1, stop, paused: false, limit: None };
    fs::write(world.run_path(run).join(Control::NAME), control.to_bytes()).unwrap();
    world.start_agent();
    let ending = world.ended(run);
    assert_eq!((ending.exit, ending.stopped), (Exit::Signal(15), true));
}

const FAMILY: &str = r#"
(setsid sh -c 'trap "" TERM; echo away > "$FIFO"; while :; do sleep 0.05; done' &)
sh -c 'echo child > "$FIFO"; sleep 1000' &
while :; do wait; done
"#;

fn family(world: &mut World) -> RunId {
    let mut fifo = world.fifo("said");
    let mut order = world.shell(FAMILY);
    order.environment.0.push(format!("FIFO={}", fifo.path));
    let run = world.launch(&order);
    world.started(run);
    fifo.line();
    fifo.line();
    run
}

fn killed_shim_leaves_nothing(mut world: World) {
    let run = family(&mut world);
    kill(world.shim_of(run), Signal::SIGKILL);
    let ending = world.ended(run);
    assert_eq!((ending.exit, ending.stopped), (Exit::Vanished { rebooted: false }, false));
    assert!(ending.started_at.is_some());
    world.check_nothing_left();
}

pub(crate) fn killed_shim_leaves_nothing_with_cgroups() {
    killed_shim_leaves_nothing(World::new());
}

pub(crate) fn killed_shim_leaves_nothing_without_cgroups() {
    killed_shim_leaves_nothing(World::without_cgroups());
}

pub(crate) fn killed_shim_is_noticed_by_the_next_agent() {
    let mut world = World::new();
    let run = family(&mut world);
    let shim = pidfd(world.shim_of(run));
    world.end_agent();
    kill(world.shim_of(run), Signal::SIGKILL);
    wait_for_end(&shim);
    assert!(!world.processes().is_empty());
    world.start_agent();
    let report = world.report();
    let ending = match &report[&run] {
        ReportedState::Ended(ending) => ending.clone(),
        ReportedState::Alive { .. } => world.ended(run),
    };
    assert_eq!(ending.exit, Exit::Vanished { rebooted: false });
    world.check_nothing_left();
    // Said the same way by every later agent.
    world.end_agent();
    world.start_agent();
    assert_eq!(world.report()[&run], ReportedState::Ended(ending));
}

/// A run directory as an earlier boot has left it.
fn left_behind(world: &World, number: u64, files: &[(&str, &[u8])]) -> RunId {
    let run = RunId { epoch: danlu_core::Epoch(7), number };
    let path = world.run_path(run);
    fs::create_dir(&path).unwrap();
    for (name, content) in files {
        fs::write(path.join(name), content).unwrap();
    }
    run
}

fn earlier_state() -> ShimState {
    ShimState {
        v: V1,
        shim: danlu_wire::rundir::ProcessMark { pid: std::process::id(), start: 1 },
        boot_id: "an earlier boot".to_owned(),
        leader: std::process::id(),
        started_at: Time(1_000),
        cgroups: danlu_wire::rundir::CgroupPaths::default(),
        task: None,
        gpus: Vec::new(),
    }
}

pub(crate) fn reboot_is_told_apart() {
    let mut world = World::new();
    world.end_agent();
    let state = earlier_state().to_bytes();
    let run = left_behind(&world, 1, &[(ShimState::NAME, &state)]);
    world.start_agent();
    let report = world.report();
    let ReportedState::Ended(ending) = &report[&run] else { panic!("{report:?}") };
    assert_eq!(ending.exit, Exit::Vanished { rebooted: true });
    assert_eq!(ending.started_at, Some(Time(1_000)));
    assert!(ending.ended_at < now(), "it ended before this boot");
}

pub(crate) fn damaged_files_count_as_absent() {
    let mut world = World::new();
    world.end_agent();
    let state = earlier_state().to_bytes();
    let damages: [&[u8]; 4] = [b"", b"{\"v\":1,\"exit\":{\"co", &[0; 4096], b"{\"v\":2}"];
    let broken_exits: Vec<RunId> = damages
        .iter()
        .zip(10..)
        .map(|(damage, number)| {
            left_behind(&world, number, &[(ShimState::NAME, &state), (ExitRecord::NAME, damage)])
        })
        .collect();
    let broken_states: Vec<RunId> = damages
        .iter()
        .zip(20..)
        .map(|(damage, number)| left_behind(&world, number, &[(ShimState::NAME, damage)]))
        .collect();
    world.start_agent();
    let report = world.report();
    for run in broken_exits {
        let ReportedState::Ended(ending) = &report[&run] else { panic!("{report:?}") };
        assert_eq!(ending.exit, Exit::Vanished { rebooted: true });
    }
    for run in broken_states {
        assert_eq!(report.get(&run), None, "nothing ever ran");
        assert!(!world.run_path(run).exists());
    }
}

pub(crate) fn run_that_never_started_is_taken_away() {
    let mut world = World::new();
    world.end_agent();
    let order = world.shell("echo ran >> ran");
    // As if the agent had died between making the directory and handing it over.
    let path = world.run_path(order.run);
    fs::create_dir(&path).unwrap();
    fs::write(path.join(".state.json"), "{").unwrap();
    world.start_agent();
    assert_eq!(world.report().get(&order.run), None);
    assert_eq!(world.run(&order), Exit::Code(0));
    assert_eq!(fs::read_to_string(world.path("ran")).unwrap(), "ran\n");
}

/// Their space was set aside before.
pub(crate) fn full_disk_delays_neither_ends_nor_stops() {
    let Some(mut world) = World::on_a_small_disk() else { return };
    let go = world.fifo("go");
    let ends = world.launch_shell("read x < go; exit 6");
    let goes_on = world.launch_shell("sleep 1000");
    world.started(ends);
    world.started(goes_on);
    // Not before: a run that starts on a full disk has trouble of its own.
    let greedy = world.launch_shell("yes; exit 3");
    assert_eq!(world.ended(greedy).exit, Exit::Code(3), "it has filled the disk");
    let filler = world.root_path().join("filler");
    let mut content = fs::File::create(&filler).unwrap();
    while std::io::Write::write_all(&mut content, &[1; 4096]).is_ok() {}
    let before = now();
    fs::write(&go.path, "x\n").unwrap();
    let ending = world.ended(ends);
    assert_eq!(ending.exit, Exit::Code(6));
    assert!(ending.ended_at >= before && ending.ended_at <= now(), "{ending:?}");
    world.stop(goes_on, Span(5_000));
    let ending = world.ended(goes_on);
    assert_eq!((ending.exit, ending.stopped), (Exit::Signal(15), true));
    let log = fs::read(world.run_path(greedy).join("output.log")).unwrap();
    let log = String::from_utf8(log).unwrap();
    assert!(log.starts_with("y\ny\n"));
    assert!(log.ends_with("\ndanlu: output may be missing here: the disk was full\n"), "{log:?}");
}

pub(crate) fn second_agent_is_refused() {
    let world = World::new();
    let settings = crate::world::settings(&world.root_path(), true, |_| {});
    let refused = danlu_node::Agent::start(settings).unwrap_err().to_string();
    assert!(refused.contains("another agent uses") && refused.contains("\nhint: "), "{refused}");
}

fn now() -> Time {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    Time(since.as_millis().try_into().unwrap())
}

pub(crate) fn pidfd(pid: u32) -> std::os::fd::OwnedFd {
    use rustix::process::{Pid, PidfdFlags, pidfd_open};
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    pidfd_open(pid, PidfdFlags::empty()).unwrap()
}

pub(crate) fn wait_for_end(pidfd: &std::os::fd::OwnedFd) {
    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    use std::os::fd::AsFd as _;
    let mut ready = [PollFd::new(pidfd.as_fd(), PollFlags::POLLIN)];
    let timeout = PollTimeout::try_from(DEADLINE.as_millis()).unwrap();
    assert_eq!(poll(&mut ready, timeout).unwrap(), 1, "the process ends in time");
}
