//! Prints one field of a patch as a user could type it; an empty text for the default.

use super::ON;
use crate::parse::notify::notify_text;
use crate::patch::{Change, Patch};
use danlu_core::resources::NodeSelector;
use danlu_core::task::{DependencyKind, PythonEnvironment, Stream};
use danlu_messages::amounts::{exact_bytes, length};
use std::collections::BTreeMap;

pub(super) fn line(said: &Change<String>) -> String {
    said.value().cloned().unwrap_or_default()
}

pub(super) fn count<T: Copy + Into<u64>>(said: &Change<T>) -> String {
    match said.value().map(|number| (*number).into()) {
        None | Some(0) => String::new(),
        Some(number) => number.to_string(),
    }
}

pub(super) fn switch(said: &Change<bool>) -> String {
    mark(said.value() == Some(&true))
}

fn mark(on: bool) -> String {
    if on { ON.to_owned() } else { String::new() }
}

pub(super) fn size(said: &Change<u64>) -> String {
    said.value().filter(|bytes| **bytes > 0).map(|bytes| exact_bytes(*bytes)).unwrap_or_default()
}

pub(super) fn pairs(said: &Change<BTreeMap<String, String>>) -> String {
    let pairs = said.value().into_iter().flatten().map(|(name, value)| format!("{name}={value}"));
    pairs.collect::<Vec<_>>().join("\n")
}

pub(super) fn selector(said: &Change<NodeSelector>) -> String {
    match said.value() {
        Some(NodeSelector::Name(name)) => name.clone(),
        Some(NodeSelector::Label { key, value }) => format!("{key}={value}"),
        None => String::new(),
    }
}

pub(super) fn gpus(patch: &Patch) -> String {
    let count = patch.gpus.value().map(u32::to_string).unwrap_or_default();
    match patch.gpu_model.value() {
        Some(model) => format!("{model}:{count}"),
        None => count,
    }
}

pub(super) fn gpu_ids(patch: &Patch) -> String {
    let ids = patch.gpu_ids.value().into_iter().flatten().map(u32::to_string);
    ids.collect::<Vec<_>>().join(",")
}

pub(super) fn resources(patch: &Patch) -> String {
    let named = patch.resources.value().into_iter().flatten();
    named.map(|(name, count)| format!("{name}:{count}")).collect::<Vec<_>>().join(",")
}

pub(super) fn time(patch: &Patch) -> String {
    patch.time_limit.value().map(|seconds| length(*seconds)).unwrap_or_default()
}

pub(super) fn priority(patch: &Patch) -> String {
    patch.priority.value().map(i32::to_string).unwrap_or_default()
}

pub(super) fn after(patch: &Patch) -> String {
    let word = |kind| match kind {
        DependencyKind::AfterOk => "afterok",
        DependencyKind::AfterAny => "afterany",
        DependencyKind::AfterNotOk => "afternotok",
    };
    let all = patch.dependencies().map(|it| format!("{}:{}", word(it.kind), it.task));
    all.collect::<Vec<_>>().join(",")
}

pub(super) fn retries(patch: &Patch) -> String {
    let classes = patch.retry_on.value().into_iter().flatten().map(|class| class.as_str());
    let classes = classes.collect::<Vec<_>>().join(",");
    let times = count(&patch.retries);
    if classes.is_empty() || times.is_empty() { times } else { format!("{times}:{classes}") }
}

pub(super) fn notify(patch: &Patch) -> String {
    let rules = patch.notify.value().into_iter().flatten().map(notify_text);
    rules.collect::<Vec<_>>().join("\n")
}

pub(super) fn conda(patch: &Patch) -> String {
    match patch.python.value() {
        Some(PythonEnvironment::Conda(name)) => name.clone(),
        Some(PythonEnvironment::Venv(_)) | None => String::new(),
    }
}

pub(super) fn venv(patch: &Patch) -> String {
    match patch.python.value() {
        Some(PythonEnvironment::Venv(path)) => path.clone(),
        Some(PythonEnvironment::Conda(_)) | None => String::new(),
    }
}

pub(super) fn shell(patch: &Patch) -> String {
    let program = patch.shell_program.value().filter(|_| patch.shell.value() == Some(&true));
    program.cloned().unwrap_or_else(|| switch(&patch.shell))
}

pub(super) fn gpu_env(patch: &Patch) -> String {
    if patch.gpus_by_uuid.value() == Some(&true) { "uuid".to_owned() } else { String::new() }
}

pub(super) fn output(patch: &Patch) -> String {
    patch.output().both.unwrap_or_default()
}

pub(super) fn stdout(patch: &Patch) -> String {
    file(patch.output().stdout)
}

pub(super) fn stderr(patch: &Patch) -> String {
    file(patch.output().stderr)
}

fn file(stream: Option<Stream>) -> String {
    match stream {
        Some(Stream::Append { path } | Stream::Truncate { path }) => path,
        Some(Stream::Discard) => "/dev/null".to_owned(),
        None => String::new(),
    }
}

pub(super) fn truncate(patch: &Patch) -> String {
    let output = patch.output();
    let mut streams = [output.stdout, output.stderr].into_iter().flatten();
    mark(streams.any(|stream| matches!(stream, Stream::Truncate { .. })))
}

/// A line for a shell is one word already.
pub(super) fn command(patch: &Patch) -> String {
    let Some(command) = patch.command.value() else { return String::new() };
    match patch.shell.value() {
        Some(true) => command.join(" "),
        Some(false) | None => {
            shlex::try_join(command.iter().map(String::as_str)).unwrap_or_default()
        }
    }
}

pub(super) fn array(patch: &Patch) -> String {
    let Some(array) = patch.array.value() else { return String::new() };
    let indices: Vec<String> = array.indices.iter().map(u32::to_string).collect();
    let at_once = array.at_once.map(|number| format!("%{number}")).unwrap_or_default();
    indices.join(",") + &at_once
}

pub(super) fn grid(patch: &Patch) -> String {
    let axes = patch.array.value().into_iter().flat_map(|array| &array.grid);
    axes.map(|axis| format!("{}={}", axis.name, axis.values.join(",")))
        .collect::<Vec<_>>()
        .join("\n")
}
