//! `danlu clone`: a new task like an old one, with what is to be different.

use clap::Args;
use danlu_spec::{NewTaskOptions, Patch, Said, TaskOptions};
use danlu_wire::api::TaskView;

use super::submit::{submitted, tell_limit, with_command};
use crate::{
    captured::{environment, settled},
    client::{Client, Problem},
    failure::{Exit, Failure},
    given::task_ids::{TaskNames, parse_task_names},
    language::{say, text},
    screen::{self, width::plain},
    selection::resolve_names,
};

#[derive(Debug, Args)]
#[command(
    about = text("Submit a task like another, with changes", "按已有任务再提交一个，可作修改"),
    override_usage = text(
        "danlu clone ID… [OPTIONS] [-- COMMAND…]",
        "danlu clone 编号… [选项] [-- 命令…]",
    ),
    after_help = text(
        "Everything is taken over, the environment included; options change it as with submit.\n\n\
         Examples:\n  danlu clone 12\n  danlu clone 12 --gpus 4 --name larger",
        "沿用原任务的一切，包括环境变量；选项与 submit 相同，用于修改。\n\n\
         示例：\n  danlu clone 12\n  danlu clone 12 --gpus 4 --name larger",
    ),
)]
pub(crate) struct Arguments {
    #[arg(value_name = "ID", required = true, display_order = 0, value_parser = parse_task_names, help = text(
        "The tasks to copy",
        "要复制的任务",
    ))]
    ids: Vec<TaskNames>,

    #[command(flatten)]
    options: TaskOptions,

    #[command(flatten)]
    new: NewTaskOptions,

    #[arg(short, long, help_heading = text("Options", "选项"), help = text("Print the ids only", "只输出编号"))]
    quiet: bool,

    #[arg(long, conflicts_with = "quiet", help_heading = text("Options", "选项"), help = text("Print one JSON document for each", "每个任务输出一个 JSON 文档"))]
    json: bool,

    #[arg(value_name = "COMMAND", last = true, display_order = 1, help_heading = text("Arguments", "参数"), help = text("Another command", "换一条命令"))]
    command: Vec<String>,
}

pub(crate) fn run(client: &Client, arguments: &Arguments) -> Result<(), Failure> {
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
            screen::print(&say!(
                "submitted task {new}, a copy of {id}\n",
                "已提交任务 {new}（复制自 {id}）\n",
            ))?;
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
    Failure::new(
        Exit::NotPermitted,
        say!(
            "task {id} is of {owner}: only its owner can copy it",
            "任务 {id} 属于 {owner}：只有其所有者可以复制"
        ),
    )
    .hint(text(
        "submit the command as your own: danlu submit -- COMMAND",
        "请自行提交该命令：danlu submit -- 命令",
    ))
}

fn copy(client: &Client, task: &TaskView, arguments: &Arguments) -> Result<String, Failure> {
    let incomplete = || Problem::Odd("the task has no details".to_owned());
    let mut new = Patch::of(task).ok_or_else(incomplete)?;
    // None was captured from who does not use this command line.
    let captured = task.details.as_ref().and_then(|details| details.environment.clone());
    new.environment = Said::Value(captured.unwrap_or_else(environment));
    new.lay_over(settled(client, arguments.options.patch()?)?);
    new.lay_over(arguments.new.patch()?);
    let is_shell_line = arguments.options.is_shell_line();
    client.submit(&with_command(new, &arguments.command, is_shell_line))
}
