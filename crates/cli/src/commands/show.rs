//! `danlu show`: prints everything about a task.

use std::io;

use clap::Args;
use danlu_core::FailureClass;
use danlu_core::resources::Sharing;
use danlu_core::task::{DependencyKind, Output, PythonEnvironment, Stream};
use danlu_messages::cli::show as msg;
use danlu_spec::parse::notify::notify_text;
use danlu_wire::api::{
    Document, MaybeNewer, OneTask, RunView, TaskDetails, TaskView, UsageHistory,
};
use jiff::Timestamp;

use crate::{
    client::{Client, read},
    failure::Failure,
    parse::task_ids::{TaskName, parse_one_task},
    screen::{
        self, amounts, clock, colour, efficiency, places, states,
        table::{Column, Table},
        tasks, vram, width,
    },
    selection::resolve_one,
};

#[derive(Debug, Args)]
#[command(
    about = msg::everything_about_a_task(),
    override_usage = msg::danlu_show_id_options(),
    after_help = msg::help(),
)]
pub(crate) struct ShowArguments {
    #[arg(value_name = "ID", value_parser = parse_one_task, help = msg::task_id())]
    id: TaskName,

    #[arg(long, help = msg::with_environment())]
    env: bool,

    #[arg(long, help = msg::print_one_json_document())]
    json: bool,
}

pub(crate) fn run(client: &Client, arguments: &ShowArguments) -> Result<(), Failure> {
    let id = resolve_one(client, arguments.id)?;
    let document = client.get_document(&format!("/tasks/{id}"))?;
    if arguments.json {
        return screen::print_document(&document);
    }
    let task = read::<Document<OneTask>>(&document)?.content.task;
    let mut page = TaskPage::default();
    page.describe(&task, Timestamp::now());
    if let Some(details) = &task.details {
        page.detail(details);
        page.runs(&details.runs);
        page.efficiency(client, id, &details.runs);
        if arguments.env {
            page.environment(details.environment.as_deref());
        }
    }
    screen::print(&page.out)
}

#[derive(Default)]
struct TaskPage {
    out: String,
}

impl TaskPage {
    fn describe(&mut self, task: &TaskView, now: Timestamp) {
        let on = colour::wanted(&io::stdout());
        let state = colour::paint(states::word(task.state), states::colour(task.state), on);
        let (id, name) = (task.id, width::plain(&tasks::name(task)));
        self.out += &msg::task_id_name_state(&id, &name, &state);
        let why = tasks::why_or_where(task, now);
        self.line(msg::why_where(), &why);
        self.line(msg::user(), &task.user);
        self.line(msg::command(), &command(task));
        let time = |time: &Option<String>| {
            let time = time.as_deref().and_then(clock::read);
            time.map(|time| clock::long(time, now)).unwrap_or_default()
        };
        self.line(msg::submitted(), &time(&Some(task.submitted_at.clone())));
        self.line(msg::started(), &time(&task.started_at));
        self.line(msg::ended(), &time(&task.ended_at));
        self.line(
            msg::ran_for(),
            &tasks::duration(task, now).map(amounts::clock).unwrap_or_default(),
        );
        self.line(msg::exit_code(), &shown(task.exit_code.as_ref()));
        if task.failure.is_some() {
            self.line(msg::failure(), &tasks::failure(task));
        }
        self.line(msg::idle(), task.idle.as_ref().map_or("", |idle| idle.why.as_str()));
        let kept = time(&task.kept_until);
        self.line(msg::kept_until(), &kept);
        self.line(msg::time_limit(), &task.time_limit.map(amounts::length).unwrap_or_default());
        let urgent = if task.urgent { msg::urgent() } else { "" };
        self.line(msg::priority(), &format!("{}{urgent}", task.priority));
        self.line(msg::project(), task.project.as_deref().unwrap_or_default());
        let labels: Vec<String> =
            task.labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
        self.line(msg::labels(), &labels.join(" "));
        if let (Some(first), Some(index)) = (task.array, task.index) {
            let words = msg::element_index_of_array_first(&index, &first);
            self.line(msg::array(), &words);
            self.line(msg::values(), &tasks::values(task));
        }
    }

