//! `danlu gpu`: enables and disables GPUs, and sets how many tasks share one.

use clap::{Args, Subcommand};
use danlu_messages::cli::gpu as msg;
use danlu_wire::api::{Document, GpuAct, Gpus};

use super::gpus;
use crate::{
    client::{Client, read},
    failure::Failure,
    parse::gpus::{GpuIds, parse_gpu_ids, parse_slots},
    screen,
};

#[derive(Debug, Args)]
#[command(
    about = msg::about(),
    override_usage = msg::usage(),
    after_help = msg::help(),
    disable_help_subcommand = true,
)]
pub(crate) struct GpuArguments {
    #[command(subcommand)]
    what: GpuCommand,
}

#[derive(Debug, Subcommand)]
enum GpuCommand {
    #[command(
        about = msg::about_enable(),
        override_usage = msg::danlu_gpu_enable_id_node_name(),
    )]
    Enable(ChosenGpus),
    #[command(
        about = msg::give_them_to_nobody_new(),
        override_usage = msg::danlu_gpu_disable_id_node_name(),
    )]
    Disable(ChosenGpus),
    #[command(
        about = msg::so_many_tasks_share_a_gpu_by_count(),
        override_usage = msg::danlu_gpu_slots_id_k_node_name(),
    )]
    Slots {
        #[arg(required = true, value_name = "ID=K", value_parser = parse_slots, help = msg::slots_argument())]
        slots: Vec<(u32, u16)>,
        #[command(flatten)]
        place: GpuNode,
    },
}

#[derive(Debug, Args)]
struct ChosenGpus {
    #[arg(required = true, value_name = "ID", value_parser = parse_gpu_ids, help = msg::gpu_numbers())]
    ids: Vec<GpuIds>,
    #[command(flatten)]
    place: GpuNode,
}

#[derive(Debug, Args)]
struct GpuNode {
    #[arg(long, value_name = "NAME", help = msg::on_this_machine())]
    node: Option<String>,

    #[arg(long, help = msg::print_one_json_document())]
    json: bool,
}

pub(crate) fn run(client: &Client, arguments: &GpuArguments) -> Result<(), Failure> {
    let mut act = GpuAct::default();
    let numbers = |chosen: &ChosenGpus| chosen.ids.iter().flat_map(|ids| ids.0.clone()).collect();
    let place = match &arguments.what {
        GpuCommand::Enable(chosen) => {
            act.enable = numbers(chosen);
            &chosen.place
        }
        GpuCommand::Disable(chosen) => {
            act.disable = numbers(chosen);
            &chosen.place
        }
        GpuCommand::Slots { slots, place } => {
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
