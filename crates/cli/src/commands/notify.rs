//! `danlu notify`: test messages, deliveries, alerts for free GPUs.

use std::io;

use clap::{Args, Subcommand};
use danlu_messages::cli::notify as msg;
use danlu_wire::api::{
    AddedWatch, ChannelList, Document, MessageList, NewWatch, NotifyTest, NotifyTested, WatchView,
    Watches,
};
use jiff::Timestamp;
use serde_json::json;

use crate::{
    client::{Client, read},
    failure::{Exit, Failure},
    screen::{
        self, clock, colour,
        table::{Column, Table},
        width,
    },
};

#[derive(Debug, Args)]
#[command(
    about = msg::about(),
    override_usage = msg::usage(),
    after_help = msg::help(),
    disable_help_subcommand = true,
    subcommand_required = true,
    arg_required_else_help = true,
)]
pub(crate) struct NotifyArguments {
    #[command(subcommand)]
    what: NotifyCommand,
}

#[derive(Debug, Subcommand)]
enum NotifyCommand {
    #[command(about = msg::about_test(), override_usage = msg::usage_test())]
    Test {
        #[arg(value_name = "CHANNEL|ADDRESS", help = msg::test_target())]
        to: Option<String>,
        #[arg(long, help = msg::print_one_json_document())]
        json: bool,
    },
    #[command(about = msg::about_list(), override_usage = msg::usage_list())]
    List {
        #[arg(long, help = msg::only_failed())]
        failed: bool,
        #[arg(short, long, value_name = "N", help = msg::how_many())]
        number: Option<u32>,
        #[arg(long, help = msg::print_one_json_document())]
        json: bool,
    },
    #[command(about = msg::about_channels(), override_usage = msg::usage_channels())]
    Channels {
        #[arg(long, help = msg::print_one_json_document())]
        json: bool,
    },
    #[command(about = msg::about_when_free(), override_usage = msg::usage_when_free())]
    WhenFree(WhenFree),
}

#[derive(Debug, Args)]
struct WhenFree {
    #[arg(short, long, value_name = "N", required_unless_present_any = ["list", "cancel"], help = msg::gpus())]
    gpus: Option<u32>,
    #[arg(long, value_name = "MODEL", help = msg::model())]
    model: Option<String>,
    #[arg(short = 'w', long, value_name = "NAME", help = msg::node())]
    node: Option<String>,
    #[arg(long, help = msg::always())]
    always: bool,
    #[arg(long, conflicts_with_all = ["gpus", "cancel"], help = msg::list_alerts())]
    list: bool,
    #[arg(long, value_name = "ID", conflicts_with = "gpus", help = msg::cancel_alert())]
    cancel: Option<i64>,
    #[arg(long, help = msg::print_one_json_document())]
    json: bool,
}

pub(crate) fn run(client: &Client, arguments: &NotifyArguments) -> Result<(), Failure> {
    match &arguments.what {
        NotifyCommand::Test { to, json } => test(client, to.clone(), *json),
        NotifyCommand::List { failed, number, json } => list(client, *failed, *number, *json),
        NotifyCommand::Channels { json } => channels(client, *json),
        NotifyCommand::WhenFree(wanted) => when_free(client, wanted),
    }
}

/// Fails when one of them could not be delivered.
fn test(client: &Client, to: Option<String>, json: bool) -> Result<(), Failure> {
    let document = client.send("POST", "/notify/test", &NotifyTest { to })?;
    let tests = read::<Document<NotifyTested>>(&document)?.content.tests;
    if json {
        screen::print_document(&document)?;
    }
    let mut failed = None;
    for test in tests {
        let (to, answer) = (width::plain(&test.to), width::plain(&test.answer));
        match test.delivered {
            true if json => {}
            true => screen::print(&msg::sent(&to, &answer))?,
            false => failed = Some(msg::not_sent(&to, &answer)),
        }
    }
    match failed {
        Some(words) => Err(Failure::new(Exit::Refused, words).hint(msg::check_channel())),
        None => Ok(()),
    }
}

