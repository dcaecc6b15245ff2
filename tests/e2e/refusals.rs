//! Bad input to a real server: the error, a hint, and the exit status that scripts rely on.

use std::{
    fs,
    io::Write as _,
    os::unix::net::{UnixListener, UnixStream},
    path::Path,
};

use crate::support::daemon::{Daemon, Setup};
use crate::support::danlu;
use crate::support::danlu::{Answer, command};
use crate::support::http::{Connection, Reply};
use serde_json::json;

#[track_caller]
fn check_refused(said: &Answer, status: i32, words: &str) {
    assert_eq!((said.status, said.stdout.as_str()), (status, ""), "{said:?}");
    assert!(said.stderr.starts_with("error: ") && said.stderr.contains(words), "{said:?}");
    assert!(said.stderr.contains("\nhint: "), "{said:?}");
}

/// A new task with these options is refused.
#[track_caller]
fn check_submit(daemon: &Daemon, options: &[&str], status: i32, words: &str) {
    let said = daemon.ask(&[&["submit"], options, &["--", "true"]].concat());
    check_refused(&said, status, words);
}

#[track_caller]
fn check_no_tasks(daemon: &Daemon) {
    assert_eq!(daemon.json(&["ls", "-a", "--json"])["tasks"], json!([]), "something was queued");
}

#[test]
fn open_tasks_of_one_user_have_a_limit() {
    let daemon = Daemon::start();
    daemon.say(&["set", "limits.open_tasks_per_user", "10"]);
    daemon.say(&["submit", "-q", "--hold", "-a", "0-8", "--", "true"]);
    check_submit(&daemon, &["--hold", "-a", "0-1"], 64, "10");
    daemon.say(&["submit", "-q", "--hold", "--", "true"]);
    check_submit(&daemon, &["--hold"], 64, "10");
    // What has ended makes room.
    daemon.say(&["cancel", "-y", "1"]);
    daemon.say(&["submit", "-q", "--hold", "--", "true"]);
}

/// A machine that was never reached may have anything, but it has its own name alone.
#[test]
fn unknown_names_are_refused_with_the_nearest_one() {
    let daemon = Daemon::start();
    daemon.say(&["node", "add", "gpu7", "--dial-in", "--label", "room=east"]);
    let said = daemon.ask(&["submit", "-w", "gpu77", "--", "true"]);
    check_refused(&said, 64, "there is no machine called gpu77");
    assert!(said.stderr.contains("\nhint: did you mean gpu7?\n"), "{said:?}");
    check_submit(&daemon, &["-w", "room=eest"], 64, "no machine has the label room=eest");
    check_submit(&daemon, &["--resource", "licence:1"], 64, "no machine has licence");
    check_submit(&daemon, &["--nodes", "5", "-g", "1"], 64, "only 2 nodes are large enough");
    let here = daemon.json(&["nodes", "--json"])["nodes"][0]["name"].clone();
    let here = here.as_str().expect("a name");
    check_submit(&daemon, &["-w", here, "-g", "16"], 64, "no node has 16 GPUs (");
    check_no_tasks(&daemon);

    // It may be waited for.
    for options in [&["-w", "gpu7"][..], &["-g", "16"], &["--nodes", "2", "-g", "1"]] {
        daemon.say(&[&["submit", "-q"], options, &["--", "true"]].concat());
    }
    daemon.say(&["node", "edit", "gpu7", "--role", "data"]);
    check_submit(&daemon, &["-w", "gpu7"], 64, "gpu7 only stores data");
    check_submit(
        &daemon,
        &["--nodes", "2", "-g", "1"],
        64,
        "only 1 run tasks (gpu7 only stores data)",
    );
}

