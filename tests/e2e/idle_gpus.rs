//! GPUs that are held and not used: shown, told, asked about, kept, released and queued again.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use crate::support::daemon::{Daemon, Setup, until};
use crate::support::http::Connection;
use crate::support::receiver::{Received, Receiver};
use crate::support::two_gpus::built_library;
use fakenvml::{FakeGpu, FakeProcess, World};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;

/// A server with one GPU of the fake driver that samples every second, and calls GPUs idle after a few of them.
struct IdleLab {
    daemon: Daemon,
    gpus: PathBuf,
    receiver: Receiver,
}

impl IdleLab {
    fn new() -> IdleLab {
        let (directory, receiver) = (tempfile::tempdir().unwrap(), Receiver::start());
        let (config, gpus) =
            (directory.path().join("danlu.toml"), directory.path().join("gpus.json"));
        let url = receiver.url();
        let text =
            format!("[sampling]\ninterval = \"1s\"\n[notify.webhook.hook]\nurl = \"{url}\"\n");
        fs::write(&config, text).unwrap();
        let variables = vec![
            ("DANLU_NVML_PATH".to_owned(), built_library().display().to_string()),
            ("DANLU_FAKE_NVML".to_owned(), gpus.display().to_string()),
            ("DANLU_TEST_IDLE_SECONDS".to_owned(), "3".to_owned()),
        ];
        let arguments = vec!["--config".to_owned(), config.display().to_string()];
        publish(&gpus, None, 0);
        let setup = Setup { arguments, variables, ..Setup::simulated(1) };
        IdleLab { daemon: Daemon::start_in(directory, setup), gpus, receiver }
    }

    /// Told after three seconds, asked after six.
    fn rule(&self, act: &str, release_after: &str) {
        for (key, value) in [
            ("tell_after", "3s"),
            ("ask_after", "6s"),
            ("release_after", release_after),
            ("act", act),
        ] {
            self.daemon.say(&["set", &format!("idle.{key}"), value]);
        }
    }

    fn gpu(&self) -> Value {
        self.daemon.json(&["gpus", "--json"])["gpus"][0].clone()
    }

    /// What messages there are, once there are so many.
    fn told(&self, count: usize) -> Vec<String> {
        let all = self.receiver.wait_for("the messages", |all| all.len() >= count);
        all.iter().map(Received::kind).map(str::to_owned).collect()
    }

    fn audit(&self) -> String {
        self.daemon.say(&["audit"])
    }
}

/// A process of this id has a gigabyte.
fn publish(file: &std::path::Path, process: Option<u32>, utilization: u32) {
    let used = Some(1 << 30);
    let compute =
        process.map(|pid| FakeProcess { pid, used, utilization: None }).into_iter().collect();
    let gpu = FakeGpu {
        compute,
        used: process.map_or(0, |_| 1 << 30),
        utilization,
        ..FakeGpu::number(0)
    };
    let draft = file.with_extension("new");
    let world = World { gpus: vec![gpu], ..World::default() };
    fs::write(&draft, serde_json::to_vec(&world).unwrap()).unwrap();
    fs::rename(draft, file).unwrap();
}

