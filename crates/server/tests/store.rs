//! The durable record, through real files.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use danlu_core::task::TaskSpec;
use danlu_core::{Actor, Epoch, Event, Input, Request, RowKey, State, Time, UserId, step};
use danlu_server::store::{Batch, Environment, Extras, Store, StoreError};
use std::fs;
use std::path::{Path, PathBuf};

const NOW: Time = Time(1_000);

/// Apply inputs and commit what they changed, as the engine does.
fn act(state: &mut State, store: &mut Store, inputs: Vec<Input>) -> Result<(), StoreError> {
    let mut batch = Batch::default();
    for input in inputs {
        let step = step(state, input, NOW);
        assert!(step.reply.is_ok(), "{:?}", step.reply);
        for key in step.events.iter().flat_map(Event::rows) {
            batch.rows.insert(key, state.row(key));
        }
        batch.events.extend(step.events.into_iter().map(|event| (NOW, event)));
    }
    store.commit(&batch)
}

fn beginnings() -> Vec<Input> {
    let add_user = Input::AddUser { by: Actor::Daemon, name: "ann".into(), admin: false };
    let spec = TaskSpec {
        command: vec!["train".into(), "模型 \"$HOME\"".into()],
        request: Request::gpus(1).into(),
        ..TaskSpec::default()
    };
    let submit = Input::Submit { by: UserId(1), spec, key: Some("k".into()) };
    vec![Input::Boot { epoch: Epoch(1), restored: false, ids_from: 0 }, add_user, submit]
}

fn scratch() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("danlu.db");
    (directory, path)
}

#[test]
fn what_was_committed_is_there_after_a_restart() {
    let (_directory, path) = scratch();
    let mut state = State::new();
    let mut store = Store::open(&path).unwrap();
    act(&mut state, &mut store, beginnings()).unwrap();
    drop(store);
    let store = Store::open(&path).unwrap();
    let restored = State::from_rows(store.rows().unwrap()).unwrap();
    assert_eq!(restored, state);
}

#[test]
fn a_removed_row_is_gone() {
    let (_directory, path) = scratch();
    let mut state = State::new();
    let mut store = Store::open(&path).unwrap();
    act(&mut state, &mut store, beginnings()).unwrap();
    let task = danlu_core::TaskId(1);
    let by = Actor::Daemon;
    let end = vec![Input::Cancel { by, task }, Input::Remove { by, task }];
    act(&mut state, &mut store, end).unwrap();
    let restored = State::from_rows(store.rows().unwrap()).unwrap();
    assert_eq!(restored.row(RowKey::Task(task)), None);
    assert_eq!(restored, state);
}

#[test]
fn events_are_kept_in_order_and_read_from_a_number_on() {
    let (_directory, path) = scratch();
    let mut state = State::new();
    let mut store = Store::open(&path).unwrap();
    act(&mut state, &mut store, beginnings()).unwrap();
    let all = store.events_after(0, 100).unwrap();
    assert!(matches!(all[0].event, Event::Booted { .. }));
    assert!(all.iter().any(|it| matches!(it.event, Event::TaskSubmitted { .. })));
    let rest = store.events_after(all[0].number, 1).unwrap();
    assert_eq!(rest, all[1..2]);
}

#[test]
fn an_environment_is_kept_once() {
    let (_directory, path) = scratch();
    let mut store = Store::open(&path).unwrap();
    let environment = Environment { hash: "h".into(), variables: b"A=1\0B=\xff\0".to_vec() };
    for _ in 0..2 {
        let environments = vec![environment.clone()];
        let extras = Extras { environments, ..Extras::default() };
        store.commit(&Batch { extras, ..Batch::default() }).unwrap();
    }
    assert_eq!(store.environment("h").unwrap(), Some(environment.variables));
    assert_eq!(store.environment("other").unwrap(), None);
}

/// Opening must be refused, and the file stay as it is, byte for byte.
fn refused(path: &Path) -> StoreError {
    let before = fs::read(path).unwrap();
    let error = Store::open(path).unwrap_err();
    assert_eq!(fs::read(path).unwrap(), before, "a refused database was changed");
    error
}

