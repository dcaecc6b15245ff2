//! What the monitor keeps from sample to sample: known processes, changes, and memory that no process accounts for.

use crate::fake_driver::{nobody, run_if, summary};
use crate::fake_proc::{FakeProc, Process};
use danlu_core::gpu::GpuCondition;
use danlu_node::gpu::{
    Baselines, GpuDetails, IDLE_PERIOD, LONGEST_COMMAND, Monitor, Probe, Sampled, Script,
    ScriptProcess, SimGpus,
};
use std::path::Path;

const GIB: u64 = 1 << 30;

fn monitor(proc: &Path, baselines: Baselines) -> Monitor {
    Monitor::new(Probe::Sim(SimGpus::new(1, None).unwrap()), proc.to_owned(), baselines)
}

fn change(monitor: &mut Monitor, change: impl FnOnce(&mut Script)) {
    let Probe::Sim(sim) = monitor.probe() else { panic!("not simulated") };
    sim.change(change);
}

fn one_process(proc: &FakeProc, process: &Process<'_>) -> GpuDetails {
    proc.add(process);
    let mut monitor = monitor(proc.path(), Baselines::default());
    let pid = process.pid;
    change(&mut monitor, |script| script.gpu(0).processes = vec![ScriptProcess::real(pid, GIB)]);
    monitor.sample(&nobody).details.remove(0)
}

#[test]
fn only_a_difference_counts_as_a_change() {
    let mut monitor = monitor(Path::new("/proc"), Baselines::default());
    let changed = |sampled: Sampled| sampled.changed;
    assert!(changed(monitor.sample(&nobody)));
    assert!(!changed(monitor.sample(&nobody)));
    change(&mut monitor, |script| script.gpu(0).temperature = 70);
    assert!(!changed(monitor.sample(&nobody)), "the scheduler does not ask for it");
    change(&mut monitor, |script| script.gpu(0).utilization = 46);
    assert!(changed(monitor.sample(&nobody)), "who shares a GPU wants it idle");
    for percent in [50, 0, 30] {
        change(&mut monitor, |script| script.gpu(0).utilization = percent);
        assert!(!changed(monitor.sample(&nobody)), "the busiest of late, in steps of five");
    }
    change(&mut monitor, |script| script.gpu(0).error = Some("lost".to_owned()));
    assert!(changed(monitor.sample(&nobody)));
}

#[test]
fn a_process_that_has_just_ended_is_not_foreign() {
    let proc = FakeProc::new();
    let mut monitor = monitor(proc.path(), Baselines::default());
    monitor.sample(&nobody);
    change(&mut monitor, |script| script.gpu(0).processes = vec![ScriptProcess::real(50, GIB)]);
    assert_eq!(monitor.sample(&nobody).reports[0].condition, GpuCondition::Idle);
    // Still listed: it lives where the daemon cannot see it.
    assert_eq!(summary(&monitor.sample(&nobody)), ["0 0000 foreign 50/unknown"]);
}

#[test]
fn a_run_that_has_just_ended_is_not_foreign() {
    let proc = FakeProc::with(&Process { pid: 50, ..Process::default() });
    let mut monitor = monitor(proc.path(), Baselines::default());
    change(&mut monitor, |script| script.gpu(0).processes = vec![ScriptProcess::real(50, GIB)]);
    assert_eq!(summary(&monitor.sample(&run_if(|pid| pid == 50))), ["0 0000 idle"]);
    proc.remove(50);
    for _ in 0..3 {
        assert_eq!(summary(&monitor.sample(&nobody)), ["0 0000 idle"]);
    }
    // The pid is used again, by somebody else.
    proc.add(&Process { pid: 50, started: 900, ..Process::default() });
    assert_eq!(summary(&monitor.sample(&nobody)), ["0 0000 foreign 50/root"]);
}

#[test]
fn a_pid_that_is_used_again_is_somebody_else() {
    let proc = FakeProc::with(&Process { pid: 50, ..Process::default() });
    let mut monitor = monitor(proc.path(), Baselines::default());
    change(&mut monitor, |script| script.gpu(0).processes = vec![ScriptProcess::real(50, GIB)]);
    assert_eq!(monitor.sample(&nobody).details[0].foreign[0].command, "python train.py");
    let command = b"julia\0".as_slice();
    proc.add(&Process { pid: 50, uid: 4_000_000, command, started: 101, ..Process::default() });
    let foreign = monitor.sample(&nobody).details[0].foreign.remove(0);
    assert_eq!((foreign.command.as_str(), foreign.user.as_str()), ("julia", "4000000"));
}

