//! Whether each order sent to a node is allowed.

use super::Oracle;
use crate::chaos::engine_driver::Turn;
use crate::chaos::verdict::{Verdict, ensure};
use danlu_core::effect::{Launch, StopOrder};
use danlu_core::gpu::GpuCondition;
use danlu_core::run::StopReason;
use danlu_core::{Effect, Event, GpuId, Input, NodeId, Request, RunId, TaskId};
use std::collections::BTreeMap;

impl Oracle {
    pub(super) fn decided(&self, effect: &Effect) -> Verdict {
        let (node, session) = (effect.node(), effect.session());
        let current = self.told.nodes.get(&node).map(|told| told.session);
        ensure!(
            current == Some(session),
            "an effect names session {session} of node {node}, but the newest is {current:?}: {effect:?}"
        );
        match effect {
            Effect::Launch(launch) => self.launch_is_allowed(launch),
            Effect::Forget { run, .. } => {
                let fact = self.record.runs.get(run);
                let settled = fact.is_none_or(|fact| fact.ended.is_some() || fact.part_ended(node));
                ensure!(settled, "run {run} is to be forgotten before its end is recorded");
                Ok(())
            }
            Effect::Stop { run, why, .. } => self.stop_has_a_reason(node, *run, *why),
            Effect::Pause { run, on, .. } => {
                let paused = self.record.runs.get(run).map(|fact| fact.paused);
                ensure!(paused == Some(*on), "run {run} is to be paused: {on}, asked: {paused:?}");
                Ok(())
            }
            Effect::SetLimit { run, limit, .. } => {
                let task = self.record.runs.get(run).and_then(|it| self.record.tasks.get(&it.task));
                let granted = task.and_then(super::record::TaskFact::limit);
                ensure!(
                    granted == Some(*limit),
                    "run {run} may run {limit:?}, granted: {granted:?}"
                );
                Ok(())
            }
            Effect::DropLog { run, .. } => {
                let task = self.record.runs.get(run).map(|fact| fact.task);
                let there = task.is_some_and(|task| self.record.tasks.contains_key(&task));
                ensure!(!there, "the log of run {run} is to be deleted, and its task is there");
                Ok(())
            }
            Effect::AskReport { .. } => Ok(()),
        }
    }

    /// A run is stopped only for one of these reasons.
    fn stop_has_a_reason(&self, node: NodeId, run: RunId, why: StopOrder) -> Verdict {
        let fact = self.record.runs.get(&run);
        let task = fact.and_then(|fact| self.record.tasks.get(&fact.task));
        let holds = match why {
            // What a lost store knew is ended only if an administrator wants it.
            StopOrder::Stray => match fact {
                Some(fact) => fact.part_ended(node),
                None => {
                    self.truth.unknown_ordered.contains(&node) || !self.truth.is_of_lost_time(run)
                }
            },
            StopOrder::Because(StopReason::Cancelled { .. }) => task.is_some_and(|it| it.cancelled),
            StopOrder::Because(StopReason::Preempted) => task.is_some_and(|it| it.spec.preemptible),
            StopOrder::Because(StopReason::Requeued) => task.is_some_and(|it| it.put_back),
            StopOrder::Because(StopReason::Idle { .. }) => fact.is_some_and(|it| it.idle.stopped),
            StopOrder::Because(StopReason::PartFailed { node }) => {
                fact.is_some_and(|fact| fact.part_ended(node))
            }
        };
        ensure!(holds, "run {run} is stopped on node {node} for no reason: {why:?}");
        Ok(())
    }

    fn launch_is_allowed(&self, launch: &Launch) -> Verdict {
        let Launch { node, run, task, spec, .. } = launch;
        let Some(fact) = self.record.tasks.get(task) else {
            ensure!(false, "run {run} is launched for task {task}, which nobody submitted");
            return Ok(());
        };
        ensure!(fact.spec == *spec, "run {run} is launched with another spec than was submitted");
        let (given, granted) = (launch.time_limit, fact.limit());
        ensure!(given == granted, "run {run} is launched to run {given:?}, not {granted:?}");
        ensure!(
            !self.record.drained.contains(node),
            "run {run} is launched on node {node}, which is drained"
        );
        let wanted = spec.request.node.as_ref();
        let accepted = wanted.is_none_or(|wanted| {
            let node = self.record.nodes.get(node);
            node.is_some_and(|node| wanted.matches(&node.name, &node.labels))
        });
        ensure!(accepted, "run {run} is launched on node {node}, but asked for {wanted:?}");
        let unfit = self.told.nodes.get(node).is_some_and(|told| told.unfit);
        ensure!(!unfit, "run {run} is launched on node {node}, which cannot start anything");
        let told = self.told.nodes.get(node).and_then(|told| told.gpus.as_ref());
        let Some(gpus) = told else {
            ensure!(false, "run {run} is launched on node {node} before its first report");
            return Ok(());
        };
        let index = |id: &GpuId| gpus.iter().find(|gpu| gpu.id == *id).map(|gpu| gpu.index);
        let given: Vec<u32> = launch.gpus.iter().filter_map(index).collect();
        let named = &spec.request.gpu_ids;
        ensure!(
            named.iter().all(|wanted| given.contains(wanted)),
            "run {run} asked for the GPUs {named:?} and is given {given:?}"
        );
        self.node_has_memory(*node, *run)?;
        for id in &launch.gpus {
            let gpu = gpus.iter().find(|gpu| gpu.id == *id);
            let condition = gpu.map(|gpu| &gpu.condition);
            let left = gpu.and_then(|gpu| gpu.usage.other_memory).is_some();
            let foreign = matches!(condition, Some(GpuCondition::Foreign { .. }));
            let shares = spec.request.is_shared() && foreign && left;
            ensure!(
                condition == Some(&GpuCondition::Idle) || shares,
                "run {run} is given GPU {id}, last reported as {condition:?}"
            );
            self.gpu_is_given_out(launch, gpu)?;
            let fits = gpu.is_some_and(|gpu| {
                gpu.memory >= spec.request.gpu_memory && has_model(&spec.request, &gpu.model)
            });
            ensure!(fits, "run {run} is given GPU {id}, which is not what it asked for");
        }
        Ok(())
    }

