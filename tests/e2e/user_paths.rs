//! Paths that users name are opened with those users' rights, and other users never wait for them.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, chown, symlink},
    path::{Path, PathBuf},
    process::Stdio,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use crate::support::daemon::{Daemon, Setup, until};
use crate::support::danlu::Answer;
use crate::support::dead_fs::DeadFs;
use crate::support::http::{Connection, Reply};
use crate::support::os_user::{OsUser, open_to_all};
use nix::{
    fcntl::{AT_FDCWD, RenameFlags, renameat2},
    sys::stat::Mode,
};
use serde_json::{Value, json};

struct PathsMachine {
    daemon: Daemon,
    danlu: PathBuf,
    owner: OsUser,
}

impl PathsMachine {
    fn new() -> Option<PathsMachine> {
        let owner = OsUser::new()?;
        let daemon = Daemon::start_with(Setup::simulated(4));
        let danlu = open_to_all(daemon.directory());
        Some(PathsMachine { daemon, danlu, owner })
    }

    fn ask(&self, arguments: &[&str]) -> Answer {
        self.owner.ask(&self.danlu, self.daemon.socket(), arguments)
    }

    fn http(&self, request: &str, body: &Value) -> Value {
        self.owner.http(self.daemon.socket(), request, &body.to_string())
    }

    /// With this description, in which a command is put.
    fn submit(&self, mut task: Value) -> Value {
        task["command"] = json!(["sh", "-c", "echo printed"]);
        task["gpus"] = json!(0);
        self.http("POST /api/v1/tasks", &task)
    }

    /// An ended task whose output was this file of its owner's.
    #[track_caller]
    fn ended_with_output(&self, log: &Path) -> String {
        let directory = log.parent().expect("it is in a directory");
        let answer = self.submit(json!({ "directory": directory, "output": { "both": log } }));
        let id = answer["id"].as_u64().unwrap_or_else(|| panic!("{answer}")).to_string();
        assert_eq!(self.ask(&["wait", &id]).status, 0);
        assert_eq!(self.ask(&["logs", &id]).stdout, "printed\n");
        id
    }

    fn logs(&self, id: &str, query: &str) -> Reply {
        let request = format!("GET /api/v1/tasks/{id}/logs{query}");
        Connection::open(self.daemon.socket()).ask(&request, "", b"")
    }

    /// What everybody else does all the time, and how long it may take at most.
    #[track_caller]
    fn others_are_served(&self, what: &str) {
        let since = Instant::now();
        let mut connection = Connection::open(self.daemon.socket());
        assert_eq!(connection.ask("GET /api/v1/tasks", "", b"").status, 200);
        let task = json!({ "command": ["true"], "directory": "/", "gpus": 0, "hold": true });
        let reply = connection.ask("POST /api/v1/tasks", "", task.to_string().as_bytes());
        assert_eq!(reply.status, 201, "{reply:?}");
        let id = &reply.body["id"];
        let reply = connection.ask(&format!("POST /api/v1/tasks/{id}/cancel"), "", b"{}");
        assert_eq!(reply.status, 200, "{reply:?}");
        // Far more than it takes, far less than anybody waits for a file system.
        assert!(since.elapsed() < Duration::from_millis(1500), "{what}: {:?}", since.elapsed());
    }
}

