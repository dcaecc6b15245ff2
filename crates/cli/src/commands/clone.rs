//! `danlu clone`: a new task like an old one, with what is to be different.

use clap::Args;
use danlu_wire::api::TaskView;
use serde_json::{Value, json};

use super::submit::{submitted, tell_limit};
use crate::{
    client::{Client, Problem},
    failure::Failure,
    given::task_ids::{TaskNames, parse_task_names},
    language::{say, text},
    screen,
    selection::resolve_names,
    task_options::{NewTaskOptions, TaskOptions, environment, merge, of_task, submit_body},
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
        let document = copy(client, &client.task(id)?, arguments)?;
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

fn copy(client: &Client, task: &TaskView, arguments: &Arguments) -> Result<String, Failure> {
    let incomplete = || Problem::Odd("the task has no details".to_owned());
    let mut fields = of_task(task).ok_or_else(incomplete)?;
    // Somebody else's environment is not ours to see.
    let captured = task.details.as_ref().and_then(|details| details.environment.clone());
    fields.insert("environment".into(), json!(captured.unwrap_or_else(environment)));
    merge(&mut fields, arguments.options.fields(client)?);
    merge(&mut fields, arguments.new.fields());
    if !arguments.command.is_empty() {
        let shell = arguments.options.is_shell_line();
        let command =
            if shell { vec![arguments.command.join(" ")] } else { arguments.command.clone() };
        fields.insert("command".into(), json!(command));
        fields.insert("shell".into(), Value::Bool(shell));
    }
    client.submit(&submit_body(fields)?)
}
