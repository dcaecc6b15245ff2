//! Writes a report file when the core panics.

use crate::api::view::rfc3339;
use crate::daemon::clock;
use crate::store::{Store, StoreError};
use danlu_core::Input;
use danlu_engine::Panic;
use danlu_node::private;
use serde_json::{Value, json};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use tracing::warn;

/// The oldest go.
const MOST_REPORTS: usize = 20;
/// Longer inputs are only named, not included.
const MOST_BYTES: usize = 1 << 20;

/// For debugging: the input without environments. Returns the path, even if the file could not be written.
pub(crate) fn report(data: &Path, panic: &Panic, input: Option<&Input>) -> PathBuf {
    let directory = data.join("reports");
    let now = clock::now();
    let path = directory.join(format!("panic-{}.json", now.0));
    let report = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "at": rfc3339(now),
        "panic": panic.message,
        "place": panic.place,
        "input": input.map_or(Value::Null, without_environment),
    });
    let written = private::directory(&directory, private::PRIVATE)
        .and_then(|()| make_room(&directory))
        .and_then(|()| private::replace(&path, format!("{report:#}\n").as_bytes()));
    if let Err(cause) = written {
        warn!(%cause, "the report could not be written");
    }
    path
}

fn without_environment(input: &Input) -> Value {
    let mut value = serde_json::to_value(input).unwrap_or_default();
    hide(&mut value);
    if value.to_string().len() > MOST_BYTES {
        let name = value.as_object().and_then(|object| object.keys().next().cloned());
        return json!({ "too_long": name });
    }
    value
}

/// Values that people set may be secrets; their names help.
fn hide(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                match (name.as_str(), field) {
                    ("variables", Value::Object(variables)) => {
                        variables.values_mut().for_each(|value| *value = "…".into());
                    }
                    ("template" | "key", field) if !field.is_null() => *field = "…".into(),
                    (_, field) => hide(field),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(hide),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn make_room(directory: &Path) -> io::Result<()> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(directory)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    let too_many = (files.len() + 1).saturating_sub(MOST_REPORTS);
    files.iter().take(too_many).for_each(|file| drop(fs::remove_file(file)));
    Ok(())
}

/// Faults for tests, in builds for development alone: a file named by `DANLU_TEST_PANIC` says which inputs panic. One line
/// each: `submit`, `started`, `report`, `schedule` or `wake`, and `once` where only the first. `commit` lets commits fail
/// as on a full disk, and `late` keeps them waiting.
#[cfg(debug_assertions)]
pub(crate) mod on_purpose {
    use super::{Input, Path, Store, StoreError, fs};
    use danlu_core::NodeMessage;
    use std::sync::LazyLock;

    static FILE: LazyLock<Option<std::ffi::OsString>> =
        LazyLock::new(|| std::env::var_os("DANLU_TEST_PANIC"));

    pub(crate) fn for_input(input: &Input) {
        if matches!(input, Input::Submit { spec, .. } if spec.name == "boom") {
            strike("submit");
        }
        if matches!(input, Input::Node { message: NodeMessage::Started { .. }, .. }) {
            strike("started");
        }
        if matches!(input, Input::Node { message: NodeMessage::Report(_), .. }) {
            strike("report");
        }
        if matches!(input, Input::Schedule) {
            strike("schedule");
        }
    }

    pub(crate) fn strike(word: &str) {
        if is_due(word) {
            panic!("on purpose: {word}");
        }
    }

    pub(crate) fn for_commit(store: &Store) -> Result<(), StoreError> {
        while is_due("late") {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        let path = || store.directory().to_owned();
        if is_due("commit") { Err(StoreError::Full { path: path() }) } else { Ok(()) }
    }

    fn is_due(word: &str) -> bool {
        let Some(file) = FILE.as_ref().map(Path::new) else { return false };
        let Ok(text) = fs::read_to_string(file) else { return false };
        let Some(line) = text.lines().find(|line| line.split(' ').next() == Some(word)) else {
            return false;
        };
        if line.ends_with(" once") {
            let _ = fs::write(file, text.replacen(line, "", 1));
        }
        true
    }
}

#[cfg(not(debug_assertions))]
pub(crate) mod on_purpose {
    pub(crate) fn for_input(_: &super::Input) {}
    pub(crate) fn strike(_: &str) {}
    pub(crate) fn for_commit(_: &super::Store) -> Result<(), super::StoreError> {
        Ok(())
    }
}
