//! Shared code of `cancel`, `hold`, `release`, `pause`, `resume`, `retry`, `start`, `move` and `rm`.

use std::{collections::BTreeMap, process::ExitCode};

use danlu_messages::cli::acting as msg;
use danlu_wire::api::{Act, ActName, Acted, Document, ErrorBody, ErrorCode, TaskStateName};

use crate::{
    client::{Client, read},
    failure::Failure,
    screen::{self, confirm::confirm, places, width},
    selection::{Selected, Selection},
};

/// One kind of act that changes nothing that cannot be changed back.
pub(super) struct TaskAction {
    pub(super) act: ActName,
    /// The states in which it makes sense, for `--all` and filters.
    pub(super) sensible: &'static [TaskStateName],
    /// From `task 12` to `held task 12`.
    pub(super) done: fn(&str) -> String,
}

pub(super) fn act(
    client: &Client,
    selection: &Selection,
    kind: &TaskAction,
    json: bool,
) -> Result<ExitCode, Failure> {
    let selected = selection.resolve(client, kind.sensible)?;
    let act = Act::new(kind.act, selected.ids.clone());
    report(client, &act, &selected, kind.done, json).map(|(_, exit)| exit)
}

/// A verb that does one such act to tasks, and says so.
macro_rules! task_action_verb {
    (
        $arguments:ident, $name:literal, $about:expr, $act:ident in $sensible:expr,
        |$tasks:ident| $done:expr, $examples:literal
    ) => {
        #[derive(Debug, clap::Args)]
        #[command(
                                    about = $about,
                                    override_usage = danlu_messages::cli::acting::usage_of(&$name),
                                    after_help = danlu_messages::cli::acting::examples(&$examples),
                                )]
        pub(crate) struct $arguments {
            #[command(flatten)]
            selection: $crate::selection::Selection,

            /// For scripts that pass it to every verb: nothing is asked here.
            #[arg(short, long, hide = true)]
            yes: bool,

            #[arg(long, help = danlu_messages::cli::acting::print_one_json_document())]
            json: bool,
        }

        pub(crate) fn run(
            client: &$crate::client::Client,
            arguments: &$arguments,
        ) -> Result<std::process::ExitCode, $crate::failure::Failure> {
            let kind = $crate::commands::task_action::TaskAction {
                act: danlu_wire::api::ActName::$act,
                sensible: &$sensible,
                done: |$tasks| $done,
            };
            let $arguments { selection, yes: _, json } = arguments;
            $crate::commands::task_action::act(client, selection, &kind, *json)
        }
    };
}
pub(super) use task_action_verb;

/// Asks before what cannot be undone, unless every task was named one by one.
pub(super) fn agreed(
    selected: &Selected,
    yes: bool,
    question: impl Fn(usize) -> String,
) -> Result<bool, Failure> {
    let count = selected.ids.len();
    if yes || selected.one_by_one || count < 2 { Ok(true) } else { confirm(&question(count)) }
}

/// Sends it, and says what was done and what was refused; the first refusal decides the exit status.
pub(super) fn report(
    client: &Client,
    act: &Act,
    selected: &Selected,
    done_words: impl Fn(&str) -> String,
    json: bool,
) -> Result<(Vec<u64>, ExitCode), Failure> {
    let document = client.send("POST", "/tasks/act", act)?;
    let acted: Document<Acted> = read(&document)?;
    let mut done = Vec::new();
    let mut refused = Vec::new();
    let mut later: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for result in acted.content.results {
        let missing = selected.may_be_missing.contains(&result.id);
        match result.error {
            None if !result.waits_for.is_empty() => {
                later.entry(result.waits_for.join(", ")).or_default().push(result.id);
            }
            None => done.push(result.id),
            Some(error) if missing && error.code == ErrorCode::NotFound => {}
            Some(error) => refused.push((result.id, error)),
        }
    }
    if json {
        screen::print_document(&document)?;
    } else if !done.is_empty() || !later.is_empty() {
        if !done.is_empty() {
            screen::print(&format!("{}\n", done_words(&tasks(&done))))?;
        }
        for (away, ids) in &later {
            let (tasks, away) = (tasks(ids), width::plain(away));
            screen::print(&msg::cancelled_when_back(&tasks, &away))?;
        }
    } else if refused.is_empty() {
        screen::note(msg::no_matching_tasks());
    }
    done.extend(later.into_values().flatten());
    let refused = grouped(refused);
    refused.iter().for_each(Failure::print);
    let status = refused.first().map_or(0, Failure::status);
    Ok((done, ExitCode::from(status)))
}

/// The same refusal of many tasks is told once.
fn grouped(refused: Vec<(u64, ErrorBody)>) -> Vec<Failure> {
    let mut groups: Vec<(String, ErrorBody, Vec<u64>)> = Vec::new();
    for (id, error) in refused {
        let alike = error.message.replace(&id.to_string(), "#");
        match groups.iter_mut().find(|(known, ..)| *known == alike) {
            Some((_, _, others)) => others.push(id),
            None => groups.push((alike, error, Vec::new())),
        }
    }
    let failure = |(_, mut error, others): (String, ErrorBody, Vec<u64>)| {
        if !others.is_empty() {
            let others = tasks(&others);
            error.message += &msg::likewise_for_others(&others);
        }
        Failure::from(error)
    };
    groups.into_iter().map(failure).collect()
}

/// `task 12`, `tasks 3,5`, `7 tasks: 3-9`.
fn tasks(ids: &[u64]) -> String {
    let list = places::list(ids);
    match ids.len() {
        1 => msg::task_list(&list),
        count if count > 3 => msg::count_tasks_list(&count, &list),
        _ => msg::tasks_list(&list),
    }
}
