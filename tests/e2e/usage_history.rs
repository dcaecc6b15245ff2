//! The history of use: from the driver's numbers to the API, the card and the pages' charts.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use std::{fs, path::Path, process};

use danlu_wire::agent::TELLS_SAMPLES;
use danlu_wire::gpu::{GpuDetails, Health, Vendor};
use danlu_wire::{FromAgent, ToAgent};
use fakeagent::{FakeAgent, facts, idle};
use fakenvml::{FakeGpu, FakeProcess, World};
use serde_json::Value;

use crate::support::daemon::{Daemon, Setup, until};
use crate::support::danlu::LONGEST;
use crate::support::http::Connection;
use crate::support::receiver::Receiver;
use crate::support::two_gpus::built_library;

/// A server that samples every second, with more in its configuration.
fn daemon(setup: Setup, more: &str) -> Daemon {
    let directory = tempfile::tempdir().unwrap();
    let config = directory.path().join("danlu.toml");
    fs::write(&config, format!("[sampling]\ninterval = \"1s\"\n{more}")).unwrap();
    let mut setup = setup;
    setup.arguments.extend(["--config".to_owned(), config.display().to_string()]);
    Daemon::start_in(directory, setup)
}

#[track_caller]
fn usage(daemon: &Daemon, path: &str) -> Value {
    let reply = Connection::open(daemon.socket()).ask(&format!("GET /api/v1{path}"), "", b"");
    assert_eq!(reply.status, 200, "{path}: {}", reply.body);
    reply.body
}

/// The values of one metric, of whatever it is.
fn values(usage: &Value, metric: &str) -> Vec<f64> {
    let series = usage["series"].as_array().unwrap().iter();
    let of = series.filter(|one| one["metric"] == metric);
    of.flat_map(|one| one["mean"].as_array().unwrap()).filter_map(Value::as_f64).collect()
}

fn local(daemon: &Daemon) -> String {
    daemon.json(&["nodes", "--json"])["nodes"][0]["name"].as_str().unwrap().to_owned()
}

fn publish(file: &Path, gpu: FakeGpu) {
    let world = World { gpus: vec![gpu], ..World::default() };
    let draft = file.with_extension("new");
    fs::write(&draft, serde_json::to_vec(&world).unwrap()).unwrap();
    fs::rename(draft, file).unwrap();
}

#[test]
fn a_run_has_what_it_uses_itself_over_its_own_life() {
    let world = tempfile::tempdir().unwrap();
    let file = world.path().join("gpus.json");
    publish(&file, FakeGpu::number(0));
    let variables = vec![
        ("DANLU_NVML_PATH".to_owned(), built_library().display().to_string()),
        ("DANLU_FAKE_NVML".to_owned(), file.display().to_string()),
    ];
    let setup = Setup { arguments: Vec::new(), variables, ..Setup::simulated(1) };
    let mut daemon = daemon(setup, "");
    let at = daemon.directory().to_owned();
    let line =
        format!("echo $$ > {0}/pid; while [ ! -e {0}/go ]; do sleep 0.05; done", at.display());
    let id = daemon.submit("-g 1", &line);
    let pid = || fs::read_to_string(at.join("pid")).unwrap_or_default().trim().parse::<u32>().ok();
    until("it runs", || pid().is_some());
    // Somebody else computes on the same card, and uses more of it.
    let process =
        |pid, used, percent| FakeProcess { pid, used: Some(used), utilization: Some(percent) };
    let compute = vec![process(pid().unwrap(), 1 << 30, 30), process(process::id(), 8 << 30, 50)];
    publish(&file, FakeGpu { compute, used: 9 << 30, utilization: 80, ..FakeGpu::number(0) });
    let path = format!("/tasks/{id}/usage");
    until("it is measured", || values(&usage(&daemon, &path), "gpu_utilization").contains(&30.0));
    let card = usage(&daemon, &format!("/gpus/{}:0/usage", local(&daemon)));
    assert!(values(&card, "gpu_utilization").contains(&80.0), "{card}");
    fs::write(at.join("go"), "").unwrap();
    daemon.wait_until(&id, "succeeded");

    let seen = usage(&daemon, &format!("{path}?from=7d"));
    let highest = |metric| values(&seen, metric).into_iter().fold(0.0, f64::max);
    assert_eq!((highest("gpu_utilization"), highest("gpu_memory")), (30.0, 1024.0), "{seen}");
    assert!(!values(&seen, "cores").is_empty() && highest("memory") > 0.0, "{seen}");
    let (from, to) =
        (seen["attempts"][0]["started"].as_i64(), seen["attempts"][0]["ended"].as_i64());
    assert_eq!((seen["from"].as_i64(), seen["to"].as_i64()), (from, to), "its own life");
    for one in seen["series"].as_array().unwrap() {
        let at = one["at"].as_array().unwrap().iter().map(Value::as_i64);
        assert!(at.clone().all(|at| at >= from && at <= to), "{one}");
    }
    // After a restart all of it is still there.
    daemon.terminate();
    daemon.start_again();
    assert_eq!(usage(&daemon, &path)["series"], seen["series"]);
    let efficiency = daemon.show(&id)["runs"][0]["efficiency"].take();
    assert_eq!(efficiency["gpu_utilization_peak"], 30, "{efficiency}");
    assert_eq!(efficiency["gpu_memory_peak"], 1_u64 << 30, "{efficiency}");
    assert_eq!(efficiency["advice"], serde_json::json!([]), "it was too short for advice");
    assert!(
        daemon.say(&["show", &id]).contains("GPU use       "),
        "{}",
        daemon.say(&["show", &id])
    );

    daemon.say(&["rm", &id, "--yes"]);
    let mut connection = Connection::open(daemon.socket());
    assert_eq!(connection.ask(&format!("GET /api/v1{path}"), "", b"").status, 404);
}