#[test]
fn a_stopped_process_is_told_as_such() {
    let proc = FakeProc::new();
    assert!(one_process(&proc, &Process { state: 'T', ..Process::default() }).foreign[0].stopped);
    assert!(!one_process(&proc, &Process::default()).foreign[0].stopped);
}

#[test]
fn commands_are_bounded_and_printable() {
    let proc = FakeProc::new();
    let command = |command: &[u8]| {
        let details = one_process(&proc, &Process { command, ..Process::default() });
        details.foreign[0].command.clone()
    };
    assert_eq!(command(b"python\0-c\0print(1)\n\0"), "python -c print(1) ");
    assert_eq!(command(b""), "[kernel_name]");
    assert_eq!(command(b"\xff\0"), "\u{fffd}");
    let long = command("炉".repeat(1000).as_bytes());
    assert!(long.len() <= LONGEST_COMMAND && long.ends_with('…'), "{long}");
}

#[test]
fn memory_that_a_run_does_not_give_back_is_seen() {
    let mut monitor = monitor(Path::new("/proc"), Baselines::default());
    let own = std::process::id();
    change(&mut monitor, |script| script.gpu(0).memory_used = GIB / 2);
    assert_eq!(monitor.sample(&nobody).details[0].used_above_baseline, Some(0));
    // A run: what its processes use is explained.
    change(&mut monitor, |script| {
        script.gpu(0).processes = vec![ScriptProcess::real(own, 9 * GIB)];
    });
    let told = &monitor.sample(&run_if(|pid| pid == own)).details[0];
    assert_eq!((told.used_above_baseline, told.is_dirty()), (Some(0), false));
    // It ends and leaves something behind.
    change(&mut monitor, |script| {
        script.gpu(0).processes.clear();
        script.gpu(0).memory_used = 3 * GIB;
    });
    for _ in 0..3 {
        let told = &monitor.sample(&nobody).details[0];
        assert_eq!((told.used_above_baseline, told.is_dirty()), (Some(5 * GIB / 2), true));
    }
    // Somebody says that this is how it is now.
    monitor.accept_baseline(&SimGpus::id(0));
    assert!(!monitor.sample(&nobody).details[0].is_dirty());
}

#[test]
fn a_baseline_is_not_learnt_while_somebody_computes() {
    let busy = |script: &mut Script| {
        script.gpu(0).memory_used = 2 * GIB;
        script.gpu(0).processes = vec![ScriptProcess::invented(4711, "alice", GIB)];
    };
    let mut first = monitor(Path::new("/proc"), Baselines::default());
    change(&mut first, busy);
    assert_eq!(first.sample(&nobody).details[0].used_above_baseline, None);
    // One that is remembered from before is used.
    let mut idle = monitor(Path::new("/proc"), Baselines::default());
    idle.sample(&nobody);
    let stored = serde_json::to_string(idle.baselines()).unwrap();
    let mut again = monitor(Path::new("/proc"), serde_json::from_str(&stored).unwrap());
    change(&mut again, busy);
    assert_eq!(again.sample(&nobody).details[0].used_above_baseline, Some(2 * GIB));
}

#[test]
fn details_survive_the_wire() {
    let proc = FakeProc::new();
    let told = one_process(&proc, &Process::default());
    let text = serde_json::to_string(&told).unwrap();
    assert_eq!(serde_json::from_str::<GpuDetails>(&text).unwrap(), told);
    for field in
        ["uuid", "memory_total", "memory_used", "utilization", "temperature", "power", "foreign"]
    {
        assert!(text.contains(&format!("\"{field}\":")), "{field}: {text}");
    }
}

#[test]
fn a_monitor_may_live_on_any_thread() {
    fn check<T: Send>() {}
    check::<Monitor>();
}

#[test]
fn real_gpus_need_a_timer() {
    let probe = Probe::Amd(danlu_node::gpu::Amd::new("/sys".into(), "/proc".into()));
    let mut monitor = Monitor::new(probe, "/proc".into(), Baselines::default());
    assert_eq!(monitor.period(), Some(danlu_node::gpu::BUSY_PERIOD));
    monitor.set_period(IDLE_PERIOD);
    assert_eq!(monitor.period(), Some(IDLE_PERIOD));
}
