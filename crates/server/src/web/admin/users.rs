//! User accounts: added singly or in bulk, changed, locked, removed.

use crate::api::caller::user_named;
use crate::api::{Api, ApiError, users};
use crate::web::acts::done;
use crate::web::form::Sent;
use crate::web::page::{PageResult, page};
use crate::web::page_context::{PageContext, Visit};
use crate::web::secrets;
use askama::Template;
use axum::extract::State;
use danlu_messages::errors;
use danlu_messages::web::admin as msg;
use danlu_messages::web::pages;
use danlu_wire::api::{NewUser, UserView};
use serde_json::{Map, Value};

/// Added at once.
const MOST_NAMES: usize = 500;

#[derive(Template)]
#[template(path = "admin_users.html")]
struct UsersPage<'a> {
    context: &'a PageContext,
    users: Vec<UserView>,
}

pub(in crate::web) async fn list(State(api): State<Api>, visit: Visit) -> PageResult {
    visit.caller.require_admin().map_err(visit.no())?;
    let mut users = users::all(&api).map_err(visit.no())?;
    users.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(page(&UsersPage { context: &visit.context, users }))
}

impl UsersPage<'_> {
    /// As one would type it; nothing for as much as one likes.
    fn quota<T: ToString>(&self, most: &Option<T>) -> String {
        most.as_ref().map(ToString::to_string).unwrap_or_default()
    }

    /// `gpu7=asmith gpu8=as`.
    fn elsewhere(&self, user: &UserView) -> String {
        let pairs = user.os_user_on.iter().map(|(node, name)| format!("{node}={name}"));
        pairs.collect::<Vec<_>>().join(" ")
    }

    fn hours(&self, seconds: &u64) -> String {
        format!("{:.1}", *seconds as f64 / 3600.0)
    }
}

/// A line is a name, and perhaps a mail address.
pub(in crate::web) async fn add(State(api): State<Api>, sent: Sent) -> PageResult {
    let (caller, context) = (&sent.visit.caller, &sent.visit.context);
    let lines: Vec<&str> =
        sent.field("names").lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if lines.is_empty() || lines.len() > MOST_NAMES {
        let words = msg::one_name_on_each_line_at_most_500();
        return done(&sent, Err(ApiError::bad_request(words, "")));
    }
    let (mut made, mut problems) = (Vec::new(), Vec::new());
    for line in lines {
        let mut words = line.split([' ', '\t', ',']).filter(|word| !word.is_empty());
        let name = words.next().unwrap_or_default().to_owned();
        let wanted = NewUser {
            name: name.clone(),
            admin: !sent.field("admin").is_empty(),
            email: words.next().map(str::to_owned),
            one_time_password: true,
            ..NewUser::default()
        };
        match users::new(&api, caller, wanted).await {
            Ok(secret) => made.push((name, secret.map(|secret| secret.0).unwrap_or_default())),
            Err(error) => problems.push((name, error.words().0.to_owned())),
        }
    }
    let words = (msg::accounts(), msg::hand_over_passwords());
    Ok(secrets::shown_once(context, words, made, problems, "/admin"))
}

pub(in crate::web) async fn change(State(api): State<Api>, sent: Sent) -> PageResult {
    let (caller, context) = (&sent.visit.caller, &sent.visit.context);
    let name = sent.field("user");
    let set = |field: &str, value: Value| {
        let fields = Map::from_iter([(field.to_owned(), value)]);
        users::UserEdit::try_from(fields)
            .map_err(|error| ApiError::bad_request(error.to_string(), ""))
    };
    let change = match sent.field("act") {
        "lock" => set("locked", Value::Bool(true)),
        "unlock" => set("locked", Value::Bool(false)),
        "grant" => set("admin", Value::Bool(true)),
        "revoke" => set("admin", Value::Bool(false)),
        "remove" if sent.field("sure") == "yes" => {
            return done(&sent, users::delete(&api, caller, name).await);
        }
        "remove" => {
            let words = msg::tick_the_box_beside_remove_first();
            Err(ApiError::bad_request(words, ""))
        }
        "password" => {
            let made =
                users::set_password(&api, caller, name, None).await.map_err(sent.visit.no())?;
            let secret = made.map(|secret| secret.0).unwrap_or_default();
            let words = (msg::new_password(), msg::hand_over_password());
            let secrets = vec![(name.to_owned(), secret)];
            return Ok(secrets::shown_once(context, words, secrets, Vec::new(), "/admin"));
        }
        _ => fields(&sent).map(|mut change| {
            // What is not written any more is gone.
            let before = user_named(&api, name).map(|user| api.logins.os_users(user.id));
            for node in before.unwrap_or_default().into_keys() {
                change.os_user_on.entry(node).or_default();
            }
            change
        }),
    };
    let result = match change {
        Ok(change) => users::set(&api, caller, name, change).await,
        Err(error) => Err(error),
    };
    done(&sent, result)
}

fn fields(sent: &Sent) -> Result<users::UserEdit, ApiError> {
    let mut fields = Map::new();
    for name in ["os_user", "email", "group"] {
        fields.insert(name.to_owned(), Value::String(sent.field(name).trim().to_owned()));
    }
    for name in ["priority", "weight"] {
        let number = serde_json::from_str(sent.field(name).trim());
        fields.insert(name.to_owned(), number.map_err(|_| not_a_number(name))?);
    }
    for name in ["running_tasks", "running_gpus", "queued_tasks", "gpu_hours"] {
        let text = sent.field(name).trim();
        let number = if text.is_empty() {
            Ok(Value::String("default".to_owned()))
        } else {
            serde_json::from_str(text)
        };
        fields.insert(name.to_owned(), number.map_err(|_| not_a_number(name))?);
    }
    let mut elsewhere = Map::new();
    for pair in sent.field("os_user_on").split_whitespace() {
        let (node, name) = pair.split_once('=').ok_or_else(|| not_a_pair(pair))?;
        elsewhere.insert(node.to_owned(), name.into());
    }
    fields.insert("os_user_on".to_owned(), Value::Object(elsewhere));
    users::UserEdit::try_from(fields).map_err(|error| ApiError::bad_request(error.to_string(), ""))
}

fn not_a_pair(pair: &str) -> ApiError {
    ApiError::bad_request(
        errors::pair_is_not_machine_user(&format_args!("{pair:?}")),
        errors::such_as_gpu7_asmith(),
    )
}

fn not_a_number(field: &str) -> ApiError {
    ApiError::bad_request(errors::field_is_a_number(&field), errors::example_number())
}
