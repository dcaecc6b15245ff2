//! `danlu move`: changes the position of a task among its owner's tasks.

use std::process::ExitCode;

use clap::Args;
use danlu_messages::cli::move_task as msg;
use danlu_wire::api::{Act, ActName};

use super::task_action::report;
use crate::{
    client::Client,
    failure::Failure,
    parse::task_ids::{TaskName, parse_one_task},
    selection::resolve_names,
};

#[derive(Debug, Args)]
#[command(
    about = msg::move_a_task_within_my_queue(),
    override_usage = msg::danlu_move_id_position(),
    after_help = msg::help(),
)]
pub(crate) struct MoveArguments {
    #[arg(value_name = "ID", value_parser = parse_one_task, help = msg::task())]
    id: TaskName,

    #[arg(value_name = "POSITION", default_value_t = 0, hide_default_value = true, help = msg::tasks_ahead())]
    position: usize,

    #[arg(long, help = msg::print_one_json_document())]
    json: bool,
}

pub(crate) fn run(client: &Client, arguments: &MoveArguments) -> Result<ExitCode, Failure> {
    let selected = resolve_names(client, [arguments.id].iter())?;
    let act = Act { position: arguments.position, ..Act::new(ActName::Move, selected.ids.clone()) };
    let done = |tasks: &str| msg::moved_tasks(&tasks);
    report(client, &act, &selected, done, arguments.json).map(|(_, exit)| exit)
}
