//! `danlu notices`: what has to be known about the server itself, until somebody acknowledges it.

use clap::Args;
use danlu_server::notices::{Notice, words};
use danlu_wire::api::{Document, NoticeList};
use serde_json::json;

use crate::{
    client::{Client, read},
    failure::Failure,
    language::{say, text},
    screen::{self, width},
};

#[derive(Debug, Args)]
#[command(
    about = text("Notices about the server itself, such as a restored backup", "关于服务器本身的通知，例如已从备份恢复"),
    override_usage = text("danlu notices [OPTIONS]", "danlu notices [选项]"),
    after_help = text(
        "They stay on top of `danlu status` and of the web pages until an admin acknowledges them.\n\n\
         Examples:\n  danlu notices\n  danlu notices --acknowledge restored-1794888000000\n  danlu notices --acknowledge-all",
        "在管理员确认之前，它们一直显示在 `danlu status` 和网页顶部。\n\n\
         示例：\n  danlu notices\n  danlu notices --acknowledge restored-1794888000000\n  danlu notices --acknowledge-all",
    ),
)]
pub(crate) struct Arguments {
    #[arg(long, value_name = "ID", help = text("Acknowledge this notice (admins)", "确认该通知（管理员）"))]
    acknowledge: Option<String>,

    #[arg(long, conflicts_with = "acknowledge", help = text("Acknowledge all notices (admins)", "确认全部通知（管理员）"))]
    acknowledge_all: bool,

    #[arg(long, help = text("Print one JSON document", "输出一个 JSON 文档"))]
    json: bool,
}

pub(crate) fn run(client: &Client, arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { acknowledge, acknowledge_all, json } = arguments;
    let ids: Vec<String> = match acknowledge {
        Some(id) => vec![id.clone()],
        None if *acknowledge_all => {
            list(&client.get_document("/notices")?)?.into_iter().map(|notice| notice.id).collect()
        }
        None => Vec::new(),
    };
    for id in &ids {
        client.send("POST", &format!("/notices/{id}/acknowledge"), &json!({}))?;
    }
    let document = client.get_document("/notices")?;
    if *json {
        return screen::print_document(&document);
    }
    let left = list(&document)?;
    let mut out = match ids.len() {
        0 => String::new(),
        count => say!("acknowledged {count}\n", "已确认 {count} 条\n"),
    };
    match left.is_empty() {
        true if ids.is_empty() => out += text("no notices\n", "没有通知\n"),
        _ => out += &lines(&left),
    }
    screen::print(&out)
}

fn list(document: &str) -> Result<Vec<Notice>, Failure> {
    Ok(read::<Document<NoticeList>>(document)?.content.notices)
}

/// For the top of other lists, too.
pub(super) fn lines(notices: &[Notice]) -> String {
    let line = |notice: &Notice| {
        let (what, hint) = words(notice);
        let label = text("hint: ", "提示：");
        format!("! {}\n  {label}{}\n", width::plain(&what), width::plain(&hint))
    };
    notices.iter().map(line).collect()
}
