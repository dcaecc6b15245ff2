//! `danlu gpu`: which GPUs are given out, and to how many tasks at once.

use clap::{Args, Subcommand};
use danlu_wire::api::{Document, GpuAct, Gpus};

use super::gpus;
use crate::{
    client::{Client, read},
    failure::Failure,
    given::gpus::{GpuIds, parse_gpu_ids, parse_slots},
    language::text,
    screen,
};

#[derive(Debug, Args)]
#[command(
    about = text("Which GPUs are given out, and to how many tasks at once", "哪些 GPU 参与分配，各容纳几个任务"),
    override_usage = text("danlu gpu enable|disable ID…  |  slots ID=K…", "danlu gpu enable|disable 编号…  |  slots 编号=名额…"),
    after_help = text(
        "What runs on a disabled GPU goes on. Enabling one ends its quarantine.\n\n\
         Examples:\n  danlu gpu disable 3\n  danlu gpu enable 0-2\n  danlu gpu slots 0=2 1=4",
        "停用的 GPU 上已运行的任务会继续。启用同时解除隔离。\n\n\
         示例：\n  danlu gpu disable 3\n  danlu gpu enable 0-2\n  danlu gpu slots 0=2 1=4",
    ),
    disable_help_subcommand = true,
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    #[command(
        about = text("Give them out, whatever was wrong with them", "启用，并解除隔离"),
        override_usage = text("danlu gpu enable ID… [--node NAME]", "danlu gpu enable 编号… [--node 名称]"),
    )]
    Enable(Chosen),
    #[command(
        about = text("Give them to nobody new", "停用，不再分配"),
        override_usage = text("danlu gpu disable ID… [--node NAME]", "danlu gpu disable 编号… [--node 名称]"),
    )]
    Disable(Chosen),
    #[command(
        about = text("So many tasks share a GPU by count", "一块 GPU 可同时容纳几个任务"),
        override_usage = text("danlu gpu slots ID=K… [--node NAME]", "danlu gpu slots 编号=名额… [--node 名称]"),
    )]
    Slots {
        #[arg(required = true, value_name = "ID=K", value_parser = parse_slots, help = text(
            "GPU and number of tasks: 0=2",
            "GPU 编号与任务数：0=2",
        ))]
        slots: Vec<(u32, u16)>,
        #[command(flatten)]
        place: Place,
    },
}

#[derive(Debug, Args)]
struct Chosen {
    #[arg(required = true, value_name = "ID", value_parser = parse_gpu_ids, help = text(
        "GPUs by their numbers: 0, 0,2 or 0-3",
        "GPU 编号：0、0,2 或 0-3",
    ))]
    ids: Vec<GpuIds>,
    #[command(flatten)]
    place: Place,
}

#[derive(Debug, Args)]
struct Place {
    #[arg(long, value_name = "NAME", help = text("On this machine", "所在机器"))]
    node: Option<String>,

    #[arg(long, help = text("Print one JSON document", "输出一个 JSON 文档"))]
    json: bool,
}

pub(crate) fn run(client: &Client, arguments: &Arguments) -> Result<(), Failure> {
    let mut act = GpuAct::default();
    let numbers = |chosen: &Chosen| chosen.ids.iter().flat_map(|ids| ids.0.clone()).collect();
    let place = match &arguments.what {
        What::Enable(chosen) => {
            act.enable = numbers(chosen);
            &chosen.place
        }
        What::Disable(chosen) => {
            act.disable = numbers(chosen);
            &chosen.place
        }
        What::Slots { slots, place } => {
            act.slots = slots.iter().copied().collect();
            place
        }
    };
    act.node.clone_from(&place.node);
    let document = client.send("POST", "/gpus/act", &act)?;
    if place.json {
        return screen::print_document(&document);
    }
    gpus::show(client, &read::<Document<Gpus>>(&document)?.content.gpus)
}
