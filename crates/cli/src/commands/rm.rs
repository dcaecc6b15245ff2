//! `danlu rm`: removes tasks, their logs included.

use std::process::ExitCode;

use clap::Args;
use danlu_messages::cli::rm as msg;
use danlu_wire::api::{Act, ActName, Acted, Document};

use super::{
    cascade::CascadeOption,
    task_action::{agreed, report},
    wait,
};
use crate::{
    client::{Client, read},
    failure::Failure,
    parse::task_state,
    selection::Selection,
};

#[derive(Debug, Args)]
#[command(
    about = msg::about(),
    override_usage = msg::danlu_rm_id_options(),
    after_help = msg::help(),
)]
pub(crate) struct RmArguments {
    #[command(flatten)]
    selection: Selection,

    #[command(flatten)]
    cascade: CascadeOption,

    #[arg(short, long, help = msg::do_not_ask())]
    yes: bool,

    #[arg(long, help = msg::print_one_json_document())]
    json: bool,
}

pub(crate) fn run(client: &Client, arguments: &RmArguments) -> Result<ExitCode, Failure> {
    let selected = arguments.selection.resolve(client, &task_state::ENDED)?;
    let question = |count| msg::remove_count_tasks(&count);
    if !agreed(&selected, arguments.yes, question)? {
        return Ok(ExitCode::SUCCESS);
    }
    let cascade = arguments.cascade.agreed(client, &selected.ids, arguments.yes)?;
    end_those_that_run(client, &selected.ids, cascade)?;
    let act = Act::new(ActName::Remove, selected.ids.clone());
    let done = |tasks: &str| msg::removed_tasks(&tasks);
    report(client, &act, &selected, done, arguments.json).map(|(_, exit)| exit)
}

/// Only what has ended can be removed. What had ended before is refused here, and that is fine.
fn end_those_that_run(client: &Client, ids: &[u64], cascade: bool) -> Result<(), Failure> {
    let act = Act { cascade, ..Act::new(ActName::Cancel, ids.to_vec()) };
    let acted: Document<Acted> = read(&client.send("POST", "/tasks/act", &act)?)?;
    let cancelled = acted.content.results.into_iter().filter(|result| result.error.is_none());
    let cancelled: Vec<u64> = cancelled.map(|result| result.id).collect();
    wait::until_ended(client, &cancelled).map(drop)
}
