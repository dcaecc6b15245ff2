//! `danlu edit`: changes a waiting task, by options or in an editor.

mod form;

use std::{
    env,
    io::{self, Write as _},
    process::Command,
};

use clap::Args;
use danlu_messages::cli::edit as msg;
use danlu_spec::{Patch, TaskOptions};
use danlu_wire::api::TaskView;

use super::submit::{tell_limit, with_command};
use crate::{
    client::{Client, Problem},
    failure::{Exit, Failure},
    parse::task_ids::{TaskNames, parse_task_names},
    screen,
    selection::resolve_names,
    submit_context::settled,
};

#[derive(Debug, Args)]
#[command(
    about = msg::change_tasks_that_wait(),
    override_usage = msg::usage(),
    after_help = msg::help(),
)]
pub(crate) struct EditArguments {
    #[arg(value_name = "ID", required = true, display_order = 0, value_parser = parse_task_names, help = msg::tasks_to_change())]
    ids: Vec<TaskNames>,

    #[command(flatten)]
    options: TaskOptions,

    #[arg(long, help_heading = msg::options(), help = msg::print_json())]
    json: bool,

    #[arg(value_name = "COMMAND", last = true, display_order = 1, help_heading = msg::arguments(), help = msg::another_command())]
    command: Vec<String>,
}

pub(crate) fn run(client: &Client, arguments: &EditArguments) -> Result<(), Failure> {
    let changes = changes(client, arguments)?;
    let names = arguments.ids.iter().flat_map(|names| &names.0);
    let ids = resolve_names(client, names)?.ids;
    tell_limit(&arguments.options);
    if changes.is_empty() {
        let [id] = ids.as_slice() else { return Err(one_at_a_time()) };
        let task = client.task(*id)?;
        let changes = in_editor(&task)?;
        if changes.is_empty() {
            return screen::print(msg::nothing_has_changed());
        }
        return send(client, *id, &changes, arguments.json);
    }
    for id in ids {
        let changes = completed(&client.task(id)?, changes.clone())?;
        send(client, id, &changes, arguments.json)?;
    }
    Ok(())
}

fn changes(client: &Client, arguments: &EditArguments) -> Result<Patch, Failure> {
    let changes = settled(client, arguments.options.patch()?)?;
    Ok(with_command(changes, &arguments.command, arguments.options.is_shell_line()))
}

fn incomplete() -> Failure {
    Problem::Odd("the task has no details".to_owned()).into()
}

/// Labels, variables and output files are laid over those that the task has.
fn completed(task: &TaskView, changes: Patch) -> Result<Patch, Failure> {
    let mut base = Patch::of(task).ok_or_else(incomplete)?.only(|key| changes.says(key));
    base.lay_over(changes);
    Ok(base)
}

fn send(client: &Client, id: u64, changes: &Patch, json: bool) -> Result<(), Failure> {
    let document = client.send("PATCH", &format!("/tasks/{id}"), changes)?;
    if json {
        return screen::print_document(&document);
    }
    screen::print(&msg::changed_task_id(&id))
}

fn in_editor(task: &TaskView) -> Result<Patch, Failure> {
    let before = form::Text::of(Patch::of(task).ok_or_else(incomplete)?);
    let mut file = tempfile::Builder::new()
        .prefix(&format!("danlu-{}-", task.id))
        .suffix(".toml")
        .tempfile()
        .map_err(|cause| no_editor(&cause))?;
    file.write_all(before.written(task.id).as_bytes()).map_err(|cause| no_editor(&cause))?;
    let editor = ["VISUAL", "EDITOR"].into_iter().find_map(|name| env::var(name).ok());
    let editor = editor.filter(|editor| !editor.is_empty()).unwrap_or_else(|| "vi".to_owned());
    // `EDITOR` may have arguments of its own, so that a shell has to take it apart.
    let status = Command::new("sh")
        .args(["-c", "exec $0 \"$1\"", &editor])
        .arg(file.path())
        .status()
        .map_err(|cause| no_editor(&cause))?;
    if !status.success() {
        return Err(Failure::new(Exit::Refused, msg::editor_failed_nothing_has_changed(&editor))
            .hint("EDITOR=nano danlu edit ID"));
    }
    let written = std::fs::read_to_string(file.path()).map_err(|cause| no_editor(&cause))?;
    let after = form::Text::read(&written);
    let changes = after.and_then(|after| after.changes_since(&before));
    changes.map_err(|complaint| {
        // The work is not lost.
        let kept = file.keep().map(|(_, path)| path.display().to_string()).unwrap_or_default();
        Failure::new(Exit::Usage, complaint).hint(msg::your_text_is_kept_in_kept(&kept))
    })
}

fn no_editor(cause: &io::Error) -> Failure {
    Failure::new(Exit::Refused, msg::could_not_open_an_editor_cause(&cause))
        .hint("danlu edit ID --gpus 2")
}

fn one_at_a_time() -> Failure {
    Failure::new(Exit::Usage, msg::nothing_is_to_be_changed()).hint(msg::give_options())
}