fn list(client: &Client, failed: bool, number: Option<u32>, json: bool) -> Result<(), Failure> {
    let limit = number.map(|number| format!("&limit={number}")).unwrap_or_default();
    let document = client.get_document(&format!("/notify/messages?failed={failed}{limit}"))?;
    if json {
        return screen::print_document(&document);
    }
    let messages = read::<Document<MessageList>>(&document)?.content.messages;
    if messages.is_empty() {
        return screen::print(msg::no_messages());
    }
    let mut table = Table::new(vec![
        Column::left(msg::time()),
        Column::left(msg::state()),
        Column::left(msg::to()).shrinks(24, 12),
        Column::left(msg::kind()),
        Column::right(msg::task()),
        Column::right(msg::attempts()),
        Column::left(msg::answer()).shrinks(30, 12),
    ]);
    for message in &messages {
        let task = message.task.map(|task| task.to_string()).unwrap_or_default();
        table.row(vec![
            at(&message.at).into(),
            state(&message.state).into(),
            message.to.as_str().into(),
            message.kind.as_str().into(),
            task.into(),
            message.attempts.to_string().into(),
            message.answer.as_str().into(),
        ]);
    }
    screen::print(&table.render(width::of_stdout(), colour::wanted(&io::stdout())))
}

/// As clocks show it here.
fn at(written: &str) -> String {
    let read = clock::read(written).map(|at| clock::long(at, Timestamp::now()));
    read.unwrap_or_else(|| written.to_owned())
}

fn state(name: &str) -> &str {
    use danlu_messages::notify::channels as words;
    match name {
        "waiting" => words::waiting(),
        "sent" => words::sent(),
        "failed" => words::failed(),
        "dropped" => words::dropped(),
        newer => newer,
    }
}

fn channels(client: &Client, json: bool) -> Result<(), Failure> {
    let document = client.get_document("/notify/channels")?;
    if json {
        return screen::print_document(&document);
    }
    let channels = read::<Document<ChannelList>>(&document)?.content.channels;
    if channels.is_empty() {
        return screen::print(msg::no_channels());
    }
    let mut table = Table::new(vec![
        Column::left(msg::name()),
        Column::left(msg::kind()),
        Column::left(msg::answer()).shrinks(30, 12),
    ]);
    for channel in &channels {
        let failing = channel
            .failures
            .map(|count| msg::failing(&count, &channel.answer.as_deref().unwrap_or_default()));
        let failing = failing.unwrap_or_default();
        table.row(vec![channel.name.as_str().into(), channel.kind.as_str().into(), failing.into()]);
    }
    screen::print(&table.render(width::of_stdout(), colour::wanted(&io::stdout())))
}

fn when_free(client: &Client, wanted: &WhenFree) -> Result<(), Failure> {
    if let Some(id) = wanted.cancel {
        let document = client.send("DELETE", &format!("/notify/watches/{id}"), &json!({}))?;
        return match wanted.json {
            true => screen::print_document(&document),
            false => screen::print(&msg::cancelled(&id)),
        };
    }
    if wanted.list {
        let document = client.get_document("/notify/watches")?;
        if wanted.json {
            return screen::print_document(&document);
        }
        return show_watches(&read::<Document<Watches>>(&document)?.content.watches);
    }
    let body = NewWatch {
        gpus: wanted.gpus.unwrap_or(1),
        model: wanted.model.clone(),
        node: wanted.node.clone(),
        always: wanted.always,
    };
    let document = client.send("POST", "/notify/watches", &body)?;
    if wanted.json {
        return screen::print_document(&document);
    }
    let watch = read::<Document<AddedWatch>>(&document)?.content.watch;
    screen::print(&msg::will_be_told(&watch.id, &describe(&watch)))
}

fn show_watches(watches: &[WatchView]) -> Result<(), Failure> {
    if watches.is_empty() {
        return screen::print(msg::no_alerts());
    }
    let mut table = Table::new(vec![
        Column::right("ID"),
        Column::left(msg::wanted()),
        Column::left(msg::how_often()),
    ]);
    for watch in watches {
        let often = if watch.always { msg::each_time() } else { msg::once() };
        table.row(vec![watch.id.to_string().into(), describe(watch).into(), often.into()]);
    }
    screen::print(&table.render(width::of_stdout(), colour::wanted(&io::stdout())))
}

/// `4 GPUs A100 on gpu1`, as the options say it.
fn describe(watch: &WatchView) -> String {
    let model = watch.model.as_ref().map(|model| format!(" --model {model}")).unwrap_or_default();
    let node = watch.node.as_ref().map(|node| format!(" --node {node}")).unwrap_or_default();
    width::plain(&format!("-g {}{model}{node}", watch.gpus))
}
