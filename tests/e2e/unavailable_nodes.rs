//! Unavailable machines: what users are told about them and about the tasks there.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use crate::support::daemon::{Daemon, Setup, until};
use crate::support::danlu;
use danlu_core::RunId;
use danlu_core::input::NodeReport;
use danlu_wire::agent::{LogContent, LogPiece};
use danlu_wire::{FromAgent, ToAgent};
use fakeagent::{FakeAgent, facts, idle, started};

/// Five lines, of which the server keeps the last.
const LINES: &str = "b25lCnR3bwp0aHJlZQpmb3VyCmZpdmUK";

/// Does what it is told until its last lines have been asked for; the run that was begun.
fn work(agent: &mut FakeAgent, report: &NodeReport) -> RunId {
    agent.wait_at_most(danlu::LONGEST).unwrap();
    let mut begun = None;
    loop {
        match agent.hear().expect("a server that speaks").expect("a connection") {
            ToAgent::AskReport => agent.say(&FromAgent::Report(report.clone())).unwrap(),
            ToAgent::AskFacts => agent.say(&facts()).unwrap(),
            ToAgent::Launch(order) => {
                begun = Some(order.run);
                agent.say(&started(order.run)).unwrap();
            }
            ToAgent::ReadLog(wanted) => {
                let content = LogContent { offset: 0, size: 24, base64: LINES.to_owned() };
                let piece = LogPiece { ask: wanted.ask, content: Ok(content) };
                agent.say(&FromAgent::Log(piece)).unwrap();
                // The next question shows that this answer was heard.
                agent.say(&facts()).unwrap();
                return begun.expect("it was begun before");
            }
            _ => {}
        }
    }
}

#[test]
fn a_machine_that_is_away_is_shown_with_its_last_contact_and_logs() {
    let daemon = Daemon::start_with(Setup::simulated(1));
    let added = daemon.json(&["node", "add", "far", "--dial-in", "--json"]);
    let token = added["token"].as_str().expect("a token").to_owned();
    let mut agent = FakeAgent::join(daemon.address(), &token, "far").expect("it is let in");
    let worker = std::thread::spawn(move || {
        let run = work(&mut agent, &idle("far", 2));
        (agent, run)
    });
    let state = || {
        let nodes = daemon.json(&["nodes", "--json"])["nodes"].clone();
        let all = nodes.as_array().unwrap().iter().find(|node| node["name"] == "far").cloned();
        all.unwrap()["state"].as_str().unwrap().to_owned()
    };
    until("it is ready", || state() == "ready");
    let id = daemon.submit("-w far -g 1", "true");
    daemon.wait_until(&id, "running");
    let (agent, run) = worker.join().unwrap();
    drop(agent);
    until("it is away", || state() == "down");

    let said = daemon.say(&["nodes"]);
    assert!(said.contains("far: down since ") && said.contains("closed"), "{said}");
    assert!(said.contains("hint: "), "{said}");
    let said = danlu::said(daemon.command(&["nodes"]).env("DANLU_LANG", "zh"));
    assert!(said.stdout.contains("离线") && said.stdout.contains("连接已关闭"), "{said:?}");
    let said = danlu::said(daemon.command(&["node", "check", "far"]).env("DANLU_LANG", "zh"));
    assert_eq!(said.status, 75, "{said:?}");
    assert!(said.stderr.contains("连接已关闭\n提示：请检查其代理"), "{said:?}");

    until("its last lines are kept", || daemon.ask(&["logs", &id]).status == 0);
    assert_eq!(daemon.say(&["logs", "-n", "2", &id]), "four\nfive\n");
    assert_eq!(daemon.say(&["logs", &id]).lines().count(), 5);

    // Tasks are named as people know them.
    daemon.say(&["node", "drain", "far"]);
    let said = daemon.ask(&["node", "remove", "far"]);
    assert_eq!(said.status, 64, "{said:?}");
    assert!(said.stderr.contains(&format!("far: {id}")), "{said:?}");
    assert!(!said.stderr.contains(&run.to_string()), "{said:?}");
    assert!(!said.stderr.contains("drain it first") && !said.stderr.contains("NAME"), "{said:?}");
    assert!(said.stderr.contains("danlu node declare-lost far"), "{said:?}");

    // It is not cancelled before the machine has heard of it.
    let said = daemon.say(&["cancel", "-y", &id]);
    assert_eq!(said, format!("task {id} will be cancelled when far is back\n"));
    assert_ne!(daemon.state(&id), "cancelled");
    let said = danlu::said(daemon.command(&["cancel", "-y", &id]).env("DANLU_LANG", "zh"));
    assert!(said.stdout.contains("恢复连接后取消") || said.status != 0, "{said:?}");
}

