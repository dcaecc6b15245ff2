//! The caller's own account: profile, password, task template.

use super::body::Json;
use super::caller::Caller;
use super::{Api, ApiError};
use crate::api::task_template;
use axum::extract::State;
use danlu_core::user::UserChange;
use danlu_core::{Input, Refusal};
use danlu_messages::errors;
use danlu_spec::Patch;
use danlu_spec::patch::Template;
use danlu_wire::api::{Document, Me, Notify, PasswordSet, Secret};
use schemars::JsonSchema;
use serde::Deserialize;

pub(super) async fn show(
    State(api): State<Api>,
    caller: Caller,
) -> Result<Json<Document<Me>>, ApiError> {
    Ok(Json(Document::new(me(&api, &caller)?)))
}

pub(crate) fn me(api: &Api, caller: &Caller) -> Result<Me, ApiError> {
    let model = api.handle.model();
    let user = model.users.get(&caller.id).ok_or(Refusal::NoSuchUser)?;
    Ok(Me {
        user: user.name.clone(),
        admin: caller.admin,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        scope: caller.scope.into(),
        email: user.profile.email.clone(),
        language: user.profile.language.clone(),
        os_user: user.os_name().to_owned(),
        has_password: api.auth.has_password(user.id),
        must_change_password: api.auth.must_change_password(user.id),
        notify: api.auth.notify(user.id),
    })
}

/// What people say about themselves.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "ProfileChange")]
pub(crate) struct ProfileChange {
    pub(crate) email: Option<String>,
    pub(crate) language: Option<String>,
    /// What I am told, and where.
    pub(crate) notify: Option<Notify>,
}

pub(super) async fn change(
    State(api): State<Api>,
    caller: Caller,
    body: Result<Json<ProfileChange>, ApiError>,
) -> Result<Json<Document<Me>>, ApiError> {
    let Json(ProfileChange { email, language, notify }) = body?;
    caller.require_person()?;
    if let Some(notify) = notify {
        super::notify::check_wanted(&api, &notify)?;
        api.auth.set_notify(&api.handle, caller.id, notify, &caller.asker()).await?;
    }
    set(&api, &caller, UserChange { email, language, ..UserChange::default() }).await?;
    show(State(api), caller).await
}

pub(crate) async fn set(api: &Api, caller: &Caller, change: UserChange) -> Result<(), ApiError> {
    caller.ask(api, Input::SetUser { by: caller.actor(), user: caller.id, change }).await?;
    Ok(())
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct OwnPassword {
    /// Over the network.
    #[serde(default)]
    old: Option<Secret>,
    new: Secret,
}

pub(super) async fn password(
    State(api): State<Api>,
    caller: Caller,
    body: Result<Json<OwnPassword>, ApiError>,
) -> Result<Json<Document<PasswordSet>>, ApiError> {
    let Json(OwnPassword { old, new }) = body?;
    let old = old.map(|old| old.0);
    set_password(&api, &caller, old.as_deref(), &new.0).await?;
    Ok(Json(Document::new(PasswordSet { user: caller.name, one_time_password: None })))
}

/// Callers on the socket are identified by the kernel; others give the old password.
pub(crate) async fn set_password(
    api: &Api,
    caller: &Caller,
    old: Option<&str>,
    new: &str,
) -> Result<(), ApiError> {
    caller.require_person()?;
    if !caller.local && api.auth.has_password(caller.id) {
        let model = api.handle.model();
        let user = model.users.get(&caller.id).map(AsRef::as_ref);
        let given = (caller.name.as_str(), old.unwrap_or_default());
        api.auth.check_password(user, given, caller.address()).await?;
    }
    let (who, by) = ((caller.id, caller.name.as_str()), (&caller.asker(), caller.session.as_ref()));
    Ok(api.auth.set_password(&api.handle, who, new, false, by).await?)
}

pub(super) async fn show_template(
    State(api): State<Api>,
    caller: Caller,
) -> Json<Document<Template>> {
    Json(Document::new(Template { template: template_of(&api, &caller) }))
}

/// The template of the configuration, overridden by the user's own.
pub(crate) fn template_of(api: &Api, caller: &Caller) -> Patch {
    let model = api.handle.model();
    let own = model.users.get(&caller.id).and_then(|user| user.profile.template.as_deref());
    let own: Patch = own.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default();
    let mut whole = api.config.task_defaults.clone();
    whole.replace_with(own);
    whole
}

/// Replaces the user's template; with an empty one the template of the configuration applies.
pub(super) async fn set_template(
    State(api): State<Api>,
    caller: Caller,
    body: Result<Json<Template>, ApiError>,
) -> Result<Json<Document<Template>>, ApiError> {
    let Json(Template { template }) = body?;
    caller.require_person()?;
    keep_template(&api, &caller, template).await?;
    Ok(show_template(State(api), caller).await)
}

pub(crate) async fn keep_template(
    api: &Api,
    caller: &Caller,
    template: Patch,
) -> Result<(), ApiError> {
    task_template::check(&template)
        .map_err(|wrong| ApiError::refused(wrong.to_string(), errors::see_task_fields()))?;
    let text = match template.is_empty() {
        true => String::new(),
        // Texts and numbers only: they can be written.
        false => serde_json::to_string(&template).unwrap_or_default(),
    };
    set(api, caller, UserChange { template: Some(text), ..UserChange::default() }).await
}
