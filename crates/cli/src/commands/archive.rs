//! `danlu archive`: moves ended tasks from the database to a file of JSON lines.

use clap::Args;
use danlu_messages::cli::archive as msg;
use danlu_wire::api::{Archive, Archived, Document};

use crate::{
    client::{Client, read},
    failure::{Exit, Failure},
    parse::{
        task_ids::{TaskNames, parse_task_names},
        time_limit::{TimeLimit, parse_time_limit},
    },
    screen::{self, confirm::confirm},
    selection::resolve_names,
};

#[derive(Debug, Args)]
#[command(
    about = msg::about(),
    override_usage = msg::danlu_archive_id_options(),
    after_help = msg::help(),
)]
pub(crate) struct ArchiveArguments {
    #[arg(value_name = "ID", value_parser = parse_task_names, help = msg::task_ids())]
    ids: Vec<TaskNames>,

    #[arg(long, value_name = "TIME", value_parser = parse_time_limit, help = msg::older_than())]
    older_than: Option<TimeLimit>,

    #[arg(long, value_name = "N", help = msg::all_but_the_newest_n())]
    keep: Option<usize>,

    #[arg(long, value_name = "NAME", conflicts_with = "ids", help = msg::of_this_user_for_everybody())]
    user: Option<String>,

    #[arg(long, conflicts_with = "ids", help = msg::all_of_mine())]
    all: bool,

    #[arg(short, long, help = msg::do_not_ask())]
    yes: bool,

    #[arg(long, help = msg::print_one_json_document())]
    json: bool,
}

pub(crate) fn run(client: &Client, arguments: &ArchiveArguments) -> Result<(), Failure> {
    let ArchiveArguments { ids, older_than, keep, user, all, yes, json } = arguments;
    if ids.is_empty() && older_than.is_none() && keep.is_none() && user.is_none() && !all {
        let message = msg::which_tasks();
        return Err(Failure::new(Exit::Usage, message).hint("danlu archive --older-than 30d"));
    }
    let question = msg::confirm();
    if ids.is_empty() && !yes && !confirm(question)? {
        return Ok(());
    }
    let body = Archive {
        ids: resolve_names(client, ids.iter().flat_map(|names| &names.0))?.ids,
        user: user.clone(),
        older_than: older_than.and_then(TimeLimit::seconds),
        keep: *keep,
        first: None,
    };
    let document = client.send("POST", "/archive", &body)?;
    if *json {
        return screen::print_document(&document);
    }
    let count = read::<Document<Archived>>(&document)?.content.archived;
    screen::print(&msg::archived_count_tasks(&count))
}
