//! User accounts: list, add, change, remove.

use super::body::Json;
use super::caller::{Caller, user_named};
use super::me_nodes::check_node;
use super::{Api, ApiError, settings};
use crate::auth::Auth;
use crate::fleet::logins::Logins;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use danlu_core::user::UserChange;
use danlu_core::{Input, Refusal, Reply, Settings, User};
use danlu_messages::errors;
use danlu_wire::api::{
    AddedUser, Document, ErrorCode, NewPassword, NewUser, OneUser, PasswordSet, Removed, Secret,
    UserView, Users,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

pub(super) async fn list(
    State(api): State<Api>,
    caller: Caller,
) -> Result<Json<Document<Users>>, ApiError> {
    let mut users = all(&api)?;
    let model = api.handle.model();
    let all = caller.visibility(&model).is_whole();
    users.retain(|user| all || user.name == caller.name);
    Ok(Json(Document::new(Users { users })))
}

pub(crate) fn all(api: &Api) -> Result<Vec<UserView>, ApiError> {
    Ok(api.handle.consider(|state, now| {
        let users = state.users.values().filter(|user| !user.removed);
        users.map(|user| view(state, user, &api.logins, now)).collect()
    })?)
}

pub(super) async fn change(
    State(api): State<Api>,
    caller: Caller,
    Path(name): Path<String>,
    body: Result<Json<UserEdit>, ApiError>,
) -> Result<Json<Document<OneUser>>, ApiError> {
    let Json(change) = body?;
    set(&api, &caller, &name, change).await?;
    one(&api, &name).await
}

pub(crate) async fn set(
    api: &Api,
    caller: &Caller,
    name: &str,
    change: UserEdit,
) -> Result<(), ApiError> {
    caller.require_admin()?;
    let user = user_named(api, name).ok_or(Refusal::NoSuchUser)?.id;
    if let Some(settings) = change.quotas(&api.handle.model().ledger.settings, name)? {
        caller.ask(api, Input::Configure { by: caller.actor(), settings }).await?;
    }
    for (node, os_user) in &change.os_user_on {
        check_node(api, node)?;
        let (who, by) = ((user, name), caller.asker());
        api.logins.name_os_user(&api.handle, who, (node, os_user), &by).await?;
    }
    if change.own != UserChange::default() {
        let locks = change.own.locked == Some(true);
        let by = caller.actor();
        caller.ask(api, Input::SetUser { by, user, change: change.own }).await?;
        if locks {
            api.auth.throw_out(&api.handle, user, false).await?;
        }
    }
    Ok(())
}

pub(super) async fn add(
    State(api): State<Api>,
    caller: Caller,
    body: Result<Json<NewUser>, ApiError>,
) -> Result<(StatusCode, Json<Document<AddedUser>>), ApiError> {
    let Json(wanted) = body?;
    let name = wanted.name.clone();
    let one_time_password = new(&api, &caller, wanted).await?;
    let Json(Document { content: OneUser { user }, .. }) = one(&api, &name).await?;
    Ok((StatusCode::CREATED, Json(Document::new(AddedUser { user, one_time_password }))))
}

/// The password that was made for them, if that was wanted.
pub(crate) async fn new(
    api: &Api,
    caller: &Caller,
    wanted: NewUser,
) -> Result<Option<Secret>, ApiError> {
    caller.require_admin()?;
    let NewUser { name, admin, os_user, email, password, one_time_password } = wanted;
    if let Some(password) = &password {
        Auth::check_new_password(&name, &password.0)?;
    }
    let added = Input::AddUser { by: caller.actor(), name: name.clone(), admin };
    let Reply::User(user) = caller.ask(api, added).await? else {
        return Err(ApiError::new(
            ErrorCode::Internal,
            errors::no_account_was_made(),
            errors::report_this(),
        ));
    };
    let change = UserChange { os_user, email, ..UserChange::default() };
    if change != UserChange::default() {
        let set = Input::SetUser { by: caller.actor(), user, change };
        if let Err(error) = caller.ask(api, set).await {
            // All of it or nothing.
            caller.ask(api, Input::RemoveUser { by: caller.actor(), user }).await?;
            return Err(error.into());
        }
    }
    let made = match (&password, one_time_password) {
        (None, true) => Some(Secret(Auth::one_time_password()?)),
        _ => None,
    };
    if let Some(given) = password.as_ref().or(made.as_ref()) {
        let (who, by) = ((user, name.as_str()), (&caller.asker(), None));
        api.auth.set_password(&api.handle, who, &given.0, made.is_some(), by).await?;
    }
    Ok(made)
}

pub(super) async fn password(
    State(api): State<Api>,
    caller: Caller,
    Path(name): Path<String>,
    body: Result<Json<NewPassword>, ApiError>,
) -> Result<Json<Document<PasswordSet>>, ApiError> {
    let Json(NewPassword { new, .. }) = body?;
    let one_time_password = set_password(&api, &caller, &name, new).await?;
    Ok(Json(Document::new(PasswordSet { user: name, one_time_password })))
}

/// Sets another user's password, which they have to change. A generated one is returned.
pub(crate) async fn set_password(
    api: &Api,
    caller: &Caller,
    name: &str,
    new: Option<Secret>,
) -> Result<Option<Secret>, ApiError> {
    caller.require_admin()?;
    let user = user_named(api, name).ok_or(Refusal::NoSuchUser)?;
    let made = match &new {
        Some(_) => None,
        None => Some(Secret(Auth::one_time_password()?)),
    };
    let given = new.as_ref().or(made.as_ref()).map(|secret| secret.0.as_str()).unwrap_or_default();
    let (who, by) = ((user.id, name), (&caller.asker(), None));
    api.auth.set_password(&api.handle, who, given, made.is_some(), by).await?;
    Ok(made)
}

pub(super) async fn remove(
    State(api): State<Api>,
    caller: Caller,
    Path(name): Path<String>,
) -> Result<Json<Document<Removed>>, ApiError> {
    delete(&api, &caller, &name).await?;
    Ok(Json(Document::new(Removed { removed: name })))
}

/// Cancels their tasks and deletes their credentials; their history stays.
pub(crate) async fn delete(api: &Api, caller: &Caller, name: &str) -> Result<(), ApiError> {
    caller.require_admin()?;
    let user = user_named(api, name).ok_or(Refusal::NoSuchUser)?.id;
    caller.ask(api, Input::RemoveUser { by: caller.actor(), user }).await?;
    api.logins.forget(&api.handle, |login| login.user == user).await?;
    Ok(api.auth.throw_out(&api.handle, user, true).await?)
}

async fn one(api: &Api, name: &str) -> Result<Json<Document<OneUser>>, ApiError> {
    let user = user_named(api, name).ok_or(Refusal::NoSuchUser)?.id;
    let user = api.handle.consider(|state, now| {
        state.users.get(&user).map(|user| view(state, user, &api.logins, now))
    })?;
    let user = user.ok_or(Refusal::NoSuchUser)?;
    Ok(Json(Document::new(OneUser { user })))
}

/// A change of an account; a quota of `default` is the default of all users.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(try_from = "Map<String, Value>")]
pub(crate) struct UserEdit {
    pub(crate) own: UserChange,
    pub(crate) quotas: Vec<(&'static str, Value)>,
    /// By machine; empty for the same as everywhere.
    pub(crate) os_user_on: BTreeMap<String, String>,
}

/// The same, as it is written.
#[derive(Debug, JsonSchema)]
#[allow(dead_code, reason = "for the description of the API")]
#[schemars(rename = "UserChange", deny_unknown_fields)]
pub(super) struct ChangeBody {
    admin: Option<bool>,
    locked: Option<bool>,
    os_user: Option<String>,
    /// By machine; an empty name is the same as everywhere.
    os_user_on: Option<BTreeMap<String, String>>,
    email: Option<String>,
    language: Option<String>,
    template: Option<String>,
    #[schemars(schema_with = "decimal", default)]
    priority: Option<Value>,
    #[schemars(schema_with = "decimal", default)]
    weight: Option<Value>,
    group: Option<String>,
    #[schemars(schema_with = "quota", default)]
    running_tasks: Option<Value>,
    #[schemars(schema_with = "quota", default)]
    running_gpus: Option<Value>,
    #[schemars(schema_with = "quota", default)]
    queued_tasks: Option<Value>,
    #[schemars(schema_with = "quota", default)]
    gpu_hours: Option<Value>,
}

/// A number, or `default`.
fn quota(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "anyOf": [{ "type": "integer", "minimum": 0, "maximum": u64::MAX }, { "const": "default" }, { "type": "null" }] })
}

