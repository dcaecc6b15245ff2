//! `danlu ls`: lists your tasks, why they wait, and whether GPUs are free.

mod fold;
mod summary;

use std::{io, process::ExitCode, sync::Arc};

use clap::Args;
use danlu_messages::cli::ls as msg;
use danlu_wire::api::{Line, ME, Overview, TaskSort, Tasks};
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
    top::{ListSource, TaskScope, TopModel, TopScreen, show},
};

pub(crate) use fold::table as task_table;
pub(crate) use summary::{machine as machine_summary, mine as my_summary};

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

    #[arg(long, conflicts_with = "json", help = msg::keep_it_up_to_date())]
    watch: bool,

    #[arg(long, help = msg::print_one_json_document())]
    json: bool,
}

/// Tasks in a list, unless more are asked for.
const LOOKED_AT: usize = 200;

pub(crate) fn run(server: Option<&str>, arguments: &LsArguments) -> Result<ExitCode, Failure> {
    let client = Client::new(server)?;
    let query = arguments.query(&client)?;
    if arguments.watch {
        return watch(server, arguments, query);
    }
    if arguments.json {
        let oldest_first = arguments.limit.is_none() && arguments.sort.is_none();
        let query = Query { oldest_first, ..query };
        screen::print_document(&client.list_document(&query)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let (overview, has_many_more) = gather(&client, query, arguments.shape())?;
    let others = |user| user != overview.user;
    let with_user =
        arguments.all || arguments.names_ids() || arguments.filters.user().is_some_and(others);
    let mut out = shown(&overview, arguments.is_list(), with_user);
    let more = overview.not_shown;
    if has_many_more {
        out += msg::and_many_more();
    } else if more > 0 {
        out += &msg::and_more(&more);
    }
    screen::print(&out)?;
    Ok(ExitCode::SUCCESS)
}

/// The same list as a live screen.
fn watch(server: Option<&str>, arguments: &LsArguments, query: Query) -> Result<ExitCode, Failure> {
    let with_user = arguments.all || arguments.names_ids() || arguments.filters.user().is_some();
    let scope = if with_user { TaskScope::Everybody } else { TaskScope::Mine };
    let shape = arguments.shape();
    let source: ListSource = Arc::new(move |client, _| {
        gather(client, query.clone(), shape).map(|(overview, _)| overview)
    });
    show(server, TopModel::new(TopScreen::List, scope, (0, 0)), &source)
}

/// What kind of list it is.
#[derive(Clone, Copy, Debug)]
struct ListShape {
    /// Everything that matches, not only what runs, waits or has ended of late.
    is_list: bool,
    is_unfolded: bool,
}

/// And whether there are more than anybody counts.
fn gather(client: &Client, query: Query, shape: ListShape) -> Result<(Overview, bool), Failure> {
    let mut overview = client.overview(&query)?;
    if !shape.is_list {
        return Ok((overview, false));
    }
    let is_folded = !shape.is_unfolded && query.sort == TaskSort::Id;
    let Tasks { tasks, total, more_than_total, .. } = listed(client, query)?;
    overview.not_shown = total.saturating_sub(tasks.len());
    overview.lines = match is_folded {
        true => fold::folded(tasks),
        false => tasks.into_iter().map(|task| Line { task, array: None }).collect(),
    };
    Ok((overview, more_than_total))
}

impl LsArguments {
    fn query(&self, client: &Client) -> Result<Query, Failure> {
        let mut ids = Vec::new();
        let mut words: Vec<String> = self.text.iter().map(|text| quoted(text)).collect();
        for named in &self.named {
            match named {
                Named::Word(word) => words.push(quoted(word)),
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
        let joined = |parts: &[String], by: &str| (!parts.is_empty()).then(|| parts.join(by));
        let time = |past: Past| past.0.to_string();
        Ok(Query {
            text: joined(&words, " "),
            ids: joined(&ids, ","),
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

    fn shape(&self) -> ListShape {
        ListShape { is_list: self.is_list(), is_unfolded: self.unfold }
    }

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

/// One argument with spaces in it is looked for as it stands there.
fn quoted(word: &str) -> String {
    match word.contains(char::is_whitespace) && !word.contains('"') {
        true => format!("\"{word}\""),
        false => word.to_owned(),
    }
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

/// As many as are asked for, or the first ones and how many there are.
fn listed(client: &Client, query: Query) -> Result<Tasks, Failure> {
    if query.limit.is_some() {
        let tasks = client.list(&query)?;
        let total = tasks.len();
        return Ok(Tasks { tasks, total, more_than_total: false, next: None, next_cursor: None });
    }
    Ok(client.page(&Query { limit: Some(LOOKED_AT), ..query })?)
}

fn shown(overview: &Overview, is_list: bool, with_user: bool) -> String {
    let (columns, colour) = (width::of_stdout(), colour::wanted(&io::stdout()));
    let mut out = notices::lines(&overview.notices);
    out += &summary::line(overview, columns);
    if overview.lines.is_empty() {
        out += match is_list {
            true => msg::no_matching_tasks(),
            false => msg::no_tasks_danlu_submit_command(),
        };
    } else {
        let table = fold::table(&overview.lines, with_user, Timestamp::now());
        out += &format!("\n{}", table.render(columns, colour));
    }
    out
}