#[test]
fn what_no_machine_has_is_refused_with_numbers() {
    let daemon = Daemon::start();
    let said = daemon.ask(&["submit", "-g", "16", "--", "true"]);
    check_refused(&said, 64, "no node has 16 GPUs (");
    assert!(said.stderr.contains(" has 4)\nhint: --gpus 4 is the most on one node\n"), "{said:?}");
    let said = daemon.ask(&["submit", "-g", "B300:1", "--", "true"]);
    check_refused(&said, 64, "no node has a GPU of model B300");
    assert!(said.stderr.contains("\nhint: available models: "), "{said:?}");
    check_no_tasks(&daemon);
}

#[test]
fn users_over_their_log_limit_submit_nothing_until_logs_are_removed() {
    let daemon = Daemon::start();
    let shown = Connection::open(daemon.socket()).ask("GET /api/v1/settings", "", b"").body;
    assert_eq!(shown["settings"]["limits"]["log_bytes_per_user"], json!(1_u64 << 40), "{shown}");
    daemon.say(&["set", "limits.log_bytes_per_user", "1000"]);
    let run = |command: &str| {
        let id = daemon.submit("", command);
        assert_eq!(daemon.ask(&["wait", &id]).status, 0);
        id
    };
    let first = run("head -c 600 /dev/zero");
    run("head -c 600 /dev/zero");
    let full = "use 1.2 KiB of 1000 bytes\nhint: remove finished tasks and their logs: danlu rm";
    check_submit(&daemon, &[], 64, full);
    check_submit(&daemon, &["--dry-run"], 64, full);
    daemon.say(&["rm", "-y", &first]);
    run("true");
    // What a task prints to a file of its owner is none of this.
    let options = format!("--output {}", daemon.directory().join("own.txt").display());
    let id = daemon.submit(&options, "head -c 5000 /dev/zero");
    assert_eq!(daemon.ask(&["wait", &id]).status, 0);
    run("true");
    daemon.say(&["set", "limits.log_bytes_per_user", "1"]);
    check_submit(&daemon, &[], 64, " of 1 bytes");
    daemon.say(&["set", "limits.log_bytes_per_user", "null"]);
    run("true");
}

#[test]
fn sizes_beyond_the_limits_are_refused() {
    let daemon = Daemon::start();
    let long = "x".repeat(100_000);
    check_submit(&daemon, &["-J", &long], 64, "the name is too long");
    check_submit(&daemon, &["--description", &long], 64, "the description is too long");
    check_submit(&daemon, &["--array", "0-9999999"], 2, "an array has at most 100000 elements");
    check_submit(&daemon, &["-g", "99999"], 64, "GPUs");
    check_submit(&daemon, &["-g", "4294967296"], 2, "expected a number");
    check_submit(&daemon, &["--retries", "100000"], 64, "retries");
    check_submit(&daemon, &["-g", "0", "-c", "100000"], 64, "no node can ever run this");
    check_submit(&daemon, &["-g", "0", "--mem", "100000T"], 64, "no node can ever run this");
    let many_dependencies = format!("afterok:{}", ["1"; 2_000].join(","));
    check_submit(&daemon, &["-d", &many_dependencies], 64, "dependencies");
    let said = daemon.ask(&["submit", "--", "echo", &long, &long]);
    check_refused(&said, 64, "the command is too long");
    check_refused(&daemon.ask(&["wait", "5-99999999999"]), 2, "a range has at most");
    check_refused(&daemon.ask(&["show", "99999999999999999999"]), 2, "expected a task id");
    check_no_tasks(&daemon);
}

/// As large as a system lets an environment be, and larger than one request may be.
#[test]
fn an_environment_of_ten_megabytes_is_refused() {
    let daemon = Daemon::start();
    let variables: Vec<String> = (0..100).map(|_| format!("V={}", "x".repeat(100_000))).collect();
    let body = json!({ "command": ["true"], "directory": "/", "environment": variables });
    let reply = Connection::open(daemon.socket()).json("POST /api/v1/tasks", &body);
    check_reply(&reply, 413, "too_large");
    check_no_tasks(&daemon);
}

