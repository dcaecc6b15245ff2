//! `danlu set`: shows and changes live settings.

use clap::Args;
use danlu_messages::cli::set as msg;
use serde_json::{Map, Value, json};

use crate::{
    client::{Client, read, responses::SettingsAnswer},
    failure::{Exit, Failure},
    screen,
};

#[derive(Debug, Args)]
#[command(
    about = msg::about(),
    override_usage = msg::danlu_set_key_value(),
    after_help = msg::help(),
)]
pub(crate) struct SetArguments {
    #[arg(value_name = "KEY", help = msg::setting())]
    key: Option<String>,

    #[arg(value_name = "VALUE", allow_hyphen_values = true, help = msg::new_value())]
    value: Option<String>,

    #[arg(long, help = msg::print_one_json_document())]
    json: bool,
}

pub(crate) fn run(client: &Client, arguments: &SetArguments) -> Result<(), Failure> {
    let document = match (&arguments.key, &arguments.value) {
        (Some(key), Some(value)) => change(client, key, value)?,
        _ => client.get_document("/settings")?,
    };
    if arguments.json {
        return screen::print_document(&document);
    }
    let all = flat(&read::<SettingsAnswer>(&document)?.settings);
    let wanted = |key: &str| {
        arguments.key.as_deref().is_none_or(|wanted| {
            key == wanted || key.strip_prefix(wanted).is_some_and(|rest| rest.starts_with('.'))
        })
    };
    let lines: String = all
        .iter()
        .filter(|(key, _)| wanted(key))
        .map(|(key, value)| format!("{key} = {value}\n"))
        .collect();
    match &arguments.key {
        Some(key) if lines.is_empty() => Err(unknown(key)),
        _ => screen::print(&lines),
    }
}

/// The settings after it.
pub(super) fn change(client: &Client, key: &str, value: &str) -> Result<String, Failure> {
    let body = json!({ "key": key, "value": typed(value) });
    Ok(client.send("PATCH", "/settings", &body)?)
}

/// `true` and `30` are what they look like; everything else is words.
fn typed(value: &str) -> Value {
    match serde_json::from_str(value) {
        Ok(plain @ (Value::Bool(_) | Value::Number(_) | Value::Null)) => plain,
        _ => Value::String(value.to_owned()),
    }
}

/// Groups become names with dots.
pub(super) fn flat(settings: &Map<String, Value>) -> Vec<(String, String)> {
    let mut out = Vec::new();
    for (key, value) in settings {
        match value {
            Value::Object(group) => out.extend(
                flat(group).into_iter().map(|(name, value)| (format!("{key}.{name}"), value)),
            ),
            Value::String(words) => out.push((key.clone(), words.clone())),
            other => out.push((key.clone(), other.to_string())),
        }
    }
    out
}

fn unknown(key: &str) -> Failure {
    Failure::new(Exit::NotFound, msg::no_such_setting(&key)).hint("danlu set")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_type_they_look_like() {
        assert_eq!(typed("30"), json!(30));
        assert_eq!(typed("true"), json!(true));
        assert_eq!(typed("fifo"), json!("fifo"));
        assert_eq!(typed("30s"), json!("30s"));
        assert_eq!(typed("[1]"), json!("[1]"));
    }

    #[test]
    fn groups_have_dots() {
        let settings = json!({"order": "fifo", "cost": {"up_to_8": 40, "above": 60}});
        let settings = settings.as_object().expect("an object");
        let flat: Vec<String> =
            flat(settings).into_iter().map(|(key, value)| format!("{key}={value}")).collect();
        assert_eq!(flat.join(" "), "cost.above=60 cost.up_to_8=40 order=fifo");
    }
}