#[test]
fn one_machine_under_two_names_is_noticed() {
    let daemon = Daemon::start_with(Setup::simulated(1));
    let mut agents = Vec::new();
    for (name, machine) in [("one", "same"), ("two", "same"), ("other", "other")] {
        let added = daemon.json(&["node", "add", name, "--dial-in", "--json"]);
        let token = added["token"].as_str().expect("a token").to_owned();
        let mut agent = FakeAgent::dial(daemon.address(), &token).expect("it is let in");
        agent.greet_as(machine, |hello| hello.boot_id = Some(machine.to_owned())).unwrap();
        agents.push(agent);
    }
    let same_as = |name: &str| {
        let nodes = daemon.json(&["nodes", "--json"])["nodes"].clone();
        let node = nodes.as_array().unwrap().iter().find(|node| node["name"] == name).cloned();
        node.unwrap()["same_as"].clone()
    };
    until("both have come", || same_as("one") == serde_json::json!(["two"]));
    until("both have come", || same_as("two") == serde_json::json!(["one"]));
    assert!(same_as("other").is_null());
    let said = daemon.ask(&["nodes"]);
    let warning = "one looks like the same machine as two";
    assert_eq!(said.stderr.matches(warning).count(), 1, "{said:?}");
    let said = daemon.ask(&["node", "check", "two"]);
    assert!(said.stdout.contains("looks like the same machine as one"), "{said:?}");
    // By its address alone, before anybody has been there.
    daemon.say(&["node", "add", "a", "--ssh", "root@127.0.0.1:1"]);
    let said = daemon.ask(&["node", "add", "b", "--ssh", "nobody@127.0.0.1:1"]);
    assert!(said.stderr.contains("b looks like the same machine as a"), "{said:?}");
    drop(agents);
}

/// Answers until it has told what it has.
fn tell(agent: &mut FakeAgent, report: &NodeReport) {
    agent.wait_at_most(danlu::LONGEST).unwrap();
    loop {
        match agent.hear().expect("a server that speaks").expect("a connection") {
            ToAgent::AskReport => return agent.say(&FromAgent::Report(report.clone())).unwrap(),
            ToAgent::AskFacts => agent.say(&facts()).unwrap(),
            _ => {}
        }
    }
}

fn join(daemon: &Daemon, name: &str, report: &NodeReport) -> FakeAgent {
    let added = daemon.json(&["node", "add", name, "--dial-in", "--json"]);
    let token = added["token"].as_str().expect("a token").to_owned();
    let mut agent = FakeAgent::join(daemon.address(), &token, name).expect("it is let in");
    tell(&mut agent, report);
    agent
}

fn field(daemon: &Daemon, name: &str, field: &str) -> serde_json::Value {
    let nodes = daemon.json(&["nodes", "--json"])["nodes"].clone();
    let node = nodes.as_array().unwrap().iter().find(|node| node["name"] == name).cloned();
    node.unwrap()[field].clone()
}

