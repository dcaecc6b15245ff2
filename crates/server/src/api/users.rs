//! Users: who there is, what is theirs, and what admins change about them.

use super::caller::Caller;
use super::{Api, ApiError};
use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, State};
use danlu_core::user::UserChange;
use danlu_core::{Input, Refusal, User};
use danlu_wire::api::{Document, OneUser, UserView, Users};

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
    body: Result<Json<UserChange>, JsonRejection>,
) -> Result<Json<Document<OneUser>>, ApiError> {
    let Json(change) = body?;
    if !caller.admin {
        return Err(Refusal::AdminOnly.into());
    }
    let model = api.handle.model();
    let user = model.users.values().find(|user| user.name == name).ok_or(Refusal::NoSuchUser)?.id;
    api.handle.ask(Input::SetUser { by: caller.actor(), user, change }).await?;
    let look = move |state: &danlu_core::State, _: &crate::store::Store, now| {
        state.users.get(&user).map(|user| view(state, user, now))
    };
    let user = api.handle.look(look).await?.ok_or(Refusal::NoSuchUser)?;
    Ok(Json(Document::new(OneUser { user })))
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
        used_gpu_seconds: state.used_by(user.id, now).micros / 1_000_000,
    }
}