#[test]
fn idle_gpus_are_shown_told_asked_about_kept_and_released() {
    let mut lab = IdleLab::new();
    let id = lab.daemon.submit("-g 1 --notify end:hook", "exec sleep 1000");
    until("it is idle", || lab.gpu()["idle"]["kind"] == "no_process");
    let gpu = lab.gpu();
    assert!(gpu["idle"]["why"].as_str().unwrap().starts_with("idle for "), "{gpu}");
    assert_eq!(lab.daemon.show(&id)["idle"]["kind"], "no_process");
    for words in
        [lab.daemon.say(&["gpus"]), lab.daemon.say(&["ls"]), lab.daemon.say(&["show", &id])]
    {
        assert!(words.contains("idle for ") && words.contains("(no process)"), "{words}");
    }
    // Time that was seen before a restart counts.
    let before = lab.gpu()["idle"]["since"].as_str().unwrap().to_owned();
    let restarted = jiff::Timestamp::now();
    lab.daemon.terminate();
    lab.daemon.start_again();
    until("it is idle again", || !lab.gpu()["idle"].is_null());
    let since: jiff::Timestamp = lab.gpu()["idle"]["since"].as_str().unwrap().parse().unwrap();
    assert!(since < restarted, "{before} became {since}");
    // Nothing is done about it: that is for administrators to decide.
    assert!(!lab.audit().contains("idle GPUs"), "{}", lab.audit());
    assert_eq!(lab.daemon.state(&id), "running");

    // It has been idle for long enough to be asked about at once, or for a moment less.
    lab.rule("release", "60s");
    let is_asked = |all: &[Received]| all.iter().any(|it| it.kind() == "idle_asked");
    let before = lab.receiver.wait_for("the question", is_asked);
    let asked = before.last().unwrap().body.clone();
    assert_eq!(asked["idle"]["kind"], "no_process", "{asked}");
    assert_eq!(asked["stops"]["act"], "release", "{asked}");
    lab.daemon.say(&["set", "idle.longest_keep", "1h"]);
    // A link in a message leads to a page that only asks.
    let page = Connection::open(lab.daemon.socket()).ask(
        &format!("GET /tasks/{id}/keep"),
        "accept: text/html\r\n",
        b"",
    );
    assert_eq!(page.status, 200);
    assert!(lab.daemon.show(&id)["kept_until"].is_null());
    assert_eq!(
        lab.daemon.say(&["keep", &id, "6s"]),
        format!("kept the GPUs of task {id} for 6s\n")
    );
    assert!(!lab.daemon.show(&id)["kept_until"].is_null());
    // The ladder begins anew after that, and nobody answers.
    lab.daemon.say(&["set", "idle.release_after", "9s"]);
    assert_eq!(lab.daemon.ask(&["wait", &id]).status, 130);
    let told = lab.told(before.len() + 3);
    assert_eq!(told[before.len()..], ["idle", "idle_asked", "end"], "{told:?}");
    let task = lab.daemon.show(&id);
    assert_eq!(task["state"], "cancelled", "{task}");
    assert_eq!(task["failure"]["class"], "idle", "{task}");
    let audit = lab.audit();
    for words in
        ["tell of idle GPUs of", "ask about idle GPUs of", "keep", "stop idle", "no_process since"]
    {
        assert!(audit.contains(words), "{words}: {audit}");
    }
}

#[test]
fn use_begins_anew_and_an_idle_task_is_queued_again_with_time_for_a_checkpoint() {
    let lab = IdleLab::new();
    lab.rule("requeue", "9s");
    let at = lab.daemon.directory().to_owned();
    let line = format!(
        "trap 'test -e $DANLU_PREEMPT_FILE && echo saved >> {0}/checkpoint; exit 0' TERM; \
         echo $$ > {0}/pid.new; mv {0}/pid.new {0}/pid.$DANLU_ATTEMPT; sleep 1000 & wait",
        at.display()
    );
    let id = lab.daemon.submit("-g 1 --notify end:hook", &line);
    until("it runs", || at.join("pid.1").exists());
    let pid: u32 = fs::read_to_string(at.join("pid.1")).unwrap().trim().parse().unwrap();
    publish(&lab.gpus, Some(pid), 0);
    until("it is idle", || lab.gpu()["idle"]["kind"] == "never_used");
    assert_eq!(lab.told(1), ["idle"]);
    publish(&lab.gpus, Some(pid), 90);
    until("it is in use", || lab.gpu()["idle"].is_null());
    until("that is noted", || lab.daemon.show(&id)["idle"].is_null());
    publish(&lab.gpus, Some(pid), 0);
    // Told again, asked, and stopped as for others: the next attempt begins.
    until("it starts again", || at.join("pid.2").exists());
    assert_eq!(fs::read_to_string(at.join("checkpoint")).unwrap(), "saved\n");
    let told = lab.told(4);
    assert_eq!(told[..4], ["idle", "idle", "idle_asked", "requeue"], "{told:?}");
    let runs = lab.daemon.show(&id)["runs"].clone();
    assert_eq!(runs[0]["failure"]["class"], "idle", "{runs}");
    lab.daemon.say(&["set", "idle.act", "none"]);
    lab.daemon.say(&["cancel", &id]);
}

#[test]
fn nobody_is_called_idle_too_soon() {
    let daemon = Daemon::start();
    let said = daemon.ask(&["set", "idle.tell_after", "5m"]);
    assert!(said.status != 0 && said.stderr.contains("at least 30m"), "{said:?}");
    let said = daemon.ask(&["set", "idle.ask_after", "3h"]);
    assert!(said.status != 0 && said.stderr.contains("idle.release_after"), "{said:?}");
    daemon.say(&["set", "idle.release_after", "4h"]);
    daemon.say(&["set", "idle.ask_after", "3h"]);
    let id = daemon.submit("-g 1", "sleep 1000");
    until("it runs", || daemon.state(&id) == "running");
    let said = daemon.ask(&["keep", &id, "2d"]);
    // The server's own user is an administrator.
    assert_eq!(said.status, 0, "{said:?}");
    daemon.say(&["cancel", &id]);
    daemon.ask(&["wait", &id]);
    let said = daemon.ask(&["keep", &id]);
    assert!(said.status != 0 && said.stderr.contains("running tasks"), "{said:?}");
}
