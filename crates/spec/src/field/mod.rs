//! The table of all fields of a task: names, option, JSON keys, parser and printer, and where each may be set.
//!
//! A new field is a member of `Patch`, a row here, its words in `words.rs`, and where it takes effect.

mod form;
mod read;
mod row;
mod words;
mod write;

use crate::patch::Patch;
use row::{also, cleared, excluding, flag, row, shown, text};

pub use form::{FieldError, Form};
pub use row::{Edit, Flag, Group, InForm, InTemplate, Row, Shape, Text};
pub use words::{heading, help, hint, label};

/// The text of a switch that is on.
pub const ON: &str = "on";
const CAPTURED: &str = "taken from the submitter's shell";

macro_rules! table {
    ($( $field:ident => $row:expr; )*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Field {
            $( $field, )*
        }

        impl Field {
            /// In the order of the table: a later one is read over an earlier one.
            pub const ALL: &[Field] = &[ $( Field::$field, )* ];

            pub fn row(self) -> &'static Row {
                static TABLE: &[Row] = &[ $( $row, )* ];
                &TABLE[self as usize]
            }
        }
    };
}

const SHARING: &[&str] = &["shared", "exclusive", "idle_util"];
const FORMS_OF_GPUS: &[&str] = &["index", "uuid"];

use Group::{Description, Manner, Needs, Output, Turn};
use Shape::{Choice, Line, Lines, List, Number, Pairs, Switch, SwitchOrLine, Words};

