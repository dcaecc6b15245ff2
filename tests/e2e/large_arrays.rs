//! Arrays of 100,000: while one is submitted and cancelled, others' requests get in between.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use crate::support::daemon::{Daemon, Setup, in_memory};
use crate::support::http::Connection;
use serde_json::{Value, json};

const ELEMENTS: usize = 100_000;

#[test]
fn others_get_in_between_while_an_array_is_submitted_and_cancelled() {
    let daemon = Daemon::start_in(in_memory(), Setup::simulated(1));
    let set = ["set", "limits.open_tasks_per_user", "1000000"];
    assert_eq!(daemon.ask(&set).status, 0);

    let range = format!("0-{}", ELEMENTS - 1);
    let submit = ["submit", "-q", "--hold", "--array", &range, "--", "true"];
    let first: usize = while_others_submit(&daemon, || daemon.say(&submit)).parse().expect("an id");
    // Whoever was told about it finds all of it.
    let last = first + ELEMENTS - 1;
    assert_eq!(daemon.state(&last.to_string()), "held");

    let ids = format!("{first}-{last}");
    while_others_submit(&daemon, || daemon.say(&["cancel", "--yes", &ids]));
    assert_eq!(daemon.state(&first.to_string()), "cancelled");
    assert_eq!(daemon.state(&last.to_string()), "cancelled");

    let end = daemon.say(&["submit", "-q", "--hold", "--", "true"]).parse().expect("an id");
    let events = events_until(&daemon, end);
    assert_eq!(events.iter().filter(|event| **event == TaskNews::Finished).count(), ELEMENTS);
    is_between(&events, TaskNews::Elements, "elements were added");
    is_between(&events, TaskNews::Finished, "elements were cancelled");
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TaskNews {
    /// Of an array.
    Elements,
    /// Another task was submitted.
    Other,
    Finished,
}

/// Another task was submitted between the first of these and the last.
fn is_between(events: &[TaskNews], what: TaskNews, words: &str) {
    let first = events.iter().position(|event| *event == what).expect("there was one");
    let last = events.iter().rposition(|event| *event == what).expect("there was one");
    let others = events[first..last].iter().filter(|event| **event == TaskNews::Other).count();
    println!("{others} tasks were submitted while {words}");
    assert!(others > 0, "nobody got in between while {words}");
}

/// One client after the other, without a pause.
fn while_others_submit<T>(daemon: &Daemon, act: impl FnOnce() -> T) -> T {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let body = json!({ "command": ["true"], "directory": "/", "hold": true });
            let mut connection = Connection::open(daemon.socket());
            while !over.load(Ordering::Relaxed) {
                assert_eq!(connection.json("POST /api/v1/tasks", &body).status, 201);
            }
        });
        let done = act();
        over.store(true, Ordering::Relaxed);
        done
    })
}

/// In the order in which they were committed, until this task was submitted.
fn events_until(daemon: &Daemon, end: u64) -> Vec<TaskNews> {
    let mut stream = Connection::open(daemon.socket());
    assert_eq!(stream.status_of("GET /api/v1/events?after=0", "", b""), 200);
    let mut found = Vec::new();
    loop {
        let line = stream.next_line();
        let Some(data) = line.strip_prefix("data: ") else { continue };
        let event: Value = serde_json::from_str(data).expect("an event");
        match event["type"].as_str() {
            Some("tasks_submitted") => found.push(TaskNews::Elements),
            Some("task_finished") => found.push(TaskNews::Finished),
            Some("task_submitted") if event["task"] == end => return found,
            Some("task_submitted") => found.push(TaskNews::Other),
            _ => {}
        }
    }
}