#[test]
fn a_database_of_a_newer_release_is_refused() {
    let (_directory, path) = scratch();
    drop(Store::open(&path).unwrap());
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch("PRAGMA journal_mode = DELETE; PRAGMA user_version = 99;").unwrap();
    drop(connection);
    assert!(matches!(refused(&path), StoreError::Newer { version: 99, .. }));
}

#[test]
fn a_database_of_another_program_is_refused() {
    let (_directory, path) = scratch();
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch("CREATE TABLE jobs (id)").unwrap();
    drop(connection);
    assert!(matches!(refused(&path), StoreError::NotOurs { .. }));
}

#[test]
fn a_damaged_database_is_refused_and_never_overwritten() {
    let (_directory, path) = scratch();
    fs::write(&path, "this is not a database, but long enough to look like a file").unwrap();
    assert!(matches!(refused(&path), StoreError::Damaged { .. }));

    fs::remove_file(&path).unwrap();
    let (mut state, mut store) = (State::new(), Store::open(&path).unwrap());
    act(&mut state, &mut store, beginnings()).unwrap();
    drop(store);
    let mut bytes = fs::read(&path).unwrap();
    for page in bytes.chunks_mut(4096).skip(1) {
        page[..64].fill(0xa5);
    }
    fs::write(&path, bytes).unwrap();
    assert!(matches!(refused(&path), StoreError::Damaged { .. }));
}

#[test]
fn two_at_once_are_refused() {
    let (_directory, path) = scratch();
    let (mut state, mut first) = (State::new(), Store::open(&path).unwrap());
    act(&mut state, &mut first, beginnings()).unwrap();
    assert!(matches!(Store::open(&path), Err(StoreError::InUse { .. })));
}

#[test]
fn a_database_of_an_older_release_opens_with_everything_in_it() {
    let (_directory, path) = scratch();
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute_batch(include_str!("databases/version-1.sql")).unwrap();
    drop(connection);
    let store = Store::open(&path).unwrap();
    let state = State::from_rows(store.rows().unwrap()).unwrap();
    let names: Vec<&str> = state.tasks.values().map(|task| task.spec.name.as_str()).collect();
    let expected = [
        "first", "fails", "array", "array", "array", "array", "array", "held", "renamed", "later",
        "big",
    ];
    assert_eq!(names, expected);
    assert_eq!(state.active_runs().count(), 2);
    assert_eq!(store.events_after(0, 100).unwrap().len(), 39);
    // What was migrated is not migrated again, and new tasks get numbers of their own.
    drop(store);
    let mut store = Store::open(&path).unwrap();
    let mut state = State::from_rows(store.rows().unwrap()).unwrap();
    let spec = TaskSpec { command: vec!["new".into()], ..TaskSpec::default() };
    let submit = Input::Submit { by: UserId(1), spec, key: None };
    act(
        &mut state,
        &mut store,
        vec![Input::Boot { epoch: Epoch(1), restored: false, ids_from: 0 }, submit],
    )
    .unwrap();
    assert_eq!(State::from_rows(store.rows().unwrap()).unwrap(), state);
}

#[test]
fn elements_of_an_array_share_what_they_are_to_do() {
    let (_directory, path) = scratch();
    let (mut state, mut store) = (State::new(), Store::open(&path).unwrap());
    act(&mut state, &mut store, beginnings()).unwrap();
    let spec = TaskSpec {
        command: vec!["train".into()],
        array: Some(danlu_core::task::ArraySpec {
            indices: (0..1_000).collect(),
            at_once: None,
            grid: Vec::new(),
        }),
        ..TaskSpec::default()
    };
    act(&mut state, &mut store, vec![Input::Submit { by: UserId(1), spec, key: None }]).unwrap();
    let rows = store.rows().unwrap();
    let bytes: usize = rows.iter().map(|row| serde_json::to_string(row).unwrap().len()).sum();
    assert!(bytes < 1_000 * 500, "{bytes} bytes for an array of 1,000");
    let restored = State::from_rows(rows).unwrap();
    let specs: std::collections::BTreeSet<_> =
        restored.tasks.values().map(|task| std::sync::Arc::as_ptr(&task.spec)).collect();
    assert_eq!(specs.len(), 2);
    assert_eq!(restored, state);
}
