//! Agents that lie, flood or stay silent harm only themselves.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use std::time::Duration;

use crate::support::daemon::{Daemon, Setup, until};
use crate::support::danlu;
use danlu_core::input::NodeReport;
use danlu_core::run::{ReportedState, RunReport};
use danlu_core::{Epoch, RunId, Time};
use danlu_wire::agent::{Facts, OLDEST_PROTOCOL, PROTOCOL};
use danlu_wire::{FromAgent, ToAgent};
use fakeagent::{FakeAgent, ended, facts, idle, started};

fn daemon() -> Daemon {
    Daemon::start_with(Setup::simulated(2))
}

fn token(daemon: &Daemon, name: &str) -> String {
    let added = daemon.json(&["node", "add", name, "--dial-in", "--json"]);
    added["token"].as_str().expect("a token").to_owned()
}

/// Connected, with two GPUs, and ready to be lied with.
fn rogue(daemon: &Daemon, name: &str) -> FakeAgent {
    let token = token(daemon, name);
    let mut agent = FakeAgent::join(daemon.address(), &token, name).expect("it is let in");
    report(&mut agent, &idle(name, 2));
    until("it is ready", || state(daemon, name) == "ready");
    agent
}

/// Answers the first question for a report.
fn report(agent: &mut FakeAgent, report: &NodeReport) {
    agent.wait_at_most(danlu::LONGEST).unwrap();
    loop {
        match agent.hear().expect("a server that speaks").expect("a connection") {
            ToAgent::AskReport => return agent.say(&FromAgent::Report(report.clone())).unwrap(),
            ToAgent::AskFacts => agent.say(&facts()).unwrap(),
            _ => {}
        }
    }
}

fn state(daemon: &Daemon, name: &str) -> String {
    let nodes = daemon.json(&["nodes", "--json"]);
    let all = nodes["nodes"].as_array().unwrap();
    let node = all.iter().find(|node| node["name"] == name).unwrap();
    node["state"].as_str().unwrap().to_owned()
}

/// Until the server has had enough of it.
fn is_thrown_out(agent: &mut FakeAgent) {
    agent.wait_at_most(danlu::LONGEST).unwrap();
    while let Ok(Some(_)) = agent.hear() {}
}

/// As the server writes it: epoch and number.
fn run_id(daemon: &Daemon, id: &str) -> RunId {
    let task = daemon.show(id);
    let text = task["runs"][0]["run"].as_str().expect("a run").to_owned();
    let (epoch, number) = text.split_once('-').expect("both");
    RunId { epoch: Epoch(epoch.parse().unwrap()), number: number.parse().unwrap() }
}

#[test]
fn runs_of_others_are_not_touched() {
    let daemon = daemon();
    let gate = daemon.directory().join("gate");
    let line = format!("while ! [ -e {} ]; do sleep 0.05; done; exit 7", gate.display());
    let nodes = daemon.json(&["nodes", "--json"]);
    let local = nodes["nodes"][0]["name"].as_str().unwrap();
    let id = daemon.submit(&format!("-g 1 -w {local}"), &line);
    daemon.wait_until(&id, "running");
    let run = run_id(&daemon, &id);
    let mut agent = rogue(&daemon, "rogue");
    // It ends what runs elsewhere, ends it again, starts it again, and claims to have it.
    agent.say_all(&[ended(run, 0), started(run), ended(run, 1)]).unwrap();
    let alive = ReportedState::Alive { since: Time(0), paused: false, limit: None };
    let mut lie = idle("rogue", 2);
    lie.runs.push(RunReport::new(run, alive));
    let never = RunId { epoch: Epoch(999), number: 999_999 };
    if let FromAgent::Ended { ending, .. } = ended(run, 0) {
        lie.runs.push(RunReport::new(never, ReportedState::Ended(ending)));
    }
    agent.say(&FromAgent::Report(lie)).unwrap();
    agent.say(&facts()).unwrap();
    // The server answers it: what it claims to run must not run there.
    agent.wait_at_most(danlu::LONGEST).unwrap();
    while !matches!(agent.hear().unwrap(), Some(ToAgent::Stop { .. } | ToAgent::Forget { .. })) {}
    assert_eq!(daemon.state(&id), "running");
    std::fs::write(gate, "").unwrap();
    assert_eq!(daemon.ask(&["wait", &id]).status, 7);
}

