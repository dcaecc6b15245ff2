//! `danlu gpus`: the GPUs, their use, and who has them.

use std::io;

use clap::Args;
use danlu_wire::api::{Document, GpuView, Gpus};

use super::why::machines::foreign;
use crate::{
    client::{Client, Query, read},
    failure::Failure,
    given::task_state::ACTIVE,
    language::{say, text},
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
    about = text("The GPUs, their use, and who has them", "GPU 及其使用情况和占用者"),
    override_usage = text("danlu gpus [OPTIONS]", "danlu gpus [选项]"),
)]
pub(crate) struct Arguments {
    #[arg(long, help = text("Print one JSON document", "输出一个 JSON 文档"))]
    json: bool,
}

pub(crate) fn run(client: &Client, arguments: &Arguments) -> Result<(), Failure> {
    let document = client.get_document("/gpus")?;
    if arguments.json {
        return screen::print_document(&document);
    }
    show(client, &read::<Document<Gpus>>(&document)?.content.gpus)
}

/// The table of all GPUs.
pub(super) fn show(client: &Client, gpus: &[GpuView]) -> Result<(), Failure> {
    if gpus.is_empty() {
        return screen::print(text(
            "no GPUs: danlu doctor says what is missing\n",
            "没有 GPU：danlu doctor 可检查原因\n",
        ));
    }
    let running = client.page(&Query { states: ACTIVE.to_vec(), ..Query::default() })?.tasks;
    let owner = |id: u64| running.iter().find(|task| task.id == id).map(|task| task.user.clone());
    let mut table = Table::new(vec![
        Column::left(text("NODE", "机器")),
        Column::right("GPU"),
        Column::left(text("MODEL", "型号")).shrinks(16, 8),
        Column::right(text("MEMORY", "显存")),
        Column::right(text("USE", "利用率")),
        Column::right("°C"),
        Column::right("W"),
        Column::left(text("HOLDER", "占用者")).shrinks(30, 12),
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
        say!(
            "GPU {uuid} is reported by {node} and {others}: none of them gives it out. \
             Disable it on all but one (danlu gpu disable {index} --node {node}), or remove the other name (danlu node remove {others})",
            "GPU {uuid} 同时由 {node} 和 {others} 报告：均不分配。\
             请只在一台上启用（在其余机器上执行 danlu gpu disable {index} --node {node}），或移除另一个名称（danlu node remove {others}）"
        )
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
    let colour = match gpu.state.as_str() {
        "free" => Some(Colour::Dim),
        "held" | "shared" => Some(Colour::Green),
        "foreign" => Some(Colour::Yellow),
        _ => Some(Colour::Red),
    };
    let mut parts: Vec<String> = gpu
        .tasks
        .iter()
        .map(|id| format!("{id} {}", owner(*id).unwrap_or_default()).trim_end().to_owned())
        .collect();
    for process in &gpu.foreign {
        let who = foreign(process);
        parts.push(say!("outside: {who}", "外部：{who}"));
    }
    if parts.is_empty() || ["disabled", "quarantined", "conflict"].contains(&gpu.state.as_str()) {
        let state = states::other(&gpu.state).to_owned();
        let why = gpu.why.as_ref().map(|why| format!("{state}: {}", width::plain(why)));
        parts.insert(0, why.unwrap_or(state));
    }
    if gpu.slots > 1 {
        let (taken, slots) = (gpu.tasks.len(), gpu.slots);
        parts.push(say!("{taken} of {slots} slots", "名额 {taken}/{slots}"));
    }
    Cell::coloured(parts.join(", "), colour)
}
