//! `danlu debug`: shows a failed launch in full.

use clap::Args;
use danlu_core::FailureClass;
use danlu_messages::cli::debug as msg;
use danlu_wire::api::{RunStateName, RunView, TaskDetails, TaskView};
use serde_json::{Value, json};

use crate::{
    client::Client,
    failure::Failure,
    parse::task_ids::{TaskName, parse_one_task},
    screen::{self, places, tasks, width},
    selection::resolve_one,
};

#[derive(Debug, Args)]
#[command(
    about = msg::about(),
    override_usage = msg::danlu_debug_id_options(),
    after_help = msg::help(),
)]
pub(crate) struct DebugArguments {
    #[arg(value_name = "ID", value_parser = parse_one_task, help = msg::task_id())]
    id: TaskName,

    #[arg(long, help = msg::print_one_json_document())]
    json: bool,
}

pub(crate) fn run(client: &Client, arguments: &DebugArguments) -> Result<(), Failure> {
    let task = client.task(resolve_one(client, arguments.id)?)?;
    let facts = LaunchFacts::of(&task);
    if arguments.json {
        return screen::print_document(&facts.document().to_string());
    }
    screen::print(&facts.page())
}

struct LaunchFacts<'a> {
    task: &'a TaskView,
    details: Option<&'a TaskDetails>,
    /// The last one.
    run: Option<&'a RunView>,
}

impl<'a> LaunchFacts<'a> {
    fn of(task: &'a TaskView) -> LaunchFacts<'a> {
        let details = task.details.as_ref();
        LaunchFacts { task, details, run: details.and_then(|details| details.runs.last()) }
    }

    /// The command was never begun: there is no time at which it did.
    fn launch_failed(&self) -> bool {
        self.run.is_some_and(|run| run.state == RunStateName::Ended && run.started_at.is_none())
            || self
                .task
                .failure
                .as_ref()
                .is_some_and(|failure| failure.class.is(&FailureClass::Launch))
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
            None => msg::not_started_yet(&id, &name),
            Some(run) if self.launch_failed() => {
                let attempt = run.attempt;
                msg::could_not_be_started(&id, &name, &attempt)
            }
            Some(_) => msg::was_started(&id, &name),
        };
        let mut line = |label: &str, words: &str| out += &screen::labelled(label, words);
        if self.task.shell {
            line(msg::shell_line(), &self.task.command.join(" "));
        }
        let words = self.task.command.iter().enumerate().filter(|_| !self.task.shell);
        for (at, word) in words {
            // One line each: blanks and quotes are where they are.
            line(&format!("argv[{at}]"), &format!("{word:?}"));
        }
        line(msg::as_user(), &self.task.user);
        line(msg::in_directory(), self.directory());
        line("PATH", self.search_path().unwrap_or_default());
        if let Some(run) = self.run {
            line(msg::on(), &places::place(run.nodes.first().map(String::as_str), &run.gpu_ids));
        }
        line(msg::system_answer(), self.answer().unwrap_or_default());
        if let Some(evidence) = self.task.failure.as_ref().and_then(|it| it.evidence.as_deref())
            && Some(evidence) != self.answer()
        {
            line(msg::evidence(), evidence);
        }
        out
    }
}