#[test]
fn metrics_of_one_s_own_are_kept_and_their_failures_told() {
    let metric = |name: &str, command: &str, per: &str| {
        format!(
            "[[metric]]\nname = \"{name}\"\ncommand = \"{command}\"\nper = \"{per}\"\nunit = \"x\"\n\
             interval = \"1s\"\ntimeout = \"1s\"\n"
        )
    };
    let more = metric("inlet", "echo 21.5", "machine")
        + &metric("fan", "printf '1 55\\\\n0 40\\\\n'", "gpu")
        + &metric("hangs", "sh -c 'sleep 100 & sleep 100'", "machine")
        + &metric("rubbish", "echo much", "machine");
    let daemon = daemon(Setup::simulated(2), &more);
    let name = local(&daemon);
    let node = || usage(&daemon, &format!("/nodes/{name}/usage"));
    until("the machine is measured", || values(&node(), "inlet").contains(&21.5));
    let gpu = |index| usage(&daemon, &format!("/gpus/{name}:{index}/usage"));
    until("the GPUs are", || {
        values(&gpu(0), "fan").contains(&40.0) && values(&gpu(1), "fan").contains(&55.0)
    });
    let told = || daemon.say(&["nodes"]);
    until("failures are told", || {
        told().contains("metric hangs: ") && told().contains("metric rubbish: ")
    });
    assert!(told().contains("did not print numbers, but: much"), "{}", told());
    let series = node()["series"].as_array().unwrap().clone();
    let unit = series.iter().find(|one| one["metric"] == "inlet").map(|one| one["unit"].clone());
    assert_eq!(unit, Some("x".into()));
    // Ended with the server, with all that it has started.
    assert!(daemon.ask(&["doctor"]).stdout.contains("metric rubbish"));
}

#[test]
fn an_agent_of_before_gives_the_use_of_its_gpus() {
    let daemon = daemon(Setup::simulated(1), "");
    let added = daemon.json(&["node", "add", "old", "--dial-in", "--json"]);
    let token = added["token"].as_str().unwrap();
    let mut agent = FakeAgent::dial(daemon.address(), token).unwrap();
    agent.greet_as("old", |hello| hello.protocol = TELLS_SAMPLES - 1).unwrap();
    agent.wait_at_most(LONGEST).unwrap();
    let reported = loop {
        match agent.hear().unwrap().expect("a connection") {
            ToAgent::AskReport => break agent.say(&FromAgent::Report(idle("old", 1))),
            ToAgent::Sampling(_) => panic!("it does not know this order"),
            _ => {}
        }
    };
    reported.unwrap();
    until("its GPU is known", || {
        let gpus = daemon.json(&["gpus", "--json"])["gpus"].clone();
        gpus.as_array().unwrap().iter().any(|gpu| gpu["node"] == "old")
    });
    agent.say_all(&[FromAgent::Details(vec![card(42)]), facts()]).unwrap();
    until("its GPU has a history", || {
        let seen = usage(&daemon, "/gpus/old:0/usage");
        values(&seen, "gpu_utilization").contains(&42.0)
    });
}

