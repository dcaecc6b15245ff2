//! A task as text for the editor, one `option: value` per line, and the changes made in it.

use std::collections::BTreeMap;

use danlu_messages::cli::edit as msg;
use danlu_spec::{
    Change, Field, Patch,
    field::{Form, ON, Shape},
};
use serde::{Serialize, Serializer, ser::SerializeMap as _};
use toml::{Table, Value};

type Pairs = BTreeMap<String, String>;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Text {
    form: Form,
    /// Values may have several lines, so that they are no texts of a form.
    pairs: BTreeMap<Field, Pairs>,
}

/// What people look for first, then the others as the help has them; tables come last in TOML.
const FIRST: [Field; 5] = [Field::Name, Field::About, Field::Command, Field::Shell, Field::Dir];

fn fields() -> impl Iterator<Item = Field> {
    let all = || Field::ALL.iter().copied().filter(|field| field.can_be_edited());
    let rest = move |pairs: bool| {
        all()
            .filter(move |it| !FIRST.contains(it) && matches!(shape(*it), Shape::Pairs(_)) == pairs)
    };
    FIRST.into_iter().chain(rest(false)).chain(rest(true))
}

fn shape(field: Field) -> Shape {
    field.row().text.map_or(Shape::Line, |text| text.shape)
}

impl Text {
    pub(super) fn of(mut task: Patch) -> Self {
        let mut form = Form::of(&task);
        let mut pairs = BTreeMap::new();
        for field in fields() {
            match shape(field) {
                Shape::Pairs(get) => {
                    form.set(field, String::new());
                    pairs.insert(field, get(&mut task).value().cloned().unwrap_or_default());
                }
                Shape::Words => form.set(field, joined(task.command.value().into_iter().flatten())),
                Shape::Line
                | Shape::Number
                | Shape::Switch
                | Shape::SwitchOrLine
                | Shape::Lines
                | Shape::List
                | Shape::Choice(_) => {
                    if !form.has(field) {
                        let default = field.row().text.map_or("", |text| text.default);
                        form.set(field, default.to_owned());
                    }
                }
            }
        }
        Self { form, pairs }
    }

    pub(super) fn written(&self, id: u64) -> String {
        let heading = msg::form_head(&id);
        heading + &toml::to_string(self).expect("a form is plain data")
    }

    pub(super) fn read(written: &str) -> Result<Self, String> {
        let mut table: Table = written
            .parse()
            .map_err(|error: toml::de::Error| error.to_string().trim_end().to_owned())?;
        let mut text = Self::default();
        for field in fields() {
            let value = table.remove(field.option_or_name()).or_else(|| table.remove(field.name()));
            let name = field.option_or_name();
            let value = value.ok_or_else(|| msg::name_is_missing(&name))?;
            match (shape(field), value) {
                (Shape::Pairs(_), Value::Table(table)) => {
                    let pairs = table.into_iter().map(|(key, value)| Some((key, plain(value)?)));
                    let pairs = pairs.collect::<Option<_>>().ok_or_else(|| odd(name))?;
                    text.pairs.insert(field, pairs);
                }
                (Shape::Pairs(_), _) => return Err(odd(name)),
                (_, value) => text.form.set(field, plain(value).ok_or_else(|| odd(name))?),
            }
        }
        match table.keys().next() {
            Some(unknown) => Err(msg::unknown_field_unknown(&unknown)),
            None => Ok(text),
        }
    }

    pub(super) fn changes_since(&self, before: &Self) -> Result<Patch, String> {
        let changes = self.form.changes_since(&before.form);
        let mut changes = changes.map_err(|wrong| {
            let (name, reason) = (wrong.field.option_or_name(), wrong.reason);
            format!("`{name}`: {reason}")
        })?;
        for (field, pairs) in &self.pairs {
            if let Shape::Pairs(get) = shape(*field)
                && before.pairs.get(field) != Some(pairs)
            {
                *get(&mut changes) = Change::Set(pairs.clone());
            }
        }
        Ok(changes)
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for field in fields() {
            let (name, text) = (field.option_or_name(), self.form.get(field));
            match shape(field) {
                Shape::Pairs(_) => map.serialize_entry(name, &self.pairs.get(&field))?,
                Shape::Switch => map.serialize_entry(name, &!text.is_empty())?,
                Shape::SwitchOrLine if ["", ON].contains(&text) => {
                    map.serialize_entry(name, &!text.is_empty())?;
                }
                Shape::Words => {
                    map.serialize_entry(name, &shlex::split(text).unwrap_or_default())?;
                }
                Shape::Number => match text.parse::<i64>() {
                    Ok(number) => map.serialize_entry(name, &number)?,
                    Err(_) => map.serialize_entry(name, text)?,
                },
                Shape::Line
                | Shape::SwitchOrLine
                | Shape::Lines
                | Shape::List
                | Shape::Choice(_) => {
                    map.serialize_entry(name, text)?;
                }
            }
        }
        map.end()
    }
}