#[test]
fn malformed_messages_end_the_connection() {
    let daemon = daemon();
    let mut sent = 0;
    let mut next = || {
        sent += 1;
        rogue(&daemon, &format!("rogue{sent}"))
    };
    let mut agent = next();
    agent.send(b"this is not a message\n".to_vec()).unwrap();
    is_thrown_out(&mut agent);
    let mut agent = next();
    agent.send_text("nor is this").unwrap();
    is_thrown_out(&mut agent);
    // More GPUs than a machine can have.
    let mut agent = next();
    agent.say(&FromAgent::Report(idle("rogue", 5_000))).unwrap();
    is_thrown_out(&mut agent);
    let said = daemon.ask(&["node", "check", "rogue3"]);
    assert!(said.stderr.contains("5000 GPUs"), "{said:?}");
    // A message without an end.
    let mut agent = next();
    while agent.send(vec![b'x'; 512 << 10]).is_ok() {}
    is_thrown_out(&mut agent);
    // A piece that is larger than any.
    let mut agent = next();
    let _ = agent.send(vec![b' '; 4 << 20]);
    is_thrown_out(&mut agent);
    for number in 1..=sent {
        until("it counts as away", || state(&daemon, &format!("rogue{number}")) == "down");
    }
    // Everybody else goes on.
    let id = daemon.submit("-g 1", "exit 4");
    assert_eq!(daemon.ask(&["wait", &id]).status, 4);
}

#[test]
fn what_an_agent_tells_of_itself_is_short_and_plain() {
    let daemon = daemon();
    let token = token(&daemon, "loud");
    let loud = format!("\u{1b}]0;pwned\u{7}\u{9b}2J\r\n\u{202e}{}", "x".repeat(100_000));
    let mut agent = FakeAgent::dial(daemon.address(), &token).unwrap();
    let shout = |hello: &mut danlu_wire::Hello| {
        hello.version.clone_from(&loud);
        hello.boot_id = Some(loud.clone());
        let machine = hello.machine.as_mut().unwrap();
        (machine.host_name, machine.login) = (loud.clone(), loud.clone());
        machine.id.clone_from(&loud);
    };
    agent.greet_as("loud", shout).unwrap();
    let mut gpus = idle("loud", 2);
    gpus.gpus[0].model.clone_from(&loud);
    gpus.gpus[1].broken = Some(loud.clone());
    report(&mut agent, &gpus);
    until("it is ready", || state(&daemon, "loud") == "ready");
    let facts = Facts {
        probe: loud.clone(),
        system: loud.clone(),
        directory: loud.clone(),
        file_system: loud.clone(),
        driver: Some(loud.clone()),
        disk_free: Some(1 << 40),
        disk_total: Some(1 << 41),
        now: Time(0),
        ..Facts::default()
    };
    agent.say(&FromAgent::Facts(facts)).unwrap();
    until("it is known", || daemon.say(&["nodes", "--json"]).contains("pwned"));
    until("facts are known", || {
        let said = daemon.json(&["nodes", "--json"])["nodes"].clone();
        said.as_array().unwrap().iter().any(|node| node["disk_free"] == 1_u64 << 40)
    });
    let id = daemon.submit("-w loud -g 1", "true");
    let run = run_id_of_launch(&mut agent);
    let FromAgent::Ended { mut ending, used, .. } = ended(run, 1) else { unreachable!() };
    ending.exit = danlu_core::run::Exit::Launch { message: loud.clone() };
    agent.say(&FromAgent::Ended { run, ending, used }).unwrap();
    daemon.wait_until(&id, "failed");
    let pages = [
        daemon.say(&["nodes", "--json"]),
        daemon.say(&["nodes"]),
        // Its clock is wrong.
        daemon.ask(&["node", "check", "loud"]).stdout,
        daemon.ask(&["node", "check", "loud"]).stderr,
        daemon.ask(&["node", "check", "loud", "--json"]).stdout,
        daemon.say(&["gpus", "--json"]),
        daemon.say(&["show", &id, "--json"]),
    ];
    for page in pages {
        assert!(page.len() < 20_000, "{} bytes: {:.300}", page.len(), page);
        let odd = |it: char| it.is_control() && it != '\n' || it == '\u{202e}';
        assert!(!page.contains(odd) && !page.contains("\\u001b"), "{page:.2000}");
    }
    // What would have to be changed to be used is refused.
    gpus.gpus[0].id = loud.as_str().into();
    agent.say(&FromAgent::Report(gpus)).unwrap();
    is_thrown_out(&mut agent);
}