    fn detail(&mut self, details: &TaskDetails) {
        self.line(msg::description(), &details.description);
        self.line(msg::directory(), &details.directory);
        self.line(msg::needs(), &needs(details));
        let after: Vec<String> = details
            .after
            .iter()
            .map(|dependency| format!("{}:{}", kind(dependency.kind), dependency.task))
            .collect();
        self.line(msg::after(), &after.join(","));
        if details.retries > 0 {
            let classes: Vec<&str> = details.retry_on.iter().map(|it| it.as_str()).collect();
            let only =
                if classes.is_empty() { String::new() } else { format!(":{}", classes.join(",")) };
            self.line(msg::retries(), &format!("{}{only}", details.retries));
        }
        let begin = details.begin.as_deref().and_then(clock::read);
        let begin = begin.map(|begin| clock::long(begin, Timestamp::now()));
        self.line(msg::not_before(), &begin.unwrap_or_default());
        if details.preemptible {
            self.line(msg::preemptible(), msg::yes());
        }
        let notify: Vec<String> = details.notify.iter().map(notify_text).collect();
        self.line(danlu_messages::spec::notify(), &notify.join(" "));
        let python = match &details.python {
            Some(PythonEnvironment::Conda(name)) => format!("conda {name}"),
            Some(PythonEnvironment::Venv(path)) => format!("venv {path}"),
            None => String::new(),
        };
        self.line(msg::environment(), &python);
        self.line(msg::output(), &output(&details.output));
        for (name, value) in &details.variables {
            self.line(msg::variable(), &format!("{name}={value}"));
        }
        self.line(msg::gpu_argument(), details.gpu_argument.as_deref().unwrap_or_default());
    }

    fn runs(&mut self, runs: &[RunView]) {
        if runs.is_empty() {
            return;
        }
        let mut table = Table::new(vec![
            Column::right(msg::run()),
            Column::left(msg::state()),
            Column::left(msg::where_()),
            Column::right(msg::time()),
            Column::right(msg::cpu()),
            Column::right(msg::memory()),
            Column::left(msg::end()).shrinks(30, 12),
        ]);
        for run in runs {
            let started = run.started_at.as_deref().and_then(clock::read);
            let ended = run.ended_at.as_deref().and_then(clock::read);
            let took = started.map(|started| {
                amounts::clock(clock::between(started, ended.unwrap_or_else(Timestamp::now)))
            });
            table.row(vec![
                run.attempt.to_string().into(),
                states::run(run.state).into(),
                match run.parts.len() {
                    0 => places::place(run.nodes.first().map(String::as_str), &run.gpu_ids),
                    count => msg::count_machines(&count),
                }
                .into(),
                took.unwrap_or_else(|| "–".to_owned()).into(),
                run.cpu_time_ms
                    .map_or_else(|| "–".to_owned(), |ms| amounts::clock(ms.div_ceil(1_000)))
                    .into(),
                run.peak_memory.map_or_else(|| "–".to_owned(), amounts::bytes).into(),
                how(run).into(),
            ]);
            for part in &run.parts {
                table.row(vec![
                    String::new().into(),
                    states::part(part.state).into(),
                    places::place(Some(&part.node), &part.gpu_ids).into(),
                    String::new().into(),
                    String::new().into(),
                    String::new().into(),
                    part.exit.clone().unwrap_or_default().into(),
                ]);
            }
        }
        if let Some(used) = vram::used_by(runs) {
            self.out += &format!("\n{}\n", vram::hint(used));
        }
        let on = colour::wanted(&io::stdout());
        self.out += &format!("\n{}", table.render(width::of_stdout(), on));
    }

    /// Of the last run that was measured. An older server has no history of use.
    fn efficiency(&mut self, client: &Client, id: u64, runs: &[RunView]) {
        let measured = runs.iter().rev().find_map(|run| Some((run, run.efficiency.as_ref()?)));
        let Some((run, seen)) = measured else { return };
        let (attempt, points) = (run.attempt, efficiency::POINTS);
        let asked =
            client.get_document(&format!("/tasks/{id}/usage?run={attempt}&points={points}"));
        let history = asked.ok().and_then(|document| {
            read::<Document<UsageHistory>>(&document).ok().map(|document| document.content)
        });
        let lines = efficiency::lines(seen, history.as_ref());
        if !lines.is_empty() {
            self.out += &format!("\n{lines}");
        }
    }

    fn environment(&mut self, environment: Option<&[String]>) {
        self.out += msg::environment_head();
        match environment {
            Some(variables) => {
                for variable in variables {
                    self.out += &format!("  {}\n", width::plain(variable));
                }
            }
            None => {
                self.out += msg::environment_hidden();
            }
        }
    }