table! {
    Gpus => Row {
        option: flag(Needs, "gpus", 'g', "N|MODEL:N"),
        text: text(Line, read::gpus, write::gpus),
        ..row("gpus", &["gpus", "gpu_model"])
    };
    Nodes => Row {
        option: flag(Needs, "nodes", 'N', "N"),
        text: shown(text(Number, read::nodes, |it| write::count(&it.nodes)), "1"),
        ..row("nodes", &["nodes"])
    };
    GpuIds => Row {
        option: flag(Needs, "gpu-ids", ' ', "LIST"),
        text: text(Line, read::gpu_ids, write::gpu_ids),
        ..row("gpu_ids", &["gpu_ids"])
    };
    Vram => Row {
        option: flag(Needs, "vram", ' ', "SIZE"),
        text: shown(text(Line, |text, it| read::size(text, &mut it.gpu_memory), |it| write::size(&it.gpu_memory)), "0"),
        ..row("vram", &["gpu_memory"])
    };
    Shared => Row {
        option: flag(Needs, "shared", ' ', ""),
        text: text(Switch, |_, it| read::sharing(it, true), |it| write::switch(&it.shared)),
        form: InForm::As("sharing"),
        ..row("shared", SHARING)
    };
    IdleUtil => Row {
        option: flag(Needs, "idle-util", ' ', "PERCENT"),
        text: shown(text(Number, read::idle_util, |it| write::count(&it.idle_util)), "0"),
        ..row("idle_util", SHARING)
    };
    Exclusive => Row {
        option: excluding(flag(Needs, "exclusive", ' ', ""), Field::Shared),
        text: text(Switch, |_, it| read::sharing(it, false), |it| write::switch(&it.exclusive)),
        form: InForm::As("sharing"),
        ..row("exclusive", SHARING)
    };
    Cpus => Row {
        option: flag(Needs, "cpus", 'c', "N"),
        text: shown(text(Number, |text, it| read::number(text, &mut it.cpus), |it| write::count(&it.cpus)), "0"),
        ..row("cpus", &["cpus"])
    };
    Mem => Row {
        option: flag(Needs, "mem", ' ', "SIZE"),
        text: shown(text(Line, |text, it| read::size(text, &mut it.memory), |it| write::size(&it.memory)), "0"),
        ..row("mem", &["memory"])
    };
    Resource => Row {
        option: flag(Needs, "resource", ' ', "NAME:N"),
        text: text(List, read::resource, write::resources),
        ..row("resources", &["resources"])
    };
    Node => Row {
        option: flag(Needs, "node", 'w', "NAME"),
        text: text(Line, |text, it| read::selector(text, &mut it.node), |it| write::selector(&it.node)),
        ..row("node", &["node"])
    };
    Prefer => Row {
        option: flag(Needs, "prefer", ' ', "NAME"),
        text: text(Line, |text, it| read::selector(text, &mut it.prefer), |it| write::selector(&it.prefer)),
        ..row("prefer", &["prefer"])
    };
    Time => Row {
        option: flag(Needs, "time", 't', "TIME"),
        text: shown(text(Line, read::time, write::time), "none"),
        ..row("time", &["time_limit"])
    };
    Priority => Row {
        option: flag(Turn, "priority", 'p', "N"),
        text: text(Number, |text, it| read::number(text, &mut it.priority), write::priority),
        ..row("priority", &["priority"])
    };
    Urgent => Row {
        option: flag(Turn, "urgent", ' ', ""),
        text: text(Switch, |_, it| read::switch(&mut it.urgent), |it| write::switch(&it.urgent)),
        ..row("urgent", &["urgent"])
    };
    After => Row {
        option: flag(Turn, "after", 'd', "LIST"),
        text: text(Line, read::after, write::after),
        template: InTemplate::IfWritten,
        ..row("after", &["after"])
    };
    Retries => Row {
        option: flag(Turn, "retries", ' ', "N[:CLASS,…]"),
        text: shown(text(Number, read::retries, write::retries), "0"),
        ..row("retries", &["retries", "retry_on"])
    };
    Begin => Row {
        option: flag(Turn, "begin", ' ', "TIME"),
        text: text(Line, read::begin, |it| write::line(&it.begin)),
        template: InTemplate::IfWritten,
        ..row("begin", &["begin"])
    };
    Preemptible => Row {
        option: flag(Turn, "preemptible", ' ', ""),
        text: text(Switch, |_, it| read::switch(&mut it.preemptible), |it| write::switch(&it.preemptible)),
        ..row("preemptible", &["preemptible"])
    };
    Notify => Row {
        option: flag(Turn, "notify", ' ', "WHEN[:TO]"),
        text: text(Lines, read::notify, write::notify),
        ..row("notify", &["notify"])
    };
    Name => Row {
        option: flag(Description, "name", 'J', "NAME"),
        text: text(Line, |text, it| read::line(text, &mut it.name), |it| write::line(&it.name)),
        template: InTemplate::IfWritten,
        ..row("name", &["name"])
    };
    About => Row {
        option: flag(Description, "description", ' ', "TEXT"),
        text: text(Line, |text, it| read::line(text, &mut it.description), |it| write::line(&it.description)),
        template: InTemplate::IfWritten,
        ..row("description", &["description"])
    };
    Label => Row {
        option: flag(Description, "label", ' ', "K=V"),
        text: text(Pairs(|it| &mut it.labels), |text, it| read::pair(text, &mut it.labels), |it| write::pairs(&it.labels)),
        ..row("labels", &["labels"])
    };
    Project => Row {
        option: flag(Description, "project", ' ', "NAME"),
        text: text(Line, |text, it| read::line(text, &mut it.project), |it| write::line(&it.project)),
        ..row("project", &["project"])
    };
    Dir => Row {
        option: flag(Manner, "dir", ' ', "PATH"),
        text: text(Line, |text, it| read::line(text, &mut it.directory), |it| write::line(&it.directory)),
        ..row("directory", &["directory"])
    };
    Env => Row {
        option: flag(Manner, "env", ' ', "K=V"),
        text: text(Pairs(|it| &mut it.variables), |text, it| read::pair(text, &mut it.variables), |it| write::pairs(&it.variables)),
        ..row("variables", &["variables"])
    };
    Conda => Row {
        option: excluding(flag(Manner, "conda", ' ', "NAME"), Field::Venv),
        text: text(Line, read::conda, write::conda),
        ..row("conda", &["python"])
    };
    Venv => Row {
        option: flag(Manner, "venv", ' ', "PATH"),
        text: text(Line, read::venv, write::venv),
        ..row("venv", &["python"])
    };
    Shell => Row {
        option: flag(Manner, "shell", ' ', "PATH"),
        text: text(SwitchOrLine, read::shell, write::shell),
        form: InForm::As("no_shell"),
        template: InTemplate::IfWritten,
        ..row("shell", &["shell", "shell_program"])
    };
    GpuArg => Row {
        option: flag(Manner, "gpu-arg", ' ', "ARG"),
        text: text(Line, |text, it| read::line(text, &mut it.gpu_argument), |it| write::line(&it.gpu_argument)),
        ..row("gpu_arg", &["gpu_argument"])
    };
    GpuEnv => Row {
        option: flag(Manner, "gpu-env", ' ', "FORM"),
        text: shown(text(Choice(FORMS_OF_GPUS), read::gpu_env, write::gpu_env), "index"),
        ..row("gpu_env", &["gpus_by_uuid"])
    };
    Output => Row {
        option: also(flag(Output, "output", ' ', "PATH"), "logpath"),
        text: cleared(text(Line, read::output, write::output), |it| it.output.get_or_default().both = None.into()),
        ..row("output", &["output"])
    };
    Stdout => Row {
        option: flag(Output, "stdout", ' ', "FILE"),
        text: cleared(text(Line, read::stdout, write::stdout), |it| it.output.get_or_default().stdout = None.into()),
        ..row("stdout", &["output"])
    };
    Stderr => Row {
        option: flag(Output, "stderr", ' ', "FILE"),
        text: cleared(text(Line, read::stderr, write::stderr), |it| it.output.get_or_default().stderr = None.into()),
        ..row("stderr", &["output"])
    };
    Truncate => Row {
        option: flag(Output, "truncate", ' ', ""),
        text: cleared(text(Switch, |_, it| read::truncate(it), write::truncate), |_| ()),
        ..row("truncate", &["output"])
    };
    Command => Row {
        text: text(Words, read::command, write::command),
        template: InTemplate::IfWritten,
        ..row("command", &["command"])
    };
    Hold => Row {
        option: flag(Turn, "hold", ' ', ""),
        text: text(Switch, |_, it| read::switch(&mut it.hold), |it| write::switch(&it.hold)),
        edit: Edit::No("`danlu hold` and `danlu release` do that"),
        template: InTemplate::IfWritten,
        ..row("hold", &["hold"])
    };
    Array => Row {
        option: flag(Turn, "array", 'a', "LIST"),
        text: text(Line, read::array, write::array),
        edit: Edit::No("its tasks have been made"),
        template: InTemplate::No,
        ..row("array", &["array"])
    };
    Grid => Row {
        option: flag(Turn, "grid", ' ', "K=V,…"),
        text: text(Lines, read::axis, write::grid),
        edit: Edit::No("its tasks have been made"),
        template: InTemplate::No,
        ..row("grid", &["array"])
    };
    Environment => Row {
        edit: Edit::No(CAPTURED),
        form: InForm::No(CAPTURED),
        template: InTemplate::No,
        ..row("environment", &["environment"])
    };
    Umask => Row {
        edit: Edit::No(CAPTURED),
        form: InForm::No(CAPTURED),
        ..row("umask", &["umask"])
    };
    DryRun => Row {
        edit: Edit::No("it describes no task"),
        form: InForm::No("the page always says where and when"),
        template: InTemplate::No,
        ..row("dry_run", &["dry_run"])
    };
}