#[test]
fn a_log_is_read_with_the_rights_of_its_owner() {
    let Some(machine) = PathsMachine::new() else { return };
    let own = machine.owner.directory(machine.daemon.directory().join("own"));
    let log = own.join("log");
    let secret = machine.daemon.directory().join("secret");
    fs::write(&secret, "one\nsecret\n").expect("it can be written");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o644)).expect("it is ours");
    let id = machine.ended_with_output(&log);
    let ways = ["", "?tail=1", "?offset=1", "?tail=1&offset=0"];

    // Somebody else's file that the owner may read is no log of the owner's.
    fs::remove_file(&log).expect("it is there");
    symlink(&secret, &log).expect("a link in its place");
    for way in ways {
        assert_eq!(machine.logs(&id, way).status, 403, "{way}");
    }

    // A pipe is not waited for, and not opened by root: its other end sees nobody.
    fs::remove_file(&log).expect("it is there");
    nix::unistd::mkfifo(&log, Mode::from_bits_truncate(0o600)).expect("a pipe");
    chown(&log, Some(0), None).expect("root may");
    for way in ways {
        let since = Instant::now();
        assert_eq!(machine.logs(&id, way).status, 403, "{way}");
        assert!(since.elapsed() < Duration::from_secs(2));
    }

    // A directory in its place has no log of this task in it, until it has.
    fs::remove_file(&log).expect("it is there");
    fs::create_dir(&log).expect("it can be made");
    assert_eq!(machine.logs(&id, "").status, 404);
    let inside = log.join(format!("{id}.log"));
    fs::write(&inside, "inside\n").expect("it can be written");
    assert_eq!(machine.logs(&id, "").status, 403, "it is root's");
    chown(&inside, Some(machine.owner.uid), None).expect("root may");
    assert_eq!(machine.ask(&["logs", &id]).stdout, "inside\n");
}

/// The file is changed between the check of its owner and the reading.
#[test]
fn a_log_that_is_exchanged_all_the_time_never_shows_another_file() {
    let Some(machine) = PathsMachine::new() else { return };
    let own = machine.owner.directory(machine.daemon.directory().join("own"));
    let secret = machine.daemon.directory().join("secret");
    fs::write(&secret, format!("{}\nsecret\n", "x".repeat(100))).expect("it can be written");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).expect("it is ours");
    let log = own.join("log");
    let id = machine.ended_with_output(&log);
    let link = own.join("link");
    symlink(&secret, &link).expect("a link");
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                let both = RenameFlags::RENAME_EXCHANGE;
                renameat2(AT_FDCWD, &link, AT_FDCWD, &log, both).expect("both are there");
            }
        });
        let replies: Vec<Reply> = (0..300).map(|_| machine.logs(&id, "?tail=1")).collect();
        over.store(true, Ordering::Relaxed);
        // Not even how long its lines are.
        let shown = replies.iter().filter(|reply| reply.status == 200);
        for reply in shown {
            assert_eq!(reply.header("x-danlu-offset"), Some("8"), "{reply:?}");
        }
        assert!(replies.iter().any(|reply| reply.status == 200), "sometimes it is the log");
    });
}

#[test]
fn nobody_learns_which_directories_others_have() {
    let Some(machine) = PathsMachine::new() else { return };
    let Some(other) = OsUser::new() else { return };
    let closed = other.directory(machine.daemon.directory().join("closed"));
    fs::create_dir(closed.join("project")).expect("it can be made");
    let look = |directory: PathBuf| {
        let task = json!({ "directory": directory, "dry_run": true });
        machine.submit(task)["error"]["message"].clone()
    };
    assert_eq!(look(closed.join("project")), look(closed.join("nothing")), "both are hidden");
    assert_eq!(look(closed.join("project")), Value::Null, "what cannot be seen may be there");
    let open = machine.daemon.directory().join("nothing");
    assert_eq!(look(open.clone()), format!("there is no directory {}", open.display()));
    let own = machine.owner.directory(machine.daemon.directory().join("own"));
    assert_eq!(look(own), Value::Null);
}

/// A directory gets a file for each task, also one that the server could not look at.
#[test]
fn output_to_a_directory_is_found_again() {
    let Some(machine) = PathsMachine::new() else { return };
    let own = machine.owner.directory(machine.daemon.directory().join("own"));
    let answer = machine.submit(json!({ "directory": own, "output": { "both": "." } }));
    let id = answer["id"].as_u64().unwrap_or_else(|| panic!("{answer}")).to_string();
    assert_eq!(machine.ask(&["wait", &id]).status, 0, "{}", machine.daemon.show(&id));
    assert_eq!(machine.ask(&["logs", &id]).stdout, "printed\n");
    assert_eq!(fs::read_to_string(own.join(format!("{id}.log"))).expect("a file"), "printed\n");
}

