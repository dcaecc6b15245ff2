//! The caller's login on each machine, and the caller's own SSH key.

use super::body::Json;
use super::caller::Caller;
use super::{Api, ApiError};
use crate::fleet::logins::{BadKey, LoginError};
use crate::fleet::remote::NoKeys;
use axum::extract::{Path, State};
use danlu_core::Refusal;
use danlu_messages::errors;
use danlu_wire::api::{Document, ErrorCode, MyNode, MyNodes, NewSshLogin};

pub(super) async fn list(
    State(api): State<Api>,
    caller: Caller,
) -> Result<Json<Document<MyNodes>>, ApiError> {
    Ok(Json(Document::new(MyNodes { nodes: all(&api, &caller)? })))
}

pub(crate) fn all(api: &Api, caller: &Caller) -> Result<Vec<MyNode>, ApiError> {
    let model = api.handle.model();
    let me = model.users.get(&caller.id).ok_or(Refusal::NoSuchUser)?;
    let logins = api.logins.of(caller.id);
    let on = |name: &String| {
        let login = logins.iter().find(|login| login.node == *name);
        let os_user = login.and_then(|login| login.os_user.clone());
        let ssh = login.and_then(|login| login.ssh.clone());
        MyNode {
            node: name.clone(),
            os_user: os_user.unwrap_or_else(|| me.os_name().to_owned()),
            takes_keys: api.nodes.takes_keys(name).is_ok(),
            ssh_user: ssh.as_ref().map(|ssh| ssh.user.clone()),
            problem: ssh
                .as_ref()
                .and_then(|_| api.nodes.user_agent_problem(name, caller.id))
                .map(|problem| problem.message()),
            key: ssh.map(|ssh| format!("{} {}", ssh.key.kind, ssh.key.fingerprint)),
        }
    };
    Ok(model.nodes.values().map(|node| on(&node.name)).collect())
}

pub(super) async fn set(
    State(api): State<Api>,
    caller: Caller,
    Path(name): Path<String>,
    body: Result<Json<NewSshLogin>, ApiError>,
) -> Result<Json<Document<MyNodes>>, ApiError> {
    let Json(wanted) = body?;
    change(&api, &caller, &name, &wanted).await?;
    list(State(api), caller).await
}

pub(crate) async fn change(
    api: &Api,
    caller: &Caller,
    name: &str,
    wanted: &NewSshLogin,
) -> Result<(), ApiError> {
    check_node(api, name)?;
    let door = api.nodes.takes_keys(name).map_err(|no| no_keys(no, name))?;
    let before = api.logins.of(caller.id).into_iter().find(|login| login.node == name);
    let before = before.and_then(|login| login.ssh).map(|ssh| ssh.user);
    if before.is_some_and(|before| before != wanted.ssh_user) {
        check_idle(api, caller, name)?;
    }
    let (key, by) = (wanted.key.as_ref(), caller.asker());
    let who = (name, wanted.ssh_user.as_str());
    api.logins.set_ssh(&api.handle, caller.id, who, &door, key, &by).await?;
    api.nodes.take_over_key(name, caller.id);
    Ok(())
}

pub(super) async fn remove(
    State(api): State<Api>,
    caller: Caller,
    Path(name): Path<String>,
) -> Result<Json<Document<MyNodes>>, ApiError> {
    forget(&api, &caller, &name).await?;
    list(State(api), caller).await
}

pub(crate) async fn forget(api: &Api, caller: &Caller, name: &str) -> Result<(), ApiError> {
    check_idle(api, caller, name)?;
    api.logins.remove_ssh(&api.handle, caller.id, name, &caller.asker()).await?;
    api.nodes.take_over_key(name, caller.id);
    Ok(())
}

pub(super) fn check_node(api: &Api, name: &str) -> Result<(), ApiError> {
    let model = api.handle.model();
    if model.nodes.values().any(|node| node.name == name) {
        return Ok(());
    }
    let message = errors::no_such_machine(&name);
    Err(ApiError::not_found(message, errors::danlu_nodes_lists_them()))
}

/// Runs that were started with the key cannot be reached without it.
fn check_idle(api: &Api, caller: &Caller, name: &str) -> Result<(), ApiError> {
    let model = api.handle.model();
    let Some(node) = model.nodes.values().find(|node| node.name == name) else { return Ok(()) };
    if !api.logins.of(caller.id).iter().any(|login| login.node == name && login.ssh.is_some()) {
        return Ok(());
    }
    let there = |run: &&danlu_core::Run| run.part_on(node.id).is_some_and(|it| !it.is_ended());
    let tasks = model.active_runs().filter(there).filter_map(|run| model.tasks.get(&run.task));
    let mine: Vec<String> =
        tasks.filter(|task| task.owner == caller.id).map(|task| task.id.to_string()).collect();
    let (Some(first), count) = (mine.first(), mine.len()) else { return Ok(()) };
    Err(ApiError::refused(
        errors::tasks_use_login(&count, &name),
        &errors::wait_or_cancel_first(&first),
    ))
}

/// An agent that is root becomes the OS user that an administrator assigns; users cannot choose it.
fn no_keys(no: NoKeys, name: &str) -> ApiError {
    let ask_admin = |message: String| ApiError::refused(message, &errors::set_os_user_on(&name));
    match no {
        NoKeys::NotBySsh => ask_admin(errors::not_by_ssh(&name)),
        NoKeys::Root => ask_admin(errors::root_needs_no_key(&name)),
        NoKeys::Unknown => {
            ApiError::refused(errors::key_need_unknown(&name), &errors::retry_when_ready(&name))
        }
    }
}

impl From<LoginError> for ApiError {
    fn from(error: LoginError) -> ApiError {
        let message = error.to_string();
        let refused = |hint| ApiError::refused(message.clone(), hint);
        match &error {
            LoginError::Name(_) => refused(errors::use_login_name()),
            LoginError::Root => refused(errors::use_own_account()),
            LoginError::ServersOwn(_) => refused(errors::use_own_account()),
            LoginError::NoKey => refused(errors::give_key_too()),
            LoginError::Key(bad) => bad_key(*bad, message),
            LoginError::TooMany => refused(errors::remove_some_that_are_not_used()),
            LoginError::Missing(_) => {
                ApiError::not_found(message.clone(), errors::see_the_list_of_them())
            }
            LoginError::File { .. } => ApiError::new(
                ErrorCode::Unavailable,
                message.clone(),
                errors::check_data_permissions(),
            ),
            LoginError::NotNow(not_now) => not_now.clone().into(),
        }
    }
}

fn bad_key(bad: BadKey, message: String) -> ApiError {
    let hint = match bad {
        BadKey::Long => errors::give_keygen_file(),
        BadKey::Public => errors::file_without_pub(),
        BadKey::Passphrase => errors::make_key_without_passphrase(),
        BadKey::OldForm => errors::write_it_anew_ssh_keygen_p_n_f_file(),
        BadKey::NotAKey => errors::give_whole_key(),
    };
    ApiError::refused(message, hint)
}
