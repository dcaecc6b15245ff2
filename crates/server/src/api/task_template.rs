//! Templates: the default values of a user's tasks, as fields of `POST /tasks`.

use danlu_messages::errors;
use danlu_spec::field::InTemplate;
use danlu_spec::{Field, Patch};
use thiserror::Error;

#[derive(Debug, PartialEq, Eq, Error)]
#[error("{}", errors::not_in_template(.0))]
pub(crate) struct NotForATemplate(&'static str);

/// Refuses fields that differ from task to task by nature.
pub(crate) fn check(template: &Patch) -> Result<(), NotForATemplate> {
    let odd = |key: &&&str| template.says(key) && Field::in_template(key) == InTemplate::No;
    Patch::KEYS.iter().find(odd).map_or(Ok(()), |odd| Err(NotForATemplate(odd)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(value: Value) -> Option<Patch> {
        serde_json::from_value(value).ok().filter(|template| check(template).is_ok())
    }

    #[test]
    fn only_fields_of_a_task_with_values_of_their_kind() {
        assert!(read(json!({ "gpus": 2, "time_limit": 3600 })).is_some());
        assert!(read(json!({ "gpuz": 2 })).is_none());
        assert!(read(json!({ "gpus": "many" })).is_none());
        assert!(read(json!({ "command": ["bash", "task.sh"] })).is_some());
        assert!(read(json!({ "environment": ["A=1"] })).is_none());
    }
}
