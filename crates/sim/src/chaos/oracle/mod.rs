//! What must never happen, judged from outside the core.
//!
//! The oracle knows three things: what physically happens on the machines (`truth`), what the
//! daemon has durably recorded and answered (`record`), and what the daemon was told by nodes in
//! its present life (`node_reports`). It never asks the core what it believes.

mod answers;
mod at_rest;
mod border;
mod doubt;
mod engine;
mod events;
mod idle_rule;
mod launches;
mod node_reports;
mod outcomes;
mod record;
mod retries;
mod sharing;
mod truth;

use super::disk::Disk;
use super::engine_driver::Turn;
use super::verdict::Verdict;
use danlu_core::Epoch;

pub(super) use record::Record;
pub(super) use truth::Hardware;

#[derive(Debug, Default)]
pub(super) struct Oracle {
    /// Rewound together with the store.
    pub(super) record: Record,
    truth: truth::Truth,
    told: node_reports::NodeReports,
    clock: retries::Clock,
    deeds: engine::Deeds,
}

impl Oracle {
    /// A batch is on disk: from now on nothing may contradict it.
    pub(super) fn committed(&mut self, turns: &[Turn], disk: &Disk, epoch: Epoch) -> Verdict {
        for turn in turns {
            self.clock.shows(turn.at);
            self.told.hear(&turn.input, self.clock.now());
            self.answered(turn)?;
            self.declared_lost(turn)?;
            for event in &turn.step.events {
                self.recorded(event, epoch)?;
            }
            for effect in &turn.step.effects {
                self.decided(effect)?;
                self.given(effect);
            }
            self.one_more_at_most(turn)?;
            self.launched_whole(turn)?;
            self.launched_in_time(turn)?;
        }
        let events = turns.iter().flat_map(|turn| &turn.step.events);
        self.record.agrees_with(disk, events)
    }
}
