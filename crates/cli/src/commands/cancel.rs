//! `danlu cancel`: cancels queued tasks, and ends the whole process tree of running ones.

use std::process::ExitCode;

use clap::Args;
use danlu_messages::cli::cancel as msg;
use danlu_wire::api::{Act, ActName};

use super::{
    cascade::CascadeOption,
    task_action::{agreed, report},
    wait,
};
use crate::{client::Client, failure::Failure, parse::task_state, selection::Selection};

#[derive(Debug, Args)]
#[command(
    about = msg::about(),
    override_usage = msg::danlu_cancel_id_options(),
    after_help = msg::help(),
)]
pub(crate) struct CancelArguments {
    #[command(flatten)]
    selection: Selection,

    #[command(flatten)]
    cascade: CascadeOption,

    #[arg(short, long, help = msg::do_not_ask())]
    yes: bool,

    #[arg(long, help = msg::return_when_they_have_ended())]
    wait: bool,

    #[arg(long, help = msg::print_one_json_document())]
    json: bool,
}

pub(crate) fn run(client: &Client, arguments: &CancelArguments) -> Result<ExitCode, Failure> {
    let selected = arguments.selection.resolve(client, &task_state::OPEN)?;
    let question = |count| msg::cancel_count_tasks(&count);
    if !agreed(&selected, arguments.yes, question)? {
        return Ok(ExitCode::SUCCESS);
    }
    let cascade = arguments.cascade.agreed(client, &selected.ids, arguments.yes)?;
    let act = Act { cascade, ..Act::new(ActName::Cancel, selected.ids.clone()) };
    let done = |tasks: &str| msg::cancelled_tasks(&tasks);
    let (cancelled, exit) = report(client, &act, &selected, done, arguments.json)?;
    if arguments.wait {
        wait::until_ended(client, &cancelled)?;
    }
    Ok(exit)
}