#[test]
fn why_a_machine_cannot_be_reached_is_told_in_the_language_of_the_reader() {
    let daemon = Daemon::start_with(Setup::simulated(1));
    // No sshd listens there.
    daemon.say(&["node", "add", "far", "--ssh", "127.0.0.1:1"]);
    let check = |language| {
        let mut command = daemon.command(&["node", "check", "far"]);
        let said = danlu::said(command.env("DANLU_LANG", language));
        assert_eq!(said.status, 75, "{said:?}");
        said.stderr
    };
    let (english, chinese) = (check("en"), check("zh"));
    assert!(english.contains("its sshd cannot be reached: "), "{english}");
    assert!(english.contains("hint: check that the machine is on"), "{english}");
    assert!(chinese.contains("无法连接其 sshd：") && chinese.contains("refused"), "{chinese}");
    assert!(chinese.contains("提示：请确认机器已开机"), "{chinese}");
    let said = danlu::said(daemon.command(&["nodes"]).env("DANLU_LANG", "zh"));
    assert!(said.stdout.contains("无法连接其 sshd："), "{said:?}");
    assert!(field(&daemon, "far", "problem").as_str().unwrap().is_ascii());
}

#[test]
fn a_machine_that_cannot_start_tasks_says_why() {
    let daemon = Daemon::start_with(Setup::simulated(1));
    let mut report = idle("far", 1);
    let full = danlu_core::Trouble::new(danlu_core::TroubleKind::DiskFull, "no space in /runs");
    report.trouble = Some(full);
    let mut agent = join(&daemon, "far", &report);
    until("it is unfit", || field(&daemon, "far", "state") == "unfit");
    let said = daemon.say(&["nodes"]);
    assert!(said.contains("far: unfit since ") && said.contains("no space in /runs"), "{said}");
    assert!(said.contains("hint: make room there"), "{said}");
    let said = danlu::said(daemon.command(&["nodes"]).env("DANLU_LANG", "zh"));
    assert!(said.stdout.contains("异常") && said.stdout.contains("清理磁盘"), "{said:?}");
    let id = daemon.submit("-w far -g 1", "true");
    until("it says why it waits", || {
        daemon.ask(&["why", &id]).stdout.contains("no space in /runs")
    });
    report.trouble = None;
    agent.say(&FromAgent::Report(report)).unwrap();
    until("it is well", || field(&daemon, "far", "state") == "ready");
    assert!(field(&daemon, "far", "problem").is_null());
}
#[test]
fn a_gpu_that_two_machines_report_is_named_with_both() {
    let daemon = Daemon::start_with(Setup::simulated(1));
    let report = idle("same", 1);
    let _one = join(&daemon, "one", &report);
    until("it is ready", || field(&daemon, "one", "state") == "ready");
    let _two = join(&daemon, "two", &report);
    until("it is ready", || field(&daemon, "two", "state") == "ready");
    let states = || {
        let gpus = daemon.json(&["gpus", "--json"])["gpus"].clone();
        let of = |name: &str| {
            let gpu = gpus.as_array().unwrap().iter().find(|gpu| gpu["node"] == name).cloned();
            let gpu = gpu.unwrap();
            (gpu["state"].as_str().unwrap().to_owned(), gpu["also_on"][0].clone())
        };
        [of("one"), of("two")]
    };
    let conflict = |other: &str| ("conflict".to_owned(), other.into());
    until("both are in conflict", || states() == [conflict("two"), conflict("one")]);
    let said = daemon.ask(&["gpus"]);
    assert!(said.stderr.contains("is reported by both one and two"), "{said:?}");
    assert!(said.stderr.contains("danlu gpu disable 0 --node one"), "{said:?}");
    let said = danlu::said(daemon.command(&["gpus"]).env("DANLU_LANG", "zh"));
    assert!(said.stderr.contains("one 和 two") && said.stdout.contains("冲突"), "{said:?}");
    for name in ["one", "two"] {
        let id = daemon.submit(&format!("-w {name} -g 1"), "true");
        until("it says why it waits", || {
            let said = daemon.ask(&["why", &id]);
            said.stdout.contains("one and two")
        });
    }
    // As the hint says.
    daemon.say(&["gpu", "disable", "0", "--node", "one"]);
    until("the other gives it out", || {
        let [one, two] = states();
        one.0 == "disabled" && two.0 != "conflict"
    });
}
