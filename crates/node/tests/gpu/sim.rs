//! Simulated GPUs: the effects of a script, and that nothing wakes up without a change.

use crate::fake_driver::{nobody, run_if, summary};
use crate::wait::{is_readable, until_readable};
use danlu_node::gpu::{Baselines, Monitor, Probe, ProbeConfig, Script, ScriptProcess, SimGpus};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const GIB: u64 = 1 << 30;

struct Scripted {
    directory: TempDir,
    monitor: Monitor,
}

impl Scripted {
    fn new(count: u32) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let config = ProbeConfig::simulated(count, Some(directory.path().join("gpus.json")));
        let probe = Probe::detect(&config).unwrap();
        let monitor = Monitor::new(probe, "/proc".into(), Baselines::default());
        Scripted { directory, monitor }
    }

    fn script(&self) -> PathBuf {
        self.directory.path().join("gpus.json")
    }

    /// Writes the script and gives what is reported once that was noticed.
    fn after(&mut self, change: impl FnOnce(&mut Script)) -> Vec<String> {
        let mut script = Script::load(&self.script()).unwrap();
        change(&mut script);
        script.save(&self.script()).unwrap();
        self.noticed()
    }

    fn noticed(&mut self) -> Vec<String> {
        until_readable(self.monitor.fd().unwrap());
        self.now()
    }

    fn now(&mut self) -> Vec<String> {
        summary(&self.monitor.sample(&nobody))
    }
}

#[test]
fn plain_ones_are_idle_and_always_the_same() {
    let sample = || {
        let probe = Probe::Sim(SimGpus::new(2, None).unwrap());
        let mut monitor = Monitor::new(probe, "/proc".into(), Baselines::default());
        assert!(monitor.fd().is_none() && monitor.period().is_none());
        monitor.sample(&nobody)
    };
    let sampled = sample();
    assert_eq!(summary(&sampled), ["0 0000 idle", "1 0001 idle"]);
    assert_eq!(sampled.reports, sample().reports);
    assert_eq!(sampled.reports[1].id, SimGpus::id(1));
}

#[test]
fn a_script_is_noticed_without_a_timer() {
    let mut sim = Scripted::new(3);
    assert_eq!(sim.monitor.period(), None);
    assert_eq!(sim.now(), ["0 0000 idle", "1 0001 idle", "2 0002 idle"]);
    assert!(!is_readable(sim.monitor.fd().unwrap()), "nothing has happened");
    let alice = ScriptProcess::invented(4711, "alice", 8 * GIB);
    let seen = sim.after(|script| script.gpu(1).processes.push(alice));
    assert_eq!(seen, ["0 0000 idle", "1 0001 foreign 4711/alice", "2 0002 idle"]);
    assert!(!is_readable(sim.monitor.fd().unwrap()), "all was read");
    assert_eq!(
        sim.after(|script| script.gpu(1).processes.clear()),
        ["0 0000 idle", "1 0001 idle", "2 0002 idle"]
    );
}

#[test]
fn gpus_vanish_fail_and_appear() {
    let mut sim = Scripted::new(2);
    assert_eq!(sim.after(|script| script.gpu(0).absent = true), ["0 0001 idle"]);
    let error = Some("fell off the bus".to_owned());
    let seen = sim.after(|script| {
        script.gpu(0).absent = false;
        script.gpu(0).error = error.clone();
    });
    assert_eq!(seen, ["0 0000 unknown", "1 0001 idle"]);
    assert_eq!(sim.after(|script| script.error = error), ["0 0000 unknown", "1 0001 unknown"]);
    let seen = sim.after(|script| {
        *script = Script::default();
        script.gpu(5).model = "Sim H100".to_owned();
    });
    assert_eq!(seen, ["0 0000 idle", "1 0001 idle", "2 0005 idle"]);
}

#[test]
fn another_bus_is_another_index() {
    let mut sim = Scripted::new(3);
    assert_eq!(
        sim.after(|script| script.gpu(0).bus = Some(200)),
        ["0 0001 idle", "1 0002 idle", "2 0000 idle"]
    );
}

#[test]
fn models_memory_links_and_hardware_errors_are_told() {
    let mut sim = Scripted::new(2);
    sim.after(|script| {
        let gpu = script.gpu(0);
        gpu.model = "Sim H100".to_owned();
        gpu.memory = 80 * GIB;
        gpu.memory_used = GIB;
        gpu.utilization = 93;
        gpu.xid = Some(79);
        script.nvlink = vec![[0, 1]];
    });
    let sampled = sim.monitor.sample(&nobody);
    let told = sampled.details;
    assert_eq!((told[0].model.as_str(), told[0].memory_total), ("Sim H100", 80 * GIB));
    assert_eq!((told[0].memory_used, told[0].utilization), (Some(GIB), Some(93)));
    assert_eq!(told[0].health.broken().as_deref(), Some("Xid 79"));
    assert_eq!(told[0].neighbours, [sampled.reports[1].id.clone()]);
    assert_eq!(told[1].neighbours, [sampled.reports[0].id.clone()]);
}

#[test]
fn a_mistake_in_the_script_keeps_what_was() {
    let mut sim = Scripted::new(2);
    sim.after(|script| script.gpu(0).absent = true);
    for wrong in ["{\"gpus\": {\"0\": {\"modell\": \"x\"}}}", "{", "7", "\u{0}"] {
        fs::write(sim.script(), wrong).unwrap();
        until_readable(sim.monitor.fd().unwrap());
        let sampled = sim.monitor.sample(&nobody);
        assert_eq!(summary(&sampled), ["0 0001 idle"], "{wrong}");
        assert_eq!(sampled.problems.len(), 1, "{wrong}");
        assert!(sampled.problems[0].contains("gpus.json:1:"), "{:?}", sampled.problems);
    }
    fs::remove_file(sim.script()).unwrap();
    assert_eq!(sim.noticed(), ["0 0000 idle", "1 0001 idle"]);
    assert!(sim.monitor.sample(&nobody).problems.is_empty());
}

#[test]
fn a_mistake_at_the_start_is_told_and_the_gpus_are_there() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("gpus.json");
    fs::write(&path, "nonsense").unwrap();
    let mut sim = SimGpus::new(1, Some(&path)).unwrap();
    let reading = sim.sample().unwrap();
    assert_eq!((reading.gpus.len(), reading.problems.len()), (1, 1));
}

#[test]
fn a_directory_that_is_not_there_is_refused() {
    let error = SimGpus::new(1, Some(Path::new("/nonexistent/gpus.json"))).unwrap_err();
    assert!(error.to_string().contains("could not watch /nonexistent"), "{error}");
}

#[test]
fn a_real_process_is_named_by_the_system() {
    let mut sim = Scripted::new(1);
    let own = std::process::id();
    let seen = sim.after(|script| script.gpu(0).processes.push(ScriptProcess::real(own, GIB)));
    let user = nix::unistd::User::from_uid(nix::unistd::getuid()).unwrap().unwrap().name;
    assert_eq!(seen, [format!("0 0000 foreign {own}/{user}")]);
    let sampled = sim.monitor.sample(&run_if(|pid| pid == own));
    assert_eq!(summary(&sampled), ["0 0000 idle"]);
    assert_eq!(sampled.details[0].own_memory(), GIB);
}

#[test]
fn the_program_can_change_them_too() {
    let mut sim = SimGpus::new(1, None).unwrap();
    sim.change(|script| script.gpu(0).memory_used = GIB);
    let reading = sim.sample().unwrap();
    assert_eq!(reading.gpus[0].live.as_ref().unwrap().memory_used, GIB);
}
