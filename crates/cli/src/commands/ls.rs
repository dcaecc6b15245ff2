//! `danlu ls`: lists your tasks, why they wait, and whether GPUs are free.

mod fold;
mod summary;

use std::io;

use clap::Args;
use danlu_messages::cli::ls as msg;
use danlu_wire::api::{Line, ME, Overview, TaskSort, TaskView};
use jiff::Timestamp;

use super::notices;
use crate::{
    client::{Client, Query},
    failure::Failure,
    parse::{
        past::{Past, parse_past},
        task_ids::{TaskName, TaskNames, parse_task_names},
    },
    screen::{self, colour, width},
    selection::{Filters, resolve_one},
};

#[derive(Debug, Args)]
#[command(
    about = msg::list_my_tasks_and_say_why_they_wait(),
    override_usage = msg::danlu_ls_options(),
    after_help = msg::help(),
)]
pub(crate) struct LsArguments {
    #[arg(value_name = "ID|TEXT", value_parser = parse_named, help = msg::ids_or_words())]
    named: Vec<Named>,

    #[arg(long, value_name = "TEXT", help = msg::with_text())]
    text: Option<String>,

    #[arg(short, long, help = msg::everybodys_tasks())]
    all: bool,

    #[command(flatten)]
    filters: Filters,

    #[arg(long, value_name = "TIME", value_parser = parse_past, help = msg::ended_since())]
    since: Option<Past>,

    #[arg(long, value_name = "TIME", value_parser = parse_past, help = msg::ended_before())]
    until: Option<Past>,

    #[arg(long, value_name = "ORDER", value_parser = parse_sort, help = msg::sorted_by())]
    sort: Option<TaskSort>,

    #[arg(short = 'n', long, value_name = "N", help = msg::newest_n())]
    limit: Option<usize>,

    #[arg(long, help = msg::each_element())]
    unfold: bool,

    #[arg(long, help = msg::print_one_json_document())]
    json: bool,
}

/// Tasks in a list, unless more are asked for.
const LOOKED_AT: usize = 200;

pub(crate) fn run(client: &Client, arguments: &LsArguments) -> Result<(), Failure> {
    let query = arguments.query(client)?;
    if arguments.json {
        let oldest_first = arguments.limit.is_none() && arguments.sort.is_none();
        let query = Query { oldest_first, ..query };
        return screen::print_document(&client.list_document(&query)?);
    }
    let mut overview = client.overview(&query)?;
    if arguments.is_list() {
        let is_folded = !arguments.unfold && query.sort == TaskSort::Id;
        let (tasks, not_shown) = listed(client, query)?;
        overview.lines = match is_folded {
            true => fold::folded(tasks),
            false => tasks.into_iter().map(|task| Line { task, array: None }).collect(),
        };
        overview.not_shown = not_shown;
    }
    let others = |user| user != overview.user;
    let with_user =
        arguments.all || arguments.names_ids() || arguments.filters.user().is_some_and(others);
    show(&overview, with_user)
}

impl LsArguments {
    fn query(&self, client: &Client) -> Result<Query, Failure> {
        let mut ids = Vec::new();
        let mut words: Vec<&str> = self.text.iter().map(String::as_str).collect();
        for named in &self.named {
            match named {
                Named::Word(word) => words.push(word),
                Named::Tasks(TaskNames(names)) => {
                    for name in names {
                        ids.push(written(client, *name)?);
                    }
                }
            }
        }
        let mut query = self.filters.query();
        if query.user.is_none() && !self.all && ids.is_empty() {
            query.user = Some(ME.to_owned());
        }
        let joined = |parts: &[&str], by: &str| (!parts.is_empty()).then(|| parts.join(by));
        let time = |past: Past| past.0.to_string();
        Ok(Query {
            text: joined(&words, " "),
            ids: (!ids.is_empty()).then(|| ids.join(",")),
            since: self.since.map(time),
            until: self.until.map(time),
            sort: self.sort.unwrap_or_default(),
            limit: self.limit,
            ..query
        })
    }

    fn names_ids(&self) -> bool {
        self.named.iter().any(|named| matches!(named, Named::Tasks(_)))
    }

    /// Everything that matches, not only what runs, waits or has ended of late.
    fn is_list(&self) -> bool {
        !self.named.is_empty()
            || self.text.is_some()
            || self.filters.has_states()
            || self.since.is_some()
            || self.until.is_some()
            || self.sort.is_some()
            || self.limit.is_some()
            || self.unfold
    }
}

/// A word of the command line.
#[derive(Clone, Debug)]
enum Named {
    Tasks(TaskNames),
    Word(String),
}

fn parse_named(given: &str) -> Result<Named, String> {
    let like_ids = |letter: char| letter.is_ascii_digit() || "-,@~".contains(letter);
    match given.chars().all(like_ids) {
        true => parse_task_names(given).map(Named::Tasks),
        false => Ok(Named::Word(given.to_owned())),
    }
}

fn parse_sort(given: &str) -> Result<TaskSort, String> {
    TaskSort::ALL.into_iter().find(|sort| sort.as_str() == given).ok_or_else(|| {
        let known = TaskSort::ALL.map(TaskSort::as_str).join(", ");
        msg::one_of(&known)
    })
}

fn written(client: &Client, name: TaskName) -> Result<String, Failure> {
    match name {
        TaskName::Range(first, last) => Ok(format!("{first}-{last}")),
        one @ (TaskName::Id(_) | TaskName::Mine(_)) => Ok(resolve_one(client, one)?.to_string()),
    }
}

/// And how many more there are.
fn listed(client: &Client, query: Query) -> Result<(Vec<TaskView>, usize), Failure> {
    if query.limit.is_some() {
        return Ok((client.list(&query)?, 0));
    }
    let page = client.page(&Query { limit: Some(LOOKED_AT), ..query })?;
    let not_shown = page.total.saturating_sub(page.tasks.len());
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
