//! `danlu clone`: submits a copy of a task, with the given changes.

use clap::Args;
use danlu_messages::cli::clone as msg;
use danlu_spec::{Change, NewTaskOptions, Patch, TaskOptions};
use danlu_wire::api::TaskView;

use super::submit::{submitted, tell_limit, with_command};
use crate::{
    client::{Client, Problem},
    failure::{Exit, Failure},
    parse::task_ids::{TaskNames, parse_task_names},
    screen::{self, width::plain},
    selection::resolve_names,
    submit_context::{environment, settled},
};

#[derive(Debug, Args)]
#[command(
    about = msg::about(),
    override_usage = msg::danlu_clone_id_options_command(),
    after_help = msg::help(),
)]
pub(crate) struct CloneArguments {
    #[arg(value_name = "ID", required = true, display_order = 0, value_parser = parse_task_names, help = msg::tasks_to_copy())]
    ids: Vec<TaskNames>,

    #[command(flatten)]
    options: TaskOptions,

    #[command(flatten)]
    new: NewTaskOptions,

    #[arg(short, long, help_heading = msg::options(), help = msg::print_the_ids_only())]
    quiet: bool,

    #[arg(long, conflicts_with = "quiet", help_heading = msg::options(), help = msg::print_one_json_document_for_each())]
    json: bool,

    #[arg(value_name = "COMMAND", last = true, display_order = 1, help_heading = msg::arguments(), help = msg::another_command())]
    command: Vec<String>,
}

pub(crate) fn run(client: &Client, arguments: &CloneArguments) -> Result<(), Failure> {
    let names = arguments.ids.iter().flat_map(|names| &names.0);
    let selected = resolve_names(client, names)?;
    tell_limit(&arguments.options);
    for id in selected.ids {
        let task = client.task(id)?;
        if !may_copy(client, &task)? {
            return Err(not_permitted(&task));
        }
        let document = copy(client, &task, arguments)?;
        let new = submitted(&document)?.id;
        if arguments.json {
            screen::print_document(&document)?;
        } else if arguments.quiet {
            screen::print(&format!("{new}\n"))?;
        } else {
            screen::print(&msg::submitted_task_new_a_copy_of_id(&new, &id))?;
        }
    }
    Ok(())
}

fn may_copy(client: &Client, task: &TaskView) -> Result<bool, Failure> {
    // Shown to those who may.
    if task.details.as_ref().is_some_and(|details| details.environment.is_some()) {
        return Ok(true);
    }
    let me = client.who_am_i()?;
    Ok(me.admin || me.user == task.user)
}

/// Its variables are not shown to others, and a copy without them would be another task.
fn not_permitted(task: &TaskView) -> Failure {
    let (id, owner) = (task.id, plain(&task.user));
    Failure::new(Exit::NotPermitted, msg::not_your_task(&id, &owner))
        .hint(msg::submit_as_your_own())
}

fn copy(client: &Client, task: &TaskView, arguments: &CloneArguments) -> Result<String, Failure> {
    let incomplete = || Problem::Odd("the task has no details".to_owned());
    let mut new = Patch::of(task).ok_or_else(incomplete)?;
    // None was captured from who does not use this command line.
    let captured = task.details.as_ref().and_then(|details| details.environment.clone());
    new.environment = Change::Set(captured.unwrap_or_else(environment));
    new.lay_over(settled(client, arguments.options.patch()?)?);
    new.lay_over(arguments.new.patch()?);
    let is_shell_line = arguments.options.is_shell_line();
    client.submit(&with_command(new, &arguments.command, is_shell_line))
}
