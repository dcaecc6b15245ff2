//! Ten thousand submits by a client that is killed in between: every acknowledged task exists, and none twice.

use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::Instant,
};

use crate::support::daemon::{Daemon, Setup, in_memory};
use crate::support::danlu::{Watchdog, test_name};
use crate::support::http::Connection;
use serde_json::json;

const TASKS: usize = 10_000;
/// Each has at most one request under way.
const CONNECTIONS: usize = 4;
/// Where the client is to submit: this program, started again, is the client then.
const CLIENT: &str = "DANLU_TEST_SUBMIT_TO";

#[test]
fn acknowledged_submits_are_there_and_none_is_there_twice() {
    if let Some(socket) = std::env::var_os(CLIENT) {
        return submit_all(Path::new(&socket));
    }
    let daemon = Daemon::start_in(in_memory(), Setup::simulated(4));
    // They are to wait, and the queue is to grow.
    let blocker = daemon.submit("-g 4", "sleep 1000");
    daemon.wait_until(&blocker, "running");

    let since = Instant::now();
    let mut client = SubmittingClient::start(daemon.socket());
    let mut acknowledged: BTreeMap<String, u64> = client.by_ref().take(TASKS / 2).collect();
    client.kill();
    // What it had heard and told, before it was killed.
    acknowledged.extend(client.by_ref());
    let there = tasks(&daemon);
    for (key, id) in &acknowledged {
        assert_eq!(there.get(key), Some(&vec![*id]), "{key} was acknowledged as task {id}");
    }
    let more = there.len() - acknowledged.len();
    assert!(more <= CONNECTIONS, "{more} more than were acknowledged");
    println!("{} acknowledged, {more} more, {:?}", acknowledged.len(), since.elapsed());

    // It does not know which of its requests were done, and repeats them all with their keys.
    let again: BTreeMap<String, u64> = SubmittingClient::start(daemon.socket()).collect();
    assert_eq!(again.len(), TASKS);
    assert!(acknowledged.iter().all(|(key, id)| again[key] == *id), "another id for the same key");
    let there = tasks(&daemon);
    let expect = again.into_iter().map(|(key, id)| (key, vec![id])).collect();
    assert!(there == expect, "{} names for {TASKS} tasks", there.len());
    println!("all after {:?}", since.elapsed());
}

/// Names and the ids that have them, without the blocker.
fn tasks(daemon: &Daemon) -> BTreeMap<String, Vec<u64>> {
    let mut found: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    let listed = daemon.json(&["ls", "-a", "--state", "queued", "--json"]);
    for task in listed["tasks"].as_array().expect("a list") {
        let name = task["name"].as_str().expect("a name").to_owned();
        found.entry(name).or_default().push(task["id"].as_u64().expect("an id"));
    }
    found
}

/// What the client does: submits, and tells what was acknowledged.
fn submit_all(socket: &Path) {
    thread::scope(|scope| {
        for first in 0..CONNECTIONS {
            scope.spawn(move || {
                let mut connection = Connection::open(socket);
                for number in (first..TASKS).step_by(CONNECTIONS) {
                    let key = format!("task-{number}");
                    let body = json!({ "name": key, "command": ["true"], "directory": "/" });
                    let header = format!("idempotency-key: {key}\r\n");
                    let reply =
                        connection.ask("POST /api/v1/tasks", &header, body.to_string().as_bytes());
                    assert_eq!(reply.status, 201, "{reply:?}");
                    let line = format!("acknowledged {key} {}\n", reply.body["id"]);
                    std::io::stdout().write_all(line.as_bytes()).expect("somebody reads");
                }
            });
        }
    });
}

/// The client's process; an iterator over what it says was acknowledged.
struct SubmittingClient {
    _watchdog: Watchdog,
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
}

impl SubmittingClient {
    fn start(socket: &Path) -> SubmittingClient {
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", &test_name(), "--nocapture"])
            .env(CLIENT, socket)
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts again");
        let lines = BufReader::new(child.stdout.take().expect("it was piped"));
        SubmittingClient { _watchdog: Watchdog::on(&child), child, lines }
    }

    fn kill(&mut self) {
        self.child.kill().expect("it runs");
    }
}

impl Iterator for SubmittingClient {
    type Item = (String, u64);

    fn next(&mut self) -> Option<(String, u64)> {
        let mut line = String::new();
        while self.lines.read_line(&mut line).expect("it is text") > 0 {
            let mut words = line.trim_end().split(' ');
            // Whatever else a program of tests says, and what was cut off by its end.
            if words.next() == Some("acknowledged") && line.ends_with('\n') {
                let key = words.next().expect("a key").to_owned();
                return Some((key, words.next()?.parse().expect("an id")));
            }
            line.clear();
        }
        None
    }
}

impl Drop for SubmittingClient {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
