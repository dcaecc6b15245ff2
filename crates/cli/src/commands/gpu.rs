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
    about = msg::which_gpus_are_given_out_and_to_how_many(),
    override_usage = msg::danlu_gpu_enable_disable_id_slots_id_k(),
    after_help = msg::what_runs_on_a_disabled_gpu_goes_on_enabling(),
    disable_help_subcommand = true,
)]
pub(crate) struct GpuArguments {
    #[command(subcommand)]
    what: GpuCommand,
}

#[derive(Debug, Subcommand)]
enum GpuCommand {
    #[command(
        about = msg::give_them_out_whatever_was_wrong_with_them(),
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
        #[arg(required = true, value_name = "ID=K", value_parser = parse_slots, help = msg::gpu_and_number_of_tasks_0_2())]
        slots: Vec<(u32, u16)>,
        #[command(flatten)]
        place: GpuNode,
    },
}

#[derive(Debug, Args)]
struct ChosenGpus {
    #[arg(required = true, value_name = "ID", value_parser = parse_gpu_ids, help = msg::gpus_by_their_numbers_0_0_2_or_0_3())]
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
