//! A task or changes to one, as typed values. Options, scripts, forms, templates and the API all fill it.
//!
//! It is the body of `POST /tasks` and `PATCH /tasks/{id}`, and what templates are stored as: the names of its members
//! are the keys of that JSON.

mod change;
mod of_task;
mod output;
mod place;
mod schema;

use crate::parse::dependency::UnresolvedDependency;
use danlu_core::FailureClass;
use danlu_core::notify_rule::NotifyRule;
use danlu_core::resources::NodeSelector;
use danlu_core::task::{Dependency, Output, PythonEnvironment};
use danlu_wire::api::Array;
use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

pub use change::Change;
pub use of_task::described;
pub use output::OutputPatch;
pub use place::Place;

/// The members, and what is done with each of them. `plain` ones are empty by default, `nullable` ones have a default
/// that depends on the server.
macro_rules! patch {
    (
        plain { $( $(#[$plain_meta:meta])* $plain:ident: $plain_type:ty, )* }
        nullable { $( $(#[$null_meta:meta])* $null:ident: $null_type:ty, )* }
    ) => {
        /// A task, or changes to one. What is left out takes its default, or stays; `null` is the default.
        #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        #[schemars(rename = "Submit")]
        pub struct Patch {
            $( $(#[$plain_meta])* #[serde(skip_serializing_if = "Change::is_keep")] pub $plain: Change<$plain_type>, )*
            $( $(#[$null_meta])* #[serde(skip_serializing_if = "Change::is_keep")] pub $null: Change<$null_type>, )*
        }

        impl Patch {
            pub const KEYS: &[&str] = &[ $( stringify!($plain), )* $( stringify!($null), )* ];

            /// Changes of `over` replace those of this patch, key by key.
            pub fn replace_with(&mut self, over: Patch) {
                $( if over.$plain.is_change() { self.$plain = over.$plain; } )*
                $( if over.$null.is_change() { self.$null = over.$null; } )*
            }

            fn fill_keys_from(&mut self, under: Patch) {
                $( if self.$plain.value().is_none() && under.$plain.is_change() { self.$plain = under.$plain; } )*
                $( if self.$null.value().is_none() && under.$null.is_change() { self.$null = under.$null; } )*
            }

            /// Keeps the other keys.
            #[must_use]
            pub fn only(self, is_wanted: impl Fn(&str) -> bool) -> Patch {
                Patch {
                    $( $plain: if is_wanted(stringify!($plain)) { self.$plain } else { Change::Keep }, )*
                    $( $null: if is_wanted(stringify!($null)) { self.$null } else { Change::Keep }, )*
                }
            }

            /// Keeps the keys whose value is the default.
            #[must_use]
            pub fn without_defaults(mut self) -> Patch {
                self.output = match self.output {
                    Change::Set(output) => Change::Set(output.without_defaults()),
                    nothing => nothing,
                };
                Patch {
                    $( $plain: self.$plain.unless(&<$plain_type>::default()), )*
                    $( $null: self.$null.value_or_keep(), )*
                }
            }

            /// Resets a key to its default.
            pub fn clear(&mut self, key: &str) {
                match key {
                    $( stringify!($plain) => self.$plain = Change::Set(Default::default()), )*
                    $( stringify!($null) => self.$null = Change::Reset, )*
                    _ => debug_assert!(false, "`{key}` is no key of a task"),
                }
            }

            pub fn says(&self, key: &str) -> bool {
                match key {
                    $( stringify!($plain) => self.$plain.is_change(), )*
                    $( stringify!($null) => self.$null.is_change(), )*
                    _ => false,
                }
            }
        }
    };
}

patch! {
    plain {
        name: String,
        description: String,
        labels: BTreeMap<String, String>,
        /// One word each; with `shell` exactly one, the line.
        command: Vec<String>,
        shell: bool,
        directory: String,
        /// The whole environment of the submitter, `NAME=value` each.
        environment: Vec<String>,
        /// Set on top of it.
        variables: BTreeMap<String, String>,
        memory: u64,
        gpu_memory: u64,
        /// With others on the same GPUs, each with `gpu_memory` of it.
        shared: bool,
        /// Percent that must have been idle of late on a GPU that it shares.
        idle_util: u8,
        /// The whole GPU, also where several tasks share one by count.
        exclusive: bool,
        /// On so many machines at once: all of them or none. `gpus`, `cpus` and `memory` are of each.
        nodes: u32,
        /// So many of each named thing that a node has.
        resources: BTreeMap<String, u32>,
        /// These GPUs by their numbers; if there are more of them than `gpus`, that is raised.
        gpu_ids: Vec<u32>,
        /// After these failures only; empty: as the setting `retry_on` says.
        #[schemars(schema_with = "schema::failure_classes")]
        retry_on: BTreeSet<FailureClass>,
        preemptible: bool,
        urgent: bool,
        #[schemars(schema_with = "schema::dependencies")]
        after: Vec<UnresolvedDependency>,
        hold: bool,
        /// Who is told of it, and when. Empty: as the owner has set it for all of theirs.
        #[schemars(schema_with = "schema::notify_rules")]
        notify: Vec<NotifyRule>,
        #[schemars(schema_with = "schema::output")]
        output: OutputPatch,
        gpus_by_uuid: bool,
        /// Say where and when it would start instead of queueing it.
        dry_run: bool,
    }
    nullable {
        project: String,
        /// The program that runs the line as `PROGRAM -c LINE`; left out: the login shell of the OS user if that is bash or zsh,
        /// else bash, else sh, as the machine has them.
        shell_program: String,
        /// Left out: 1 where some node has GPUs, else 0.
        gpus: u32,
        cpus: u32,
        gpu_model: String,
        #[schemars(schema_with = "schema::node")]
        node: NodeSelector,
        /// There if there is room, elsewhere if not.
        #[schemars(schema_with = "schema::node")]
        prefer: NodeSelector,
        time_limit: u64,
        /// Left out: as the setting `default_retries` says.
        retries: u32,
        /// Not before this time.
        begin: String,
        priority: i32,
        array: Array,
        gpu_argument: String,
        /// Whose programs and modules come first: `{"conda": "NAME"}` or `{"venv": "PATH"}`.
        #[schemars(schema_with = "schema::python")]
        python: PythonEnvironment,
        /// The file mode creation mask of the command, as a number (`0o027` is 23); left out: `0o022`.
        umask: u32,
    }
}

impl Patch {
    pub fn is_empty(&self) -> bool {
        *self == Patch::default()
    }

    /// What has no value here takes what is said in `under`. A command belongs together: who gives one takes neither it
    /// nor its shell from there.
    pub fn fill_from(&mut self, under: Patch) {
        let has_command = self.command.value().is_some() && under.command.is_change();
        let of_command = ["command", "shell", "shell_program"];
        self.fill_keys_from(under.only(|key| !(has_command && of_command.contains(&key))));
    }

    /// As `replace_with`, but labels, variables and output files one by one.
    pub fn lay_over(&mut self, mut over: Patch) {
        let extended = |under: &Change<BTreeMap<_, _>>, over: &mut Change<BTreeMap<_, _>>| {
            if let (Change::Set(under), Change::Set(over)) = (under, over) {
                let mut both = under.clone();
                both.append(over);
                *over = both;
            }
        };
        extended(&self.labels, &mut over.labels);
        extended(&self.variables, &mut over.variables);
        if let (Change::Set(under), Change::Set(output)) = (&self.output, &mut over.output) {
            let mut both = under.clone();
            both.lay_over(std::mem::take(output));
            *output = both;
        }
        self.replace_with(over);
    }

    /// Those that are named by an id; `resolve_own` replaces `@` by ids.
    pub fn dependencies(&self) -> impl Iterator<Item = Dependency> + '_ {
        self.after.value().into_iter().flatten().filter_map(|wish| wish.dependency())
    }

    pub fn output(&self) -> Output {
        self.output.value().cloned().unwrap_or_default().whole()
    }

    pub fn directory(&self) -> &str {
        self.directory.value().map_or("", String::as_str)
    }
}

/// `GET /me/template`: what tasks have when nothing else is said, in the fields of `POST /tasks`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Template {
    #[serde(deserialize_with = "object")]
    pub template: Patch,
}

/// An object alone: what serde derives would take a list of values in the order of the fields, too.
fn object<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Patch, D::Error> {
    struct Object;
    impl<'de> Visitor<'de> for Object {
        type Value = Patch;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Patch, A::Error> {
            Patch::deserialize(MapAccessDeserializer::new(fields))
        }
    }
    deserializer.deserialize_map(Object)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn a_template_is_an_object_and_not_a_list() {
        let read = |value: Value| serde_json::from_value::<Template>(value);
        assert!(read(json!({"template": {"name": "it"}})).is_ok());
        assert!(read(json!({"template": [null, null]})).is_err());
    }

    fn patch(value: Value) -> Patch {
        serde_json::from_value(value).expect("a task")
    }

    #[test]
    fn merging_replaces_fields_and_extends_maps() {
        let mut base =
            patch(json!({"gpus": 1, "labels": {"a": "1", "b": "1"}, "node": {"name": "x"}}));
        base.lay_over(patch(json!({"gpus": 2, "labels": {"b": "2"}, "node": {"name": "y"}})));
        let expect = json!({"gpus": 2, "labels": {"a": "1", "b": "2"}, "node": {"name": "y"}});
        assert_eq!(base, patch(expect));
    }

    #[test]
    fn what_is_below_fills_what_has_no_value() {
        let mut task = patch(json!({ "gpus": 1, "name": null }));
        task.fill_from(patch(json!({ "gpus": 2, "name": "a", "project": "p" })));
        let expect = json!({ "gpus": 1, "name": "a", "project": "p" });
        assert_eq!(serde_json::to_value(task).expect("plain data"), expect);
    }

    #[test]
    fn a_default_command_is_taken_whole_or_not_at_all() {
        let template = || patch(json!({ "command": ["make && ./run"], "shell": true }));
        let mut without = patch(json!({ "gpus": 1 }));
        without.fill_from(template());
        assert_eq!((&without.command, &without.shell), (&template().command, &Change::Set(true)));
        let mut own = patch(json!({ "command": ["python", "a.py"] }));
        own.fill_from(template());
        assert_eq!(own, patch(json!({ "command": ["python", "a.py"] })));
    }

    #[test]
    fn the_server_would_refuse_a_field_it_does_not_know() {
        assert!(serde_json::from_value::<Patch>(json!({"gpu": 1})).is_err());
        assert!(serde_json::from_value::<Patch>(json!({"gpus": "many"})).is_err());
    }

    #[test]
    fn defaults_need_not_be_said() {
        let said = json!({"gpus": null, "labels": {}, "shared": false, "cpus": 0, "output": {"both": null}});
        assert_eq!(patch(said).without_defaults(), patch(json!({"cpus": 0})));
    }
}
