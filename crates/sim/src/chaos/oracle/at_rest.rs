//! What must hold once faults have ended and the system is at rest.

use super::Oracle;
use super::launches::has_model;
use crate::chaos::disk::Disk;
use crate::chaos::gpu::SimGpu;
use crate::chaos::machine::SimMachine;
use crate::chaos::verdict::{Verdict, ensure};
use danlu_core::task::TaskState;
use danlu_core::{Request, Row, State, Task, TaskId, Time, WaitReason, explain};
use std::collections::BTreeSet;

impl Oracle {
    /// Every task has ended, but for those that cannot run on the machines there are, and those
    /// that wait for such a one.
    pub(in crate::chaos) fn every_task_has_ended(
        disk: &Disk,
        state: &State,
        machines: &[SimMachine],
        clock: Time,
        counts: impl Fn(&Task) -> bool,
    ) -> Verdict {
        let open = disk.tables.rows.values().filter_map(|row| match row {
            Row::Task(task) if counts(task) && !task.is_finished() => Some(&**task),
            _ => None,
        });
        let mut open: Vec<&Task> = open.collect();
        let mut stuck: BTreeSet<TaskId> = BTreeSet::new();
        loop {
            let excused = |task: &&Task| match &task.state {
                TaskState::Queued { .. } => cannot_run(task, state, machines, clock),
                TaskState::Blocked { on } => on.iter().any(|task| stuck.contains(task)),
                _ => false,
            };
            let (hopeless, rest): (Vec<&Task>, Vec<&Task>) =
                open.iter().partition(|it| excused(it));
            open = rest;
            if hopeless.is_empty() {
                break;
            }
            stuck.extend(hopeless.iter().map(|task| task.id));
        }
        if let Some(task) = open.first() {
            let reason = explain(state, task.id, clock);
            ensure!(
                false,
                "task {} does not end: {:?}, {reason:?}, {:?}",
                task.id,
                task.state,
                task.spec.request
            );
        }
        Ok(())
    }

    pub(in crate::chaos) fn nothing_is_left(
        &self,
        machines: &[SimMachine],
        state: &State,
    ) -> Verdict {
        if let Some(run) = self.truth.alive().next() {
            ensure!(false, "run {run} still runs although every task is over");
        }
        for machine in machines.iter().filter(|machine| !machine.destroyed) {
            let left: Vec<_> = machine.dirs.keys().map(ToString::to_string).collect();
            ensure!(left.is_empty(), "{} still has runs {}", machine.name, left.join(", "));
            let node = state.nodes.values().find(|node| node.name == machine.name);
            let ready = node.is_some_and(danlu_core::Node::is_ready);
            ensure!(ready, "{} is there and counts as {:?}", machine.name, node.map(|it| it.link));
        }
        // A node that was removed keeps what it has.
        for (run, node) in self.record.removed.iter().filter(|it| state.nodes.contains_key(&it.1)) {
            let machine = self.record.nodes.get(node).map(|fact| &machines[fact.machine]);
            let left = machine.is_some_and(|it| !it.destroyed && it.logs.contains(run));
            ensure!(
                !left,
                "the log of run {run} is still on node {node}, and its task was removed"
            );
        }
        let gpus = state.nodes.values().flat_map(|node| &node.gpus);
        for gpu in gpus {
            ensure!(gpu.holders.is_empty(), "GPU {} is held by nobody's run", gpu.id);
        }
        Ok(())
    }
}

/// Judged by what the machines have. Over several nodes the placement rule has its say: there
/// the task may wait only if it is told so.
fn cannot_run(task: &Task, state: &State, machines: &[SimMachine], clock: Time) -> bool {
    let request = &task.spec.request;
    let has = |node: &danlu_core::Node, (name, wanted): (&String, &u32)| {
        node.resources.get(name).is_some_and(|there| there >= wanted)
    };
    let counted = |node: &danlu_core::Node| request.resources.iter().all(|it| has(node, it));
    let known = |machine: &&SimMachine| {
        let node = state.nodes.values().find(|node| node.name == machine.name);
        request.resources.is_empty() || node.is_some_and(counted)
    };
    // Labels may have changed since it was made.
    let accepts = |machine: &&SimMachine| {
        let node = state.nodes.values().find(|node| node.name == machine.name);
        let labels = node.map_or(&machine.labels, |node| &node.labels);
        request.node.as_ref().is_none_or(|wanted| wanted.matches(&machine.name, labels))
    };
    let twins = machines.iter().any(|machine| machine.twin);
    let machines = machines.iter().filter(known).filter(accepts);
    let machines: Vec<&SimMachine> = machines.collect();
    let rooms = machines.iter().filter(|machine| !machine.destroyed).map(|it| room(it, request));
    if request.nodes > 1 {
        let each = (request.gpus / request.nodes) as usize;
        return rooms.flatten().filter(|room| *room >= each).count() < request.nodes as usize;
    }
    let (mut largest, mut total, mut any) = (0, 0, false);
    for room in rooms.flatten() {
        any = true;
        largest = largest.max(room);
        total += room;
    }
    let gpus = request.gpus as usize;
    if any && gpus <= largest {
        return false;
    }
    if !any || !request.span_nodes || gpus > total {
        return true;
    }
    let reason = explain(state, task.id, clock);
    match reason {
        Some(WaitReason::NeverFits | WaitReason::NodesUnavailable { .. }) => true,
        // The operator has disabled those that a machine has under another name too.
        Some(WaitReason::GpusDisabled { .. }) => twins,
        Some(WaitReason::NamedResources { held_by, .. }) => held_by.is_empty(),
        _ => false,
    }
}

/// The GPUs that a machine could give to such a request if it had nothing else to do.
fn room(machine: &SimMachine, request: &Request) -> Option<usize> {
    let capacity = machine.capacity;
    if request.cpus > capacity.cpus || request.memory > capacity.memory {
        return None;
    }
    let fitting = || {
        let fits = |card: &&SimGpu| {
            !machine.twin && card.memory >= request.gpu_memory && has_model(request, card.model)
        };
        machine.cards.iter().filter(fits)
    };
    let has = |wanted: &u32| fitting().any(|card| card.index == *wanted);
    request.gpu_ids.iter().all(has).then(|| fitting().count())
}
