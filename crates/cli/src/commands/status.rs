//! `danlu status`: how much there is of everything, node by node, and what runs.

use std::io;

use clap::Args;
use danlu_wire::api::{Document, NodeView, Status, TaskView};
use jiff::Timestamp;

use super::notices;
use crate::{
    client::{Client, read},
    failure::Failure,
    language::{say, text},
    screen::{
        self, amounts, colour, places, states,
        table::{Column, Table},
        tasks, width,
    },
};

#[derive(Debug, Args)]
#[command(
    about = text("Totals: machines, GPUs, tasks; and what runs", "总览：机器、GPU、任务，以及正在运行的"),
    override_usage = text("danlu status [OPTIONS]", "danlu status [选项]"),
)]
pub(crate) struct Arguments {
    #[arg(long, help = text("Print one JSON document", "输出一个 JSON 文档"))]
    json: bool,
}

pub(crate) fn run(client: &Client, arguments: &Arguments) -> Result<(), Failure> {
    let document = client.get_document("/status")?;
    if arguments.json {
        return screen::print_document(&document);
    }
    let status = read::<Document<Status>>(&document)?.content;
    let mut out = notices::lines(&status.notices);
    out += &totals(&status);
    out += &status.per_node.iter().map(node).collect::<String>();
    if !status.running.is_empty() {
        let on = colour::wanted(&io::stdout());
        out += &format!("\n{}", running(&status.running).render(width::of_stdout(), on));
    }
    screen::print(&out)
}

fn totals(status: &Status) -> String {
    let machines = status.nodes;
    let gpu = |state: &str| status.gpus.get(state).copied().unwrap_or(0);
    let (total, free, held, foreign) = (gpu("total"), gpu("free"), gpu("held"), gpu("foreign"));
    let other = total.saturating_sub(free + held + foreign);
    let other = match other {
        0 => String::new(),
        count => say!(", {count} other", "，{count} 块其他"),
    };
    let known =
        status.tasks.iter().map(|(state, count)| format!("{count} {}", states::word(*state)));
    let known: Vec<String> = known.collect();
    let tasks = if known.is_empty() {
        text("none", "无").to_owned()
    } else {
        known.join(text(", ", "，"))
    };
    say!(
        "machines  {machines}\nGPUs      {total}: {free} free, {held} held, {foreign} used outside Danlu{other}\ntasks     {tasks}\n",
        "机器  {machines}\nGPU   {total}：{free} 块空闲，{held} 块占用，{foreign} 块被外部进程使用{other}\n任务  {tasks}\n",
    )
}

fn node(node: &NodeView) -> String {
    let (free, all) = (node.gpus_free, node.gpus);
    let (name, state) = (width::plain(&node.name), states::other(&node.state));
    let ids = places::list(&node.tasks);
    let ids = if ids.is_empty() { text("none", "无").to_owned() } else { ids };
    say!(
        "  {name}: {free}/{all} GPUs free, {state}, tasks {ids}\n",
        "  {name}：{free}/{all} 块 GPU 空闲，{state}，任务 {ids}\n",
    )
}

fn running(all: &[TaskView]) -> Table {
    let now = Timestamp::now();
    let mut table = Table::new(vec![
        Column::right(text("ID", "编号")),
        Column::left(text("USER", "用户")).shrinks(10, 6),
        Column::left(text("NAME", "名称")).shrinks(16, 8),
        Column::left(text("STATE", "状态")),
        Column::right(text("TIME", "用时")),
        Column::left(text("WHERE", "位置")).shrinks(20, 8),
    ]);
    for task in all {
        let time = tasks::duration(task, now).map_or_else(|| "–".to_owned(), amounts::clock);
        table.row(vec![
            task.id.to_string().into(),
            task.user.as_str().into(),
            tasks::name(task).into(),
            states::word(task.state).into(),
            time.into(),
            places::place(task.node.as_deref(), &task.gpu_ids).into(),
        ]);
    }
    table
}
