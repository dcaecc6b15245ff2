//! `danlu user add`, `del`, `lock`, `unlock`, `grant` and `revoke`.

use clap::Args;
use danlu_messages::cli::user as msg;
use danlu_wire::api::{AddedUser, Document, NewUser};
use serde_json::json;

use super::password;
use crate::{
    client::{Client, path_segment, read},
    failure::Failure,
    screen::{self, confirm::confirm},
};

#[derive(Debug, Args)]
pub(super) struct UserAdd {
    #[arg(value_name = "NAME", help = msg::account())]
    name: String,

    #[arg(long, help = msg::may_do_everything())]
    admin: bool,

    #[arg(long, value_name = "USER", help = msg::os_user_option())]
    os_user: Option<String>,

    #[arg(long, value_name = "ADDRESS", help = msg::for_messages())]
    email: Option<String>,

    #[arg(long, help = msg::password_stdin())]
    password_stdin: bool,

    #[arg(long, conflicts_with = "password_stdin", help = msg::no_password())]
    no_password: bool,

    #[arg(long, help = msg::print_one_json_document())]
    json: bool,
}

pub(super) fn add(client: &Client, add: &UserAdd) -> Result<(), Failure> {
    let password = if add.password_stdin { Some(password::from_input()?) } else { None };
    let body = NewUser {
        name: add.name.clone(),
        admin: add.admin,
        os_user: add.os_user.clone(),
        email: add.email.clone(),
        one_time_password: password.is_none() && !add.no_password,
        password,
    };
    let document = client.send("POST", "/users", &body)?;
    if add.json {
        return screen::print_document(&document);
    }
    let added = read::<Document<AddedUser>>(&document)?.content;
    let name = &added.user.name;
    screen::print(&msg::added_name(&name))?;
    match added.one_time_password {
        Some(made) => password::show_once(&made),
        None => Ok(()),
    }
}

#[derive(Debug, Args)]
pub(super) struct UserDel {
    #[arg(value_name = "NAME", required = true, help = msg::accounts())]
    names: Vec<String>,

    #[arg(short, long, help = msg::do_not_ask())]
    yes: bool,
}

pub(super) fn del(client: &Client, del: &UserDel) -> Result<(), Failure> {
    let names = del.names.join(", ");
    let question = msg::confirm_removal(&names);
    if !del.yes && !confirm(&question)? {
        return Ok(());
    }
    for name in &del.names {
        client.send("DELETE", &format!("/users/{}", path_segment(name)), &json!({}))?;
        screen::print(&msg::removed_name(&name))?;
    }
    Ok(())
}

#[derive(Debug, Args)]
pub(super) struct UserNames {
    #[arg(value_name = "NAME", required = true, help = msg::accounts())]
    names: Vec<String>,
}

/// `locked` or `admin`.
pub(super) fn set_each(
    client: &Client,
    named: &UserNames,
    what: &str,
    value: bool,
) -> Result<(), Failure> {
    for name in &named.names {
        client.send("PATCH", &format!("/users/{}", path_segment(name)), &json!({ what: value }))?;
        screen::print(&match (what, value) {
            ("locked", true) => msg::name_is_locked(&name),
            ("locked", false) => msg::name_is_not_locked(&name),
            (_, true) => msg::name_is_an_admin(&name),
            (_, false) => msg::name_is_a_user(&name),
        })?;
    }
    Ok(())
}
