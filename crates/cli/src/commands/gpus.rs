//! `danlu gpus`: lists the GPUs, their usage, and the tasks that hold them.

use std::io;

use clap::Args;
use danlu_messages::cli::gpus as msg;
use danlu_wire::api::{Document, GpuStateName, GpuView, Gpus};

use super::why::machines::foreign;
use crate::{
    client::{Client, Query, read},
    failure::Failure,
    parse::task_state::ACTIVE,
    screen::{
        self, amounts,
        colour::{self, Colour},
        states,
        table::{Cell, Column, Table},
        width,
    },
};

#[derive(Debug, Args)]
#[command(
    about = msg::about(),
    override_usage = msg::danlu_gpus_options(),
)]
pub(crate) struct GpusArguments {
    #[arg(long, help = msg::print_one_json_document())]
    json: bool,
}

pub(crate) fn run(client: &Client, arguments: &GpusArguments) -> Result<(), Failure> {
    let document = client.get_document("/gpus")?;
    if arguments.json {
        return screen::print_document(&document);
    }
    show(client, &read::<Document<Gpus>>(&document)?.content.gpus)
}

/// The table of all GPUs.
pub(super) fn show(client: &Client, gpus: &[GpuView]) -> Result<(), Failure> {
    if gpus.is_empty() {
        return screen::print(msg::no_gpus());
    }
    let running = client.page(&Query { states: ACTIVE.to_vec(), ..Query::default() })?.tasks;
    let owner = |id: u64| running.iter().find(|task| task.id == id).map(|task| task.user.clone());
    let mut table = Table::new(vec![
        Column::left(msg::node()),
        Column::right("GPU"),
        Column::left(msg::model()).shrinks(16, 8),
        Column::right(msg::memory()),
        Column::right(msg::use_()),
        Column::right("°C"),
        Column::right("W"),
        Column::left(msg::holder()).shrinks(30, 12),
    ]);
    for gpu in gpus {
        let number = |value: Option<u32>, unit: &str| {
            value.map_or_else(|| "–".to_owned(), |value| format!("{value}{unit}"))
        };
        table.row(vec![
            gpu.node.as_str().into(),
            gpu.index.to_string().into(),
            gpu.model.as_str().into(),
            memory(gpu).into(),
            number(gpu.utilization, "%").into(),
            number(gpu.temperature, "").into(),
            number(gpu.power, "").into(),
            holder(gpu, owner),
        ]);
    }
    screen::print(&table.render(width::of_stdout(), colour::wanted(&io::stdout())))?;
    gpus.iter().filter_map(conflict).for_each(|words| screen::note(&words));
    Ok(())
}

/// One GPU that two machines report, told once: what both are called, and what to do.
fn conflict(gpu: &GpuView) -> Option<String> {
    let is_first = !gpu.also_on.is_empty() && gpu.also_on.iter().all(|other| gpu.node < *other);
    is_first.then(|| {
        let (node, index) = (&gpu.node, gpu.index);
        let (uuid, others) = (width::plain(&gpu.uuid), gpu.also_on.join(", "));
        msg::reported_twice(&uuid, &node, &others, &index)
    })
}

fn memory(gpu: &GpuView) -> String {
    let total = amounts::bytes(gpu.memory_total);
    match gpu.memory_used {
        Some(used) => {
            let unit = total.chars().last().filter(|last| last.is_alphabetic());
            let used = amounts::bytes(used);
            // `71.0 / 80.0G`: the unit once is enough when it is the same.
            let used = unit.and_then(|unit| used.strip_suffix(unit)).unwrap_or(&used);
            format!("{used} / {total}")
        }
        None => total,
    }
}

fn holder(gpu: &GpuView, owner: impl Fn(u64) -> Option<String>) -> Cell {
    use GpuStateName::{
        Conflict, Dirty, Disabled, Foreign, Free, Held, Quarantined, Shared, Unknown,
    };
    let colour = match gpu.state {
        Held | Shared if gpu.idle.is_some() => Some(Colour::Yellow),
        Free => Some(Colour::Dim),
        Held | Shared => Some(Colour::Green),
        Foreign => Some(Colour::Yellow),
        Conflict | Dirty | Disabled | Quarantined | Unknown => Some(Colour::Red),
    };
    let mut parts: Vec<String> = gpu
        .tasks
        .iter()
        .map(|id| format!("{id} {}", owner(*id).unwrap_or_default()).trim_end().to_owned())
        .collect();
    parts.extend(gpu.idle.as_ref().map(|idle| idle.why.clone()));
    for process in &gpu.foreign {
        let who = foreign(process);
        parts.push(msg::outside_who(&who));
    }
    if parts.is_empty() || [Disabled, Quarantined, Conflict].contains(&gpu.state) {
        let state = states::gpu(gpu.state).to_owned();
        let why = gpu.why.as_ref().map(|why| format!("{state}: {}", width::plain(why)));
        parts.insert(0, why.unwrap_or(state));
    }
    if gpu.slots > 1 {
        let (taken, slots) = (gpu.tasks.len(), gpu.slots);
        parts.push(msg::taken_of_slots_slots(&taken, &slots));
    }
    Cell::coloured(parts.join(", "), colour)
}
