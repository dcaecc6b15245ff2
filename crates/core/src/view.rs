//! What a policy sees: the state, and a copy of the free resources to try things out on.

use crate::ids::RunId;
use crate::mutant::{Mutant, mutated};
use crate::pool::Pool;
use crate::resources::{Part, Placement, Request};
use crate::state::State;
use crate::time::Time;

#[derive(Debug, Clone)]
pub struct View<'a> {
    pub state: &'a State,
    pub now: Time,
    pool: Pool,
    assumed: Vec<Assumption>,
}

#[derive(Debug, Clone)]
struct Assumption {
    taken: bool,
    parts: Vec<Part>,
    request: Request,
}

impl<'a> View<'a> {
    pub fn new(state: &'a State, now: Time) -> View<'a> {
        View { state, now, pool: state.pool().clone(), assumed: Vec::new() }
    }

    /// Where this would start now, with everything assumed so far.
    pub fn place(&self, request: &Request) -> Option<Placement> {
        self.pool.place(request, self.state.settings().placement, &self.state.nodes)
    }

    /// Whether it would fit if every run of Danlu's own ended: only then is it worth waiting for.
    pub fn fits_when_idle(&self, request: &Request) -> bool {
        let rule = self.state.settings().placement;
        self.state.idle_pool().place(request, rule, &self.state.nodes).is_some()
    }

    pub fn assume_start(&mut self, request: &Request, placement: &Placement) {
        self.assume(true, placement.parts.clone(), request);
    }

    /// As if the run had ended and given back what can be used of its GPUs.
    pub fn assume_end(&mut self, run: RunId) {
        let idle = self.state.idle_pool();
        let parts = self.state.held_parts(run);
        let usable = |part: &Part| Part { gpus: part.gpus.and(idle.free_on(part.node)), ..*part };
        let parts = parts.iter().map(usable).collect();
        let request = &self.state.tasks[&self.state.runs[&run].task].spec.request;
        self.assume(false, parts, request);
    }

    /// As if what was assumed to start had ended.
    pub fn assume_end_of(&mut self, request: &Request, placement: &Placement) {
        self.assume(false, placement.parts.clone(), request);
    }

    /// Take back the last assumption.
    pub fn undo(&mut self) {
        if let Some(Assumption { taken, parts, request }) = self.assumed.pop() {
            self.shift(!taken, &parts, &request);
        }
    }

    fn assume(&mut self, taken: bool, parts: Vec<Part>, request: &Request) {
        self.shift(taken, &parts, request);
        self.assumed.push(Assumption { taken, parts, request: request.clone() });
    }

    fn shift(&mut self, take: bool, parts: &[Part], request: &Request) {
        if mutated(Mutant::UncheckedPlan) {
            return;
        }
        for part in parts {
            if take {
                self.pool.take(*part, request);
            } else {
                self.pool.give(*part, request);
            }
        }
    }
}
