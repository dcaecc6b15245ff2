//! Settings, the announcement, and pausing the queue.

use super::setting_help::about;
use crate::api::{Api, settings};
use crate::web::acts::done;
use crate::web::form::Sent;
use crate::web::page::{PageResult, page};
use crate::web::page_context::{PageContext, Visit};
use askama::Template;
use axum::extract::State;
use danlu_messages::web::pages;
use serde_json::Value;

#[derive(Template)]
#[template(path = "admin_settings.html")]
struct SettingsPage<'a> {
    context: &'a PageContext,
    order: String,
    announcement: String,
    /// All others.
    settings: Vec<(String, String)>,
}

const ORDERS: [&str; 7] = ["balance", "fair", "fifo", "auto", "sjf", "srtf", "las"];
/// These have places of their own on the page.
const APART: [&str; 3] = ["order", "announcement", "queue_paused"];

pub(in crate::web) async fn list(State(api): State<Api>, visit: Visit) -> PageResult {
    visit.caller.require_admin().map_err(visit.no())?;
    let shown = settings::shown(&api.handle.model().ledger.settings);
    let mut all = Vec::new();
    flatten("", &shown, &mut all);
    let value =
        |name: &str| all.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
    Ok(page(&SettingsPage {
        context: &visit.context,
        order: value("order").unwrap_or_default(),
        announcement: value("announcement").unwrap_or_default(),
        settings: all.into_iter().filter(|(key, _)| !APART.contains(&key.as_str())).collect(),
    }))
}

impl SettingsPage<'_> {
    fn about(&self, key: &str) -> &'static str {
        about(key)
    }

    fn orders(&self) -> [&'static str; 7] {
        ORDERS
    }
}

/// `fair.half_life` and the like, each with its value as one would type it.
fn flatten(prefix: &str, value: &Value, out: &mut Vec<(String, String)>) {
    let Value::Object(fields) = value else {
        let text = match value {
            // No limit.
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        return out.push((prefix.to_owned(), text));
    };
    for (name, value) in fields {
        let key = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        flatten(&key, value, out);
    }
}

pub(in crate::web) async fn change(State(api): State<Api>, sent: Sent) -> PageResult {
    let key = sent.field("key");
    let text = sent.field("value").trim();
    let words = ["order", "announcement", "retry_on"].contains(&key);
    let value = match words {
        true => Value::String(text.to_owned()),
        false if text.is_empty() => Value::Null,
        // What is no number, truth or list is a word.
        false => serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned())),
    };
    done(&sent, settings::set(&api, &sent.visit.caller, key, value).await)
}

#[cfg(test)]
mod tests {
    use super::*;
    use danlu_messages::Language;

    #[test]
    fn every_setting_says_what_it_is_for() {
        let mut all = Vec::new();
        flatten("", &settings::shown(&danlu_core::Settings::default()), &mut all);
        assert!(all.len() > 30, "{all:?}");
        for (key, _) in all.iter().filter(|(key, _)| !APART.contains(&key.as_str())) {
            assert!(!Language::English.within(|| about(key)).is_empty(), "{key} has no words");
            assert!(
                !Language::Chinese.within(|| about(key)).is_ascii(),
                "{key} has no Chinese words"
            );
        }
    }
}
