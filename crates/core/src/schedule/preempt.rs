//! The scheduling pass of the preemptive orders: choose by rank which tasks should run, stop the others, then start.

use super::turn::cursor::TurnCursor;
use super::{is_preemptible, rank_running};
use crate::model::ids::{RunId, TaskId};
use crate::model::resources::Placement;
use crate::model::run::Run;
use crate::schedule::plan::Plan;
use crate::schedule::queue::Rank;
use crate::schedule::view::View;
use crate::state::State;
use std::collections::{BTreeMap, BTreeSet};

/// Walk all running and waiting tasks in rank order and assign each the GPUs it requests while there are any. A
/// running task without GPUs is preempted; a waiting task with GPUs starts, but only after all preempted runs have
/// stopped: the released GPUs decide where it fits best.
pub(super) fn plan(mut view: View<'_>) -> Plan {
    let mut plan = Plan::default();
    let Chosen { starts, stops } = choose(&view);
    for run in &stops {
        plan.preempt(*run);
    }
    if stops.is_empty() {
        for Start { task, only_in_use } in starts {
            let request = &view.state.tasks[&task].spec.request;
            let placement = view.place_task(&view.state.tasks[&task]);
            let may = |placement: &Placement| !only_in_use || is_in_use(view.state, placement);
            if let Some(placement) = placement.filter(may) {
                view.assume_start(request, &placement);
                plan.start(task, placement);
            }
        }
    }
    plan
}

struct Chosen {
    starts: Vec<Start>,
    stops: Vec<RunId>,
}

struct Start {
    task: TaskId,
    /// Only on GPUs that others share already: the idle ones are for tasks ranked before it, although these may not
    /// fit yet. Otherwise sharing tasks would take turns on GPUs that were released for such a task.
    only_in_use: bool,
}

fn is_in_use(state: &State, placement: &Placement) -> bool {
    placement.parts.iter().all(|part| {
        let gpus = &state.nodes[&part.node].gpus;
        part.gpus.positions().all(|position| !gpus[position].holders.is_empty())
    })
}

/// Runs that leave their GPUs together or not at all: one, or all that share GPUs with each other.
struct Tenancy {
    /// Of the one that comes first.
    rank: Rank,
    first: RunId,
    others: Vec<RunId>,
    gpus: u32,
}

fn choose(view: &View<'_>) -> Chosen {
    let state = view.state;
    let (fixed, mut running) = tenancies(view);
    let mut quota = state.idle_pool().free_gpus().saturating_sub(fixed);
    running.sort_unstable_by_key(|tenancy| tenancy.rank);

    let mut cursor = TurnCursor::new(state, view.now);
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
            (Some(tenancy), Some(other)) => tenancy.rank < *other,
            (next_run, _) => next_run.is_some(),
        };
        if run_is_next {
            let Some(Tenancy { first, others, gpus, .. }) = running.next() else {
                return chosen;
            };
            if gpus <= quota {
                quota -= gpus;
            } else {
                chosen.stops.push(first);
                chosen.stops.extend(others);
            }
        } else {
            let Some(rank) = waiting.next() else {
                return chosen;
            };
            let task = &state.tasks[&rank.task];
            let request = &task.spec.request;
            // A task that shares a GPU takes none away.
            let gpus = if request.is_shared() { 0 } else { request.gpus };
            let fits = request.is_shared() || gpus <= quota && view.fits_when_idle(request);
            if fits && cursor.excess(rank).is_none() {
                let left = quota;
                quota -= gpus;
                cursor.count_for(task.owner, rank);
                let only_in_use = request.is_shared() && request.gpus > left;
                chosen.starts.push(Start { task: rank.task, only_in_use });
            }
        }
    }
}

/// How many GPUs cannot be preempted, and which runs may be preempted from the others.
fn tenancies(view: &View<'_>) -> (u32, Vec<Tenancy>) {
    let state = view.state;
    let (mut fixed, mut moving, mut shares) = (0_u32, Vec::new(), false);
    for run in state.active_runs() {
        let task = &state.tasks[&run.task];
        let shared = task.spec.request.is_shared();
        shares |= shared;
        let gpus = gpus_on_open_nodes(view, run.id);
        if shared || gpus == 0 {
            continue;
        }
        match may_leave(view, run) {
            true => {
                let (rank, first) = (rank_of(view, run), run.id);
                moving.push(Tenancy { rank, first, others: Vec::new(), gpus });
            }
            false if !run.is_stopping() => fixed += gpus,
            false => {}
        }
    }
    for (runs, gpus) in shares.then(|| sharers(state)).into_iter().flatten() {
        let staying = runs.iter().map(|run| &state.runs[run]).filter(|run| !run.is_stopping());
        let Some(rank) = staying.clone().map(|run| rank_of(view, run)).min() else { continue };
        let mut ids = staying.clone().map(|run| run.id);
        let Some(first) = ids.next() else { continue };
        match staying.clone().all(|run| may_leave(view, run)) {
            true => moving.push(Tenancy { rank, first, others: ids.collect(), gpus }),
            false => fixed += gpus,
        }
    }
    (fixed, moving)
}

fn may_leave(view: &View<'_>, run: &Run) -> bool {
    let ran = view.now.since(run.launched_at);
    let settled = ran >= view.state.settings().min_run_before_preemption;
    is_preemptible(view.state, run) && settled
}

fn rank_of(view: &View<'_>, run: &Run) -> Rank {
    rank_running(&view.state.tasks[&run.task], run, view.state.settings(), view.now)
}

/// Runs that share GPUs with each other, directly or over others, and how many GPUs they have together.
fn sharers(state: &State) -> Vec<(BTreeSet<RunId>, u32)> {
    let is_shared = |run: &RunId| state.tasks[&state.runs[run].task].spec.request.is_shared();
    let gpus = state.nodes.values().filter(|node| node.is_open()).flat_map(|node| &node.gpus);
    let held = gpus.filter(|gpu| gpu.is_usable() && gpu.holders.first().is_some_and(is_shared));
    let mut groups: BTreeMap<RunId, (BTreeSet<RunId>, u32)> = BTreeMap::new();
    let mut group_of: BTreeMap<RunId, RunId> = BTreeMap::new();
    for gpu in held {
        let mut together = (gpu.holders.iter().copied().collect::<BTreeSet<_>>(), 1);
        let known = gpu.holders.iter().filter_map(|run| group_of.get(run).copied());
        for name in known.collect::<BTreeSet<_>>() {
            if let Some((runs, gpus)) = groups.remove(&name) {
                together.0.extend(runs);
                together.1 += gpus;
            }
        }
        if let Some(name) = together.0.first().copied() {
            group_of.extend(together.0.iter().map(|run| (*run, name)));
            groups.insert(name, together);
        }
    }
    groups.into_values().collect()
}

fn gpus_on_open_nodes(view: &View<'_>, run: RunId) -> u32 {
    let idle = view.state.idle_pool();
    let holds = view.state.held_by(run).iter();
    holds.map(|hold| hold.gpus.and(idle.free_on(hold.node)).count()).sum()
}