#[test]
fn a_file_of_the_users_is_followed() {
    let Some(machine) = PathsMachine::new() else { return };
    let own = machine.owner.directory(machine.daemon.directory().join("own"));
    let go_on = own.join("go-on");
    let line =
        format!("echo first; until [ -e {} ]; do sleep 0.05; done; echo last", go_on.display());
    let task = json!({
        "command": ["sh", "-c", line], "gpus": 0, "directory": own, "output": { "both": "log" },
    });
    let answer = machine.http("POST /api/v1/tasks", &task);
    let id = answer["id"].as_u64().unwrap_or_else(|| panic!("{answer}")).to_string();
    until("it has printed", || own.join("log").exists());
    let mut follow = machine.owner.command(&machine.danlu);
    follow.env("DANLU_SERVER", machine.daemon.socket()).args(["logs", "-f", &id]);
    let follow = follow.stdout(Stdio::piped()).spawn().expect("it starts");
    until("somebody reads it", || !helpers(&machine).is_empty());
    fs::write(&go_on, "").expect("it can be written");
    let said = follow.wait_with_output().expect("it ends");
    assert_eq!(String::from_utf8_lossy(&said.stdout), "first\nlast\n");
    assert_eq!(helpers(&machine).len(), 1, "one process for all of it");
    until("it goes when nobody asks", || helpers(&machine).is_empty());
}

/// Processes of this server that look at files of the owner. Another test may have an account of the same number.
fn helpers(machine: &PathsMachine) -> Vec<String> {
    let entries = fs::read_dir("/proc").expect("there is /proc");
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let is_helper = |pid: &String| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        status.starts_with("Name:\tdanlu-files\n")
            && status.contains(&format!("\nPPid:\t{}\n", machine.daemon.pid()))
            && status.contains(&format!("\nUid:\t{}\t", machine.owner.uid))
    };
    pids.filter(is_helper).collect()
}

#[test]
fn a_file_system_that_never_answers_holds_up_nobody_else() {
    let Some(machine) = PathsMachine::new() else { return };
    let Some(dead) = DeadFs::mount(machine.daemon.directory().join("dead")) else { return };
    let here = machine.daemon.json(&["nodes", "--json"])["nodes"][0]["name"].take();
    let own = machine.owner.directory(machine.daemon.directory().join("own"));
    let node = json!({ "name": here });
    let tasks = [
        json!({ "directory": dead.text("x") }),
        json!({ "directory": dead.text("x"), "node": node }),
        json!({ "directory": own, "output": { "both": dead.text("x") } }),
        json!({ "directory": own, "output": { "both": dead.text("x") }, "node": node }),
        json!({ "directory": own, "output": { "stdout": { "append": { "path": dead.text("x/y") } } } }),
    ];
    let mut ids = Vec::new();
    for mut task in tasks {
        let since = Instant::now();
        let answer = machine.submit(task.clone());
        assert!(since.elapsed() < Duration::from_secs(2), "{task}: {:?}", since.elapsed());
        assert_eq!(answer["paths_unanswered"], true, "{task}: {answer}");
        ids.push(answer["id"].as_u64().unwrap_or_else(|| panic!("{answer}")).to_string());
        machine.others_are_served(&task.to_string());
        task["dry_run"] = true.into();
        assert!(machine.submit(task)["dry_run"].is_object());
    }
    for id in &ids {
        // Its start hangs, or it waits for one; either way it tells why.
        let said = machine.ask(&["why", id]);
        assert!(said.stdout.contains("does not respond"), "{said:?}");
        assert!(said.stdout.contains("dead"), "{said:?}");
        let since = Instant::now();
        machine.logs(id, "");
        assert!(since.elapsed() < Duration::from_secs(4), "{:?}", since.elapsed());
        machine.others_are_served("reading its log");
    }
    for id in &ids {
        assert_eq!(machine.ask(&["cancel", id]).status, 0);
    }
    for id in &ids {
        machine.daemon.wait_until(id, "cancelled");
    }
    machine.others_are_served("afterwards");
}

