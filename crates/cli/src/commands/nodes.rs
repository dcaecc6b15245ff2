//! `danlu nodes`: the machines.

use std::io;

use clap::Args;
use danlu_wire::api::{Document, NodeView, Nodes};

use super::notices;
use crate::{
    client::{Client, read},
    failure::Failure,
    language::text,
    screen::{
        self, amounts,
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
    screen::print(&format!("{}{table}", notices::lines(&notices)))
}

fn memory(node: &NodeView) -> String {
    let total = amounts::bytes(node.memory_total);
    match node.memory_used {
        Some(used) => format!("{} / {total}", amounts::bytes(used)),
        None => total,
    }
}
