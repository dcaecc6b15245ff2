//! What tasks have when nothing else is said: fields of `POST /tasks`.

use danlu_messages::errors;
use danlu_wire::api::Submit;
use serde_json::{Map, Value};
use thiserror::Error;

/// These differ from task to task.
const NOT_FOR_A_TEMPLATE: [&str; 3] = ["environment", "dry_run", "array"];
/// These belong together: who gives a command takes neither from the template.
const COMMAND: [&str; 2] = ["command", "shell"];

#[derive(Debug, PartialEq, Eq, Error)]
pub(crate) enum Wrong {
    #[error("{}", errors::it_is_not_for_a_template(.0))]
    NotForATemplate(&'static str),
    #[error("{}", errors::there_is_no_field_it(.0))]
    Unknown(String),
    #[error("{0}")]
    Kind(String),
}

/// Fields of a task, with values of the right kind.
pub(crate) fn check(template: &Map<String, Value>) -> Result<(), Wrong> {
    let mut whole = fields();
    if let Some(unknown) = template.keys().find(|key| !whole.contains_key(*key)) {
        return Err(Wrong::Unknown(unknown.clone()));
    }
    whole.extend(template.clone());
    let parsed: Result<Submit, _> = serde_json::from_value(Value::Object(whole));
    parsed.map_err(|error| Wrong::Kind(error.to_string()))?;
    let odd = NOT_FOR_A_TEMPLATE.into_iter().find(|odd| template.contains_key(*odd));
    odd.map_or(Ok(()), |odd| Err(Wrong::NotForATemplate(odd)))
}

/// What the task itself says comes first; `null` is nothing.
pub(crate) fn put_under(task: &mut Map<String, Value>, template: Map<String, Value>) {
    let is_given =
        |task: &Map<_, Value>, field: &str| task.get(field).is_some_and(|it| !it.is_null());
    let keeps_command = template.contains_key("command") && is_given(task, "command");
    for (field, value) in template {
        let kept = keeps_command && COMMAND.contains(&field.as_str());
        if !kept && !is_given(task, &field) {
            task.insert(field, value);
        }
    }
}

/// All there are, as they are when nothing is said.
fn fields() -> Map<String, Value> {
    match serde_json::to_value(Submit::default()) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(value: &Value) -> Map<String, Value> {
        value.as_object().cloned().expect("an object")
    }

    #[test]
    fn only_fields_of_a_task_with_values_of_their_kind() {
        assert_eq!(check(&object(&json!({ "gpus": 2, "time_limit": 3600 }))), Ok(()));
        assert!(check(&object(&json!({ "gpuz": 2 }))).is_err());
        assert!(check(&object(&json!({ "gpus": "many" }))).is_err());
        assert_eq!(check(&object(&json!({ "command": ["bash", "task.sh"] }))), Ok(()));
        assert!(check(&object(&json!({ "environment": ["A=1"] }))).is_err());
    }

    #[test]
    fn the_task_comes_first() {
        let mut task = object(&json!({ "gpus": 1, "name": null }));
        put_under(&mut task, object(&json!({ "gpus": 2, "name": "a", "project": "p" })));
        assert_eq!(Value::Object(task), json!({ "gpus": 1, "name": "a", "project": "p" }));
    }

    #[test]
    fn a_default_command_is_taken_whole_or_not_at_all() {
        let template = object(&json!({ "command": ["make && ./run"], "shell": true }));
        let mut without = object(&json!({ "gpus": 1 }));
        put_under(&mut without, template.clone());
        assert_eq!((&without["command"], &without["shell"]), (&template["command"], &json!(true)));
        let mut own = object(&json!({ "command": ["python", "a.py"] }));
        put_under(&mut own, template);
        assert_eq!(Value::Object(own), json!({ "command": ["python", "a.py"] }));
    }
}