/// The worst that a user can do: processes that not even the kernel can end.
#[test]
fn processes_that_cannot_be_ended_are_few() {
    let Some(machine) = PathsMachine::new() else { return };
    let Some(dead) = DeadFs::mount(machine.daemon.directory().join("dead")) else { return };
    dead.swallow();
    for number in 0..12 {
        let directory = dead.text(&number.to_string());
        let answer = machine.submit(json!({ "directory": directory, "hold": true }));
        assert_eq!(answer["paths_unanswered"], true, "{answer}");
        assert!(helpers(&machine).len() <= 5, "{:?}", helpers(&machine));
    }
    // They count against their user, and everybody else is as fast as before.
    let since = Instant::now();
    machine.submit(json!({ "directory": dead.text("more"), "hold": true }));
    assert!(since.elapsed() < Duration::from_millis(400), "{:?}", since.elapsed());
    machine.others_are_served("while they wait");
    drop(dead);
    until("the kernel lets go of them", || helpers(&machine).is_empty());
    let own = machine.owner.directory(machine.daemon.directory().join("own"));
    until("the user is served again", || {
        machine.submit(json!({ "directory": own, "hold": true }))["paths_unanswered"].is_null()
    });
}

/// What answers requests and decides reads no files: those that people name are looked at by `user_files`, which is them.
#[test]
fn requests_and_the_engine_touch_no_files() {
    const WITHOUT_FILES: [&str; 12] = [
        "api",
        "fleet/mod.rs",
        "fleet/gpu_history.rs",
        "fleet/launch_order.rs",
        "fleet/live_gpus.rs",
        "fleet/local.rs",
        "fleet/run_logs.rs",
        "daemon/engine",
        "compat",
        "daemon/handle.rs",
        "read_model",
        "web",
    ];
    const FILES: [&str; 12] = [
        "std::fs",
        "tokio::fs",
        "fs::",
        "File::",
        "OpenOptions",
        ".exists()",
        "exists()",
        ".is_dir()",
        ".is_file()",
        ".metadata()",
        ".canonicalize()",
        ".read_dir()",
    ];
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../server/src");
    assert!(sources.join("api/submit.rs").exists(), "this test looks at the wrong place");
    let mut found = Vec::new();
    let mut places: Vec<PathBuf> = WITHOUT_FILES.iter().map(|name| sources.join(name)).collect();
    for place in &places {
        assert!(
            place.exists(),
            "{} is not there: this test would look at nothing",
            place.display()
        );
    }
    places.push(sources.join("../../spec/src"));
    while let Some(place) = places.pop() {
        if place.is_dir() {
            let entries = fs::read_dir(&place).expect("it can be listed");
            places.extend(entries.map(|entry| entry.expect("an entry").path()));
        } else if place.extension().is_some_and(|it| it == "rs") {
            let text = fs::read_to_string(&place).unwrap_or_default();
            let program = text.split("#[cfg(test)]").next().unwrap_or_default();
            let lines = program.lines().filter(|line| !line.trim_start().starts_with("//"));
            // Of Danlu's own.
            let lines = lines.map(|line| line.replace("LogFile::", ""));
            let touching = lines.filter(|line| FILES.iter().any(|it| line.contains(it)));
            found.extend(touching.map(|line| format!("{}: {line}", place.display())));
        }
    }
    assert!(found.is_empty(), "these look at files as the server's user:\n{}", found.join("\n"));
}
