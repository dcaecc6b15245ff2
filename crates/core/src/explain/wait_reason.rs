//! The short reason why a task waits, for lists.

use crate::model::gpu::{Gpu, GpuCondition};
use crate::model::ids::{GpuId, NodeId, RunId, TaskId};
use crate::model::node::Node;
use crate::model::resources::{GpuMask, Request};
use crate::model::settings::{Backfill, Order};
use crate::model::task::{Doubt, Task, TaskState};
use crate::model::time::Time;
use crate::model::trouble::Trouble;
use crate::schedule;
use crate::schedule::pool::{Pool, Thresholds};
use crate::schedule::queue::Rank;
use crate::schedule::quota::{self, Excess};
use crate::schedule::view::View;
use crate::state::State;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// At most this many runs or nodes are named in a reason.
const NAMED: usize = 16;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "reason")]
pub enum WaitReason {
    /// Held until it is released.
    Held,
    /// It begins then.
    Begins { at: Time },
    /// It has failed, and is tried again then.
    RetryAt { at: Time },
    /// Until these have ended.
    Dependencies { on: Vec<TaskId> },
    /// No nodes are registered.
    NoNodes,
    /// No node that is known could run it, even if it had nothing else to do.
    NeverFits,
    /// These could run it, but they are not connected, not yet verified, or draining.
    NodesUnavailable { nodes: Vec<NodeId> },
    /// These could run it, but they cannot start anything now; why the first of them cannot.
    NodesUnfit { nodes: Vec<NodeId>, trouble: Trouble },
    /// It would fit, but for GPUs that several nodes have reported as theirs.
    GpusOnSeveralNodes { gpus: Vec<SharedGpu> },
    /// It may already have run: held until it is released.
    InDoubt { why: Doubt },
    /// It would fit, but for GPUs that others use or have only just left, that cannot be probed or have hardware
    /// errors, or whose memory was not given back.
    GpusUnavailable {
        foreign: u32,
        unknown: u32,
        dirty: u32,
        #[serde(default)]
        just_left: u32,
        #[serde(default)]
        quarantined: u32,
        /// Used by runs that a lost store knew.
        #[serde(default)]
        unknown_runs: u32,
    },
    /// It would fit, but GPUs that it names or needs are disabled by an administrator or have hardware errors.
    GpusDisabled { gpu_ids: Vec<u32> },
    /// It would fit, but these have too little memory of their own left.
    NodesShortOfMemory { nodes: Vec<NodeId> },
    /// There is room on shared GPUs, once the tasks that started there last have taken the memory they need.
    Settling,
    /// There is room on shared GPUs, but their utilisation is above its threshold.
    GpusBusy,
    /// Until enough of these runs have ended.
    Resources { held_by: Vec<RunId> },
    /// It needs `wanted` nodes at once, and only `with_room` have room: until enough of these runs have ended.
    TooFewNodes { wanted: u32, with_room: u32, held_by: Vec<RunId> },
    /// It would fit, but these runs hold the custom resources it needs; `held_by` is empty if no node has as many.
    NamedResources { wanted: BTreeMap<String, u32>, held_by: Vec<RunId> },
    /// An admin has paused the whole queue.
    QueuePaused,
    /// The array's limit of running elements is reached.
    ArrayLimit { at_once: u32 },
    /// It would fit, but the order is strict and this one comes first.
    Behind { first: TaskId },
    /// It would fit, but might delay this one, which is expected to start then.
    WouldDelay { first: TaskId, starts_at: Option<Time> },
    /// Its owner or its project may not have more at once.
    Quota(Excess),
    /// Others come first under a preemptive order.
    Outranked,
    /// Everything is there: the next scheduling pass starts it.
    AboutToStart,
}

/// One GPU that several nodes have reported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedGpu {
    pub gpu: GpuId,
    pub nodes: Vec<NodeId>,
    /// The names of `nodes`.
    #[serde(default)]
    pub names: Vec<String>,
}

/// `None` for a task that runs, has ended or does not exist.
pub fn explain(state: &State, id: TaskId, now: Time) -> Option<WaitReason> {
    let task = state.tasks.get(&id)?;
    match &task.state {
        TaskState::Held => {
            Some(task.trail().doubt.map_or(WaitReason::Held, |why| WaitReason::InDoubt { why }))
        }
        TaskState::Blocked { on } => {
            Some(WaitReason::Dependencies { on: on.iter().copied().take(NAMED).collect() })
        }
        TaskState::Queued { .. } => Some(explain_queued(state, task, now)),
        TaskState::Active { .. } | TaskState::Finished { .. } => None,
    }
}