fn card(utilization: u8) -> GpuDetails {
    GpuDetails {
        uuid: "GPU-old-0".into(),
        index: 0,
        pci_bus_id: "0000:01:00.0".into(),
        vendor: Vendor::Nvidia,
        model: "Fake".into(),
        memory_total: 24 << 30,
        memory_used: Some(1 << 30),
        used_above_baseline: None,
        utilization: Some(utilization),
        utilization_history: vec![utilization],
        temperature: Some(50),
        power: Some(100),
        foreign: Vec::new(),
        own: Vec::new(),
        health: Health::default(),
        mig: None,
        neighbours: Vec::new(),
        lost: false,
        fault: None,
    }
}

#[test]
fn simulated_gpus_are_used_by_what_runs_on_them() {
    let mut setup = Setup::simulated(2);
    setup.variables.push(("DANLU_SIM_LOAD".to_owned(), "1".to_owned()));
    let daemon = daemon(setup, "");
    let id = daemon.submit("-g 1", "sleep 600");
    let gpu = |index: usize| daemon.json(&["gpus", "--json"])["gpus"][index].clone();
    until("its load rises", || gpu(0)["utilization"].as_u64() > Some(20));
    assert!(gpu(0)["memory_used"].as_u64() > Some(64 << 20), "{}", gpu(0));
    assert_eq!(gpu(1)["utilization"], 0, "the other one does nothing");
    until("it gets warm", || gpu(0)["temperature"].as_u64() > Some(32));
    daemon.say(&["cancel", &id]);
    until("it rests", || gpu(0)["utilization"] == 0 && gpu(0)["memory_used"] == 0);
}

/// From the samples to the message about the end, and to the report.
#[test]
fn the_message_of_the_end_has_the_efficiency_card() {
    let receiver = Receiver::start();
    let mut setup = Setup::simulated(1);
    setup.variables.push(("DANLU_SIM_LOAD".to_owned(), "1".to_owned()));
    let daemon = daemon(setup, &format!("[notify.webhook.hook]\nurl = \"{}\"\n", receiver.url()));
    let id = daemon.submit("-g 1 --notify start,end:hook", "sleep 600");
    let path = format!("/tasks/{id}/usage");
    until("it is measured", || {
        values(&usage(&daemon, &path), "gpu_utilization").iter().any(|percent| *percent > 0.0)
    });
    daemon.say(&["cancel", &id]);
    let messages = receiver.wait_for("start and end", |all| all.len() >= 2);
    assert!(messages[0].body["efficiency"].is_null(), "it has only begun: {:?}", messages[0]);
    let seen = &messages[1].body["efficiency"];
    assert!(seen["gpu_utilization_peak"].as_u64() > Some(0), "{:?}", messages[1]);
    let text = messages[1].body["text"].as_str().unwrap();
    assert!(text.contains("GPU use: ") && text.contains("GPU memory at most: "), "{text}");
    let report = daemon.json(&["report", "--json", "--by", "model"])["report"].clone();
    let total = &report["total"];
    assert!(total["gpu_utilization"].as_f64() > Some(0.0), "{report}");
    assert!(total["measured_gpu_hours"].as_f64() > Some(0.0), "{report}");
    assert!(total["measured_gpu_hours"].as_f64() <= total["gpu_hours"].as_f64().map(|it| it * 2.0));
    assert!(report["groups"][0]["key"]["model"].is_string(), "{report}");
}

#[test]
fn questions_that_make_no_sense_are_refused() {
    let daemon = daemon(Setup::simulated(1), "");
    let mut connection = Connection::open(daemon.socket());
    for path in
        ["/tasks/99/usage", "/gpus/nowhere:0/usage", "/gpus/x/usage", "/nodes/nowhere/usage"]
    {
        assert_eq!(connection.ask(&format!("GET /api/v1{path}"), "", b"").status, 404, "{path}");
    }
    let id = daemon.submit("-g 1", "true");
    daemon.wait_until(&id, "succeeded");
    for query in ["from=soon", "points=many", "from=1d&to=7d", "run=9"] {
        let asked = format!("GET /api/v1/tasks/{id}/usage?{query}");
        let status = connection.ask(&asked, "", b"").status;
        assert!((400..500).contains(&status), "{query}: {status}");
    }
    let asked = format!("GET /api/v1/tasks/{id}/usage?from=1d&to=7d");
    let reply = connection.ask(&asked, "", b"");
    let said = reply.body["error"]["message"].as_str().unwrap_or_default();
    assert!(reply.status == 409 && said.contains("ends before it begins"), "{reply:?}");
    // It ended before it was measured, and that is said by an empty list.
    assert_eq!(usage(&daemon, &format!("/tasks/{id}/usage?points=5"))["v"], 1);
}
