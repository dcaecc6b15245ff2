//! What the database gives back by itself: old events, environments that nothing needs, free pages.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use danlu_core::state::Retired;
use danlu_core::task::{LaunchSpec, TaskSpec};
use danlu_core::{Actor, Epoch, Event, Input, RowKey, SpecId, State, Task, TaskId, Time, UserId};
use danlu_server::store::{Batch, Environment, Extras, Store};
use std::path::PathBuf;
use std::sync::Arc;

const DAY: i64 = 86_400_000;
const NOW: Time = Time(100 * DAY);

struct Server {
    _directory: tempfile::TempDir,
    path: PathBuf,
    store: Store,
    state: State,
}

impl Server {
    fn new() -> Server {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("danlu.db");
        let store = Store::open(&path).unwrap();
        let mut server = Server { _directory: directory, path, store, state: State::new() };
        server.act(Input::Boot { epoch: Epoch(1), restored: false, ids_from: 0 }, None);
        server.act(Input::AddUser { by: Actor::Daemon, name: "ann".into(), admin: false }, None);
        server
    }

    /// As the engine does.
    fn act(&mut self, input: Input, environment: Option<&str>) -> bool {
        let step = danlu_core::step(&mut self.state, input, NOW);
        let mut batch = Batch { extras: extras(environment), ..Batch::default() };
        for key in step.events.iter().flat_map(Event::rows) {
            batch.rows.insert(key, self.state.row(key));
        }
        self.store.commit(&batch).unwrap();
        step.reply.is_ok()
    }

    /// It ends at once.
    fn task(&mut self, environment: &str) -> TaskId {
        let task = self.state.row(RowKey::Ledger).unwrap();
        let danlu_core::Row::Ledger(ledger) = task else { panic!("a ledger") };
        let launch = LaunchSpec { environment: Some(environment.into()), ..LaunchSpec::default() };
        let spec =
            TaskSpec { command: vec!["true".into()], launch: launch.into(), ..TaskSpec::default() };
        assert!(self.act(Input::Submit { by: UserId(1), spec, key: None }, Some(environment)));
        let task = ledger.next_task;
        assert!(self.act(Input::Cancel { by: Actor::Daemon, task }, None));
        task
    }

    fn retire(&mut self, task: TaskId) {
        let task = Arc::clone(&self.state.tasks[&task]);
        let rows = [(RowKey::Task(task.id), None), (RowKey::Spec(task.spec_id), None)].into();
        let retired = vec![Retired { task, runs: Vec::new() }];
        self.store.commit(&Batch { rows, retired, ..Batch::default() }).unwrap();
    }

    /// It was in the history.
    fn remove_retired(&mut self, task: TaskId) {
        let rows = [(RowKey::Task(task), None)].into();
        self.store.commit(&Batch { rows, ..Batch::default() }).unwrap();
    }

    fn remove(&mut self, task: TaskId) {
        assert!(self.act(Input::Remove { by: Actor::Daemon, task }, None));
    }

    /// How many slices it takes.
    fn tidy(&self) -> usize {
        std::iter::from_fn(|| self.store.tidy(NOW).unwrap().then_some(())).count()
    }

    fn has(&self, environment: &str) -> bool {
        self.store.environment(environment).unwrap().is_some()
    }

    fn restart(&mut self) {
        let elsewhere = Store::open(&self.path.with_extension("other")).unwrap();
        drop(std::mem::replace(&mut self.store, elsewhere));
        self.store = Store::open(&self.path).unwrap();
    }
}

fn extras(environment: Option<&str>) -> Extras {
    let stored = |hash: &str| Environment { hash: hash.into(), variables: b"A=1\0".to_vec() };
    Extras { environments: environment.map(stored).into_iter().collect(), ..Extras::default() }
}

#[test]
fn environments_go_with_the_last_task_that_needs_them() {
    let mut server = Server::new();
    server.task("live");
    let (retired, pruned) = (server.task("retired"), server.task("pruned"));
    let removed = server.task("removed");
    let (one_of_two, _) = (server.task("shared"), server.task("shared"));
    server.retire(retired);
    server.retire(pruned);
    server.tidy();
    for kept in ["live", "retired", "pruned", "removed", "shared"] {
        assert!(server.has(kept), "{kept}");
    }
    server.remove_retired(pruned);
    server.remove(removed);
    server.remove(one_of_two);
    let refused = Input::Submit { by: UserId(1), spec: TaskSpec::default(), key: None };
    assert!(!server.act(refused, Some("refused")));
    assert!(server.has("refused") && server.has("pruned"), "a commit deletes none");
    server.tidy();
    for (environment, kept) in [
        ("live", true),
        ("retired", true),
        ("shared", true),
        ("pruned", false),
        ("removed", false),
        ("refused", false),
    ] {
        assert_eq!(server.has(environment), kept, "{environment}");
    }
    assert_eq!(server.tidy(), 0, "there is nothing more to do");
}

#[test]
fn environments_that_a_killed_server_left_go_after_the_next_start() {
    let mut server = Server::new();
    let removed: Vec<TaskId> = (0..250).map(|at| server.task(&format!("gone-{at}"))).collect();
    server.task("live");
    for task in removed {
        server.remove(task);
    }
    server.restart();
    assert!(server.has("gone-0") && server.has("gone-249"));
    server.tidy();
    assert!(!(0..250).any(|at| server.has(&format!("gone-{at}"))));
    assert!(server.has("live"));
}

