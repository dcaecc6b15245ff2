//! Whether the engine does exactly what was committed: answers, effects and launch orders, once each.

use super::Oracle;
use crate::chaos::client::Ticket;
use crate::chaos::disk::Disk;
use crate::chaos::engine_actions::Answer;
use crate::chaos::engine_driver::{Decision, Turn};
use crate::chaos::fake_outside::Order;
use crate::chaos::verdict::{Verdict, ensure};
use danlu_core::effect::Launch;
use danlu_core::{Effect, Event, NodeId, RunId};
use std::collections::{BTreeMap, VecDeque};

#[derive(Debug, Default)]
pub(super) struct Deeds {
    /// Requests that the engine has taken and not answered.
    asked: BTreeMap<Ticket, u32>,
    /// Decisions that are durable and have not been told.
    decided: BTreeMap<Ticket, VecDeque<Decision>>,
    /// Effects that are durable and have not been carried out.
    effects: VecDeque<Effect>,
    /// Launch orders by run and node, for ever.
    orders: BTreeMap<(RunId, NodeId), Order>,
}

impl Oracle {
    pub(in crate::chaos) fn asked(&mut self, caller: Option<Ticket>) {
        if let Some(ticket) = caller {
            *self.deeds.asked.entry(ticket).or_default() += 1;
        }
    }

    /// A batch is what its inputs have led to, and is complete.
    pub(in crate::chaos) fn decided_as_committed(
        &mut self,
        turns: &[Turn],
        events: &[Event],
    ) -> Verdict {
        let decided = turns.iter().flat_map(|turn| &turn.step.events);
        ensure!(decided.eq(events), "what is committed is not what was decided");
        for turn in turns {
            self.deeds.effects.extend(turn.step.effects.iter().cloned());
            if let Some(ticket) = turn.from {
                self.deeds.decided.entry(ticket).or_default().push_back(turn.step.reply.clone());
            }
        }
        Ok(())
    }

    /// Answers contain only what is durable.
    pub(in crate::chaos) fn answer_is_true(
        &mut self,
        caller: Option<Ticket>,
        answer: &Answer,
    ) -> Verdict {
        let Some(ticket) = caller else { return Ok(()) };
        let open = self.deeds.asked.get_mut(&ticket);
        ensure!(open.is_some(), "{ticket:?} is answered and has not asked");
        if let Some(open) = open {
            *open -= 1;
            if *open == 0 {
                self.deeds.asked.remove(&ticket);
            }
        }
        if let Answer::Decided(told) = answer {
            let decided = self.deeds.decided.get_mut(&ticket).and_then(VecDeque::pop_front);
            ensure!(
                decided.as_ref() == Some(told),
                "{ticket:?} is told {told:?}, and durable is {decided:?}"
            );
        }
        Ok(())
    }

    /// Once each, in their order, and after the commit.
    pub(in crate::chaos) fn effect_is_decided(&mut self, effect: &Effect) -> Verdict {
        let decided = self.deeds.effects.pop_front();
        ensure!(
            decided.as_ref() == Some(effect),
            "an effect is carried out, and durable is {decided:?}: {effect:?}"
        );
        Ok(())
    }

    pub(in crate::chaos) fn order_is_built(&mut self, order: Order, disk: &Disk) -> Verdict {
        let Launch { run, node, .. } = order.launch;
        let expected = Order::expected(&order.launch, disk);
        ensure!(
            expected.as_ref() == Some(&order),
            "the order of run {run} is {order:?}, not {expected:?}"
        );
        let before = self.deeds.orders.insert((run, node), order);
        ensure!(before.is_none(), "the order of run {run} on node {node} is built twice");
        Ok(())
    }

    /// Orders of before the simulation are not known.
    pub(in crate::chaos) fn run_gets_its_order(&self, launch: &Launch) -> Verdict {
        let Launch { run, node, .. } = launch;
        let order = self.deeds.orders.get(&(*run, *node));
        ensure!(
            order.is_none_or(|order| order.launch == *launch),
            "run {run} gets another order than was built: {launch:?}"
        );
        Ok(())
    }

    /// After a turn no earlier caller waits, and no effect is left.
    pub(in crate::chaos) fn nobody_is_forgotten(&self) -> Verdict {
        let Deeds { asked, decided, effects, .. } = &self.deeds;
        ensure!(asked.is_empty(), "{asked:?} get no answer");
        let untold = decided.iter().find(|(_, decisions)| !decisions.is_empty());
        ensure!(untold.is_none(), "nobody is told of {untold:?}");
        ensure!(effects.is_empty(), "nobody has carried out {effects:?}");
        Ok(())
    }

    /// What was under way is lost with it.
    pub(in crate::chaos) fn daemon_is_gone(&mut self) {
        let orders = std::mem::take(&mut self.deeds.orders);
        self.deeds = Deeds { orders, ..Deeds::default() };
    }
}
