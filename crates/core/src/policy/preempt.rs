//! The pass of the preemptive orders: choose who should run by rank, stop the others, then start.

use super::line::Line;
use super::{is_preemptible, rank_running};
use crate::ids::RunId;
use crate::plan::Plan;
use crate::queue::Rank;
use crate::state::State;
use crate::view::View;

/// Walks all that run or wait in order and hands each the GPUs it asks for while there are any.
/// Who runs and gets none is preempted; who waits and gets some starts, but only once everybody
/// who has to stop has stopped: the GPUs that come back decide where it fits best.
pub(super) fn plan(mut view: View<'_>) -> Plan {
    let mut plan = Plan::default();
    let Chosen { starts, stops } = choose(&view);
    for run in &stops {
        plan.preempt(*run);
    }
    if stops.is_empty() {
        for rank in starts {
            let task = &view.state.tasks[&rank.task];
            if let Some(placement) = view.place_task(task) {
                view.assume_start(&task.spec.request, &placement);
                plan.start(rank.task, placement);
            }
        }
    }
    plan
}

struct Chosen {
    starts: Vec<Rank>,
    stops: Vec<RunId>,
}

fn choose(view: &View<'_>) -> Chosen {
    let state = view.state;
    let settings = state.settings();
    let mut quota = state.idle_pool().free_gpus().saturating_sub(shared_gpus(state));
    let mut running: Vec<(Rank, RunId)> = Vec::new();
    for run in state.active_runs() {
        let task = &state.tasks[&run.task];
        let on_open_nodes = gpus_on_open_nodes(view, run.id);
        let settled = view.now.since(run.launched_at) >= settings.min_run_before_preemption;
        let counted = is_preemptible(state, run) && !task.spec.request.is_shared();
        if counted && settled && on_open_nodes > 0 {
            running.push((rank_running(task, run, settings, view.now), run.id));
        } else if !run.is_stopping() && !task.spec.request.is_shared() {
            quota = quota.saturating_sub(on_open_nodes);
        }
    }
    running.sort_unstable();

    let mut line = Line::new(state, view.now);
    let mut chosen = Chosen { starts: Vec::new(), stops: Vec::new() };
    let mut running = running.into_iter().peekable();
    let mut waiting = state.queue().iter().peekable();
    let shared = state.queue().kinds().any(|(kind, _)| kind.request.is_shared());
    let smallest = state.queue().kinds().next().map_or(0, |(kind, _)| kind.request.gpus);
    let smallest = if shared { 0 } else { smallest };
    loop {
        let next_waiting = waiting.peek().filter(|_| quota >= smallest);
        let run_is_next = match (running.peek(), next_waiting) {
            (None, None) => return chosen,
            (Some((rank, _)), Some(other)) => rank < other,
            (next_run, _) => next_run.is_some(),
        };
        if run_is_next {
            let Some((rank, run)) = running.next() else {
                return chosen;
            };
            let gpus = state.tasks[&rank.task].spec.request.gpus;
            if gpus <= quota {
                quota -= gpus;
            } else {
                chosen.stops.push(run);
            }
        } else {
            let Some(rank) = waiting.next() else {
                return chosen;
            };
            let task = &state.tasks[&rank.task];
            let request = &task.spec.request;
            // Who shares takes no GPU from anybody.
            let gpus = if request.is_shared() { 0 } else { request.gpus };
            let fits = request.is_shared() || gpus <= quota && view.fits_when_idle(request);
            if fits && line.excess(rank).is_none() {
                quota -= gpus;
                line.count_for(task.owner, rank);
                chosen.starts.push(rank);
            }
        }
    }
}

/// GPUs that tasks share by memory: they count once, whoever leaves.
fn shared_gpus(state: &State) -> u32 {
    let shared = |run: &RunId| state.tasks[&state.runs[run].task].spec.request.is_shared();
    let gpus = state.nodes.values().filter(|node| node.is_open()).flat_map(|node| &node.gpus);
    let held = gpus.filter(|gpu| gpu.is_usable() && gpu.holders.first().is_some_and(shared));
    u32::try_from(held.count()).unwrap_or(u32::MAX)
}

fn gpus_on_open_nodes(view: &View<'_>, run: RunId) -> u32 {
    let idle = view.state.idle_pool();
    let holds = view.state.held_by(run).iter();
    holds.map(|hold| hold.gpus.and(idle.free_on(hold.node)).count()).sum()
}