    /// A run's parts are launched together and are what the task asked for.
    pub(super) fn launched_whole(&self, turn: &Turn) -> Verdict {
        for event in &turn.step.events {
            if let Event::RunLaunched { run, task, nodes, .. } = event {
                self.parts_fit(turn, *run, *task, nodes.len())?;
                nodes.iter().try_for_each(|node| self.resources_suffice(*task, *node))?;
                // Who starts a task by hand goes before any limit.
                if !matches!(turn.input, Input::Start { .. }) {
                    self.array_keeps_its_limit(*task)?;
                }
            }
        }
        Ok(())
    }

    /// With all that run there, and this one.
    fn resources_suffice(&self, task: TaskId, node: NodeId) -> Verdict {
        let wanted = self.record.tasks.get(&task).map(|fact| &fact.spec.request.resources);
        let there = self.record.nodes.get(&node).map(|fact| &fact.resources);
        for name in wanted.into_iter().flat_map(|wanted| wanted.keys()) {
            let going = self.record.runs.values().filter(|run| !run.part_ended(node));
            let tasks = going.filter_map(|run| self.record.tasks.get(&run.task));
            let taken: u32 = tasks.filter_map(|it| it.spec.request.resources.get(name)).sum();
            let there = there.and_then(|there| there.get(name)).copied().unwrap_or(0);
            ensure!(taken <= there, "{taken} of {name} are taken on node {node}, not {there}");
        }
        Ok(())
    }

    fn array_keeps_its_limit(&self, task: TaskId) -> Verdict {
        let Some(fact) = self.record.tasks.get(&task) else {
            return Ok(());
        };
        let limit = fact.spec.array.as_ref().and_then(|array| array.at_once);
        let Some((first, limit)) = fact.array.zip(limit) else {
            return Ok(());
        };
        let going = self.record.runs.values().filter(|run| run.ended.is_none());
        let tasks = going.filter_map(|run| self.record.tasks.get(&run.task));
        let count = tasks.filter(|task| task.array == Some(first)).count();
        ensure!(count <= limit as usize, "{count} tasks of array {first} run, not {limit}");
        Ok(())
    }

    fn parts_fit(&self, turn: &Turn, run: RunId, task: TaskId, nodes: usize) -> Verdict {
        let parts = turn.step.effects.iter().filter_map(|effect| match effect {
            Effect::Launch(launch) if launch.run == run => Some(launch),
            _ => None,
        });
        let (mut count, mut gpus) = (0, 0);
        let mut each = BTreeMap::new();
        for part in parts {
            let twice = each.insert(part.node, part.gpus.len());
            ensure!(twice.is_none(), "two parts of run {run} are on node {}", part.node);
            ensure!(
                part.rank as usize == count,
                "the parts of run {run} are not numbered in order"
            );
            ensure!(part.task == task, "a part of run {run} is of another task");
            count += 1;
            gpus += part.gpus.len();
        }
        ensure!(count == nodes, "run {run} is on {nodes} nodes but {count} are told");
        let Some(fact) = self.record.tasks.get(&task) else {
            return Ok(());
        };
        let request = &fact.spec.request;
        if request.nodes > 1 {
            let asked = (request.nodes as usize, (request.gpus / request.nodes) as usize);
            let equal = each.values().all(|gpus| *gpus == asked.1);
            ensure!(
                nodes == asked.0 && equal,
                "run {run} asks for {} nodes with {} GPUs each, and has {each:?}",
                asked.0,
                asked.1
            );
            return Ok(());
        }
        ensure!(gpus == request.gpus as usize, "run {run} gets {gpus} GPUs, not {}", request.gpus);
        ensure!(nodes == 1 || request.span_nodes, "run {run} must stay on one node");
        Ok(())
    }
}

pub(super) fn has_model(request: &Request, model: &str) -> bool {
    let wanted = request.gpu_model.as_ref().map(|model| model.to_lowercase());
    wanted.is_none_or(|wanted| model.to_lowercase().contains(&wanted))
}
