//! Users: who there is, what is theirs, and what admins change about them.

use super::caller::Caller;
use super::{Api, ApiError, settings};
use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, State};
use danlu_core::user::UserChange;
use danlu_core::{Input, Refusal, Settings, Thousandths, User};
use danlu_wire::api::{Document, OneUser, UserView, Users};
use serde::Deserialize;
use serde_json::Value;

pub(super) async fn list(
    State(api): State<Api>,
    _caller: Caller,
) -> Result<Json<Document<Users>>, ApiError> {
    let views = |state: &danlu_core::State, _: &crate::store::Store, now| {
        state.users.values().map(|user| view(state, user, now)).collect()
    };
    let users: Vec<UserView> = api.handle.look(views).await?;
    Ok(Json(Document::new(Users { users })))
}

pub(super) async fn change(
    State(api): State<Api>,
    caller: Caller,
    Path(name): Path<String>,
    body: Result<Json<Change>, JsonRejection>,
) -> Result<Json<Document<OneUser>>, ApiError> {
    let Json(change) = body?;
    if !caller.admin {
        return Err(Refusal::AdminOnly.into());
    }
    let model = api.handle.model();
    let user = model.users.values().find(|user| user.name == name).ok_or(Refusal::NoSuchUser)?.id;
    let Change { priority, weight, group, .. } = change.clone();
    let own = UserChange { priority, weight, group };
    if own != UserChange::default() {
        api.handle.ask(Input::SetUser { by: caller.actor(), user, change: own }).await?;
    }
    if let Some(settings) = change.quotas(&model.ledger.settings, &name)? {
        api.handle.ask(Input::Configure { by: caller.actor(), settings }).await?;
    }
    let look = move |state: &danlu_core::State, _: &crate::store::Store, now| {
        state.users.get(&user).map(|user| view(state, user, now))
    };
    let user = api.handle.look(look).await?.ok_or(Refusal::NoSuchUser)?;
    Ok(Json(Document::new(OneUser { user })))
}

/// What is to be different; a quota of `default` is as for everybody.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Change {
    priority: Option<Thousandths>,
    weight: Option<Thousandths>,
    group: Option<String>,
    running_tasks: Option<Value>,
    running_gpus: Option<Value>,
    queued_tasks: Option<Value>,
    gpu_hours: Option<Value>,
}

impl Change {
    /// The settings with the quotas that are to be different.
    fn quotas(&self, settings: &Settings, name: &str) -> Result<Option<Settings>, ApiError> {
        let quotas = [
            ("running_tasks", &self.running_tasks),
            ("running_gpus", &self.running_gpus),
            ("queued_tasks", &self.queued_tasks),
            ("gpu_hours", &self.gpu_hours),
        ];
        let mut result = None;
        for (which, value) in quotas {
            let Some(value) = value else { continue };
            let value = match value.as_str() {
                Some("default" | "") => Value::Null,
                Some(text) => serde_json::from_str(text).unwrap_or_else(|_| value.clone()),
                None => value.clone(),
            };
            let before = result.as_ref().unwrap_or(settings);
            let key = format!("quota.users.{name}.{which}");
            result = Some(settings::changed(before, &key, value)?);
        }
        Ok(result)
    }
}

fn view(state: &danlu_core::State, user: &User, now: danlu_core::Time) -> UserView {
    let running = state.running_of(user.id);
    UserView {
        name: user.name.clone(),
        admin: user.admin,
        priority: user.priority,
        weight: user.weight,
        group: user.group.clone(),
        running_tasks: running.tasks,
        running_gpus: running.gpus,
        waiting_tasks: state.waiting_of(user.id).tasks,
        spent_gpu_seconds: state.spent_by_user(user.id, now) / 1_000_000,
        quota: state.settings().quota.of_user(&user.name),
        used_gpu_seconds: state.used_by(user.id, now).micros / 1_000_000,
    }
}
