//! A task as a text to be edited, and what has changed in it.

use std::collections::BTreeMap;

use danlu_core::TaskId;
use danlu_core::resources::NodeSelector;
use danlu_core::task::{Dependency, DependencyKind};
use danlu_messages::cli::edit as msg;
use danlu_wire::api::TaskView;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{
    given::{
        amount::parse_bytes,
        dependency::parse_dependencies,
        gpus::parse_gpus,
        pair::{Pair, parse_pair},
        task_ids::TaskName,
        time_limit::parse_time_limit,
    },
    screen::amounts,
    task_options::Fields,
};

/// The words are those of the options of `submit`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Form {
    name: String,
    description: String,
    command: Vec<String>,
    shell: bool,
    dir: String,
    gpus: String,
    vram: String,
    cpus: u32,
    mem: String,
    node: String,
    time: String,
    priority: i32,
    urgent: bool,
    after: String,
    retries: u32,
    preemptible: bool,
    project: String,
    labels: BTreeMap<String, String>,
    env: BTreeMap<String, String>,
}

impl Form {
    pub(super) fn of(task: &TaskView) -> Option<Self> {
        let details = task.details.as_ref()?;
        let request = &details.request;
        Some(Self {
            name: task.name.clone(),
            description: details.description.clone(),
            command: task.command.clone(),
            shell: task.shell,
            dir: details.directory.clone(),
            gpus: match &request.gpu_model {
                Some(model) => format!("{model}:{}", request.gpus_per_node()),
                None => request.gpus_per_node().to_string(),
            },
            vram: amounts::exact_bytes(request.gpu_memory),
            cpus: request.cpus,
            mem: amounts::exact_bytes(request.memory),
            node: match &request.node {
                Some(NodeSelector::Name(name)) => name.clone(),
                Some(NodeSelector::Label { key, value }) => format!("{key}={value}"),
                None => String::new(),
            },
            time: task.time_limit.map_or_else(|| "none".to_owned(), amounts::length),
            priority: task.priority,
            urgent: task.urgent,
            after: after(&details.after),
            retries: details.retries,
            preemptible: details.preemptible,
            project: task.project.clone().unwrap_or_default(),
            labels: task.labels.clone(),
            env: details.variables.clone(),
        })
    }

    pub(super) fn text(&self, id: u64) -> String {
        let heading = msg::task_id_change_what_you_like_save_and_leave(&id);
        heading + &toml::to_string(self).expect("a form is plain data")
    }

    pub(super) fn read(written: &str) -> Result<Self, String> {
        toml::from_str(written).map_err(|error| error.to_string().trim_end().to_owned())
    }

    /// As fields of a request.
    pub(super) fn changes_since(&self, before: &Self) -> Result<Fields, String> {
        let mut fields = Fields::new();
        let mut put = |changed: bool, name: &str, value: serde_json::Value| {
            if changed {
                fields.insert(name.to_owned(), value);
            }
        };
        put(self.name != before.name, "name", json!(self.name));
        put(self.description != before.description, "description", json!(self.description));
        put(self.command != before.command, "command", json!(self.command));
        put(self.shell != before.shell, "shell", json!(self.shell));
        put(self.dir != before.dir, "directory", json!(self.dir));
        let gpus = named("gpus", parse_gpus(&self.gpus))?;
        put(self.gpus != before.gpus, "gpus", json!(gpus.count));
        put(self.gpus != before.gpus, "gpu_model", json!(gpus.model));
        let vram = named("vram", parse_bytes(&self.vram))?;
        put(self.vram != before.vram, "gpu_memory", json!(vram));
        put(self.cpus != before.cpus, "cpus", json!(self.cpus));
        let mem = named("mem", parse_bytes(&self.mem))?;
        put(self.mem != before.mem, "memory", json!(mem));
        put(self.node != before.node, "node", json!(selector(&self.node)));
        let time = named("time", parse_time_limit(&self.time))?;
        put(self.time != before.time, "time_limit", json!(time.seconds()));
        put(self.priority != before.priority, "priority", json!(self.priority));
        put(self.urgent != before.urgent, "urgent", json!(self.urgent));
        let after = named("after", dependencies(&self.after))?;
        put(self.after != before.after, "after", json!(after));
        put(self.retries != before.retries, "retries", json!(self.retries));
        put(self.preemptible != before.preemptible, "preemptible", json!(self.preemptible));
        let project = Some(&self.project).filter(|project| !project.is_empty());
        put(self.project != before.project, "project", json!(project));
        put(self.labels != before.labels, "labels", json!(self.labels));
        put(self.env != before.env, "variables", json!(self.env));
        Ok(fields)
    }
}

