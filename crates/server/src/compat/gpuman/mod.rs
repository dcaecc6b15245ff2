//! gpuman's JSON interface, for its command line and for scripts written against it: name and password in every body,
//! always status 200, `{"ret": …}` or `{"Exception": …}`.

mod commands;
mod rows;
mod tasks;

pub(crate) use commands::command;

use crate::api::caller::{Caller, Peer, user_named};
use crate::api::{Api, ApiError};
use crate::auth::AuthError;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{ConnectInfo, DefaultBodyLimit, Path, State};
use axum::response::Json;
use axum::routing::post;
use danlu_core::user::UserChange;
use danlu_core::{Input, Refusal, Thousandths};
use danlu_messages::{Language, server::gpuman as msg};
use serde_json::{Map, Value, json};

/// Larger bodies are not gpuman's.
const MOST_BYTES: usize = 1 << 20;

pub(crate) fn router() -> Router<Api> {
    Router::new()
        .route("/{act}", post(whole))
        .route("/{act}/{user}", post(about))
        .layer(DefaultBodyLimit::max(MOST_BYTES))
}

async fn whole(
    State(api): State<Api>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    Path(act): Path<String>,
    body: Bytes,
) -> Json<Value> {
    Json(Language::Chinese.speaking(answer(&api, peer, (&act, None), &body)).await)
}

async fn about(
    State(api): State<Api>,
    ConnectInfo(peer): ConnectInfo<Peer>,
    Path((act, user)): Path<(String, String)>,
    body: Bytes,
) -> Json<Value> {
    Json(Language::Chinese.speaking(answer(&api, peer, (&act, Some(&user)), &body)).await)
}

type GpumanBody = Map<String, Value>;

async fn answer(api: &Api, peer: Peer, (act, about): (&str, Option<&str>), body: &[u8]) -> Value {
    let body: GpumanBody = match serde_json::from_slice(body) {
        Ok(body) => body,
        Err(error) => return json!({ "Exception": msg::not_json(&error) }),
    };
    let caller = match log_in(api, peer, &body).await {
        Ok(caller) => caller,
        Err(error @ AuthError::Wait(_)) => {
            return json!({ "Exception": error.to_string() });
        }
        Err(_) => return refused(act),
    };
    let changes = !matches!(act, "status" | "query" | "userinfo" | "setting");
    if changes && caller.must_change_password {
        return refused(act);
    }
    let done = match act {
        "create" => tasks::create(api, &caller, &body).await,
        "update" => tasks::update(api, &caller, &body).await,
        "cancel" => tasks::cancel(api, &caller, &body).await,
        "dump" => commands::dump_own(api, &caller, text(&body, "cmd")).await,
        "status" => rows::everything(api, &caller, None).await,
        "query" => rows::everything(api, &caller, Some(about.unwrap_or(&caller.name))).await,
        "userinfo" => Ok(rows::users(api, &caller)),
        "setting" => setting(api, &caller, about, &body).await,
        "admin" => {
            let line = text(&body, "cmd");
            let said = commands::command(api, &caller, line).await;
            said.map(|said| json!({ "ret": said }))
        }
        _ => return json!({ "Exception": msg::no_such_interface(&act) }),
    };
    done.unwrap_or_else(|error| json!({ "Exception": error.0.message }))
}

async fn log_in(api: &Api, peer: Peer, body: &GpumanBody) -> Result<Caller, AuthError> {
    let (name, password) = (text(body, "usr"), text(body, "passwd"));
    let user = user_named(api, name);
    api.auth.check_password_again(user.as_deref(), (name, password), peer.address()).await?;
    let user = user.ok_or(AuthError::Wrong)?;
    Caller::with_password(api, user.id, peer.address()).map_err(|_| AuthError::Locked)
}

/// gpuman's answer to a failed log-in.
fn refused(act: &str) -> Value {
    match act {
        "create" => json!({ "ret": "创建失败." }),
        "update" => json!({ "ret": "更新失败." }),
        "cancel" => json!({ "ret": "取消失败." }),
        "setting" => json!({ "ret": "设置失败." }),
        "status" | "query" | "userinfo" => json!({ "ret": "查询失败." }),
        "dump" => json!({ "ret": "失败." }),
        _ => json!({}),
    }
}

fn text<'a>(body: &'a GpumanBody, key: &str) -> &'a str {
    body.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Their own, or for administrators any user's. The password of the OS user is not needed and not kept.
async fn setting(
    api: &Api,
    caller: &Caller,
    about: Option<&str>,
    body: &GpumanBody,
) -> Result<Value, ApiError> {
    let name = about.unwrap_or(&caller.name);
    if name != caller.name {
        caller.require_admin()?;
    }
    let user = user_named(api, name).ok_or(Refusal::NoSuchUser)?;
    let given = |key| Some(text(body, key).to_owned()).filter(|text| !text.is_empty());
    let email = given("email").map(|email| if email == "None" { String::new() } else { email });
    let mut change = UserChange {
        template: tasks::template(user.profile.template.as_deref(), body)?,
        email: email.clone(),
        ..UserChange::default()
    };
    if caller.admin {
        change.os_user = given("serv_usr");
        change.priority = given("priority").map(|text| number(&text)).transpose()?;
    }
    caller.ask(api, Input::SetUser { by: caller.actor(), user: user.id, change }).await?;
    if let Some(password) = given("new_passwd") {
        let (who, by) = ((user.id, name), (&caller.asker(), None));
        api.auth.set_password(&api.handle, who, &password, false, by).await?;
    }
    let mails = api.notifier.channels().known().email;
    Ok(json!({ "ret": match email.as_deref() {
        Some(address) if !address.is_empty() && !mails => {
            "成功.邮箱已保存,但服务器未配置邮件,目前不会发送邮件."
        }
        _ => "成功.",
    } }))
}

fn number(text: &str) -> Result<Thousandths, ApiError> {
    let wrong = |_| ApiError::bad_request(msg::bad_priority(&text), msg::example_priority());
    serde_json::from_value(Value::String(text.to_owned())).map_err(wrong)
}