impl Field {
    pub fn name(self) -> &'static str {
        self.row().name
    }

    pub fn named(name: &str) -> Option<Field> {
        Field::ALL.iter().copied().find(|field| field.name() == name)
    }

    /// The option without its dashes, or the name of what has none.
    pub fn option_or_name(self) -> &'static str {
        self.row().option.map_or(self.row().name, |option| option.long)
    }

    pub fn can_be_edited(self) -> bool {
        self.row().edit == Edit::Yes
    }

    pub fn with_key(key: &str) -> impl Iterator<Item = Field> {
        Field::ALL.iter().copied().filter(move |field| field.row().keys.contains(&key))
    }

    /// The template of a key is that of all its fields.
    pub fn in_template(key: &str) -> InTemplate {
        Field::with_key(key).next().map_or(InTemplate::No, |field| field.row().template)
    }

    /// Reads a text into the patch, as the option or the form does. A switch takes any text.
    pub fn read(self, text: &str, patch: &mut Patch) -> Result<(), String> {
        self.row().text.map_or(Ok(()), |field| (field.read)(text, patch))
    }

    fn clear(self, patch: &mut Patch) {
        match self.row().text.and_then(|text| text.clear) {
            Some(clear) => clear(patch),
            None => self.row().keys.iter().for_each(|key| patch.clear(key)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_key_of_a_task_has_its_field_and_every_field_its_keys() {
        let of_fields: BTreeSet<&str> =
            Field::ALL.iter().flat_map(|it| it.row().keys).copied().collect();
        assert_eq!(of_fields, Patch::KEYS.iter().copied().collect());
        for (place, field) in Field::ALL.iter().enumerate() {
            assert_eq!(*field as usize, place);
        }
    }

    #[test]
    fn names_options_and_letters_are_of_one_field_each() {
        let unique = |words: Vec<String>| {
            let set: BTreeSet<&String> = words.iter().collect();
            assert_eq!(set.len(), words.len(), "{words:?}");
        };
        let options = || Field::ALL.iter().filter_map(|it| it.row().option);
        unique(Field::ALL.iter().map(|it| it.name().to_owned()).collect());
        unique(options().map(|it| it.long.to_owned()).collect());
        unique(options().filter_map(|it| it.short).map(String::from).collect());
    }

    #[test]
    fn fields_of_one_key_agree_about_templates() {
        for key in Patch::KEYS {
            let said: Vec<_> = Field::with_key(key).map(|it| it.row().template).collect();
            assert!(said.windows(2).all(|two| two[0] == two[1]), "{key}: {said:?}");
        }
    }

    /// What can be changed is in the editor's form and in the page's, or the table says why not.
    #[test]
    fn what_can_be_typed_can_be_typed_everywhere() {
        for field in Field::ALL {
            let row = field.row();
            let typed = row.text.is_some();
            assert_eq!(typed, !matches!(row.form, InForm::No(_)), "{field:?} and the page");
            assert!(typed || !field.can_be_edited(), "{field:?} and the editor");
            if let Edit::No(why) = row.edit {
                assert!(!why.is_empty());
            }
        }
    }
}
