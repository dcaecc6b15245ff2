//! `danlu show`: everything about a task.

use std::io;

use clap::Args;
use danlu_core::resources::Sharing;
use danlu_core::task::{DependencyKind, Output, PythonEnvironment, Stream};
use danlu_wire::api::{Document, OneTask, RunView, TaskDetails, TaskView};
use jiff::Timestamp;

use crate::{
    client::{Client, read},
    failure::Failure,
    given::task_ids::{TaskName, parse_one_task},
    language::{say, text},
    screen::{
        self, amounts, clock, colour, places, states,
        table::{Column, Table},
        tasks, vram, width,
    },
    selection::resolve_one,
};

#[derive(Debug, Args)]
#[command(
    about = text("Everything about a task", "显示任务的全部信息"),
    override_usage = text("danlu show ID [OPTIONS]", "danlu show 编号 [选项]"),
    after_help = text(
        "Examples:\n  danlu show 12\n  danlu show @ --json",
        "示例：\n  danlu show 12\n  danlu show @ --json",
    ),
)]
pub(crate) struct Arguments {
    #[arg(value_name = "ID", value_parser = parse_one_task, help = text(
        "The task: its id, `@` your last one, `@~1` the one before",
        "任务：编号、`@` 您最近的、`@~1` 再前一个",
    ))]
    id: TaskName,

    #[arg(long, help = text("Also the environment it was submitted with", "同时显示提交时的环境变量"))]
    env: bool,

    #[arg(long, help = text("Print one JSON document", "输出一个 JSON 文档"))]
    json: bool,
}

pub(crate) fn run(client: &Client, arguments: &Arguments) -> Result<(), Failure> {
    let id = resolve_one(client, arguments.id)?;
    let document = client.get_document(&format!("/tasks/{id}"))?;
    if arguments.json {
        return screen::print_document(&document);
    }
    let task = read::<Document<OneTask>>(&document)?.content.task;
    let mut page = Page::default();
    page.describe(&task, Timestamp::now());
    if let Some(details) = &task.details {
        page.detail(details);
        page.runs(&details.runs);
        if arguments.env {
            page.environment(details.environment.as_deref());
        }
    }
    screen::print(&page.out)
}

#[derive(Default)]
struct Page {
    out: String,
}

impl Page {
    fn describe(&mut self, task: &TaskView, now: Timestamp) {
        let on = colour::wanted(&io::stdout());
        let state = colour::paint(states::word(task.state), states::colour(task.state), on);
        let (id, name) = (task.id, width::plain(&tasks::name(task)));
        self.out += &say!("task {id} ({name}): {state}\n", "任务 {id}（{name}）：{state}\n");
        let why = tasks::why_or_where(task, now);
        self.line(text("why / where", "原因 / 位置"), &why);
        self.line(text("user", "用户"), &task.user);
        self.line(text("command", "命令"), &command(task));
        let time = |time: &Option<String>| {
            let time = time.as_deref().and_then(clock::read);
            time.map(|time| clock::long(time, now)).unwrap_or_default()
        };
        self.line(text("submitted", "提交"), &time(&Some(task.submitted_at.clone())));
        self.line(text("started", "开始"), &time(&task.started_at));
        self.line(text("ended", "结束"), &time(&task.ended_at));
        self.line(
            text("ran for", "用时"),
            &tasks::duration(task, now).map(amounts::clock).unwrap_or_default(),
        );
        self.line(text("exit code", "退出码"), &shown(task.exit_code.as_ref()));
        if task.failure.is_some() {
            self.line(text("failure", "失败原因"), &tasks::failure(task));
        }
        self.line(
            text("time limit", "时限"),
            &task.time_limit.map(amounts::length).unwrap_or_default(),
        );
        let urgent = if task.urgent { text(", urgent", "，紧急") } else { "" };
        self.line(text("priority", "优先级"), &format!("{}{urgent}", task.priority));
        self.line(text("project", "项目"), task.project.as_deref().unwrap_or_default());
        let labels: Vec<String> =
            task.labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
        self.line(text("labels", "标签"), &labels.join(" "));
        if let (Some(first), Some(index)) = (task.array, task.index) {
            let words =
                say!("element {index} of array {first}", "数组 {first} 的第 {index} 个元素");
            self.line(text("array", "数组"), &words);
            self.line(text("values", "取值"), &tasks::values(task));
        }
    }

    fn detail(&mut self, details: &TaskDetails) {
        self.line(text("description", "说明"), &details.description);
        self.line(text("directory", "目录"), &details.directory);
        self.line(text("needs", "所需资源"), &needs(details));
        let after: Vec<String> = details
            .after
            .iter()
            .map(|dependency| format!("{}:{}", kind(dependency.kind), dependency.task))
            .collect();
        self.line(text("after", "依赖"), &after.join(","));
        if details.retries > 0 {
            let classes: Vec<&str> = details.retry_on.iter().map(|it| it.as_str()).collect();
            let only =
                if classes.is_empty() { String::new() } else { format!(":{}", classes.join(",")) };
            self.line(text("retries", "重试次数"), &format!("{}{only}", details.retries));
        }
        let begin = details.begin.as_deref().and_then(clock::read);
        let begin = begin.map(|begin| clock::long(begin, Timestamp::now()));
        self.line(text("not before", "不早于"), &begin.unwrap_or_default());
        if details.preemptible {
            self.line(text("preemptible", "可抢占"), text("yes", "是"));
        }
        let python = match &details.python {
            Some(PythonEnvironment::Conda(name)) => format!("conda {name}"),
            Some(PythonEnvironment::Venv(path)) => format!("venv {path}"),
            None => String::new(),
        };
        self.line(text("environment", "环境"), &python);
        self.line(text("output", "输出"), &output(&details.output));
        for (name, value) in &details.variables {
            self.line(text("variable", "环境变量"), &format!("{name}={value}"));
        }
        self.line(
            text("gpu argument", "GPU 参数"),
            details.gpu_argument.as_deref().unwrap_or_default(),
        );
    }

