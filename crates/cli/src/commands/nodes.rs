//! `danlu nodes`: the machines.

use std::io;

use clap::Args;
use danlu_server::nodes::words;
use danlu_wire::api::{Document, NodeView, Nodes};
use jiff::Timestamp;

use super::notices;
use crate::{
    client::{Client, read},
    failure::Failure,
    language::{Language, say, text},
    screen::{
        self, amounts, clock,
        colour::{self, Colour},
        states,
        table::{Cell, Column, Table},
        width,
    },
};

#[derive(Debug, Default, Args)]
#[command(
    about = text("The machines", "机器列表"),
    override_usage = text("danlu nodes [OPTIONS]", "danlu nodes [选项]"),
)]
pub(crate) struct Arguments {
    #[arg(long, help = text("Print one JSON document", "输出一个 JSON 文档"))]
    json: bool,
}

pub(crate) fn run(client: &Client, arguments: &Arguments) -> Result<(), Failure> {
    let document = client.get_document("/nodes")?;
    if arguments.json {
        return screen::print_document(&document);
    }
    let Nodes { nodes, notices } = read::<Document<Nodes>>(&document)?.content;
    let mut table = Table::new(vec![
        Column::left(text("NODE", "机器")),
        Column::left(text("STATE", "状态")),
        Column::right(text("FREE GPUS", "空闲 GPU")),
        Column::right("CPU"),
        Column::right(text("MEMORY", "内存")),
        Column::right(text("TASKS", "任务")),
        Column::left(text("VERSION", "版本")),
    ]);
    for node in &nodes {
        let state_colour = if node.schedulable { Colour::Green } else { Colour::Yellow };
        table.row(vec![
            node.name.as_str().into(),
            Cell::coloured(states::other(&node.state), Some(state_colour)),
            format!("{}/{}", node.gpus_free, node.gpus).into(),
            node.cpus.to_string().into(),
            memory(node).into(),
            node.tasks.len().to_string().into(),
            node.version.as_deref().unwrap_or_default().into(),
        ]);
    }
    let table = table.render(width::of_stdout(), colour::wanted(&io::stdout()));
    screen::print(&format!("{}{table}", notices::lines(&notices)))?;
    let now = Timestamp::now();
    for node in &nodes {
        if let Some(words) = trouble(node, now) {
            screen::print(&words)?;
        }
    }
    nodes.iter().filter(|node| is_first(node)).filter_map(same_as).for_each(|it| screen::note(&it));
    Ok(())
}

/// What is wrong with a machine, since when, and what to do about it.
fn trouble(node: &NodeView, now: Timestamp) -> Option<String> {
    let name = &node.name;
    let is_down = node.state == "down";
    if !is_down && node.problem.is_none() {
        return None;
    }
    let (problem, hint) = words::problem(
        node.problem.as_deref().unwrap_or("not connected"),
        node.hint.as_deref().unwrap_or_default(),
        Language::current(),
    );
    let (problem, hint) = (width::plain(&problem), width::plain(&hint));
    let is_unfit = node.state == "unfit";
    let since = node.since.as_deref().and_then(clock::read).filter(|_| is_down || is_unfit);
    let line = match since {
        Some(since) if is_unfit => {
            let at = clock::short(since, now);
            say!("{name}: unfit since {at}: {problem}\n", "{name}：自 {at} 起异常：{problem}\n")
        }
        Some(since) => {
            let (at, ago) = (clock::short(since, now), clock::rough(clock::between(since, now)));
            say!(
                "{name}: down since {at} ({ago}): {problem}\n",
                "{name}：自 {at} 起离线（{ago}）：{problem}\n"
            )
        }
        None => say!("{name}: {problem}\n", "{name}：{problem}\n"),
    };
    let hint = if hint.is_empty() { String::new() } else { format!("  hint: {hint}\n") };
    Some(line + &hint)
}

/// Each group of names is told once.
fn is_first(node: &NodeView) -> bool {
    node.same_as.iter().all(|other| node.name < *other)
}

/// Only a warning: containers and cloned disks look like that, too.
pub(super) fn same_as(node: &NodeView) -> Option<String> {
    let (name, others) = (&node.name, width::plain(&node.same_as.join(", ")));
    (!node.same_as.is_empty()).then(|| {
        say!(
            "{name} looks like the same machine as {others} (equal machine id, boot id or address). \
             Containers and cloned disks look like that, too; otherwise remove one of them: danlu node remove {name}",
            "{name} 与 {others} 似乎是同一台机器（机器标识、启动标识或地址相同）。\
             容器和克隆的磁盘也会如此；否则请移除其中一个：danlu node remove {name}"
        )
    })
}

fn memory(node: &NodeView) -> String {
    let total = amounts::bytes(node.memory_total);
    match node.memory_used {
        Some(used) => format!("{} / {total}", amounts::bytes(used)),
        None => total,
    }
}
