//! `danlu debug`: a launch that failed, in full.

use clap::Args;
use danlu_wire::api::{RunView, TaskDetails, TaskView};
use serde_json::{Value, json};

use crate::{
    client::Client,
    failure::Failure,
    given::task_ids::{TaskName, parse_one_task},
    language::{say, text},
    screen::{self, places, tasks, width},
    selection::resolve_one,
};

#[derive(Debug, Args)]
#[command(
    about = text("Why a task could not be started, in full", "任务为何无法启动的详细信息"),
    override_usage = text("danlu debug ID [OPTIONS]", "danlu debug 编号 [选项]"),
    after_help = text(
        "What was to be executed, as whom, where, and what the system answered.\n\nExamples:\n  danlu debug 12",
        "要执行什么、以谁的身份、在哪里，以及系统的回答。\n\n示例：\n  danlu debug 12",
    ),
)]
pub(crate) struct Arguments {
    #[arg(value_name = "ID", value_parser = parse_one_task, help = text(
        "The task: its id, `@` your last one, `@~1` the one before",
        "任务：编号、`@` 您最近的、`@~1` 再前一个",
    ))]
    id: TaskName,

    #[arg(long, help = text("Print one JSON document", "输出一个 JSON 文档"))]
    json: bool,
}

pub(crate) fn run(client: &Client, arguments: &Arguments) -> Result<(), Failure> {
    let task = client.task(resolve_one(client, arguments.id)?)?;
    let facts = Facts::of(&task);
    if arguments.json {
        return screen::print_document(&facts.document().to_string());
    }
    screen::print(&facts.page())
}

struct Facts<'a> {
    task: &'a TaskView,
    details: Option<&'a TaskDetails>,
    /// The last one.
    run: Option<&'a RunView>,
}

impl<'a> Facts<'a> {
    fn of(task: &'a TaskView) -> Facts<'a> {
        let details = task.details.as_ref();
        Facts { task, details, run: details.and_then(|details| details.runs.last()) }
    }

    /// The command was never begun: there is no time at which it did.
    fn launch_failed(&self) -> bool {
        self.run.is_some_and(|run| run.state == "ended" && run.started_at.is_none())
            || self.task.failure.as_ref().is_some_and(|failure| failure.class == "launch")
    }

    fn directory(&self) -> &str {
        self.details.map_or("", |details| &details.directory)
    }

    /// Where programs are looked for; the owner and admins may know.
    fn search_path(&self) -> Option<&str> {
        let variables = self.details?.environment.as_deref()?;
        let own = self.details?.variables.get("PATH").map(String::as_str);
        own.or_else(|| variables.iter().find_map(|variable| variable.strip_prefix("PATH=")))
    }

    fn answer(&self) -> Option<&str> {
        self.run.and_then(|run| run.exit.as_deref())
    }

    fn document(&self) -> Value {
        json!({"v": 1, "debug": {
            "id": self.task.id,
            "launch_failed": self.launch_failed(),
            "attempt": self.run.map(|run| run.attempt),
            "run": self.run.map(|run| &run.run),
            "command": self.task.command,
            "shell": self.task.shell,
            "user": self.task.user,
            "directory": self.directory(),
            "path": self.search_path(),
            "node": self.run.and_then(|run| run.nodes.first()),
            "gpu_ids": self.run.map(|run| &run.gpu_ids),
            "answer": self.answer(),
            "failure": self.run.and_then(|run| run.failure.as_ref()),
        }})
    }

    fn page(&self) -> String {
        let (id, name) = (self.task.id, width::plain(&tasks::name(self.task)));
        let mut out = match self.run {
            None => say!(
                "task {id} ({name}) has not been started yet\n",
                "任务 {id}（{name}）尚未启动\n"
            ),
            Some(run) if self.launch_failed() => {
                let attempt = run.attempt;
                say!(
                    "task {id} ({name}), attempt {attempt}: could not be started\n",
                    "任务 {id}（{name}）第 {attempt} 次：无法启动\n"
                )
            }
            Some(_) => say!(
                "task {id} ({name}) was started; this is how\n",
                "任务 {id}（{name}）已启动；方式如下\n"
            ),
        };
        let mut line = |label: &str, words: &str| {
            if !words.is_empty() {
                let padding = " ".repeat(14_usize.saturating_sub(width::of(label)));
                out += &format!("  {label}{padding}{}\n", width::plain(words));
            }
        };
        if self.task.shell {
            line(text("shell line", "shell 命令"), &self.task.command.join(" "));
        }
        let words = self.task.command.iter().enumerate().filter(|_| !self.task.shell);
        for (at, word) in words {
            // One line each: blanks and quotes are where they are.
            line(&format!("argv[{at}]"), &format!("{word:?}"));
        }
        line(text("as user", "用户"), &self.task.user);
        line(text("in directory", "目录"), self.directory());
        line("PATH", self.search_path().unwrap_or_default());
        if let Some(run) = self.run {
            line(
                text("on", "位置"),
                &places::place(run.nodes.first().map(String::as_str), &run.gpu_ids),
            );
        }
        line(text("the answer", "系统回答"), self.answer().unwrap_or_default());
        if let Some(evidence) = self.task.failure.as_ref().and_then(|it| it.evidence.as_deref())
            && Some(evidence) != self.answer()
        {
            line(text("evidence", "依据"), evidence);
        }
        out
    }
}
