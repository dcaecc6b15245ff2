//! `danlu ls`: lists your tasks, why they wait, and whether GPUs are free.

mod fold;
mod summary;

use std::io;

use clap::Args;
use danlu_messages::cli::ls as msg;
use danlu_wire::api::{ME, Overview, TaskView};
use jiff::Timestamp;

use super::notices;
use crate::{
    client::{Client, Query},
    failure::Failure,
    screen::{self, colour, width},
    selection::Filters,
};

#[derive(Debug, Args)]
#[command(
    about = msg::list_my_tasks_and_say_why_they_wait(),
    override_usage = msg::danlu_ls_options(),
    after_help = msg::help(),
)]
pub(crate) struct LsArguments {
    #[arg(short, long, help = msg::everybodys_tasks())]
    all: bool,

    #[command(flatten)]
    filters: Filters,

    #[arg(short = 'n', long, value_name = "N", help = msg::newest_n())]
    limit: Option<usize>,

    #[arg(long, help = msg::print_one_json_document())]
    json: bool,
}

/// Tasks that are looked at when states are named, unless more is asked for.
const LOOKED_AT: usize = 200;

pub(crate) fn run(client: &Client, arguments: &LsArguments) -> Result<(), Failure> {
    let mut query = arguments.filters.query();
    query.limit = arguments.limit;
    let by_state = arguments.json || !query.states.is_empty() || query.limit.is_some();
    if query.user.is_none() && !arguments.all {
        query.user = Some(ME.to_owned());
    }
    if arguments.json {
        query.oldest_first = arguments.limit.is_none();
        return screen::print_document(&client.list_document(&query)?);
    }
    let mut overview = client.overview(&query)?;
    if by_state {
        let (tasks, not_shown) = listed(client, query)?;
        overview.lines = fold::folded(tasks);
        overview.not_shown = not_shown;
    }
    let others = |user| user != overview.user;
    let with_user = arguments.all || arguments.filters.user().is_some_and(others);
    show(&overview, with_user)
}

/// And how many more there are.
fn listed(client: &Client, query: Query) -> Result<(Vec<TaskView>, usize), Failure> {
    if query.limit.is_some() {
        return Ok((client.list(&query)?, 0));
    }
    let page = client.page(&Query { limit: Some(LOOKED_AT), ..query })?;
    let not_shown = page.total - page.tasks.len();
    Ok((page.tasks, not_shown))
}

fn show(overview: &Overview, with_user: bool) -> Result<(), Failure> {
    let (columns, colour) = (width::of_stdout(), colour::wanted(&io::stdout()));
    let mut out = notices::lines(&overview.notices);
    out += &summary::line(overview, columns);
    if overview.lines.is_empty() {
        out += msg::no_tasks_danlu_submit_command();
    } else {
        let table = fold::table(&overview.lines, with_user, Timestamp::now());
        out += &format!("\n{}", table.render(columns, colour));
    }
    let more = overview.not_shown;
    if more > 0 {
        out += &msg::and_more(&more);
    }
    screen::print(&out)
}
