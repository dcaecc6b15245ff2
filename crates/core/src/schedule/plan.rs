//! The decisions that a policy proposes, and the check that each of them goes through.

use crate::fault_injection::{Mutant, mutated};
use crate::model::idle::IdleTrail;
use crate::model::ids::{Epoch, RunId, TaskId};
use crate::model::resources::{Part, Placement};
use crate::model::run::{PartState, Run, RunPart, RunState, RunUsage, StopReason};
use crate::model::task::{Task, TaskState};
use crate::model::time::Time;
use crate::schedule::pool::Thresholds;
use crate::schedule::quota;
use crate::state::State;
use crate::step::effect::{Effect, Launch};
use crate::step::event::Event;
use crate::step::runs;
use crate::step::{Reply, Step, Turn};
use std::collections::BTreeSet;
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Plan {
    pub decisions: Vec<Decision>,
    /// Started by an administrator: quotas do not count.
    pub ignores_quotas: bool,
    /// Started by an administrator: thresholds do not count.
    pub by_force: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    Start { task: TaskId, placement: Placement },
    Preempt { run: RunId },
}

impl Plan {
    pub(crate) fn start(&mut self, task: TaskId, placement: Placement) {
        self.decisions.push(Decision::Start { task, placement });
    }

    pub(crate) fn starts(&self) -> impl Iterator<Item = (TaskId, &Placement)> {
        self.decisions.iter().filter_map(|decision| match decision {
            Decision::Start { task, placement } => Some((*task, placement)),
            Decision::Preempt { .. } => None,
        })
    }

    pub(crate) fn preempt(&mut self, run: RunId) {
        self.decisions.push(Decision::Preempt { run });
    }
}

/// Carry out a plan from any policy: a decision that the state does not allow changes nothing.
pub fn apply_plan(state: &mut State, plan: Plan, now: Time) -> Step {
    let mut turn = Turn::new(state, now);
    apply(&mut turn, plan);
    turn.end(Ok(Reply::Done))
}

pub(crate) fn apply(turn: &mut Turn<'_>, plan: Plan) {
    let thresholds = if plan.by_force { Thresholds::None } else { Thresholds::All };
    for decision in plan.decisions {
        match decision {
            // An earlier decision of this plan has reached the limit of its array.
            Decision::Start { task, .. } if !plan.by_force && is_kept_back(turn.state, task) => {}
            Decision::Start { task, placement } => {
                let over = !plan.ignores_quotas && over_quota(turn, task);
                let allowed = match over {
                    true => Err("its owner or project has had its share"),
                    false => check_start(turn.state, task, &placement, thresholds),
                };
                match allowed {
                    Err(reason) if !mutated(Mutant::UncheckedPlan) => {
                        turn.event(Event::DecisionRejected { task, reason: reason.to_string() });
                    }
                    Ok(()) | Err(_) => launch(turn, task, &placement),
                }
            }
            Decision::Preempt { run } => match check_preempt(turn.state, run) {
                Err((task, reason)) => {
                    turn.event(Event::DecisionRejected { task, reason: reason.to_string() });
                }
                Ok(()) => runs::stop(turn, run, StopReason::Preempted),
            },
        }
    }
}

fn over_quota(turn: &Turn<'_>, id: TaskId) -> bool {
    let task = turn.state.tasks.get(&id);
    task.is_some_and(|task| quota::excess_now(turn.state, task, turn.now).is_some())
}

fn is_kept_back(state: &State, id: TaskId) -> bool {
    let task = state.tasks.get(&id).filter(|task| task.is_due() && task.throttle().is_some());
    task.is_some_and(|task| !state.queue().contains(task, state.settings()))
}

fn check_start(
    state: &State,
    id: TaskId,
    placement: &Placement,
    thresholds: Thresholds,
) -> Result<(), &'static str> {
    let task = state.tasks.get(&id).ok_or("there is no such task")?;
    if !task.is_queued() {
        return Err("the task is not queued");
    }
    let request = &task.spec.request;
    let nodes: BTreeSet<_> = placement.parts.iter().map(|part| part.node).collect();
    if nodes.is_empty() || nodes.len() < placement.parts.len() {
        return Err("each node takes one part of a run, and there is at least one");
    }
    if request.is_gang() && !mutated(Mutant::GangStartsShort) {
        let each = request.gpus_per_node();
        if nodes.len() != request.nodes as usize {
            return Err("the number of nodes is not what was asked for");
        }
        if placement.parts.iter().any(|part| part.gpus.count() != each) {
            return Err("each node has an equal part of the GPUs");
        }
    } else if nodes.len() > 1 && !request.span_nodes && !request.is_gang() {
        return Err("the task must stay on one node");
    }
    let gpus: u32 = placement.parts.iter().map(|part| part.gpus.count()).sum();
    if gpus != request.gpus && !(request.is_gang() && mutated(Mutant::GangStartsShort)) {
        return Err("the number of GPUs is not what was asked for");
    }
    placement.parts.iter().try_for_each(|part| check_part(state, task, part, thresholds))
}

