//! `danlu nodes`: lists the machines.

use std::io;

use clap::Args;
use danlu_messages::cli::nodes as msg;
use danlu_wire::api::{Document, NodeStateName, NodeView, Nodes};
use jiff::Timestamp;

use super::notices;
use crate::{
    client::{Client, read},
    failure::Failure,
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
    about = msg::about(),
    override_usage = msg::danlu_nodes_options(),
)]
pub(crate) struct NodesArguments {
    #[arg(long, help = msg::print_one_json_document())]
    json: bool,
}

pub(crate) fn run(client: &Client, arguments: &NodesArguments) -> Result<(), Failure> {
    let document = client.get_document("/nodes")?;
    if arguments.json {
        return screen::print_document(&document);
    }
    let Nodes { nodes, notices } = read::<Document<Nodes>>(&document)?.content;
    let mut table = Table::new(vec![
        Column::left(msg::node()),
        Column::left(msg::state()),
        Column::right(msg::free_gpus()),
        Column::right("CPU"),
        Column::right(msg::memory()),
        Column::right(msg::tasks()),
        Column::left(msg::version()),
    ]);
    for node in &nodes {
        let state_colour = if node.schedulable { Colour::Green } else { Colour::Yellow };
        table.row(vec![
            node.name.as_str().into(),
            Cell::coloured(states::node(node.state), Some(state_colour)),
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
    for node in &nodes {
        for words in &node.failed_metrics {
            screen::print(&msg::name_problem(&node.name, &width::plain(words)))?;
        }
    }
    nodes.iter().filter(|node| is_first(node)).filter_map(same_as).for_each(|it| screen::note(&it));
    Ok(())
}

/// What is wrong with a machine, since when, and what to do about it.
fn trouble(node: &NodeView, now: Timestamp) -> Option<String> {
    let name = &node.name;
    let is_down = node.state == NodeStateName::Down;
    if !is_down && node.problem.is_none() {
        return None;
    }
    let problem = width::plain(node.problem.as_deref().unwrap_or(msg::not_connected()));
    let hint = width::plain(node.hint.as_deref().unwrap_or_default());
    let is_unfit = node.state == NodeStateName::Unfit;
    let since = node.since.as_deref().and_then(clock::read).filter(|_| is_down || is_unfit);
    let line = match since {
        Some(since) if is_unfit => {
            let at = clock::short(since, now);
            msg::name_unfit_since_at_problem(&name, &at, &problem)
        }
        Some(since) => {
            let (at, ago) = (clock::short(since, now), clock::rough(clock::between(since, now)));
            msg::name_down_since_at_ago_problem(&name, &at, &ago, &problem)
        }
        None => msg::name_problem(&name, &problem),
    };
    let hint = if hint.is_empty() { String::new() } else { msg::indented_hint(&hint) };
    Some(line + &hint)
}

/// Each group of names is told once.
fn is_first(node: &NodeView) -> bool {
    node.same_as.iter().all(|other| node.name < *other)
}

/// Only a warning: containers and cloned disks look like that, too.
pub(super) fn same_as(node: &NodeView) -> Option<String> {
    let (name, others) = (&node.name, width::plain(&node.same_as.join(", ")));
    (!node.same_as.is_empty()).then(|| msg::same_machine(&name, &others))
}

fn memory(node: &NodeView) -> String {
    let total = amounts::bytes(node.memory_total);
    match node.memory_used {
        Some(used) => format!("{} / {total}", amounts::bytes(used)),
        None => total,
    }
}
