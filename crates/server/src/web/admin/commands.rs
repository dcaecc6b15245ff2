//! The command box: one line in gpuman's words, and what came of it.

use crate::api::Api;
use crate::gpuman;
use crate::web::form::Sent;
use crate::web::look::{Look, Visit};
use crate::web::page::{PageResult, page};
use askama::Template;
use axum::extract::State;

#[derive(Template)]
#[template(path = "admin_commands.html")]
struct CommandsPage<'a> {
    look: &'a Look,
    line: &'a str,
    /// What was said about the line, if there was one.
    answer: Option<String>,
    refused: bool,
}

/// A line of each kind, and what it does.
const KNOWN: [(&str, &str, &str); 14] = [
    ("useradd ann", "add an account; prints a one-time password", "添加账号并显示一次性密码"),
    ("addusers ann bo chen", "add several", "批量添加账号"),
    ("userdel ann", "remove an account and cancel its tasks", "删除账号并取消其任务"),
    ("suadd ann", "make somebody an admin; sudel takes it back", "授予管理员权限；sudel 收回"),
    (
        "lockuser ann",
        "throw somebody out; unlockuser lets them in again",
        "锁定账号；unlockuser 解锁",
    ),
    ("stop", "start nothing more; start goes on", "暂停队列；start 恢复"),
    ("force stop", "and put what runs back into the queue", "并将运行中的任务放回队列"),
    ("schedule balance", "or fifo, fair, auto …", "或 fifo、fair、auto 等"),
    ("move 12 0", "task 12 to the first place of its owner's", "将任务 12 移到其所有者队列的首位"),
    (
        "add device 3",
        "enable GPU 3, or gpu7:3 of several machines; remove device disables it",
        "启用 GPU 3，多台机器时写 gpu7:3；remove device 停用",
    ),
    ("prompt TEXT", "announce something; prompt None clears it", "发布公告；prompt None 清除"),
    (
        "dump all",
        "archive ended tasks; dumpuser ann 10, dumptask 1 2 3",
        "归档已结束的任务；dumpuser ann 10、dumptask 1 2 3",
    ),
    ("set auto_dump_thres 100", "archive by itself above so many", "超过此数量时自动归档"),
    ("exit", "stop the server; running tasks go on", "停止服务器；运行中的任务继续"),
];

pub(in crate::web) async fn form(State(_): State<Api>, visit: Visit) -> PageResult {
    visit.caller.require_admin().map_err(visit.no())?;
    Ok(page(&CommandsPage { look: &visit.look, line: "", answer: None, refused: false }))
}

pub(in crate::web) async fn send(State(api): State<Api>, sent: Sent) -> PageResult {
    sent.visit.caller.require_admin().map_err(sent.visit.no())?;
    let line = sent.field("line").trim();
    let said = gpuman::command(&api, &sent.visit.caller, line, sent.visit.look.language).await;
    let refused = said.is_err();
    let answer = said.unwrap_or_else(|error| {
        let (message, hint) = sent.visit.look.words_of(&error);
        format!("{message} ({hint})")
    });
    let look = &sent.visit.look;
    Ok(page(&CommandsPage { look, line, answer: Some(answer), refused }))
}

impl CommandsPage<'_> {
    fn known(&self) -> [(&'static str, &'static str, &'static str); 14] {
        KNOWN
    }
}
