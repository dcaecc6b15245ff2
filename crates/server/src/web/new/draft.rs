//! The fields of the form as they were typed. What is empty takes its default.

use super::super::amounts;
use super::super::form::Sent;
use danlu_core::resources::NodeSelector;
use danlu_core::task::{DependencyKind, PythonEnvironment};
use danlu_wire::api::Submit;
use std::collections::BTreeMap;

/// Every field there is.
pub(super) const FIELDS: [&str; 34] = [
    "resources",
    "name",
    "description",
    "project",
    "labels",
    "command",
    "no_shell",
    "script",
    "directory",
    "variables",
    "conda",
    "venv",
    "gpus",
    "sharing",
    "vram",
    "idle_util",
    "gpu_ids",
    "node",
    "nodes",
    "prefer",
    "cpus",
    "mem",
    "time",
    "begin",
    "priority",
    "urgent",
    "preemptible",
    "hold",
    "retries",
    "after",
    "array",
    "grid",
    "output",
    "gpu_arg",
];

#[derive(Debug, Clone, Default)]
pub(super) struct Draft {
    fields: BTreeMap<&'static str, String>,
}

impl Draft {
    pub(super) fn sent(sent: &Sent) -> Draft {
        let mut draft = Draft::default();
        for name in FIELDS {
            draft.set(name, sent.field(name).replace("\r\n", "\n").trim_end().to_owned());
        }
        draft
    }

    pub(super) fn get(&self, name: &str) -> &str {
        self.fields.get(name).map_or("", |value| value.trim_start_matches('\n'))
    }

    pub(super) fn has(&self, name: &str) -> bool {
        !self.get(name).is_empty()
    }

    /// Whether a part of the form that is folded has something in it.
    pub(super) fn has_any(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.has(name))
    }

    pub(super) fn set(&mut self, name: &'static str, value: String) {
        self.fields.insert(name, value);
    }

    /// A task as somebody could have typed it.
    pub(super) fn of(body: &Submit) -> Draft {
        let mut draft = Draft::default();
        draft.set_what(body);
        draft.set_needs(body);
        draft.set_when(body);
        draft
    }

    fn set_what(&mut self, body: &Submit) {
        self.set("name", body.name.clone());
        self.set("description", body.description.clone());
        self.set("project", body.project.clone().unwrap_or_default());
        self.set("labels", pairs(&body.labels));
        let words = body.command.iter().map(String::as_str);
        let line = match body.shell {
            true => body.command.join(" "),
            false => shlex::try_join(words).unwrap_or_default(),
        };
        self.set("command", line);
        self.set("no_shell", flag(!body.shell));
        self.set("directory", body.directory.clone());
        self.set("variables", pairs(&body.variables));
        match &body.python {
            Some(PythonEnvironment::Conda(name)) => self.set("conda", name.clone()),
            Some(PythonEnvironment::Venv(path)) => self.set("venv", path.clone()),
            None => {}
        }
        self.set("output", body.output.both.clone().unwrap_or_default());
        self.set("gpu_arg", body.gpu_argument.clone().unwrap_or_default());
    }

    fn set_needs(&mut self, body: &Submit) {
        let needs = &body.request;
        let count = body.gpus.map(|gpus| gpus.to_string()).unwrap_or_default();
        self.set(
            "gpus",
            match &needs.gpu_model {
                Some(model) => format!("{model}:{count}"),
                None => count,
            },
        );
        let sharing = if needs.shared {
            "shared"
        } else if needs.exclusive {
            "exclusive"
        } else {
            ""
        };
        self.set("sharing", sharing.to_owned());
        self.set("vram", amounts::exact_bytes(needs.gpu_memory));
        self.set("idle_util", nonzero(u64::from(needs.idle_util)));
        let ids: Vec<String> = needs.gpu_ids.iter().map(u32::to_string).collect();
        self.set("gpu_ids", ids.join(","));
        self.set("node", selector(needs.node.as_ref()));
        self.set("nodes", nonzero(needs.nodes.into()));
        self.set("prefer", selector(needs.prefer.as_ref()));
        self.set("cpus", needs.cpus.map(|cpus| nonzero(cpus.into())).unwrap_or_default());
        self.set("mem", amounts::exact_bytes(needs.memory));
        let named = needs.resources.iter().map(|(name, count)| format!("{name}:{count}"));
        self.set("resources", named.collect::<Vec<_>>().join(","));
    }

    fn set_when(&mut self, body: &Submit) {
        self.set("time", body.time_limit.map(amounts::length).unwrap_or_default());
        self.set("begin", body.begin.clone().unwrap_or_default());
        self.set("priority", body.priority.map(|it| it.to_string()).unwrap_or_default());
        self.set("urgent", flag(body.urgent));
        self.set("preemptible", flag(body.preemptible));
        let classes: Vec<&str> = body.retry_on.iter().map(|class| class.as_str()).collect();
        let retries = nonzero(body.retries.unwrap_or(0).into());
        self.set(
            "retries",
            match classes.is_empty() || retries.is_empty() {
                true => retries,
                false => format!("{retries}:{}", classes.join(",")),
            },
        );
        let kind = |kind| match kind {
            DependencyKind::AfterOk => "afterok",
            DependencyKind::AfterAny => "afterany",
            DependencyKind::AfterNotOk => "afternotok",
        };
        let after = body.after.iter().map(|it| format!("{}:{}", kind(it.kind), it.task));
        self.set("after", after.collect::<Vec<_>>().join(","));
    }
}

fn selector(node: Option<&NodeSelector>) -> String {
    match node {
        Some(NodeSelector::Name(name)) => name.clone(),
        Some(NodeSelector::Label { key, value }) => format!("{key}={value}"),
        None => String::new(),
    }
}

fn pairs(map: &BTreeMap<String, String>) -> String {
    map.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join("\n")
}

fn flag(on: bool) -> String {
    if on { "on".to_owned() } else { String::new() }
}

fn nonzero(number: u64) -> String {
    if number == 0 { String::new() } else { number.to_string() }
}
