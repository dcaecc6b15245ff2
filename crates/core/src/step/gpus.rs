//! `ManageGpus`: administrators enable, disable and share GPUs. Also GPU changes that only time causes.

use crate::model::gpu::{Gpu, GpuCondition, GpuConfig, GpuRule};
use crate::model::ids::{GpuId, NodeId};
use crate::model::limits::{GPUS_PER_NODE, SLOTS_PER_GPU};
use crate::state::State;
use crate::step::event::Event;
use crate::step::input::{Actor, GpuChange};
use crate::step::nodes::known;
use crate::step::permission::require_admin;
use crate::step::refusal::{Counted, Refusal};
use crate::step::validate::at_most;
use crate::step::{Answer, Reply, Turn};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) fn manage(turn: &mut Turn<'_>, by: Actor, node: NodeId, change: GpuChange) -> Answer {
    require_admin(turn.state, by)?;
    known(turn.state, node)?;
    let before = rules(turn.state, node);
    match change {
        GpuChange::Enable(numbers) => {
            let gpus = named(turn.state, node, numbers)?;
            change_each(turn, node, &gpus, |rule| {
                rule.disabled = Some(false);
                rule.accepted = rule.quarantined.take().or(rule.accepted.take());
            });
        }
        GpuChange::Disable(numbers) => {
            let gpus = named(turn.state, node, numbers)?;
            change_each(turn, node, &gpus, |rule| rule.disabled = Some(true));
        }
        GpuChange::Slots(slots) => {
            check_slots(&slots)?;
            let gpus = named(turn.state, node, slots.keys().copied())?;
            for (gpu, slots) in gpus.iter().zip(slots.into_values()) {
                change_each(turn, node, std::slice::from_ref(gpu), |rule| rule.slots = Some(slots));
            }
        }
        GpuChange::Config(config) => {
            check_slots(&config.slots)?;
            at_most(
                Counted::GpuNumbers,
                config.in_use.as_ref().map_or(0, BTreeSet::len),
                GPUS_PER_NODE,
            )?;
            at_most(Counted::GpuNumbers, config.slots.len(), GPUS_PER_NODE)?;
            turn.state.change_gpu_rules(node, |known, _| *known = config);
        }
    }
    if rules(turn.state, node) != before {
        turn.event(Event::GpusChanged { node });
    }
    Ok(Reply::Done)
}

/// Apply changes that only time causes, before scheduling.
pub(crate) fn ripen(turn: &mut Turn<'_>) {
    for node in turn.state.ripen(turn.now) {
        turn.event(Event::GpusChanged { node });
    }
}

fn rules(state: &State, node: NodeId) -> (GpuConfig, BTreeMap<GpuId, GpuRule>) {
    let node = &state.nodes[&node];
    (node.gpu_config.clone(), node.gpu_rules.clone())
}

/// The GPUs that have these numbers now.
fn named(
    state: &State,
    node: NodeId,
    numbers: impl IntoIterator<Item = u32>,
) -> Result<Vec<GpuId>, Refusal> {
    let gpus = &state.nodes[&node].gpus;
    let find = |index: u32| {
        // One that is gone and still held keeps the number it had; people mean the one that has it now.
        let gone = |gpu: &&Gpu| gpu.condition == GpuCondition::Missing;
        let gpu = gpus.iter().filter(|gpu| gpu.index == index).min_by_key(gone);
        gpu.map(|gpu| gpu.id.clone()).ok_or(Refusal::NoSuchGpu { index })
    };
    numbers.into_iter().map(find).collect()
}

fn change_each(turn: &mut Turn<'_>, node: NodeId, gpus: &[GpuId], change: impl Fn(&mut GpuRule)) {
    turn.state.change_gpu_rules(node, |_, rules| {
        for gpu in gpus {
            change(rules.entry(gpu.clone()).or_default());
        }
    });
}

fn check_slots(slots: &BTreeMap<u32, u16>) -> Result<(), Refusal> {
    let sound = |slots: &u16| (1..=SLOTS_PER_GPU).contains(slots);
    let most = SLOTS_PER_GPU;
    if slots.values().all(sound) { Ok(()) } else { Err(Refusal::BadSlots { most }) }
}