#[test]
fn malformed_times_and_numbers_are_refused() {
    let daemon = Daemon::start();
    for time in ["soon", "1:90:00", "5h3", "1e3", "99999999999999999999d", "2 h", "-5"] {
        check_submit(&daemon, &[&format!("--time={time}")], 2, "expected a duration such as");
    }
    check_submit(&daemon, &["--array", "0-3%0"], 2, "expected an array such as");
    check_submit(&daemon, &["--priority", "urgent"], 2, "--priority");
    check_submit(&daemon, &["--gpus=-1"], 2, "expected a number");
    check_submit(&daemon, &["--label", "=x"], 2, "expected NAME=VALUE");
    check_refused(&daemon.ask(&["logs", "1", "--tail=-1"]), 2, "--tail");
    check_refused(&daemon.ask(&["ls", "-n", "many"]), 2, "--limit");
    check_refused(
        &daemon.ask(&["set", "stop_grace", "-1"]),
        64,
        "invalid value for `stop_grace`: `-1`",
    );
    check_no_tasks(&daemon);
}

#[test]
fn circular_dependencies_are_refused() {
    let daemon = Daemon::start();
    let first = daemon.submit("--hold", "true");
    let second = daemon.submit(&format!("-d afterok:{first}"), "true");
    let third = daemon.submit(&format!("-d afterany:{second}"), "true");
    for on in [&first, &second, &third] {
        let said = daemon.ask(&["edit", &first, "-d", &format!("afterok:{on}")]);
        check_refused(&said, 64, "circular dependency");
    }
    assert_eq!(daemon.state(&first), "held");
}

#[test]
fn configuration_is_refused_with_its_line_and_column() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let config = directory.path().join("danlu.toml");
    let data = directory.path().join("data");
    let up_in = |data: &Path, flags: &[&str]| {
        let mut command = command("en");
        command.args(["up", "--listen", "127.0.0.1:0", "--data"]).arg(data).args(flags);
        danlu::said(&mut command)
    };
    let up = |flags: &[&str]| up_in(&data, flags);
    let path = config.to_str().expect("it is UTF-8");
    check_refused(&up(&["--config", path]), 64, path);
    fs::write(&config, "cgroups = true\n\n  sim_gpu = 3\n").expect("it can be written");
    let said = up(&["--config", path]);
    check_refused(&said, 64, "line 3, column 3");
    assert!(said.stderr.contains("unknown field `sim_gpu`") && said.stderr.contains(path));
    fs::write(&config, "sim_gpus = \"x\"\n").expect("it can be written");
    check_refused(&up(&["--config", path]), 64, "line 1, column 12");
    check_refused(&up(&["--listen", "nonsense"]), 2, "--listen");
    assert!(!data.exists(), "nothing was made");
    check_refused(&up_in(Path::new("/proc/nowhere"), &[]), 64, "/proc/nowhere");
    check_refused(&up_in(&config, &[]), 64, path);
}

#[test]
fn a_second_server_on_the_same_data_is_refused_and_the_first_goes_on() {
    let mut daemon = Daemon::start();
    let id = daemon.submit("", "sleep 1000");
    daemon.wait_until(&id, "running");
    let mut second = command("en");
    second.args(["up", "--sim-gpus", "2", "--listen", "127.0.0.1:0", "--data"]).arg(daemon.data());
    let said = danlu::said(&mut second);
    check_refused(&said, 64, "in use by another server");
    assert!(!daemon.has_ended());
    assert_eq!(daemon.state(&id), "running");
}

#[test]
fn a_socket_that_was_left_behind_is_no_obstacle() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let data = directory.path().join("data");
    fs::create_dir(&data).expect("it can be made");
    let socket = data.join("danlu.sock");
    drop(UnixListener::bind(&socket).expect("a socket that nobody listens on"));
    let mut daemon = Daemon::start_in(directory, Setup::simulated(1));
    daemon.crash();
    assert!(socket.exists(), "a crash leaves its socket");
    let said = daemon.ask(&["ls"]);
    check_refused(&said, 75, "connection refused");
    daemon.start_again();
    daemon.say(&["ls"]);
}