fn joined<'a>(words: impl Iterator<Item = &'a String>) -> String {
    shlex::try_join(words.map(String::as_str)).unwrap_or_default()
}

/// As a user would have typed it.
fn plain(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Boolean(on) => Some(if on { ON.to_owned() } else { String::new() }),
        Value::Datetime(time) => Some(time.to_string()),
        Value::Array(words) => {
            let words: Option<Vec<String>> = words.into_iter().map(plain).collect();
            words.map(|words| joined(words.iter()))
        }
        Value::Table(_) => None,
    }
}

fn odd(name: &str) -> String {
    format!("`{name}`: {}", msg::bad_syntax())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn form() -> Text {
        let task = json!({
            "name": "train", "command": ["python", "it's.py"], "directory": "/home/ada", "gpus": 2,
            "priority": 5, "labels": {"sweep": "a"}, "output": {"stdout": {"append": {"path": "out"}}},
        });
        Text::of(serde_json::from_value(task).expect("a task"))
    }

    fn changed(from: &str, to: &str) -> Result<serde_json::Value, String> {
        let text = form().written(12);
        assert!(text.contains(from), "{text}");
        let after = Text::read(&text.replace(from, to))?;
        let changes = after.changes_since(&form())?;
        Ok(serde_json::to_value(changes).expect("plain data"))
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
        assert_eq!(
            changed("\"it's.py\"", "\"a b.py\""),
            Ok(json!({"command": ["python", "a b.py"]}))
        );
        assert_eq!(changed("name = \"train\"", "name = \"\""), Ok(json!({"name": ""})));
        assert_eq!(
            changed("shell = false", "shell = \"/bin/zsh\""),
            Ok(json!({"shell": true, "shell_program": "/bin/zsh"}))
        );
    }

    #[test]
    fn fields_with_a_key_in_common_are_read_together() {
        assert_eq!(
            changed("truncate = false", "truncate = true"),
            Ok(
                json!({"output": {"both": null, "stdout": {"truncate": {"path": "out"}}, "stderr": null}})
            )
        );
        assert_eq!(
            changed("shared = false", "shared = true"),
            Ok(json!({"shared": true, "exclusive": false, "idle_util": 0}))
        );
        let both = "shared = true\nidle-util = 0\nexclusive = true";
        assert!(changed("shared = false\nidle-util = 0\nexclusive = false", both).is_err());
    }

    #[test]
    fn values_of_several_lines_stay_whole() {
        assert_eq!(
            changed("[env]", "[env]\nA = \"x\\ny\""),
            Ok(json!({"variables": {"A": "x\ny"}}))
        );
    }

    #[test]
    fn every_field_that_can_be_edited_is_there() {
        let table: Table = form().written(12).parse().expect("it is TOML");
        for field in Field::ALL {
            let is_there = table.contains_key(field.option_or_name());
            assert_eq!(is_there, field.can_be_edited(), "{field:?}: {:?}", field.row().edit);
        }
    }

    #[test]
    fn mistakes_are_named() {
        assert!(
            changed("gpus = \"2\"", "gpus = \"many\"")
                .is_err_and(|complaint| complaint.contains("gpus"))
        );
        assert!(
            changed("priority = 5", "priority = 5\nprioritiy = 5")
                .is_err_and(|complaint| complaint.contains("prioritiy"))
        );
        assert!(changed("priority = 5", "").is_err_and(|complaint| complaint.contains("priority")));
        assert!(changed("name = \"train\"", "name = train").is_err());
    }
}