    fn runs(&mut self, runs: &[RunView]) {
        if runs.is_empty() {
            return;
        }
        let mut table = Table::new(vec![
            Column::right(text("RUN", "运行")),
            Column::left(text("STATE", "状态")),
            Column::left(text("WHERE", "位置")),
            Column::right(text("TIME", "用时")),
            Column::right(text("CPU", "CPU 时间")),
            Column::right(text("MEMORY", "内存峰值")),
            Column::left(text("END", "结果")).shrinks(30, 12),
        ]);
        for run in runs {
            let started = run.started_at.as_deref().and_then(clock::read);
            let ended = run.ended_at.as_deref().and_then(clock::read);
            let took = started.map(|started| {
                amounts::clock(clock::between(started, ended.unwrap_or_else(Timestamp::now)))
            });
            table.row(vec![
                run.attempt.to_string().into(),
                states::other(&run.state).into(),
                match run.parts.len() {
                    0 => places::place(run.nodes.first().map(String::as_str), &run.gpu_ids),
                    count => say!("{count} machines", "{count} 台机器"),
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
                    states::other(&part.state).into(),
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

    fn environment(&mut self, environment: Option<&[String]>) {
        self.out += text("\nenvironment\n", "\n环境变量\n");
        match environment {
            Some(variables) => {
                for variable in variables {
                    self.out += &format!("  {}\n", width::plain(variable));
                }
            }
            None => {
                self.out +=
                    text("  is shown to the owner and admins only\n", "  仅所有者和管理员可见\n");
            }
        }
    }

    /// What is empty is left out.
    fn line(&mut self, label: &str, words: &str) {
        if !words.is_empty() {
            let padding = " ".repeat(14_usize.saturating_sub(width::of(label)));
            self.out += &format!("  {label}{padding}{}\n", width::plain(words));
        }
    }
}

/// An exit code alone says little.
fn how(run: &RunView) -> String {
    let exit = run.exit.clone().unwrap_or_default();
    match &run.failure {
        Some(failure) if !["other", "killed", "launch", "timeout"].contains(&&*failure.class) => {
            format!("{exit} ({})", failure.class)
        }
        _ => exit,
    }
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
        parts.push(say!("{nodes} machines at once, on each", "同时 {nodes} 台机器，每台"));
    }
    match &request.gpu_model {
        _ if gpus == 0 => {}
        Some(model) => parts.push(format!("{gpus} × {model}")),
        None => parts.push(format!("{gpus} GPU")),
    }
    if !request.gpu_ids.is_empty() {
        let ids: Vec<u64> = request.gpu_ids.iter().copied().map(u64::from).collect();
        let ids = places::list(&ids);
        parts.push(say!("with the numbers {ids}", "编号 {ids}"));
    }
    if request.gpu_memory > 0 {
        let size = amounts::exact_bytes(request.gpu_memory);
        parts.push(say!("{size} of GPU memory each", "每块显存 {size}"));
    }
    match request.sharing {
        Sharing::Slot => {}
        Sharing::Exclusive => parts.push(text("alone on its GPUs", "独占 GPU").to_owned()),
        Sharing::Shared { idle_utilization: 0 } => {
            parts.push(text("shared with others", "与其他任务共享").to_owned());
        }
        Sharing::Shared { idle_utilization: idle } => {
            parts.push(say!(
                "shared with others where {idle} % are idle",
                "与其他任务共享（空闲 ≥ {idle}%）"
            ));
        }
    }
    if request.cpus > 0 {
        parts.push(format!("{} CPU", request.cpus));
    }
    if request.memory > 0 {
        let size = amounts::exact_bytes(request.memory);
        parts.push(say!("{size} of memory", "内存 {size}"));
    }
    parts.extend(request.resources.iter().map(|(name, count)| format!("{count} {name}")));
    match &request.node {
        Some(danlu_core::resources::NodeSelector::Name(name)) => {
            parts.push(say!("on {name}", "在 {name} 上"));
        }
        Some(danlu_core::resources::NodeSelector::Label { key, value }) => {
            parts.push(say!("on a machine with {key}={value}", "在 {key}={value} 的机器上"));
        }
        None => {}
    }
    match &request.prefer {
        Some(danlu_core::resources::NodeSelector::Name(name)) => {
            parts.push(say!("rather on {name}", "优先在 {name} 上"));
        }
        Some(danlu_core::resources::NodeSelector::Label { key, value }) => {
            parts.push(say!("rather where {key}={value}", "优先在 {key}={value} 的机器上"));
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