fn named<T>(name: &str, parsed: Result<T, String>) -> Result<T, String> {
    parsed.map_err(|complaint| format!("`{name}`: {complaint}"))
}

fn selector(node: &str) -> Option<NodeSelector> {
    match parse_pair(node) {
        _ if node.is_empty() => None,
        Ok(Pair { name, value }) => Some(NodeSelector::Label { key: name, value }),
        Err(_) => Some(NodeSelector::Name(node.to_owned())),
    }
}

fn after(dependencies: &[Dependency]) -> String {
    let words: Vec<String> = dependencies
        .iter()
        .map(|dependency| {
            let kind = match dependency.kind {
                DependencyKind::AfterOk => "afterok",
                DependencyKind::AfterAny => "afterany",
                DependencyKind::AfterNotOk => "afternotok",
            };
            format!("{kind}:{}", dependency.task)
        })
        .collect();
    words.join(",")
}

fn dependencies(words: &str) -> Result<Vec<Dependency>, String> {
    if words.is_empty() {
        return Ok(Vec::new());
    }
    let wishes = parse_dependencies(words)?;
    let ids = wishes.0.iter().map(|wish| match wish.on {
        TaskName::Id(id) => Ok(Dependency { task: TaskId(id), kind: wish.kind }),
        _ => Err(msg::only_ids_are_possible_here().to_owned()),
    });
    ids.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn form() -> Form {
        Form {
            name: "train".into(),
            description: String::new(),
            command: vec!["python".into(), "it's.py".into()],
            shell: false,
            dir: "/home/ada".into(),
            gpus: "2".into(),
            vram: "0".into(),
            cpus: 0,
            mem: "0".into(),
            node: String::new(),
            time: "none".into(),
            priority: 5,
            urgent: false,
            after: String::new(),
            retries: 0,
            preemptible: false,
            project: String::new(),
            labels: BTreeMap::from([("sweep".into(), "a".into())]),
            env: BTreeMap::new(),
        }
    }

    fn changed(from: &str, to: &str) -> Result<Value, String> {
        let text = form().text(12);
        assert!(text.contains(from), "{text}");
        let after = Form::read(&text.replace(from, to))?;
        after.changes_since(&form()).map(Value::Object)
    }

    #[test]
    fn an_untouched_text_changes_nothing() {
        assert_eq!(changed("12", "12"), Ok(json!({})));
    }

    #[test]
    fn only_what_has_changed_is_sent() {
        assert_eq!(
            changed("gpus = \"2\"", "gpus = \"A100:4\""),
            Ok(json!({"gpus": 4, "gpu_model": "A100"}))
        );
        assert_eq!(changed("time = \"none\"", "time = \"2h\""), Ok(json!({"time_limit": 7_200})));
        assert_eq!(
            changed("sweep = \"a\"", "sweep = \"b\""),
            Ok(json!({"labels": {"sweep": "b"}}))
        );
        assert_eq!(
            changed("after = \"\"", "after = \"afterany:3\""),
            Ok(json!({"after": [{"task": 3, "kind": "after_any"}]}))
        );
        assert_eq!(
            changed("node = \"\"", "node = \"gpu1\""),
            Ok(json!({"node": {"name": "gpu1"}}))
        );
    }

    #[test]
    fn mistakes_are_named() {
        assert!(
            changed("gpus = \"2\"", "gpus = \"many\"")
                .is_err_and(|complaint| complaint.contains("gpus"))
        );
        assert!(
            changed("priority = 5", "prioritiy = 5")
                .is_err_and(|complaint| complaint.contains("prioritiy"))
        );
        assert!(changed("name = \"train\"", "name = train").is_err());
    }
}
