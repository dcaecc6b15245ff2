//! `danlu notices`: shows messages about the server itself, until an administrator acknowledges them.

use clap::Args;
use danlu_messages::cli::notices as msg;
use danlu_server::daemon::notices::{Notice, words};
use danlu_wire::api::{Document, NoticeList};
use serde_json::json;

use crate::{
    client::{Client, read},
    failure::Failure,
    screen::{self, width},
};

#[derive(Debug, Args)]
#[command(
    about = msg::about(),
    override_usage = msg::danlu_notices_options(),
    after_help = msg::help(),
)]
pub(crate) struct NoticesArguments {
    #[arg(long, value_name = "ID", help = msg::acknowledge_this_notice_admins())]
    acknowledge: Option<String>,

    #[arg(long, conflicts_with = "acknowledge", help = msg::acknowledge_all_notices_admins())]
    acknowledge_all: bool,

    #[arg(long, help = msg::print_one_json_document())]
    json: bool,
}

pub(crate) fn run(client: &Client, arguments: &NoticesArguments) -> Result<(), Failure> {
    let NoticesArguments { acknowledge, acknowledge_all, json } = arguments;
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
        count => msg::acknowledged_count(&count),
    };
    match left.is_empty() {
        true if ids.is_empty() => out += msg::no_notices(),
        _ => out += &lines(&left),
    }
    screen::print(&out)
}

fn list(document: &str) -> Result<Vec<Notice>, Failure> {
    Ok(read::<Document<NoticeList>>(document)?.content.notices)
}

/// For the top of other lists, too.
pub(crate) fn lines(notices: &[Notice]) -> String {
    let line = |notice: &Notice| {
        let (what, hint) = words(notice);
        let label = msg::hint();
        format!("! {}\n  {label}{}\n", width::plain(&what), width::plain(&hint))
    };
    notices.iter().map(line).collect()
}