fn decimal(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "type": ["number", "null"], "minimum": -1_000_000, "maximum": 1_000_000, "multipleOf": 0.001 })
}

/// Rounds `0.1 + 0.2` to `0.3`.
fn with_three_places(value: &mut Value) {
    let Some(number) = value.as_f64().filter(|_| value.is_f64()) else { return };
    let near = (number * 1_000.0).round() / 1_000.0;
    if (number - near).abs() < 1e-7 {
        *value = Value::from(near);
    }
}

const QUOTAS: [&str; 4] = ["running_tasks", "running_gpus", "queued_tasks", "gpu_hours"];

impl TryFrom<Map<String, Value>> for UserEdit {
    type Error = serde_json::Error;

    fn try_from(mut fields: Map<String, Value>) -> Result<UserEdit, serde_json::Error> {
        let quotas = QUOTAS.into_iter().filter_map(|which| Some((which, fields.remove(which)?)));
        let quotas = quotas.collect();
        let os_user_on = match fields.remove("os_user_on") {
            Some(Value::Null) | None => BTreeMap::new(),
            Some(named) => serde_json::from_value(named)?,
        };
        for field in ["priority", "weight"] {
            fields.get_mut(field).into_iter().for_each(with_three_places);
        }
        Ok(UserEdit { own: serde_json::from_value(Value::Object(fields))?, quotas, os_user_on })
    }
}

impl UserEdit {
    /// The settings with the quotas that are to be different.
    fn quotas(&self, settings: &Settings, name: &str) -> Result<Option<Settings>, ApiError> {
        let mut result = None;
        for (which, value) in &self.quotas {
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

fn view(
    state: &danlu_core::State,
    user: &User,
    logins: &Logins,
    now: danlu_core::Time,
) -> UserView {
    let running = state.running_of(user.id);
    UserView {
        name: user.name.clone(),
        admin: user.admin,
        locked: user.locked,
        os_user: user.os_name().to_owned(),
        os_user_on: logins.os_users(user.id),
        email: user.profile.email.clone(),
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
