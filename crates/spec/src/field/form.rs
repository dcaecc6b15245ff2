//! The fields of a task as texts, for the web form and the editor: filled from a patch, read back into one.

use super::{Field, Shape};
use crate::patch::Patch;
use danlu_messages::spec as msg;
use std::collections::BTreeMap;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Form {
    texts: BTreeMap<Field, String>,
}

/// A text that cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    pub field: Field,
    pub text: String,
    pub reason: String,
}

impl Form {
    pub fn of(patch: &Patch) -> Form {
        let texts = Field::ALL.iter().filter_map(|field| {
            let text = field.row().text?;
            Some((*field, (text.write)(patch)))
        });
        Form { texts: texts.collect() }
    }

    pub fn get(&self, field: Field) -> &str {
        self.texts.get(&field).map_or("", String::as_str)
    }

    pub fn has(&self, field: Field) -> bool {
        !self.get(field).is_empty()
    }

    pub fn set(&mut self, field: Field, text: String) {
        self.texts.insert(field, text);
    }

    /// What these fields say, and that the empty ones are as by default.
    pub fn read(&self, fields: &[Field]) -> Result<Patch, FieldError> {
        let mut patch = Patch::default();
        fields.iter().for_each(|field| field.clear(&mut patch));
        for field in fields {
            self.read_one(*field, &mut patch)?;
        }
        Ok(patch)
    }

    /// Of what can be edited: the keys of the fields that have another text now.
    pub fn changes_since(&self, before: &Form) -> Result<Patch, FieldError> {
        let fields = || Field::ALL.iter().copied().filter(|field| field.can_be_edited());
        let changed = fields().filter(|field| self.get(*field) != before.get(*field));
        let keys: Vec<&str> = changed.flat_map(|field| field.row().keys).copied().collect();
        let concerned = |field: &Field| field.row().keys.iter().any(|key| keys.contains(key));
        self.read(&fields().filter(concerned).collect::<Vec<_>>())
    }

    fn read_one(&self, field: Field, patch: &mut Patch) -> Result<(), FieldError> {
        let row = field.row();
        let given = self.get(field).trim();
        let Some(text) = row.text.filter(|_| !given.is_empty()) else { return Ok(()) };
        let wrong = |part: &str, reason| FieldError { field, text: part.to_owned(), reason };
        let other = row.option.and_then(|option| option.excludes).filter(|other| self.has(*other));
        if let Some(other) = other {
            return Err(wrong(given, excluded(field, other)));
        }
        for part in parts(text.shape, given) {
            (text.read)(part, patch).map_err(|reason| wrong(part, reason))?;
        }
        if field == Field::After && patch.names_own_tasks() {
            let reason = danlu_messages::spec::name_a_task_by_its_id();
            return Err(wrong(given, reason.to_owned()));
        }
        Ok(())
    }
}

fn parts(shape: Shape, given: &str) -> Vec<&str> {
    let parts: Vec<&str> = match shape {
        Shape::Line
        | Shape::Number
        | Shape::Switch
        | Shape::SwitchOrLine
        | Shape::Words
        | Shape::Choice(_) => {
            vec![given]
        }
        Shape::Pairs(_) | Shape::Lines => given.lines().collect(),
        Shape::List => given.split(',').collect(),
    };
    let parts = parts.into_iter().map(str::trim);
    // A comma too many is a slip, an empty line is not.
    parts.filter(|part| !part.is_empty() || matches!(shape, Shape::List)).collect()
}

fn excluded(field: Field, other: Field) -> String {
    let (field, other) = (field.option_or_name(), other.option_or_name());
    msg::field_and_other_exclude_each_other(&field, &other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Every field has a value that is not its default.
    fn whole() -> Patch {
        let task = r#"{
            "name": "a", "description": "b", "project": "c", "labels": {"k": "v"},
            "command": ["python", "a b.py"], "directory": "/d", "variables": {"A": "1", "B": "x=y"},
            "gpus": 2, "gpu_model": "A100", "nodes": 2, "gpu_ids": [0, 2], "gpu_memory": 5368709120,
            "shared": true, "exclusive": false, "idle_util": 50, "cpus": 4, "memory": 1073741824,
            "resources": {"licence": 2, "scratch": 1}, "node": {"name": "gpu1"},
            "prefer": {"label": {"key": "rack", "value": "7"}}, "time_limit": 5400, "priority": 3,
            "urgent": true, "after": [{"task": 3, "kind": "after_any"}], "retries": 2,
            "retry_on": ["nccl"], "begin": "2026-11-20T22:00:00Z", "preemptible": true,
            "python": {"venv": "/v"}, "shell": false, "gpu_argument": "--gpus=", "gpus_by_uuid": true,
            "output": {"both": "o", "stdout": {"truncate": {"path": "p"}}, "stderr": "discard"},
            "hold": true, "notify": [{"on": ["start", "end"], "to": "ops"}, {"on": ["fail"]}],
            "array": {"indices": [1, 5], "at_once": 2, "grid": [{"name": "lr", "values": ["1", "2"]}]}
        }"#;
        serde_json::from_str(task).expect("a task")
    }

    #[test]
    fn what_a_form_shows_is_read_back_as_the_same() {
        let typed: Vec<Field> =
            Field::ALL.iter().copied().filter(|it| it.row().text.is_some()).collect();
        let form = Form::of(&whole());
        // One of two that exclude each other is not said.
        let unsaid = [Field::Exclusive, Field::Conda, Field::Shell];
        for field in &typed {
            assert_eq!(form.has(*field), !unsaid.contains(field), "{field:?}");
        }
        let read = form.read(&typed).expect("it can be read");
        assert_eq!(read.without_defaults(), whole().without_defaults());
    }

    #[test]
    fn what_is_empty_is_as_by_default() {
        let read = Form::default().read(Field::ALL).expect("nothing is wrong");
        assert!(read.clone().without_defaults().is_empty() && !read.is_empty());
        assert!(Patch::KEYS.iter().all(|key| read.says(key)), "every key is said");
    }

    #[test]
    fn only_keys_of_changed_fields_are_said() {
        let before = Form::of(&whole());
        let mut after = before.clone();
        assert_eq!(after.changes_since(&before), Ok(Patch::default()));
        after.set(Field::Gpus, "4".to_owned());
        let said = after.changes_since(&before).expect("it can be read");
        assert_eq!(serde_json::to_value(said).ok(), Some(json!({"gpus": 4, "gpu_model": null})));
        after.set(Field::Conda, "torch".to_owned());
        let wrong = after.changes_since(&before).expect_err("there are two environments");
        assert!(wrong.reason.contains("cannot be combined"), "{wrong:?}");
        after.set(Field::Venv, String::new());
        assert!(after.changes_since(&before).is_ok());
    }
}
