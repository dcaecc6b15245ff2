//! Quotas of users and projects, and their current use.

use crate::api::{Api, ApiError, settings};
use crate::web::acts::done;
use crate::web::form::Sent;
use crate::web::page::{PageResult, page};
use crate::web::page_context::{PageContext, Visit};
use askama::Template;
use axum::extract::State;
use danlu_core::quota::{Load, Quota};
use danlu_core::{State as CoreState, Time};
use danlu_messages::web::admin as msg;
use danlu_messages::web::pages;
use serde_json::Value;

#[derive(Template)]
#[template(path = "admin_quotas.html")]
struct QuotasPage<'a> {
    context: &'a PageContext,
    period: String,
    everybody: Quota,
    users: Vec<QuotaRow>,
    projects: Vec<QuotaRow>,
}

struct QuotaRow {
    name: String,
    /// The quota of this user or project; `None`: the default, or no limit.
    own: Quota,
    /// What holds.
    quota: Quota,
    running: Load,
    waiting: Load,
    /// In this period.
    gpu_seconds: u64,
}

const LIMITS: [&str; 4] = ["running_tasks", "running_gpus", "queued_tasks", "gpu_hours"];

pub(in crate::web) async fn list(State(api): State<Api>, visit: Visit) -> PageResult {
    visit.caller.require_admin().map_err(visit.no())?;
    let rows = api.handle.consider(|state, now| (users(state, now), projects(state, now)));
    let (users, projects) = rows.map_err(visit.no())?;
    let quota = &api.handle.model().ledger.settings.quota;
    Ok(page(&QuotasPage {
        context: &visit.context,
        period: danlu_messages::amounts::span(quota.period),
        everybody: quota.user,
        users,
        projects,
    }))
}

fn users(state: &CoreState, now: Time) -> Vec<QuotaRow> {
    let settings = &state.settings().quota;
    let row = |user: &danlu_core::User| QuotaRow {
        name: user.name.clone(),
        own: settings.users.get(&user.name).copied().unwrap_or_default(),
        quota: settings.of_user(&user.name),
        running: state.running_of(user.id),
        waiting: state.waiting_of(user.id),
        gpu_seconds: state.spent_by_user(user.id, now) / 1_000_000,
    };
    let mut rows: Vec<QuotaRow> =
        state.users.values().filter(|user| !user.removed).map(row).collect();
    rows.sort_by(|one, other| one.name.cmp(&other.name));
    rows
}

fn projects(state: &CoreState, now: Time) -> Vec<QuotaRow> {
    let row = |(name, quota): (&String, &Quota)| {
        let (running, waiting) = state.load_of_project(name);
        let gpu_seconds = state.spent_by_project(name, now) / 1_000_000;
        QuotaRow { name: name.clone(), own: *quota, quota: *quota, running, waiting, gpu_seconds }
    };
    state.settings().quota.project.iter().map(row).collect()
}

/// Sets the quota of one user, one project or all users; an empty field removes the limit.
pub(in crate::web) async fn change(State(api): State<Api>, sent: Sent) -> PageResult {
    let name = sent.field("name").trim();
    let place = match sent.field("of") {
        "user" if !name.is_empty() => format!("quota.users.{name}"),
        "project" if !name.is_empty() => format!("quota.project.{name}"),
        "everybody" => String::from("quota.user"),
        _ => {
            let words = msg::name_missing();
            return done(&sent, Err(ApiError::bad_request(words, "")));
        }
    };
    let mut changes = Vec::new();
    for limit in LIMITS {
        let text = sent.field(limit).trim();
        let value = match (text, text.parse::<u64>()) {
            ("", _) => Value::Null,
            (_, Ok(number)) => Value::from(number),
            _ => {
                let words = msg::limit_not_whole();
                let hint = msg::leave_it_empty_for_none();
                return done(&sent, Err(ApiError::bad_request(words, hint)));
            }
        };
        changes.push((format!("{place}.{limit}"), value));
    }
    done(&sent, settings::set_all(&api, &sent.visit.caller, changes).await)
}

impl QuotasPage<'_> {
    fn tables(&self) -> [(&str, &'static str, &[QuotaRow]); 2] {
        [(msg::users(), "user", &self.users), (msg::projects(), "project", &self.projects)]
    }

    fn typed(&self, limit: &Option<u64>) -> String {
        limit.map(|limit| limit.to_string()).unwrap_or_default()
    }

    /// `3 / 8`, or `3` where there is no limit.
    fn used(&self, used: &u64, most: &Option<u64>) -> String {
        match most {
            Some(most) => format!("{used} / {most}"),
            None => used.to_string(),
        }
    }

    fn hours(&self, row: &QuotaRow) -> String {
        let used = format!("{:.1}", row.gpu_seconds as f64 / 3600.0);
        match row.quota.gpu_hours {
            Some(most) => format!("{used} / {most}"),
            None => used,
        }
    }
}
