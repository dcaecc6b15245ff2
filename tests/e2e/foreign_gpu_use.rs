//! GPUs that are used outside Danlu, were left dirty or do not answer are shown and not given out.

use std::{
    fs,
    os::unix::process::CommandExt as _,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use crate::support::daemon::{Daemon, Setup, until};
use crate::support::http::Connection;
use crate::support::receiver::Receiver;
use crate::support::two_gpus;
use crate::support::two_gpus::{GIGABYTE, GpuReading, GpuSource, TwoGpus};

/// Somebody's process that Danlu has not started.
struct Stranger(Child);

impl Stranger {
    fn start() -> Stranger {
        let mut command = Command::new("sleep");
        Stranger(command.arg("1000").stdout(Stdio::null()).spawn().expect("it starts"))
    }

    /// A user who is not root.
    fn of_nobody() -> Stranger {
        let mut command = Command::new("sleep");
        command.arg("1000").uid(65_534).current_dir("/").stdout(Stdio::null());
        Stranger(command.spawn().expect("it starts, for tests run as root"))
    }

    fn has_ended(&mut self) -> bool {
        self.0.try_wait().expect("it is ours").is_some()
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn check_foreign(kind: GpuSource) {
    let mut cards = TwoGpus::new(kind);
    let stranger = Stranger::start();
    let user = nix::unistd::User::from_uid(nix::unistd::geteuid()).ok().flatten();
    let user = user.expect("whoever runs this test").name;
    let since = Instant::now();
    cards.change(0, |card| card.pids = vec![stranger.pid()]);
    until("the stranger is seen", || cards.state(0) == "foreign");
    let took = since.elapsed();
    assert!(took < Duration::from_secs(2), "seen after {took:?}");
    println!("{kind:?}: seen after {took:?}");
    let gpus = cards.daemon.json(&["gpus", "--json"]);
    let [gpu, other] = [0, 1].map(|index| &gpus["gpus"][index]);
    assert_eq!(gpu["foreign"][0]["pid"], stranger.pid(), "{gpu}");
    assert_eq!(gpu["foreign"][0]["user"], user.as_str(), "{gpu}");
    assert_eq!(gpu["foreign"][0]["memory"], GIGABYTE, "{gpu}");
    assert_eq!(other["state"], "free", "{other}");

    // One goes to the other GPU, and both are not to be had.
    let one = cards.daemon.submit("-g 1", "echo $CUDA_VISIBLE_DEVICES");
    assert_eq!(cards.daemon.ask(&["wait", &one]).status, 0);
    assert_eq!(cards.daemon.say(&["logs", &one]), "1\n");
    let both = cards.daemon.submit("-g 2", "echo $CUDA_VISIBLE_DEVICES");
    let why = cards.daemon.say(&["why", &both]);
    let who = format!("GPU 0 used outside Danlu by {user}, pid {}", stranger.pid());
    assert!(why.contains(&who), "{why}");
    assert_eq!(cards.daemon.state(&both), "queued");

    // The process ends, and the driver says so.
    drop(stranger);
    cards.change(0, |card| card.pids.clear());
    assert_eq!(cards.daemon.ask(&["wait", &both]).status, 0);
    assert_eq!(cards.daemon.say(&["logs", &both]), "0,1\n");
}

#[test]
fn a_foreign_process_is_named_and_its_gpu_not_given_out() {
    check_foreign(GpuSource::Nvml);
}

#[test]
fn a_foreign_process_on_a_simulated_gpu_is_named_and_its_gpu_not_given_out() {
    check_foreign(GpuSource::Simulated);
}

fn check_dirty(kind: GpuSource) {
    let mut cards = TwoGpus::new(kind);
    let at = cards.daemon.directory().to_path_buf();
    let line = format!(
        "echo $$ > {0}/pid.new; mv {0}/pid.new {0}/pid; while [ ! -e {0}/go ]; do sleep 0.02; done",
        at.display()
    );
    let leaks = cards.daemon.submit("-g 1", &line);
    until("it runs", || at.join("pid").exists());
    let pid = fs::read_to_string(at.join("pid")).expect("it is there");
    let pid: u32 = pid.trim().parse().expect("a process id");
    cards.change(0, |card| card.pids = vec![pid]);
    let memory = || cards.daemon.json(&["gpus", "--json"])["gpus"][0]["memory_used"].as_u64();
    until("the memory is seen", || memory() == Some(GIGABYTE));
    assert_eq!(cards.state(0), "held", "its own process is no stranger");

    // It ends, and a part of its memory does not come back.
    cards.change(0, |card| {
        *card = GpuReading { unexplained: 2 * GIGABYTE, ..GpuReading::default() }
    });
    fs::write(at.join("go"), "").expect("it can be written");
    assert_eq!(cards.daemon.ask(&["wait", &leaks]).status, 0);
    let one = cards.daemon.submit("-g 1", "echo $CUDA_VISIBLE_DEVICES");
    assert_eq!(cards.daemon.ask(&["wait", &one]).status, 0);
    assert_eq!(cards.daemon.say(&["logs", &one]), "1\n", "it must not be given out");
    assert_eq!(cards.state(0), "dirty");
    let both = cards.daemon.submit("-g 2", "true");
    let why = cards.daemon.say(&["why", &both]);
    assert!(why.contains("GPU 0 dirty"), "{why}");
    assert_eq!(cards.daemon.state(&both), "queued");

    cards.change(0, |card| card.unexplained = 0);
    assert_eq!(cards.daemon.ask(&["wait", &both]).status, 0);
}

#[test]
fn a_gpu_that_does_not_get_its_memory_back_is_dirty_and_not_given_out() {
    check_dirty(GpuSource::Nvml);
}

#[test]
fn a_simulated_gpu_that_does_not_get_its_memory_back_is_dirty_and_not_given_out() {
    check_dirty(GpuSource::Simulated);
}

fn check_broken(kind: GpuSource) {
    let mut cards = TwoGpus::new(kind);
    cards.change(1, |card| card.broken = true);
    until("it is noticed", || cards.state(1) == "unknown");
    let one = cards.daemon.submit("-g 1", "echo $CUDA_VISIBLE_DEVICES");
    let both = cards.daemon.submit("-g 2", "true");
    assert_eq!(cards.daemon.ask(&["wait", &one]).status, 0);
    assert_eq!(cards.daemon.say(&["logs", &one]), "0\n");
    let why = cards.daemon.say(&["why", &both]);
    assert!(why.contains("GPU 1 unknown"), "{why}");
    assert_eq!(cards.daemon.state(&both), "queued");
    cards.change(1, |card| card.broken = false);
    assert_eq!(cards.daemon.ask(&["wait", &both]).status, 0);
}

#[test]
fn a_gpu_that_does_not_answer_is_unknown_and_not_given_out() {
    check_broken(GpuSource::Nvml);
}

#[test]
fn a_simulated_gpu_that_does_not_answer_is_unknown_and_not_given_out() {
    check_broken(GpuSource::Simulated);
}

#[test]
fn a_server_that_starts_beside_a_foreign_process_gives_out_the_other_gpu() {
    let stranger = Stranger::start();
    let used = GpuReading { pids: vec![stranger.pid()], ..GpuReading::default() };
    let mut cards = TwoGpus::found_as(GpuSource::Nvml, [used, GpuReading::default()]);
    for _ in 0..3 {
        let both = cards.daemon.submit("-g 2", "true");
        let one = cards.daemon.submit("-g 1", "echo $CUDA_VISIBLE_DEVICES");
        assert_eq!(cards.daemon.ask(&["wait", &one]).status, 0);
        assert_eq!(cards.daemon.say(&["logs", &one]), "1\n");
        assert_eq!(cards.daemon.state(&both), "queued");
        cards.daemon.say(&["rm", &both, "--yes"]);
        cards.daemon.crash_and_restart();
    }
}

/// What a GPU uses when nobody does was seen before, and is not what is left on it now.
#[test]
fn a_dirty_gpu_is_dirty_for_the_next_server_too() {
    let mut cards = TwoGpus::new(GpuSource::Nvml);
    cards.change(0, |card| card.unexplained = 2 * GIGABYTE);
    until("it is noticed", || cards.state(0) == "dirty");
    cards.daemon.crash_and_restart();
    let one = cards.daemon.submit("-g 1", "echo $CUDA_VISIBLE_DEVICES");
    assert_eq!(cards.daemon.ask(&["wait", &one]).status, 0);
    assert_eq!(cards.daemon.say(&["logs", &one]), "1\n", "it must not be given out");
    assert_eq!(cards.state(0), "dirty");
}

/// As after a boot, when the server is there before the driver.
#[test]
fn gpus_whose_driver_comes_late_are_found() {
    let directory = tempfile::tempdir().unwrap();
    let library = directory.path().join("late.so");
    let world = directory.path().join("gpus.json");
    let variable =
        |name: &str, path: &std::path::Path| (name.to_owned(), path.display().to_string());
    let variables =
        vec![variable("DANLU_NVML_PATH", &library), variable("DANLU_FAKE_NVML", &world)];
    let setup = Setup { arguments: Vec::new(), variables, gpus: 0, ..Setup::simulated(0) };
    let daemon = Daemon::start_in(directory, setup);
    assert_eq!(daemon.json(&["gpus", "--json"])["gpus"].as_array().map(Vec::len), Some(0));
    two_gpus::publish_nvidia(&world);
    fs::copy(two_gpus::built_library(), &library).unwrap();
    until("they are found", || {
        daemon.json(&["gpus", "--json"])["gpus"].as_array().is_some_and(|gpus| gpus.len() == 2)
    });
    let id = daemon.submit("-g 1", "echo $CUDA_VISIBLE_DEVICES");
    assert_eq!(daemon.ask(&["wait", &id]).status, 0, "{}", daemon.show(&id));
}

/// Told once to the owner of the task, and to administrators as long as it is there.
#[test]
fn a_stranger_on_a_gpu_of_a_task_is_told_of_once() {
    let receiver = Receiver::start();
    let hook = format!("[notify.webhook.hook]\nurl = \"{}\"\n", receiver.url());
    let mut cards = TwoGpus::configured(GpuSource::Nvml, &hook);
    let wanted = serde_json::json!({"notify": {"trouble": true, "channels": ["hook"]}});
    let reply = Connection::open(cards.daemon.socket()).ask(
        "PATCH /api/v1/me",
        "content-type: application/json\r\n",
        wanted.to_string().as_bytes(),
    );
    assert_eq!(reply.status, 200, "{}", reply.body);
    let at = cards.daemon.directory().to_path_buf();
    let line =
        format!("echo $$ > {0}/pid.new; mv {0}/pid.new {0}/pid; exec sleep 1000", at.display());
    let id = cards.daemon.submit("-g 1 --gpu-ids 0", &line);
    until("it runs", || at.join("pid").exists());
    let own: u32 = fs::read_to_string(at.join("pid")).expect("a file").trim().parse().expect("one");
    let stranger = Stranger::start();
    cards.change(0, |card| card.pids = vec![own, stranger.pid()]);
    let all = receiver.wait_for("the owner is told", |all| !all.is_empty());
    assert_eq!(all[0].kind(), "foreign_process", "{all:?}");
    assert_eq!(all[0].body["process"]["pid"], stranger.pid(), "{all:?}");
    assert_eq!(all[0].body["allocated_to"].to_string(), id, "{all:?}");
    let words = format!("pid {}", stranger.pid());
    until("administrators see it", || cards.daemon.say(&["notices"]).contains(&words));
    let audit = cards.daemon.say(&["audit"]);
    assert!(audit.contains("tell of a foreign process on"), "{audit}");
    assert_eq!(cards.daemon.state(&id), "running");
    // It goes, and comes back as another one: that is told, too, and nothing in between.
    cards.change(0, |card| card.pids = vec![own]);
    until("the notice is gone", || !cards.daemon.say(&["notices"]).contains(&words));
    let other = Stranger::start();
    cards.change(0, |card| card.pids = vec![own, other.pid()]);
    let all = receiver.wait_for("the next one", |all| all.len() >= 2);
    assert_eq!(all.len(), 2, "{all:?}");
    assert_eq!(all[1].body["process"]["pid"], other.pid(), "{all:?}");
}

/// Only by an administrator's opt-in, and only where it cannot hit anybody else.
#[test]
fn strangers_on_gpus_of_tasks_are_ended_if_administrators_want_that() {
    let mut cards = TwoGpus::new(GpuSource::Nvml);
    let at = cards.daemon.directory().to_path_buf();
    let line =
        format!("echo $$ > {0}/pid.new; mv {0}/pid.new {0}/pid; exec sleep 1000", at.display());
    let id = cards.daemon.submit("-g 1 --gpu-ids 0", &line);
    until("it runs", || at.join("pid").exists());
    let own: u32 = fs::read_to_string(at.join("pid")).expect("a file").trim().parse().expect("one");
    let (mut on_held, mut on_free, mut roots) =
        (Stranger::of_nobody(), Stranger::of_nobody(), Stranger::start());
    cards.change(0, |card| card.pids = vec![own, on_held.pid(), roots.pid()]);
    cards.change(1, |card| card.pids = vec![on_free.pid()]);
    let words = [on_held.pid(), roots.pid()].map(|pid| format!("pid {pid}"));
    until("both are seen", || {
        let notices = cards.daemon.say(&["notices"]);
        words.iter().all(|word| notices.contains(word))
    });
    assert!(!on_held.has_ended(), "nobody has ordered it");
    cards.daemon.say(&["set", "guard.grace", "1s"]);
    cards.daemon.say(&["set", "guard.end_foreign", "true"]);
    until("it is ended", || on_held.has_ended());
    let audit = cards.daemon.json(&["audit", "--json"]).to_string();
    let ended =
        |pid: u32| audit.contains(&format!("pid {pid} of nobody, allocated to task {id}; rule"));
    assert!(audit.contains("end a foreign process on") && ended(on_held.pid()), "{audit}");
    assert!(!audit.contains(&format!("pid {} of root, allocated to task {id}; rule", roots.pid())));
    assert!(!on_free.has_ended() && !roots.has_ended(), "{audit}");
    assert_eq!(cards.daemon.state(&id), "running");
}