#[track_caller]
fn check_reply(reply: &Reply, status: u16, code: &str) {
    let error = &reply.body["error"];
    assert_eq!((reply.status, error["code"].as_str()), (status, Some(code)), "{reply:?}");
    for words in ["message", "hint"] {
        assert!(error[words].as_str().is_some_and(|words| !words.is_empty()), "{reply:?}");
    }
}

#[test]
fn malformed_api_requests_are_refused_with_a_code() {
    let daemon = Daemon::start();
    let mut connection = Connection::open(daemon.socket());
    let mut check = |request: &str, body: &str, status: u16, code: &str| {
        check_reply(&connection.ask(request, "", body.as_bytes()), status, code);
    };
    let submit = "POST /api/v1/tasks";
    check(submit, "{nonsense", 400, "bad_request");
    check(submit, "[]", 400, "bad_request");
    check(submit, &"[".repeat(100_000), 400, "bad_request");
    check(submit, r#"{"command":["true"],"directory":"/","comand":1}"#, 400, "bad_request");
    check(submit, r#"{"command":["true"],"directory":"/","time_limit":-1}"#, 400, "bad_request");
    check(submit, r#"{"command":["true"],"directory":"relative"}"#, 409, "refused");
    check(submit, r#"{"command":[],"directory":"/"}"#, 409, "refused");
    for indices in ["[]", "[1,1]"] {
        let array = format!(r#"{{"indices":{indices}}}"#);
        let body = format!(r#"{{"command":["true"],"directory":"/","array":{array}}}"#);
        check(submit, &body, 409, "refused");
    }
    check("GET /api/v1/tasks?limit=many", "", 400, "bad_request");
    check("GET /api/v1/tasks?nonsense=1", "", 400, "bad_request");
    check("GET /api/v1/tasks?state=runing", "", 400, "bad_request");
    check("GET /api/v1/wait?ids=a", "", 400, "bad_request");
    check("GET /api/v1/tasks/77", "", 404, "not_found");
    check("GET /api/v1/tasks/77/logs?offset=-1", "", 400, "bad_request");
    check("POST /api/v1/tasks/77/explode", "{}", 404, "not_found");
    check("POST /api/v1/tasks/act", r#"{"act":"explode","ids":[1]}"#, 400, "bad_request");
    check("GET /nonsense", "", 404, "not_found");
    check_no_tasks(&daemon);
}

/// A client that stops in the middle of what it says, or says too much, keeps nobody else from being answered.
#[test]
fn incomplete_and_oversized_requests_delay_no_other_client() {
    let daemon = Daemon::start();
    let mut half = UnixStream::connect(daemon.socket()).expect("it listens");
    half.write_all(b"POST /api/v1/tasks HTTP/1.1\r\ncontent-le").expect("it takes it");
    let mut connection = Connection::open(daemon.socket());
    let reply = connection.ask("POST /api/v1/tasks", "", &vec![b' '; 20 << 20]);
    check_reply(&reply, 413, "too_large");
    let mut connection = Connection::open(daemon.socket());
    let long = format!("idempotency-key: {}\r\n", "k".repeat(5_000));
    let body = json!({ "command": ["true"], "directory": "/" }).to_string();
    let reply = connection.ask("POST /api/v1/tasks", &long, body.as_bytes());
    check_reply(&reply, 409, "refused");
    check_no_tasks(&daemon);
    drop(half);
}

#[test]
fn a_task_whose_output_cannot_be_written_fails_and_says_so() {
    let daemon = Daemon::start();
    let id = daemon.submit("--output /proc/nowhere.log", "true");
    assert_eq!(daemon.ask(&["wait", &id]).status, 1);
    let task = daemon.show(&id);
    assert_eq!(task["failure"]["class"], "launch", "{task}");
    let evidence = task["failure"]["evidence"].as_str().expect("it is told");
    assert!(evidence.contains("/proc/nowhere.log"), "{evidence}");
}
