//! A database of an earlier release with 10,000 ended tasks: all are there, and soon they cost no memory.

use std::{collections::BTreeMap, fs};

use crate::releases::{setup, unpack};
use crate::support::daemon::{Daemon, until};
use crate::support::http::Connection;
use rusqlite::OpenFlags;
use serde_json::Value;

/// As the release itself listed it.
#[derive(Debug, PartialEq, Eq)]
struct Recorded {
    user: String,
    state: String,
    name: String,
    project: Option<String>,
    exit_code: Option<i64>,
}

const ENDED: usize = 10_000;
const OPEN: usize = 3;
/// At most, of ended and open ones: `history.recent` with its slack, those that open ones name, and the open ones.
const IN_MEMORY: i64 = 1_000 + 64 + 6;

fn recorded(daemon: &Daemon) -> BTreeMap<u64, Recorded> {
    let text = fs::read_to_string(daemon.data().join("tasks.tsv")).expect("recorded");
    let some = |word: &str| (!word.is_empty()).then(|| word.to_owned());
    let task = |line: &str| {
        let words: Vec<&str> = line.split('\t').collect();
        let task = Recorded {
            user: words[1].to_owned(),
            state: words[2].to_owned(),
            name: words[3].to_owned(),
            project: some(words[4]),
            exit_code: some(words[5]).map(|code| code.parse().expect("a number")),
        };
        (words[0].parse().expect("an id"), task)
    };
    text.lines().map(task).collect()
}

fn now(task: &Value) -> (u64, Recorded) {
    let text = |key: &str| task[key].as_str().map(str::to_owned);
    let recorded = Recorded {
        user: text("user").expect("a user"),
        state: text("state").expect("a state"),
        name: text("name").expect("a name"),
        project: text("project"),
        exit_code: task["exit_code"].as_i64(),
    };
    (task["id"].as_u64().expect("an id"), recorded)
}

/// Page after page, as a program does that wants all; no task may come twice.
fn listed(daemon: &Daemon, query: &str) -> BTreeMap<u64, Recorded> {
    let mut connection = Connection::open(daemon.socket());
    let mut all = BTreeMap::new();
    let mut cursor = String::new();
    loop {
        let request = format!("GET /api/v1/tasks?limit=97{query}{cursor}");
        let reply = connection.ask(&request, "", b"");
        assert_eq!(reply.status, 200, "{request}: {reply:?}");
        for task in reply.body["tasks"].as_array().expect("a list") {
            let (id, task) = now(task);
            assert!(all.insert(id, task).is_none(), "task {id} is on two pages");
        }
        cursor = match &reply.body["next"] {
            Value::Null => return all,
            Value::String(next) => format!("&cursor={next}"),
            next => format!("&cursor={next}"),
        };
    }
}

/// Rows of tasks that the server has in memory.
fn live_rows(daemon: &Daemon) -> i64 {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY;
    let path = daemon.data().join("danlu.db");
    let database = rusqlite::Connection::open_with_flags(path, flags).expect("it can be read");
    let count = database.query_row("SELECT count(*) FROM tasks", [], |row| row.get(0));
    // The server may be writing at this moment.
    count.unwrap_or(i64::MAX)
}

fn total(daemon: &Daemon, filter: &[&str]) -> usize {
    let mut words = vec!["ls", "-a", "--json", "-n", "1"];
    words.extend(filter);
    let total = daemon.json(&words)["total"].as_u64().expect("a number");
    usize::try_from(total).expect("a count")
}