fn explain_queued(state: &State, task: &Task, now: Time) -> WaitReason {
    if let Some(at) = task.trail().not_before {
        let begins = task.spec.begin == Some(at);
        return if begins { WaitReason::Begins { at } } else { WaitReason::RetryAt { at } };
    }
    if state.settings().queue_paused {
        return WaitReason::QueuePaused;
    }
    let request = &task.spec.request;
    let view = View::new(state, now);
    if !view.fits_when_idle(request) {
        return explain_unfit(state, request);
    }
    let at_once = task.spec.array.as_ref().and_then(|array| array.at_once);
    if let Some(at_once) = at_once
        && !state.queue().contains(task, state.settings())
    {
        return WaitReason::ArrayLimit { at_once };
    }
    if let Some(excess) = quota::excess_now(state, task, now) {
        return WaitReason::Quota(excess);
    }
    if view.place(request).is_none() {
        if view.place_when_settled(request).is_some() {
            return WaitReason::Settling;
        }
        if request.is_shared() && view.place_by_force(request).is_some() {
            return WaitReason::GpusBusy;
        }
        let nameless = Request { resources: BTreeMap::new(), ..Request::clone(request) };
        if view.place(&nameless).is_some() {
            let named = Request { gpus: 0, cpus: 0, memory: 0, ..Request::clone(request) };
            let held_by = holders(state, &named);
            return WaitReason::NamedResources { wanted: named.resources, held_by };
        }
        let held_by = holders(state, request);
        if request.is_gang() {
            let with_room = u32::try_from(view.nodes_with_room(request)).unwrap_or(u32::MAX);
            return WaitReason::TooFewNodes { wanted: request.nodes, with_room, held_by };
        }
        return WaitReason::Resources { held_by };
    }
    explain_overtaken(state, task, now)
}

/// It does not fit even if all runs ended: which nodes or GPUs are missing?
fn explain_unfit(state: &State, request: &Request) -> WaitReason {
    if state.nodes.is_empty() {
        return WaitReason::NoNodes;
    }
    let disabled = disabled(state, request, request.gpu_ids.as_slice());
    if !disabled.is_empty() {
        return WaitReason::GpusDisabled { gpu_ids: disabled };
    }
    let nameless = Request { resources: BTreeMap::new(), ..Request::clone(request) };
    let ground = state.ground(Thresholds::All);
    if state.idle_pool().place(&nameless, &ground).is_some() {
        let wanted = request.resources.clone();
        return WaitReason::NamedResources { wanted, held_by: Vec::new() };
    }
    let fits = |pool: &Pool| pool.place(request, &ground).is_some();
    let open = || state.nodes.values().filter(|node| node.is_open());
    let short = |node: &&Node| node.is_short_of_memory(state.settings());
    if fits(&Pool::of_whole_nodes(open().filter(|node| !short(node)))) {
        let twice = on_several_nodes(state, open());
        if !twice.is_empty() {
            return WaitReason::GpusOnSeveralNodes { gpus: twice };
        }
        let gpus: Vec<&Gpu> = open().flat_map(|node| &node.gpus).collect();
        return unavailable(&gpus);
    }
    if fits(&Pool::of_whole_nodes(open())) {
        let nodes = open().filter(short).map(|node| node.id).take(NAMED).collect();
        return WaitReason::NodesShortOfMemory { nodes };
    }
    if let Some(reason) = unfit(state, request, fits) {
        return reason;
    }
    let closed = state.nodes.values().filter(|node| !node.is_open() && node.accepts(request));
    let nodes: Vec<NodeId> = closed.map(|node| node.id).take(NAMED).collect();
    let unknown = state.nodes.values().any(|node| node.capacity.is_none());
    if fits(&Pool::of_whole_nodes(state.nodes.values())) || (unknown && !nodes.is_empty()) {
        return WaitReason::NodesUnavailable { nodes };
    }
    if fits(&Pool::of_all_gpus(state.nodes.values())) {
        let all: Vec<u32> = state.nodes.values().flat_map(numbers).collect();
        return WaitReason::GpusDisabled { gpu_ids: self::disabled(state, request, &all) };
    }
    WaitReason::NeverFits
}

/// Nodes that would be open if they were well, where that would do.
fn unfit(state: &State, request: &Request, fits: impl Fn(&Pool) -> bool) -> Option<WaitReason> {
    let well = |node: &&Node| node.is_ready() && !node.draining;
    if !fits(&Pool::of_whole_nodes(state.nodes.values().filter(well))) {
        return None;
    }
    let unfit = state.nodes.values().filter(well).filter(|node| node.accepts(request));
    let unfit: Vec<(NodeId, &Trouble)> =
        unfit.filter_map(|node| Some((node.id, &node.unfit.as_ref()?.trouble))).collect();
    let (_, trouble) = unfit.first()?;
    let trouble = (*trouble).clone();
    let nodes = unfit.into_iter().map(|(node, _)| node).take(NAMED).collect();
    Some(WaitReason::NodesUnfit { nodes, trouble })
}