    fn line(&mut self, label: &str, words: &str) {
        self.out += &screen::labelled(label, words);
    }
}

/// An exit code alone says little.
fn how(run: &RunView) -> String {
    let exit = run.exit.clone().unwrap_or_default();
    let class = match run.failure.as_ref().map(|failure| &failure.class) {
        Some(MaybeNewer::Known(class)) => class.as_str(),
        Some(MaybeNewer::Newer(name)) => name,
        None => return exit,
    };
    // Of these the exit tells as much.
    let said =
        [FailureClass::Other, FailureClass::Killed, FailureClass::Launch, FailureClass::Timeout];
    if said.iter().any(|it| it.as_str() == class) { exit } else { format!("{exit} ({class})") }
}

fn command(task: &TaskView) -> String {
    if task.shell {
        return task.command.join(" ");
    }
    let words = task.command.iter().map(String::as_str);
    shlex::try_join(words).unwrap_or_else(|_| task.command.join(" "))
}

fn needs(details: &TaskDetails) -> String {
    let request = &details.request;
    let mut parts = Vec::new();
    let gpus = request.gpus_per_node();
    if request.is_gang() {
        let nodes = request.nodes;
        parts.push(msg::nodes_machines_at_once_on_each(&nodes));
    }
    match &request.gpu_model {
        _ if gpus == 0 => {}
        Some(model) => parts.push(format!("{gpus} × {model}")),
        None => parts.push(format!("{gpus} GPU")),
    }
    if !request.gpu_ids.is_empty() {
        let ids: Vec<u64> = request.gpu_ids.iter().copied().map(u64::from).collect();
        let ids = places::list(&ids);
        parts.push(msg::with_the_numbers_ids(&ids));
    }
    if request.gpu_memory > 0 {
        let size = amounts::exact_bytes(request.gpu_memory);
        parts.push(msg::size_of_gpu_memory_each(&size));
    }
    match request.sharing {
        Sharing::Slot => {}
        Sharing::Exclusive => parts.push(msg::alone_on_its_gpus().to_owned()),
        Sharing::Shared { idle_utilization: 0 } => {
            parts.push(msg::shared_with_others().to_owned());
        }
        Sharing::Shared { idle_utilization: idle } => {
            parts.push(msg::shared_where_idle(&idle));
        }
    }
    if request.cpus > 0 {
        parts.push(format!("{} CPU", request.cpus));
    }
    if request.memory > 0 {
        let size = amounts::exact_bytes(request.memory);
        parts.push(msg::size_of_memory(&size));
    }
    parts.extend(request.resources.iter().map(|(name, count)| format!("{count} {name}")));
    match &request.node {
        Some(danlu_core::resources::NodeSelector::Name(name)) => {
            parts.push(msg::on_name(&name));
        }
        Some(danlu_core::resources::NodeSelector::Label { key, value }) => {
            parts.push(msg::on_a_machine_with_key_value(&key, &value));
        }
        None => {}
    }
    match &request.prefer {
        Some(danlu_core::resources::NodeSelector::Name(name)) => {
            parts.push(msg::rather_on_name(&name));
        }
        Some(danlu_core::resources::NodeSelector::Label { key, value }) => {
            parts.push(msg::rather_where_key_value(&key, &value));
        }
        None => {}
    }
    parts.join(", ")
}

fn kind(kind: DependencyKind) -> &'static str {
    match kind {
        DependencyKind::AfterOk => "afterok",
        DependencyKind::AfterAny => "afterany",
        DependencyKind::AfterNotOk => "afternotok",
    }
}

fn output(output: &Output) -> String {
    let stream = |stream: &Stream| match stream {
        Stream::Append { path } | Stream::Truncate { path } => path.clone(),
        Stream::Discard => "/dev/null".to_owned(),
    };
    let mut parts = Vec::new();
    parts.extend(output.both.clone());
    parts.extend(output.stdout.as_ref().map(|it| format!("stdout {}", stream(it))));
    parts.extend(output.stderr.as_ref().map(|it| format!("stderr {}", stream(it))));
    parts.join(", ")
}

fn shown(value: Option<&impl ToString>) -> String {
    value.map(ToString::to_string).unwrap_or_default()
}
