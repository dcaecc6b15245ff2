//! Accounts: added, removed, locked, made admin.

use clap::Args;
use danlu_wire::api::{AddedUser, Document, NewUser};
use serde_json::json;

use super::{password, path_segment};
use crate::{
    client::{Client, read},
    failure::Failure,
    language::{say, text},
    screen::{self, confirm::confirm},
};

#[derive(Debug, Args)]
pub(super) struct Add {
    #[arg(value_name = "NAME", help = text("The account", "用户名"))]
    name: String,

    #[arg(long, help = text("May do everything", "管理员"))]
    admin: bool,

    #[arg(long, value_name = "USER", help = text("Whom their tasks run as on the machines; unless told, the OS user of the same name", "任务在机器上以哪个系统用户运行；默认为同名系统用户"))]
    os_user: Option<String>,

    #[arg(long, value_name = "ADDRESS", help = text("For messages", "用于通知"))]
    email: Option<String>,

    #[arg(long, help = text("Read the password from the first line of the input", "从标准输入的第一行读取密码"))]
    password_stdin: bool,

    #[arg(long, conflicts_with = "password_stdin", help = text("Without a password: for the socket and tokens alone", "不设密码：仅用于套接字和令牌"))]
    no_password: bool,

    #[arg(long, help = text("Print one JSON document", "输出一个 JSON 文档"))]
    json: bool,
}

pub(super) fn add(client: &Client, add: &Add) -> Result<(), Failure> {
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
    screen::print(&say!("added {name}\n", "已添加 {name}\n"))?;
    match added.one_time_password {
        Some(made) => password::show_once(&made),
        None => Ok(()),
    }
}

#[derive(Debug, Args)]
pub(super) struct Del {
    #[arg(value_name = "NAME", required = true, help = text("The accounts", "用户名"))]
    names: Vec<String>,

    #[arg(short, long, help = text("Do not ask", "不询问"))]
    yes: bool,
}

pub(super) fn del(client: &Client, del: &Del) -> Result<(), Failure> {
    let names = del.names.join(", ");
    let question = say!(
        "remove {names}? Their tasks are cancelled, their history stays",
        "删除 {names}？将取消其任务，保留历史"
    );
    if !del.yes && !confirm(&question)? {
        return Ok(());
    }
    for name in &del.names {
        client.send("DELETE", &format!("/users/{}", path_segment(name)), &json!({}))?;
        screen::print(&say!("removed {name}\n", "已删除 {name}\n"))?;
    }
    Ok(())
}

#[derive(Debug, Args)]
pub(super) struct Named {
    #[arg(value_name = "NAME", required = true, help = text("The accounts", "用户名"))]
    names: Vec<String>,
}

/// `locked` or `admin`.
pub(super) fn set_each(
    client: &Client,
    named: &Named,
    what: &str,
    value: bool,
) -> Result<(), Failure> {
    for name in &named.names {
        client.send("PATCH", &format!("/users/{}", path_segment(name)), &json!({ what: value }))?;
        screen::print(&match (what, value) {
            ("locked", true) => say!("{name} is locked\n", "{name} 已锁定\n"),
            ("locked", false) => say!("{name} is not locked\n", "{name} 未锁定\n"),
            (_, true) => say!("{name} is an admin\n", "{name} 是管理员\n"),
            (_, false) => say!("{name} is a user\n", "{name} 是普通用户\n"),
        })?;
    }
    Ok(())
}