#[test]
fn an_environment_that_is_needed_again_meanwhile_stays() {
    // After every slice once: the new task comes before, between and after the steps of the search.
    for slices in 0..8 {
        let mut server = Server::new();
        let only = server.task("again");
        server.tidy();
        server.remove(only);
        for _ in 0..slices {
            server.store.tidy(NOW).unwrap();
        }
        let new = server.task("again");
        server.tidy();
        assert!(server.has("again"), "after {slices} slices");
        // From the rows to the history while rows are read.
        let (other, gone) = (server.task("again"), server.task("gone"));
        server.remove(new);
        server.remove(gone);
        for _ in 0..slices {
            server.store.tidy(NOW).unwrap();
        }
        server.retire(other);
        server.tidy();
        assert!(server.has("again"), "after {slices} slices");
        assert!(!server.has("gone"), "after {slices} slices");
    }
}

fn count(path: &PathBuf, what: &str) -> i64 {
    let connection = rusqlite::Connection::open(path).unwrap();
    connection.query_row(&format!("SELECT {what} FROM events"), [], |row| row.get(0)).unwrap()
}

/// So many events, the first ones so old.
fn with_events(all: i64, old: i64) -> Server {
    let mut server = Server::new();
    let elsewhere = Store::open(&server.path.with_extension("other")).unwrap();
    drop(std::mem::replace(&mut server.store, elsewhere));
    let connection = rusqlite::Connection::open(&server.path).unwrap();
    let sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
        INSERT INTO events (number, at, json) SELECT i, iif(i <= ?2, ?3, ?4), '\"x\"' FROM n";
    connection.execute("DELETE FROM events", []).unwrap();
    connection.execute(sql, [all, old, NOW.0 - 31 * DAY, NOW.0 - 29 * DAY]).unwrap();
    drop(connection);
    server.store = Store::open(&server.path).unwrap();
    server
}

#[test]
fn old_events_go_in_slices_and_looking_for_them_is_cheap() {
    let server = with_events(300_000, 60_000);
    let mut left = count(&server.path, "count(*)");
    assert_eq!(left, 300_000);
    for _ in 0..60 {
        assert!(server.store.tidy(NOW).unwrap());
        let now = count(&server.path, "count(*)");
        assert!((1..=1_000).contains(&(left - now)), "{}", left - now);
        left = now;
    }
    server.tidy();
    // Those that are young enough stay, though there are more than enough.
    assert_eq!(count(&server.path, "min(number)"), 60_001);
    // The others are not looked at before their time: two of them that could go are not noticed.
    let connection = rusqlite::Connection::open(&server.path).unwrap();
    let sql = "UPDATE events SET at = 0 WHERE number IN (60002, 99000)";
    assert_eq!(connection.execute(sql, []).unwrap(), 2);
    for _ in 0..10 {
        assert!(!server.store.tidy(NOW).unwrap());
    }
    assert_eq!(count(&server.path, "count(*)"), 240_000);
    // When they are old enough they go, but for the newest.
    let later = Time(NOW.0 + 2 * DAY);
    while server.store.tidy(later).unwrap() {}
    assert_eq!(count(&server.path, "min(number)"), 100_001);
    while server.store.tidy(Time(NOW.0 + 1_000 * DAY)).unwrap() {}
    assert_eq!(count(&server.path, "count(*)"), 200_000);
}

#[test]
fn the_file_shrinks_after_tasks_are_removed() {
    let mut server = Server::new();
    let first = server.task("e");
    let template = Task::clone(&server.state.tasks[&first]);
    let made = |id: u64| {
        let command = vec!["echo".into(), format!("{id}-").repeat(1_500)];
        let mut task = template.clone();
        (task.id, task.spec_id) = (TaskId(id), SpecId(id));
        task.spec = Arc::new(TaskSpec { command, ..TaskSpec::default() });
        Retired { task: Arc::new(task), runs: Vec::new() }
    };
    for first in (100..2_100).step_by(100) {
        let retired: Vec<Retired> = (first..first + 100).map(made).collect();
        let rows = retired.iter().map(|it| (RowKey::Task(it.task.id), None)).collect();
        server.store.commit(&Batch { rows, retired, ..Batch::default() }).unwrap();
    }
    let bytes = |server: &Server| {
        assert!(server.store.settle().unwrap());
        std::fs::metadata(&server.path).unwrap().len()
    };
    let full = bytes(&server);
    assert!(full > 16 << 20, "{full}");
    for first in (100..2_100).step_by(50) {
        let rows = (first..first + 50).map(|id| (RowKey::Task(TaskId(id)), None)).collect();
        server.store.commit(&Batch { rows, ..Batch::default() }).unwrap();
    }
    assert!(bytes(&server) >= full, "nothing shrinks by itself");
    server.tidy();
    let small = bytes(&server);
    assert!(small < 6 << 20, "{full} bytes became {small}");
    server.restart();
    assert_eq!(State::from_rows(server.store.rows().unwrap()).unwrap(), server.state);
}

#[test]
fn a_small_database_of_an_older_release_can_shrink() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("danlu.db");
    let mode = || {
        let connection = rusqlite::Connection::open(&path).unwrap();
        connection.pragma_query_value(None, "auto_vacuum", |row| row.get::<_, i64>(0)).unwrap()
    };
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch(include_str!("databases/version-1.sql")).unwrap();
    drop(connection);
    assert_eq!(mode(), 0);
    drop(Store::open(&path).unwrap());
    assert_eq!(mode(), 2);
}
