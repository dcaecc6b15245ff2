//! The command box: one line of gpuman's administrator commands, and its result.

use crate::api::Api;
use crate::compat::gpuman;
use crate::web::form::Sent;
use crate::web::page::{PageResult, page};
use crate::web::page_context::{PageContext, Visit};
use askama::Template;
use axum::extract::State;
use danlu_messages::web::{admin as msg, pages};

#[derive(Template)]
#[template(path = "admin_commands.html")]
struct CommandsPage<'a> {
    context: &'a PageContext,
    line: &'a str,
    /// What was said about the line, if there was one.
    answer: Option<String>,
    refused: bool,
}

pub(in crate::web) async fn form(State(_): State<Api>, visit: Visit) -> PageResult {
    visit.caller.require_admin().map_err(visit.no())?;
    Ok(page(&CommandsPage { context: &visit.context, line: "", answer: None, refused: false }))
}

pub(in crate::web) async fn send(State(api): State<Api>, sent: Sent) -> PageResult {
    sent.visit.caller.require_admin().map_err(sent.visit.no())?;
    let line = sent.field("line").trim();
    let said = gpuman::command(&api, &sent.visit.caller, line).await;
    let refused = said.is_err();
    let answer = said.unwrap_or_else(|error| {
        let (message, hint) = error.words();
        format!("{message} ({hint})")
    });
    let context = &sent.visit.context;
    Ok(page(&CommandsPage { context, line, answer: Some(answer), refused }))
}

impl CommandsPage<'_> {
    /// A line of each kind, and what it does.
    fn known(&self) -> [(&'static str, &'static str); 14] {
        [
            ("useradd ann", msg::command_useradd()),
            ("addusers ann bo chen", msg::command_addusers()),
            ("userdel ann", msg::command_userdel()),
            ("suadd ann", msg::command_suadd()),
            ("lockuser ann", msg::command_lockuser()),
            ("stop", msg::command_stop()),
            ("force stop", msg::command_force_stop()),
            ("schedule balance", msg::command_schedule()),
            ("move 12 0", msg::command_move_task()),
            ("add device 3", msg::command_add_device()),
            ("prompt TEXT", msg::command_prompt()),
            ("dump all", msg::command_dump()),
            ("set auto_dump_thres 100", msg::command_set_auto_dump()),
            ("exit", msg::command_exit()),
        ]
    }
}
