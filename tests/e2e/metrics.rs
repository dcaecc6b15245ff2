//! `GET /metrics`: what Prometheus is told, who may read it, and that it is true.

use crate::support::daemon::{Daemon, Setup, until};
use crate::support::danlu::skip;
use crate::support::http::Connection;
use flate2::read::GzDecoder;
use serde_json::Value;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;
use std::{env, fs};

/// A server with this configuration; `{dir}` stands for the test's directory, with a token in `token`.
fn server(config: &str) -> Daemon {
    let directory = tempfile::tempdir().expect("a directory");
    let token = directory.path().join("token");
    fs::write(&token, "scrape me\n").expect("a file");
    fs::set_permissions(&token, fs::Permissions::from_mode(0o600)).expect("it is ours");
    let path = directory.path().join("danlu.toml");
    let text = config.replace("{dir}", &directory.path().display().to_string());
    fs::write(&path, text).expect("a file");
    let mut setup = Setup::simulated(4);
    setup.arguments.extend(["--config".to_owned(), path.display().to_string()]);
    Daemon::start_in(directory, setup)
}

fn read(daemon: &Daemon) -> String {
    Connection::open(daemon.socket()).text("GET /metrics", "")
}

/// The value of the line that begins with this name and these labels.
fn value(text: &str, series: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
    line.map(|number| number.parse().expect("a number"))
}

/// `None`, with a line that says so, where it is not installed.
fn promtool(text: &str) -> Option<()> {
    if !Path::new("/usr/bin/promtool").exists() {
        assert!(env::var_os("CI").is_none(), "promtool is missing: cargo xtask setup");
        skip("there is no promtool, which `cargo xtask setup` installs");
        return None;
    }
    let mut child = Command::new("/usr/bin/promtool")
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    child.stdin.take().expect("piped").write_all(text.as_bytes()).expect("it reads");
    let done = child.wait_with_output().expect("it ends");
    let said = [done.stdout, done.stderr].concat();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&said));
    assert_eq!(String::from_utf8_lossy(&said), "", "it has nothing to say");
    Some(())
}

#[test]
fn figures_are_valid_and_those_that_the_commands_show() {
    let daemon = server(concat!(
        "[metrics]\nper_user = true\n",
        "[sampling]\ninterval = \"1s\"\n",
        "[[metric]]\nname = \"inlet\"\ncommand = \"echo 21.5\"\nper = \"machine\"\n",
        "unit = \"°C\"\ninterval = \"1s\"\n",
        "[[metric]]\nname = \"fan\"\ncommand = \"printf '0 40\\n1 41\\n2 42\\n3 43\\n'\"\n",
        "per = \"gpu\"\ninterval = \"1s\"\n",
    ));
    let running = daemon.submit("-g 2", "exec sleep 600");
    let waiting = daemon.submit("-g 4", "exec sleep 600");
    let since = Instant::now();
    daemon.submit("--hold", "true");
    let (bad, good) = (daemon.submit("", "exit 3"), daemon.submit("", "true"));
    daemon.ask(&["wait", &bad, &good]);
    daemon.wait_until(&running, "running");
    until("the probes have measured", || {
        let text = read(&daemon);
        text.contains("name=\"inlet\"")
            && text.contains("name=\"fan\"")
            && text.contains("danlu_node_cpu_utilization_ratio")
    });
    let text = read(&daemon);
    let _ = promtool(&text);
    let tasks = daemon.json(&["ls", "-a", "--json"]);
    let tasks = tasks["tasks"].as_array().expect("tasks");
    for state in ["held", "queued", "running", "succeeded", "failed", "cancelled", "lost"] {
        let listed = tasks.iter().filter(|task| task["state"] == state).count();
        let series = format!("danlu_tasks{{state=\"{state}\"}}");
        assert_eq!(value(&text, &series), Some(listed as f64), "{series}");
    }
    let gpus = daemon.json(&["gpus", "--json"]);
    for gpu in gpus["gpus"].as_array().expect("GPUs") {
        let labels = format!("node=\"{}\",gpu=\"{}\"", word(&gpu["node"]), gpu["index"]);
        let info = format!(
            "danlu_gpu_info{{{labels},model=\"{}\",uuid=\"{}\"}}",
            word(&gpu["model"]),
            word(&gpu["uuid"])
        );
        assert_eq!(value(&text, &info), Some(1.0), "{info}");
        let state = format!("danlu_gpu_state{{{labels},state=\"{}\"}}", word(&gpu["state"]));
        assert_eq!(value(&text, &state), Some(1.0), "{state}");
        let total = value(&text, &format!("danlu_gpu_memory_total_bytes{{{labels}}}"));
        assert_eq!(total, gpu["memory_total"].as_f64());
        let held = value(&text, &format!("danlu_gpu_tasks{{{labels}}}"));
        assert_eq!(held, gpu["tasks"].as_array().map(|tasks| tasks.len() as f64));
        let used = value(&text, &format!("danlu_gpu_utilization_ratio{{{labels}}}"));
        assert!((0.0..=1.0).contains(&used.expect("it is measured")), "{used:?}");
    }
    assert_eq!(value(&text, "danlu_gpus{state=\"held\"}"), Some(2.0));
    assert_eq!(value(&text, "danlu_gpus{state=\"free\"}"), Some(2.0));
    assert_eq!(value(&text, "danlu_tasks_submitted_total"), Some(5.0));
    let ends = "danlu_task_ends_total{outcome=\"failed\",class=\"other\"}";
    assert_eq!(value(&text, ends), Some(1.0));
    assert_eq!(value(&text, "danlu_queue_wait_seconds_count"), Some(3.0));
    assert!(value(&text, "danlu_commit_duration_seconds_count").is_some_and(|it| it > 0.0));
    let node = word(&gpus["gpus"][0]["node"]).to_owned();
    let custom = |name: &str, unit: &str, gpu: &str| {
        let labels = format!("name=\"{name}\",unit=\"{unit}\",node=\"{node}\",gpu=\"{gpu}\"");
        value(&text, &format!("danlu_custom{{{labels}}}"))
    };
    assert_eq!(custom("inlet", "°C", ""), Some(21.5));
    assert_eq!(custom("fan", "", "2"), Some(42.0));
    let user = text.lines().find(|line| line.starts_with("danlu_user_gpus_held{"));
    assert!(user.is_some_and(|line| line.ends_with("} 2")), "{user:?}");
    let waited = since.elapsed().as_secs_f64();
    daemon.say(&["cancel", "-y", &running]);
    daemon.wait_until(&waiting, "running");
    let text_after = read(&daemon);
    let sum = value(&text_after, "danlu_queue_wait_seconds_sum").expect("it is there");
    assert!(sum >= waited, "{sum} s, but it waited for {waited} s");
    let cancelled = "danlu_task_ends_total{outcome=\"cancelled\",class=\"none\"}";
    assert_eq!(value(&text_after, cancelled), Some(1.0));
    // The numbers of tasks are nobody's label.
    assert!(!text.contains("task=\"") && !text.contains("id=\"1\""), "{text}");
}

