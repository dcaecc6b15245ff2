//! Settings that administrators change while the server runs.

use super::body::Json;
use super::caller::Caller;
use super::{Api, ApiError};
use crate::parse::{amount, duration};
use axum::extract::State;
use danlu_core::{Input, Settings, Span};
use danlu_messages::amounts;
use danlu_messages::errors;
use danlu_wire::api::ErrorCode;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

pub(super) async fn show(State(api): State<Api>, caller: Caller) -> Json<Value> {
    let model = api.handle.model();
    let mut document = document(&model.ledger.settings);
    let users = document["settings"]["quota"]["users"].as_object_mut();
    if let Some(users) = users.filter(|_| !caller.visibility(&model).is_whole()) {
        users.retain(|name, _| *name == caller.name);
    }
    Json(document)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SettingChange")]
pub(super) struct SettingChange {
    key: String,
    value: Value,
}

pub(super) async fn change(
    State(api): State<Api>,
    caller: Caller,
    body: Result<Json<SettingChange>, ApiError>,
) -> Result<Json<Value>, ApiError> {
    let Json(SettingChange { key, value }) = body?;
    set(&api, &caller, &key, value).await?;
    Ok(Json(document(&api.handle.model().ledger.settings)))
}

pub(crate) async fn set(
    api: &Api,
    caller: &Caller,
    key: &str,
    value: Value,
) -> Result<(), ApiError> {
    set_all(api, caller, vec![(key.to_owned(), value)]).await
}

/// All of them, or none.
pub(crate) async fn set_all(
    api: &Api,
    caller: &Caller,
    changes: Vec<(String, Value)>,
) -> Result<(), ApiError> {
    let mut settings = api.handle.model().ledger.settings.clone();
    let mut resumes = false;
    for (key, value) in changes {
        resumes |= key == "queue_paused" && value == Value::Bool(false);
        settings = changed(&settings, &key, value)?;
    }
    crate::idle::check_settings(&settings.idle)?;
    caller.ask(api, Input::Configure { by: caller.actor(), settings }).await?;
    if resumes {
        super::notices::resume_scheduling(api, caller).await?;
    }
    Ok(())
}

fn document(settings: &Settings) -> Value {
    json!({ "v": 1, "settings": shown(settings) })
}

/// Settings that are lengths of time: people read and write `10s` and `5h`.
const SPANS: [&str; 21] = [
    "stop_grace",
    "min_run_before_preemption",
    "restart_cost.up_to_8_gpus",
    "restart_cost.above",
    "las_threshold",
    "max_extension",
    "retry_backoff",
    "retry_backoff_max",
    "fair.half_life",
    "quota.period",
    "reserve_after",
    "idle_delay",
    "settle_time",
    "lost_after",
    "history.keep",
    "notify.digest",
    "idle.tell_after",
    "idle.ask_after",
    "idle.release_after",
    "idle.longest_keep",
    "guard.grace",
];

/// Settings that are sizes in bytes: people write `20G`; `null` is no limit.
const SIZES: [&str; 3] = ["limits.log_size", "limits.log_bytes_per_user", "history.log_bytes"];

/// Settings that are lists: people write `nccl,cuda_oom`.
const LISTS: [&str; 4] =
    ["retry_on", "idle.exempt_users", "idle.exempt_projects", "idle.exempt_labels"];

pub(crate) fn shown(settings: &Settings) -> Value {
    let mut whole = serde_json::to_value(settings).unwrap_or_default();
    for key in SPANS {
        if let Some(entry) = entry(&mut whole, key)
            && let Some(ms) = entry.as_u64()
        {
            *entry = Value::String(amounts::span(Span(ms)));
        }
    }
    for key in LISTS {
        if let Some(entry) = entry(&mut whole, key)
            && let Some(words) = entry.as_array()
        {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            *entry = Value::String(words.join(","));
        }
    }
    whole
}

fn entry<'a>(whole: &'a mut Value, key: &str) -> Option<&'a mut Value> {
    key.split('.').try_fold(whole, |at, name| at.get_mut(name))
}

/// As the core keeps it.
fn span_value(key: &str, value: &Value) -> Result<Value, ApiError> {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match duration::parse_span(&text) {
        Some(Span(ms)) => Ok(ms.into()),
        None => Err(ApiError::new(
            ErrorCode::Refused,
            errors::key_cannot_be_text(&key, &text),
            errors::give_duration(),
        )),
    }
}

fn size_value(key: &str, value: Value) -> Result<Value, ApiError> {
    if value.is_null() {
        return Ok(value);
    }
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let bytes = amount::parse_bytes(&text).map_err(|_| {
        ApiError::new(
            ErrorCode::Refused,
            errors::key_cannot_be_text(&key, &text),
            errors::a_size_512m_20g_1_5t(),
        )
    })?;
    Ok(bytes.into())
}

/// Lists whose names are free: naming one makes it, `null` takes it away. Those of quotas have several values each.
const OPEN_LISTS: [(&str, bool); 3] =
    [("fair.groups", false), ("quota.users", true), ("quota.project", true)];

/// The settings with one of them replaced; what is not known or does not fit is refused.
pub(super) fn changed(settings: &Settings, key: &str, value: Value) -> Result<Settings, ApiError> {
    let mut whole = serde_json::to_value(settings).unwrap_or_default();
    if let Some(place) = in_open_list(key) {
        change_open_list(&mut whole, place, value);
    } else if let Some(entry) = entry(&mut whole, key) {
        *entry = match value.as_str() {
            _ if SPANS.contains(&key) => span_value(key, &value)?,
            _ if SIZES.contains(&key) => size_value(key, value)?,
            Some(words) if LISTS.contains(&key) => {
                let words = words.split(',').map(str::trim).filter(|word| !word.is_empty());
                words.map(|word| Value::String(word.to_owned())).collect()
            }
            _ => value,
        };
    } else {
        return Err(unknown(settings, key));
    }
    serde_json::from_value(whole).map_err(|error| {
        ApiError::new(
            ErrorCode::Refused,
            errors::key_cannot_be_that_error(&key, &error),
            errors::danlu_set_shows_the_values(),
        )
    })
}

fn unknown(settings: &Settings, key: &str) -> ApiError {
    let known = serde_json::to_value(settings).unwrap_or_default();
    let names: Vec<&str> =
        known.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    let hint = errors::one_of_join(&(names.join(", ")));
    ApiError::new(ErrorCode::NotFound, errors::no_such_setting(&key), hint)
}

/// The list, the name in it, and which value of it.
fn in_open_list(key: &str) -> Option<(&'static str, &str, Option<&str>)> {
    let named = |(list, has_values): (&'static str, bool)| {
        let rest = key.strip_prefix(list)?.strip_prefix('.').filter(|rest| !rest.is_empty())?;
        match rest.rsplit_once('.') {
            Some((name, value)) if has_values => Some((list, name, Some(value))),
            _ if has_values => None,
            _ => Some((list, rest, None)),
        }
    };
    OPEN_LISTS.into_iter().find_map(named)
}

fn change_open_list(
    whole: &mut Value,
    (list, name, which): (&str, &str, Option<&str>),
    value: Value,
) {
    let Some(Value::Object(list)) = entry(whole, list) else { return };
    let Some(which) = which else {
        match value {
            Value::Null => drop(list.remove(name)),
            value => drop(list.insert(name.to_owned(), value)),
        }
        return;
    };
    let values = list.entry(name).or_insert_with(|| json!({}));
    values[which] = value;
    let empty = values.as_object().is_some_and(|values| values.values().all(Value::is_null));
    if empty {
        list.remove(name);
    }
}
