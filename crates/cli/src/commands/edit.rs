//! `danlu edit`: change a task that waits, by options or in an editor.

mod form;

use std::{
    env,
    io::{self, Write as _},
    process::Command,
};

use clap::Args;
use danlu_spec::{Patch, TaskOptions};
use danlu_wire::api::TaskView;

use super::submit::{tell_limit, with_command};
use crate::{
    captured::settled,
    client::{Client, Problem},
    failure::{Exit, Failure},
    given::task_ids::{TaskNames, parse_task_names},
    language::{say, text},
    screen,
    selection::resolve_names,
};

#[derive(Debug, Args)]
#[command(
    about = text("Change tasks that wait", "修改等待中的任务"),
    override_usage = text(
        "danlu edit ID… OPTIONS [-- COMMAND…]\n       danlu edit ID",
        "danlu edit 编号… 选项 [-- 命令…]\n      danlu edit 编号",
    ),
    after_help = text(
        "Options are those of submit. Without any, the task opens in your editor ($VISUAL, $EDITOR).\n\n\
         Examples:\n  danlu edit 12 --gpus 4 --time 2h\n  danlu edit 3-9 --priority 1\n  danlu edit 12",
        "选项与 submit 相同。不写选项则在编辑器（$VISUAL、$EDITOR）中打开。\n\n\
         示例：\n  danlu edit 12 --gpus 4 --time 2h\n  danlu edit 3-9 --priority 1\n  danlu edit 12",
    ),
)]
pub(crate) struct Arguments {
    #[arg(value_name = "ID", required = true, display_order = 0, value_parser = parse_task_names, help = text(
        "The tasks to change",
        "要修改的任务",
    ))]
    ids: Vec<TaskNames>,

    #[command(flatten)]
    options: TaskOptions,

    #[arg(long, help_heading = text("Options", "选项"), help = text("Print the changed tasks, one JSON document each", "每个改动后的任务输出一个 JSON 文档"))]
    json: bool,

    #[arg(value_name = "COMMAND", last = true, display_order = 1, help_heading = text("Arguments", "参数"), help = text("Another command", "换一条命令"))]
    command: Vec<String>,
}

pub(crate) fn run(client: &Client, arguments: &Arguments) -> Result<(), Failure> {
    let changes = changes(client, arguments)?;
    let names = arguments.ids.iter().flat_map(|names| &names.0);
    let ids = resolve_names(client, names)?.ids;
    tell_limit(&arguments.options);
    if changes.is_empty() {
        let [id] = ids.as_slice() else { return Err(one_at_a_time()) };
        let task = client.task(*id)?;
        let changes = in_editor(&task)?;
        if changes.is_empty() {
            return screen::print(text("nothing has changed\n", "没有改动\n"));
        }
        return send(client, *id, &changes, arguments.json);
    }
    for id in ids {
        let changes = completed(&client.task(id)?, changes.clone())?;
        send(client, id, &changes, arguments.json)?;
    }
    Ok(())
}

fn changes(client: &Client, arguments: &Arguments) -> Result<Patch, Failure> {
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
    screen::print(&say!("changed task {id}\n", "已修改任务 {id}\n"))
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
        return Err(Failure::new(
            Exit::Refused,
            say!("`{editor}` failed: nothing has changed", "`{editor}` 未能正常结束：没有改动"),
        )
        .hint("EDITOR=nano danlu edit ID"));
    }
    let written = std::fs::read_to_string(file.path()).map_err(|cause| no_editor(&cause))?;
    let after = form::Text::read(&written);
    let changes = after.and_then(|after| after.changes_since(&before));
    changes.map_err(|complaint| {
        // The work is not lost.
        let kept = file.keep().map(|(_, path)| path.display().to_string()).unwrap_or_default();
        Failure::new(Exit::Usage, complaint)
            .hint(say!("your text is kept in {kept}", "您的文本保存在 {kept}"))
    })
}

fn no_editor(cause: &io::Error) -> Failure {
    Failure::new(
        Exit::Refused,
        say!("could not open an editor: {cause}", "无法打开编辑器：{cause}"),
    )
    .hint("danlu edit ID --gpus 2")
}

fn one_at_a_time() -> Failure {
    Failure::new(Exit::Usage, text("nothing is to be changed", "没有指明要修改什么")).hint(text(
        "give options such as --gpus 2, or one task for the editor",
        "请给出选项，如 --gpus 2；或只写一个任务以打开编辑器",
    ))
}