#[test]
fn ten_thousand_ended_tasks_of_0_1_0_are_all_seen_and_leave_the_memory() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    unpack("0.1.0-history", directory.path());
    let setup = setup(directory.path());
    let mut daemon = Daemon::start_in(directory, setup);
    let before = recorded(&daemon);
    assert_eq!(before.len(), ENDED + OPEN);

    // While they go over, and afterwards, nothing is missing and nothing is there twice.
    assert_eq!(listed(&daemon, ""), before);
    until("the ended tasks have left the memory", || live_rows(&daemon) <= IN_MEMORY);
    assert_eq!(listed(&daemon, ""), before);
    assert_eq!(listed(&daemon, "&oldest_first=true"), before);
    seen_by(&daemon, &before);

    // The next start has only what is live to read, and finds the same.
    daemon.terminate();
    assert!(live_rows(&daemon) <= IN_MEMORY);
    daemon.start_again();
    seen_by(&daemon, &before);
    daemon.say(&["db", "check"]);
    they_can_be_used(&daemon, &before);
    daemon.say(&["db", "check"]);
}

fn seen_by(daemon: &Daemon, before: &BTreeMap<u64, Recorded>) {
    assert_eq!(total(daemon, &[]), before.len());
    for state in ["succeeded", "failed", "cancelled", "held", "blocked"] {
        let count = before.values().filter(|task| task.state == state).count();
        assert_eq!(total(daemon, &["--state", state]), count, "{state}");
    }
    for user in ["root", "nobody", "daemon", "games"] {
        let count = before.values().filter(|task| task.user == user).count();
        assert_eq!(total(daemon, &["--user", user]), count, "{user}");
    }
    // One of the oldest, in every detail.
    let old = daemon.show("14");
    assert_eq!(now(&old).1, before[&14]);
    assert_eq!(old["labels"]["group"], "g0");
    assert_eq!(old["runs"].as_array().map(Vec::len), Some(1), "{old}");

    // By text: a part of a name in Chinese, a number in a command, a description.
    let named = |part: &str| before.values().filter(|task| task.name.contains(part)).count();
    let text = |text: &str| listed(daemon, &format!("&text={text}")).len();
    assert_eq!(text("%E8%92%B8%E9%A6%8F"), named("蒸馏"));
    assert_eq!(text("Finetune-2"), named("finetune-2"));
    assert_eq!(text("--seed%201234"), 1);
    assert_eq!(text("%E7%AC%AC%20999%20%E6%AC%A1"), 1);
    assert_eq!(text("nowhere-to-be-found"), 0);
}

fn they_can_be_used(daemon: &Daemon, before: &BTreeMap<u64, Recorded>) {
    let single = |name: &str| {
        let found = before.iter().find(|(_, task)| task.name == name);
        found.unwrap_or_else(|| panic!("no {name}")).0.to_string()
    };
    assert_eq!(daemon.say(&["logs", &single("train-9")]), "run 9\n");
    // Again: one that had failed, and one that had succeeded. They are the same tasks with one more run.
    let (failed, succeeded) = (single("train-3"), single("train-0"));
    let runs = |id: &str| daemon.show(id)["runs"].as_array().map_or(0, Vec::len);
    let runs_before = (runs(&failed), runs(&succeeded));
    daemon.say(&["retry", &failed, &succeeded]);
    assert_eq!(daemon.ask(&["wait", &failed]).status, 3);
    assert_eq!(daemon.ask(&["wait", &succeeded]).status, 0);
    assert!(runs(&failed) > runs_before.0 && runs(&succeeded) == runs_before.1 + 1);
    assert_eq!(total(daemon, &[]), before.len());
    // What was held goes on, though it names one that has left the memory; so does a new one.
    daemon.say(&["release", "10001"]);
    assert_eq!(daemon.ask(&["wait", "10001"]).status, 0);
    let new = daemon.submit("-d afterok:5000,afternotok:14", "true");
    assert_eq!(new, "10004");
    assert_eq!(daemon.ask(&["wait", &new]).status, 0);
    // Gone for good.
    daemon.say(&["rm", "-y", "5001"]);
    assert_ne!(daemon.ask(&["show", "5001"]).status, 0);
    assert_eq!(total(daemon, &[]), before.len());
}
