//! Placement of a task that runs on several nodes at once: parts of equal size, each on a node of its own.

use super::When;
use super::finder::Finder;
use crate::fault_injection::{Mutant, mutated};
use crate::model::resources::{Part, Placement};
use crate::model::settings::PlacementRule;

impl Finder<'_> {
    /// Place on exactly `nodes` nodes, the best ones first; `request` is the part for one node.
    pub(super) fn gang(&self, nodes: usize) -> Option<Placement> {
        let nodes = if mutated(Mutant::GangStartsShort) { nodes - 1 } else { nodes };
        let parts: Vec<Part> = match self.request.prefer.as_ref() {
            Some(prefer) if self.pool.when == When::Now => {
                let mut parts: Vec<Part> = self.parts().collect();
                parts.sort_by_key(|part| {
                    let node = &self.ground.nodes[&part.node];
                    !prefer.matches(&node.name, &node.labels)
                });
                parts.into_iter().take(nodes).collect()
            }
            _ => self.parts().take(nodes).collect(),
        };
        (parts.len() == nodes).then_some(Placement { parts })
    }

    /// The place on each node that has one, in the order in which the placement rule would take them.
    pub(super) fn parts(&self) -> Box<dyn Iterator<Item = Part> + '_> {
        let gpus = self.request.gpus;
        let rule = self.ground.settings.placement;
        let by_free = &self.pool.by_free;
        match rule {
            PlacementRule::Frag if self.pool.when == When::Now => {
                Box::new(self.by_loss().into_iter())
            }
            PlacementRule::Lowest | PlacementRule::Count => Box::new(self.in_order()),
            PlacementRule::Consolidate | PlacementRule::Spread | PlacementRule::Frag
                if self.request.is_shared() =>
            {
                Box::new(self.by_fit().into_iter())
            }
            PlacementRule::Spread => {
                let emptiest_first = by_free.from(gpus).rev().flatten();
                Box::new(emptiest_first.filter_map(move |at| self.part(at, gpus)))
            }
            PlacementRule::Consolidate | PlacementRule::Frag => {
                let fullest_first = by_free.from(gpus).flatten();
                Box::new(fullest_first.filter_map(move |at| self.part(at, gpus)))
            }
        }
    }
}