fn word(value: &Value) -> &str {
    value.as_str().expect("text")
}

#[test]
fn users_are_not_named_unless_asked_for_and_an_admin_alone_may_read() {
    let daemon = Daemon::start();
    daemon.submit("-g 1", "exec sleep 600");
    let text = read(&daemon);
    assert!(
        text.contains("danlu_gpus{state=\"held\"} 1") && !text.contains("danlu_user_"),
        "{text}"
    );
    let ask = |headers: &str| {
        let mut connection = Connection::to(daemon.address());
        connection.ask("GET /metrics", headers, b"")
    };
    let nobody = ask("");
    assert_eq!((nobody.status, &nobody.body["error"]["code"]), (401, &"unauthenticated".into()));
    let bearer = |name: &str| {
        let scope = if name == "reader" { "read" } else { "admin" };
        let token = daemon.say(&["token", "new", name, "-q", "--scope", scope]);
        format!("authorization: Bearer {}\r\n", token.trim())
    };
    let reader = ask(&bearer("reader"));
    assert_eq!(reader.status, 403, "{}", reader.body);
    assert_eq!(ask(&bearer("admin")).status, 200);
    let (_, packed) = Connection::to(daemon.address())
        .raw("GET /metrics", &format!("{}accept-encoding: gzip\r\n", bearer("packed")));
    let mut unpacked = String::new();
    GzDecoder::new(packed.as_slice()).read_to_string(&mut unpacked).expect("it is compressed");
    assert!(unpacked.contains("danlu_build_info"));
    let (same, body) =
        Connection::to(daemon.address()).raw("GET /api/v1/metrics", &bearer("other"));
    assert_eq!(same.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    assert!(String::from_utf8_lossy(&body).contains("danlu_build_info"));
    assert!(daemon.say(&["metrics"]).contains("danlu_build_info"));
}

#[test]
fn a_token_of_its_own_and_a_list_of_addresses() {
    let daemon = server("[metrics]\ntoken_file = \"{dir}/token\"\n");
    let status =
        |headers: &str| Connection::to(daemon.address()).status_of("GET /metrics", headers, b"");
    assert_eq!(status("authorization: Bearer scrape me\r\n"), 200);
    assert_eq!(status("authorization: Bearer scrape\r\n"), 401);
    assert_eq!(status(""), 401);
    let me = "GET /api/v1/me";
    let headers = "authorization: Bearer scrape me\r\n";
    assert_eq!(
        Connection::to(daemon.address()).status_of(me, headers, b""),
        401,
        "for nothing else"
    );
    let shown = daemon.say(&["config", "show"]);
    assert!(shown.contains("metrics.token") && !shown.contains("scrape me"), "{shown}");
    // From the next request on, without a restart.
    let path = daemon.directory().join("danlu.toml");
    fs::write(&path, "[metrics]\nallow = [\"10.0.0.0/8\"]\n").expect("a file");
    daemon.say(&["reload"]);
    assert_eq!((status(headers), status("")), (401, 401));
    fs::write(&path, "[metrics]\nallow = [\"127.0.0.0/8\", \"::1\"]\n").expect("a file");
    daemon.say(&["reload"]);
    assert_eq!(status(""), 200);
    fs::write(&path, "[metrics]\nallow = [\"127.0.0.0/80\"]\n").expect("a file");
    let said = daemon.ask(&["reload"]);
    assert!(said.status != 0 && said.stderr.contains("127.0.0.0/80"), "{said:?}");
    assert_eq!(status(""), 200, "what is wrong changes nothing");
}