fn on_several_nodes<'a>(state: &State, nodes: impl Iterator<Item = &'a Node>) -> Vec<SharedGpu> {
    let mut found: BTreeMap<&GpuId, Vec<NodeId>> = BTreeMap::new();
    for node in nodes {
        for gpu in node.gpus.iter().filter(|gpu| gpu.rule.is_open() && !gpu.also_on.is_empty()) {
            let mut nodes = gpu.also_on.clone();
            nodes.push(node.id);
            nodes.sort_unstable();
            found.insert(&gpu.id, nodes);
        }
    }
    let found = found.into_iter().take(NAMED);
    let named = |(gpu, nodes): (&GpuId, Vec<NodeId>)| {
        let names = nodes.iter().filter_map(|id| state.nodes.get(id)).map(|it| it.name.clone());
        let names = names.collect();
        SharedGpu { gpu: gpu.clone(), nodes, names }
    };
    found.map(named).collect()
}

fn numbers(node: &Node) -> impl Iterator<Item = u32> {
    node.gpus.iter().map(|gpu| gpu.index)
}

/// Those of the GPUs with these numbers that are disabled or quarantined.
fn disabled(state: &State, request: &Request, numbers: &[u32]) -> Vec<u32> {
    let nodes = state.nodes.values().filter(|node| node.accepts(request));
    let gpus = nodes.flat_map(|node| &node.gpus).filter(|gpu| !gpu.rule.is_open());
    let named = gpus.map(|gpu| gpu.index).filter(|index| numbers.contains(index));
    let mut named: Vec<u32> = named.take(NAMED).collect();
    named.sort_unstable();
    named.dedup();
    named
}

fn unavailable(gpus: &[&Gpu]) -> WaitReason {
    let count = |is: fn(&Gpu) -> bool| {
        let matching = gpus.iter().filter(|gpu| is(gpu)).count();
        u32::try_from(matching).unwrap_or(u32::MAX)
    };
    use GpuCondition::{Dirty, Foreign, Missing, Unknown};
    WaitReason::GpusUnavailable {
        foreign: count(|gpu| matches!(gpu.condition, Foreign { .. })),
        unknown: count(|gpu| matches!(gpu.condition, Unknown | Missing)),
        dirty: count(|gpu| matches!(gpu.condition, Dirty)),
        just_left: count(|gpu| gpu.left_at.is_some()),
        quarantined: count(|gpu| gpu.rule.quarantined.is_some()),
        unknown_runs: count(|gpu| gpu.has_unknown_run),
    }
}

/// It fits right now but has not been started: another task comes first.
fn explain_overtaken(state: &State, task: &Task, now: Time) -> WaitReason {
    let settings = state.settings();
    if schedule::plan(state, now).starts().any(|(id, _)| id == task.id) {
        return WaitReason::AboutToStart;
    }
    if settings.order.is_preemptive() {
        return WaitReason::Outranked;
    }
    // Without a reservation, those before it in the queue take what it would need in this very pass.
    let Some((Rank { task: first, .. }, starts_at)) = schedule::reservation(state, now) else {
        return WaitReason::Outranked;
    };
    if settings.order == Order::Auto {
        return WaitReason::WouldDelay { first, starts_at };
    }
    match settings.backfill {
        Backfill::None => WaitReason::Behind { first },
        Backfill::Easy => WaitReason::WouldDelay { first, starts_at },
        Backfill::Skip => WaitReason::Outranked,
    }
}

/// The runs that hold something of what this needs on nodes that it could use, soonest to end first.
fn holders(state: &State, request: &Request) -> Vec<RunId> {
    let useful = |id: &RunId| {
        let mut holds = state.held_by(*id).iter();
        holds.any(|hold| {
            let node = &state.nodes[&hold.node];
            let pinned = node.pinned_gpus(request).unwrap_or(GpuMask::NONE);
            let wanted = hold.gpus.and(node.matching_gpus(request));
            let wanted = if pinned == GpuMask::NONE { wanted } else { wanted.and(pinned) };
            let alike = (request.gpus > 0 && wanted != GpuMask::NONE)
                || (request.cpus > 0 && hold.cpus > 0)
                || (request.memory > 0 && hold.memory > 0)
                || request.resources.keys().any(|name| hold.named.contains_key(name));
            alike && node.is_open() && node.accepts(request)
        })
    };
    let known = state.index.releases.iter().map(|(_, run)| *run);
    let open_ended = state.active_runs().filter(|run| run.release_at().is_none()).map(|run| run.id);
    known.chain(open_ended).filter(useful).take(NAMED).collect()
}
