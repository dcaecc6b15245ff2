//! The machines of one seed.

use super::dice::Dice;
use super::gpu::SimGpu;
use super::machine::SimMachine;
use danlu_core::SessionId;
use danlu_core::node::Capacity;
use std::collections::{BTreeMap, BTreeSet};

const GB: u64 = 1 << 30;

pub(super) fn draw_machines(dice: &mut Dice) -> Vec<SimMachine> {
    let count = dice.between(1, 4);
    let largest = dice.scale(1, 8);
    let alike = dice.chance(500);
    // Now and then the last one is the first under another name.
    let twin = (count > 1 && dice.chance(100)).then_some(count - 1);
    let mut machines: Vec<SimMachine> = Vec::new();
    for number in 0..count {
        let gpus = if alike { largest } else { dice.between(1, largest) };
        let model =
            dice.pick(&["NVIDIA A100", "NVIDIA A100", "NVIDIA H100"]).unwrap_or("NVIDIA A100");
        let memory = dice.pick(&[40 * GB, 80 * GB]).unwrap_or(40 * GB);
        let card = |index: u64| {
            SimGpu::new(
                format!("G{number}.{index}"),
                u32::try_from(index).unwrap_or(0),
                model,
                memory,
            )
        };
        let cards: Vec<SimGpu> = match machines.first().filter(|_| twin == Some(number)) {
            Some(first) => first.cards.iter().map(SimGpu::again).collect(),
            None => (0..gpus).map(card).collect(),
        };
        let hall = dice.pick(&["east", "west"]).unwrap_or("east").to_owned();
        machines.push(SimMachine {
            name: format!("n{number}"),
            labels: BTreeMap::from([("hall".to_owned(), hall)]),
            capacity: Capacity { cpus: 16, memory: 64 * GB },
            free_memory: 64 * GB,
            cards,
            up: true,
            agent_up: true,
            agent_life: 0,
            destroyed: false,
            partitioned: false,
            trouble: None,
            twin: twin == Some(number),
            old_agent: dice.chance(200),
            dirs: BTreeMap::new(),
            logs: BTreeSet::new(),
            link: None,
            newest: SessionId(0),
            dialing: false,
            clock_offset: i64::try_from(dice.below(2000)).unwrap_or(0) - 1000,
        });
    }
    machines
}