fn run_id_of_launch(agent: &mut FakeAgent) -> RunId {
    loop {
        let heard = agent.hear().expect("a server that speaks").expect("a connection");
        if let ToAgent::Launch(order) = heard {
            return order.run;
        }
    }
}

#[test]
fn agents_of_the_previous_and_next_release_work() {
    let daemon = daemon();
    let next = PROTOCOL + 1;
    let cases = [
        (OLDEST_PROTOCOL, None, true),
        (next, Some(PROTOCOL), true),
        (next, Some(next), false),
        (OLDEST_PROTOCOL - 1, None, false),
    ];
    for (number, (protocol, oldest, good)) in cases.into_iter().enumerate() {
        let name = format!("m{number}");
        let token = token(&daemon, &name);
        let mut agent = FakeAgent::dial(daemon.address(), &token).unwrap();
        let older = |hello: &mut danlu_wire::Hello| {
            (hello.protocol, hello.oldest_protocol) = (protocol, oldest);
        };
        agent.greet_as(&name, older).unwrap();
        if good {
            report(&mut agent, &idle(&name, 1));
            until("it is ready", || state(&daemon, &name) == "ready");
        } else {
            is_thrown_out(&mut agent);
            let said = daemon.ask(&["node", "check", &name]);
            assert_eq!(said.status, 75, "{said:?}");
            assert!(
                said.stderr.contains("protocol") && said.stderr.contains("release"),
                "{said:?}"
            );
        }
    }
}

#[test]
fn a_flood_of_messages_delays_no_other_machine() {
    let daemon = daemon();
    let mut agent = rogue(&daemon, "rogue");
    let before = memory(&daemon);
    let flood = std::thread::spawn(move || {
        let gpus = idle("rogue", 2).gpus;
        let lies: Vec<FromAgent> = (0..500)
            .flat_map(|number| {
                let run = RunId { epoch: Epoch(1), number };
                [started(run), ended(run, 0), FromAgent::Gpus(gpus.clone()), facts()]
            })
            .collect();
        // Nobody reads what the server says to it, either.
        for _ in 0..100 {
            if agent.say_all(&lies).is_err() {
                return;
            }
        }
    });
    for _ in 0..20 {
        let id = daemon.submit("-g 1", "exit 6");
        assert_eq!(daemon.ask(&["wait", &id]).status, 6);
    }
    flood.join().unwrap();
    let grown = memory(&daemon).saturating_sub(before);
    assert!(grown < 100 << 10, "the server has grown by {grown} kB");
}

/// In kB.
fn memory(daemon: &Daemon) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", daemon.pid())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn a_silent_agent_delays_no_request() {
    let daemon = daemon();
    let token = token(&daemon, "silent");
    let mute: Vec<FakeAgent> =
        (0..50).map(|_| FakeAgent::dial(daemon.address(), &token).expect("let in")).collect();
    let id = daemon.submit("-g 1", "exit 2");
    assert_eq!(daemon.ask(&["wait", &id]).status, 2);
    // The right one comes all the same.
    let mut agent = FakeAgent::join(daemon.address(), &token, "silent").unwrap();
    report(&mut agent, &idle("silent", 2));
    until("it is ready", || state(&daemon, "silent") == "ready");
    drop(mute);
}

#[test]
fn the_token_of_another_machine_opens_nothing() {
    let daemon = daemon();
    let right = token(&daemon, "right");
    let mut agent = FakeAgent::join(daemon.address(), &right, "right").unwrap();
    report(&mut agent, &idle("right", 2));
    until("it is ready", || state(&daemon, "right") == "ready");
    let mut thief = FakeAgent::join(daemon.address(), &right, "another machine").unwrap();
    is_thrown_out(&mut thief);
    assert_eq!(state(&daemon, "right"), "ready");
    agent.say(&facts()).expect("it is still heard");
    for (token, status) in [("", 401), ("wrong", 401), (right.to_uppercase().as_str(), 401)] {
        assert_eq!(FakeAgent::dial(daemon.address(), token).err(), Some(status), "{token}");
    }
    // Nor does a token of a machine open anything that is a person's.
    let said = danlu::said(
        danlu::command("en")
            .args(["ls"])
            .env("DANLU_SERVER", format!("http://{}", daemon.address()))
            .env("DANLU_TOKEN", &right),
    );
    assert_ne!(said.status, 0, "{said:?}");
    let _ = agent.wait_at_most(Duration::from_millis(1));
}