fn check_part(
    state: &State,
    task: &Task,
    part: &Part,
    thresholds: Thresholds,
) -> Result<(), &'static str> {
    let request = &task.spec.request;
    let node = state.nodes.get(&part.node).ok_or("there is no such node")?;
    if !state.pool().is_open(part.node) {
        return Err("the node takes no work now");
    }
    if !node.accepts(request) {
        return Err("the task asked for another node");
    }
    if request.gpus > 0 && part.gpus.count() == 0 {
        return Err("a part without a GPU");
    }
    if part.gpus.positions().any(|at| at >= node.gpus.len()) {
        return Err("there is no such GPU");
    }
    if !state.pool().allows(request, *part, &state.ground(thresholds)) {
        return Err("a GPU is not free");
    }
    let pinned = node.pinned_gpus(request).ok_or("the node has not got the GPUs it asked for")?;
    if !node.matching_gpus(request).contains(part.gpus) || !part.gpus.contains(pinned) {
        return Err("the task asked for other GPUs");
    }
    if !state.pool().has_room(part.node, request) {
        return Err("the node has too few CPUs or too little memory left");
    }
    Ok(())
}

fn check_preempt(state: &State, id: RunId) -> Result<(), (TaskId, &'static str)> {
    let Some(run) = state.runs.get(&id) else {
        return Err((TaskId(0), "there is no such run"));
    };
    if run.is_ended() || run.is_stopping() {
        return Err((run.task, "the run is ending already"));
    }
    if !state.tasks[&run.task].spec.preemptible {
        return Err((run.task, "the task may not be preempted"));
    }
    Ok(())
}

fn launch(turn: &mut Turn<'_>, id: TaskId, placement: &Placement) {
    let (state, now) = (&*turn.state, turn.now);
    let Some(task) = state.tasks.get(&id) else { return };
    let (owner, spec) = (task.owner, Arc::clone(&task.spec));
    let time_limit = task.time_limit();
    let epoch = if mutated(Mutant::EpochIgnored) { Epoch(0) } else { state.ledger.epoch };
    let run = Run {
        id: RunId { epoch, number: state.ledger.next_run },
        task: id,
        attempt: task.trail().attempts + 1,
        launched_at: now,
        expected_end_at: state.expected_from_now(task).map(|span| now + span),
        parts: placement.parts.iter().map(|part| run_part(state, part)).collect(),
        state: RunState::Starting,
        peak_gpu_memory: None,
        used: RunUsage::default(),
        idle: IdleTrail::default(),
    };
    let (run_id, attempt) = (run.id, run.attempt);
    let nodes: Vec<_> = run.parts.iter().map(|part| part.node).collect();
    for (rank, part) in (0..).zip(&run.parts) {
        let session = turn.state.nodes[&part.node].session;
        turn.effect(Effect::Launch(Box::new(Launch {
            node: part.node,
            session,
            run: run_id,
            task: id,
            attempt,
            gpus: part.gpus.clone(),
            spec: Arc::clone(&spec),
            time_limit,
            rank,
            nodes: nodes.clone(),
        })));
    }
    turn.charge(id);
    turn.state.ledger.next_run += 1;
    turn.state.insert_run(Arc::new(run));
    turn.state.change_task(id, |task| {
        task.state = TaskState::Active { run: run_id };
        task.trail_mut().attempts = attempt;
        task.trail_mut().not_before = None;
        task.trail_mut().last_run = Some(run_id);
    });
    turn.event(Event::RunLaunched { run: run_id, task: id, owner, nodes });
}

fn run_part(state: &State, part: &Part) -> RunPart {
    let node = &state.nodes[&part.node];
    let gpus = part.gpus.positions().filter_map(|at| node.gpus.get(at)).map(|gpu| gpu.id.clone());
    RunPart {
        node: part.node,
        gpus: gpus.collect(),
        started_at: None,
        state: PartState::Launching { session: node.session },
    }
}
