//! What a policy sees: the state, and a copy of the free resources to try placements on.

use crate::fault_injection::{Mutant, mutated};
use crate::model::ids::RunId;
use crate::model::node::Node;
use crate::model::resources::{Claim, Hold, Placement, Request};
use crate::model::task::Task;
use crate::model::time::Time;
use crate::schedule::pool::{Ground, Pool, Thresholds};
use crate::state::State;
use std::collections::BTreeMap;

#[derive(Debug, Clone)]
pub struct View<'a> {
    pub state: &'a State,
    pub now: Time,
    pool: Pool,
    assumed: Vec<Assumption>,
}

#[derive(Debug, Clone)]
enum Assumption {
    Taken(Vec<Hold>),
    Given(Vec<Hold>),
    /// What it holds is not copied: there may be thousands.
    Ended(RunId),
}

impl<'a> View<'a> {
    pub fn new(state: &'a State, now: Time) -> View<'a> {
        View { state, now, pool: state.pool().clone(), assumed: Vec::new() }
    }

    /// Where this would start now, with everything assumed so far.
    pub fn place(&self, request: &Request) -> Option<Placement> {
        self.place_with(request, Thresholds::All)
    }

    /// The same for one that has failed for lack of GPU memory: on larger GPUs, if some are free.
    pub fn place_task(&self, task: &Task) -> Option<Placement> {
        self.place_on_larger(task).or_else(|| self.place(&task.spec.request))
    }

    pub fn place_on_larger(&self, task: &Task) -> Option<Placement> {
        let larger_than = Some(task.trail().wants_more_memory_than?);
        let ground = Ground { larger_than, ..self.state.ground(Thresholds::All) };
        self.pool.place(&task.spec.request, &ground)
    }

    /// How many nodes have room for one part of it now.
    pub fn nodes_with_room(&self, request: &Request) -> usize {
        self.pool.nodes_with_room(request, &self.state.ground(Thresholds::All))
    }

    /// Where it would start if the shared tasks that run had all the memory they need.
    pub fn place_when_settled(&self, request: &Request) -> Option<Placement> {
        let waits = request.is_shared();
        waits.then(|| self.place_with(request, Thresholds::Settled)).flatten()
    }

    /// Where it would start if an administrator wanted it to.
    pub fn place_by_force(&self, request: &Request) -> Option<Placement> {
        self.place_with(request, Thresholds::None)
    }

    fn place_with(&self, request: &Request, thresholds: Thresholds) -> Option<Placement> {
        self.pool.place(request, &self.state.ground(thresholds))
    }

    /// Whether it would fit if every run of Danlu's own ended: only then is it worth waiting for.
    pub fn fits_when_idle(&self, request: &Request) -> bool {
        let ground = self.state.ground(Thresholds::All);
        self.state.idle_pool().place(request, &ground).is_some()
    }

    pub fn assume_start(&mut self, request: &Request, placement: &Placement) {
        self.assume(Assumption::Taken(holds(request, placement)));
    }

    /// Whether it waits for GPUs that it has named, and would start on others.
    pub fn waits_for_named(&self, request: &Request) -> bool {
        let named_are_free = |node: &Node| {
            let named = node.pinned_gpus(request);
            named.is_some_and(|named| self.pool.free_on(node.id).contains(named))
        };
        !request.gpu_ids.is_empty() && !self.state.nodes.values().any(named_are_free)
    }

    /// Whether it has named a node, and would start on others.
    pub fn waits_for_its_node(&self, request: &Request) -> bool {
        request.node.is_some() && self.place(&Request { node: None, ..request.clone() }).is_some()
    }

    /// Keep the free ones of the GPUs that this task names, if it can ever have them all.
    pub fn set_named_aside(&mut self, request: &Request) {
        let ground = self.state.ground(Thresholds::All);
        let Some(placement) = self.state.idle_pool().place(request, &ground) else {
            return;
        };
        let kept = placement.parts.iter().filter_map(|part| {
            let named = self.state.nodes[&part.node].pinned_gpus(request)?;
            let gpus = named.and(self.pool.free_on(part.node));
            let (claim, named) = (Claim::Whole, BTreeMap::new());
            Some(Hold { node: part.node, gpus, cpus: 0, memory: 0, claim, named })
        });
        let kept = kept.collect();
        self.assume(Assumption::Taken(kept));
    }

    /// Keep the free resources of the place where this would run if all others ended.
    pub fn set_place_aside(&mut self, request: &Request) {
        let ground = self.state.ground(Thresholds::All);
        let Some(placement) = self.state.idle_pool().place(request, &ground) else {
            return;
        };
        let kept = placement.parts.iter().map(|part| {
            let gpus = part.gpus.and(self.pool.free_on(part.node));
            Hold { gpus, ..Hold::of(*part, request) }
        });
        let kept = kept.collect();
        self.assume(Assumption::Taken(kept));
    }

    /// As if the run had ended and given back what can be used of its GPUs.
    pub fn assume_end(&mut self, run: RunId) {
        self.assume(Assumption::Ended(run));
    }

    /// As if what was assumed to start had ended.
    pub fn assume_end_of(&mut self, request: &Request, placement: &Placement) {
        self.assume(Assumption::Given(holds(request, placement)));
    }

    /// Take back the last assumption.
    pub fn undo(&mut self) {
        match self.assumed.pop() {
            Some(Assumption::Taken(holds)) => self.give(&holds),
            Some(Assumption::Given(holds)) => self.take(&holds),
            Some(Assumption::Ended(run)) => self.take(self.state.held_by(run)),
            None => {}
        }
    }

    fn assume(&mut self, assumption: Assumption) {
        match &assumption {
            Assumption::Taken(holds) => self.take(holds),
            Assumption::Given(holds) => self.give(holds),
            Assumption::Ended(run) => self.give(self.state.held_by(*run)),
        }
        self.assumed.push(assumption);
    }

    fn take(&mut self, holds: &[Hold]) {
        if !mutated(Mutant::UncheckedPlan) {
            holds.iter().for_each(|hold| self.pool.take(hold));
        }
    }

    fn give(&mut self, holds: &[Hold]) {
        if !mutated(Mutant::UncheckedPlan) {
            holds.iter().for_each(|hold| self.pool.give(hold));
        }
    }
}

fn holds(request: &Request, placement: &Placement) -> Vec<Hold> {
    placement.parts.iter().map(|part| Hold::of(*part, request)).collect()
}
