//! What physically happens on the machines.

use super::Oracle;
use crate::chaos::verdict::{Verdict, ensure};
use danlu_core::effect::Launch;
use danlu_core::node::Capacity;
use danlu_core::resources::Sharing;
use danlu_core::run::Ending;
use danlu_core::task::TaskSpec;
use danlu_core::{Epoch, GpuId, NodeId, Request, RunId, Span, TaskId, Time};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Beyond its limit, a process may take this long to end.
const LIMIT_SLACK: Span = Span(1000);

#[derive(Debug, Default)]
pub(super) struct Truth {
    /// By run and machine: a run is met once in the life of the world.
    parts: BTreeMap<(RunId, usize), Part>,
    in_use: BTreeMap<GpuId, BTreeMap<RunId, Arc<TaskSpec>>>,
    load: BTreeMap<usize, Capacity>,
    /// The most slots that a GPU was ever said to have: who came then may still be there, whatever is restored.
    pub(super) most_slots: BTreeMap<GpuId, u16>,
    pub(super) most_anywhere: u16,
    /// Tasks may have counted as less than they asked for.
    pub(super) reclaimed: bool,
    /// The highest acknowledged id, whatever is restored.
    pub(super) newest_task: Option<TaskId>,
    /// Of which task each run is that was ever launched.
    pub(super) task_of: BTreeMap<RunId, TaskId>,
    /// Tasks that may have run without the daemon's knowledge, until they are released.
    pub(super) in_doubt: BTreeSet<TaskId>,
    /// Those whose last run has left no record on its machine.
    pub(super) unrecorded: BTreeSet<TaskId>,
    /// Nodes where an administrator has ended unknown runs.
    pub(super) unknown_ordered: BTreeSet<NodeId>,
}

/// What a machine is made of.
#[derive(Debug)]
pub(in crate::chaos) struct Hardware {
    pub(in crate::chaos) capacity: Capacity,
    /// The memory of each GPU.
    pub(in crate::chaos) cards: BTreeMap<GpuId, u64>,
}

/// Whether these may be on one GPU at the same time.
fn may_meet(
    gpu: &GpuId,
    users: &BTreeMap<RunId, Arc<TaskSpec>>,
    slots: u16,
    memory: Option<u64>,
) -> Verdict {
    let runs: Vec<String> = users.keys().map(ToString::to_string).collect();
    let runs = runs.join(" and ");
    if users.len() < 2 {
        return Ok(());
    }
    let requests = || users.values().map(|spec| &*spec.request);
    if requests().all(Request::is_shared) {
        let asked: u64 = requests().map(|request| request.gpu_memory).sum();
        let fits = memory.is_none_or(|memory| asked <= memory);
        ensure!(fits, "runs {runs} share GPU {gpu} and ask for {asked} of {memory:?} bytes");
        return Ok(());
    }
    let by_count = requests().all(|request| request.sharing == Sharing::Slot);
    ensure!(by_count, "GPU {gpu} is used by runs {runs} at the same time");
    ensure!(users.len() <= usize::from(slots), "GPU {gpu} has {slots} slots for runs {runs}");
    Ok(())
}

/// What has become of a run on one machine.
#[derive(Debug, Default)]
pub(super) struct Part {
    starts: u32,
    alive_since: Option<Time>,
    pub(super) ending: Option<Ending>,
    /// The directory is gone, and its content with it.
    pub(super) removed: bool,
}

impl Part {
    pub(super) fn has_started(&self) -> bool {
        self.starts > 0
    }

    pub(super) fn is_alive(&self) -> bool {
        self.alive_since.is_some()
    }
}

impl Truth {
    pub(super) fn part(&self, run: RunId, machine: usize) -> Option<&Part> {
        self.parts.get(&(run, machine))
    }

    pub(super) fn parts(&self, run: RunId) -> impl Iterator<Item = &Part> {
        self.parts.range((run, 0)..=(run, usize::MAX)).map(|(_, part)| part)
    }

    /// It was launched for good, and the store that knew is gone.
    pub(super) fn is_of_lost_time(&self, run: RunId) -> bool {
        self.task_of.contains_key(&run)
    }

    pub(super) fn alive(&self) -> impl Iterator<Item = RunId> {
        self.parts.iter().filter(|(_, part)| part.is_alive()).map(|((run, _), _)| *run)
    }
}

impl Oracle {
    pub(in crate::chaos) fn directory_made(&mut self, run: RunId, machine: usize) {
        self.truth.parts.entry((run, machine)).or_default();
    }

    /// On the daemon's order.
    pub(in crate::chaos) fn directory_removed(&mut self, run: RunId, machine: usize) -> Verdict {
        self.truth.parts.entry((run, machine)).or_default().removed = true;
        Ok(())
    }

    pub(in crate::chaos) fn directory_wiped(&mut self, run: RunId, machine: usize) {
        self.truth.parts.entry((run, machine)).or_default().removed = true;
        self.record_gone(run, machine);
    }

    pub(in crate::chaos) fn process_starts(
        &mut self,
        machine: usize,
        hardware: &Hardware,
        launch: &Launch,
        now: Time,
        epoch: Epoch,
    ) -> Verdict {
        let run = launch.run;
        let part = self.truth.parts.entry((run, machine)).or_default();
        part.starts += 1;
        part.alive_since = Some(now);
        ensure!(part.starts == 1, "run {run} starts for the second time on the same machine");
        for gpu in &launch.gpus {
            let users = self.truth.in_use.entry(gpu.clone()).or_default();
            users.insert(run, Arc::clone(&launch.spec));
            let slots = self.truth.most_slots.get(gpu).copied().unwrap_or(1);
            let slots = slots.max(self.truth.most_anywhere);
            let memory = hardware.cards.get(gpu).copied();
            // What a lost store knew of a machine's other name is seen as a foreign process, and no launch is allowed
            // beside it (see `launch_is_allowed`); what starts there after the last probe nobody can know.
            let known = |other: &RunId| {
                self.record.runs.contains_key(other)
                    || self.truth.parts.get(&(*other, machine)).is_some_and(Part::is_alive)
            };
            let users = users.iter().filter(|(other, _)| known(other));
            let users = users.map(|(other, spec)| (*other, Arc::clone(spec))).collect();
            may_meet(gpu, &users, slots, memory.filter(|_| !self.truth.reclaimed))?;
        }
        let capacity = hardware.capacity;
        let none = Capacity { cpus: 0, memory: 0 };
        let load = self.truth.load.entry(machine).or_insert(none);
        load.cpus += launch.spec.request.cpus;
        load.memory += launch.spec.request.memory;
        let load = *load;
        // Nobody tells how many CPUs the runs have that a lost store knew.
        let here =
            self.truth.parts.iter().filter(|((_, at), part)| *at == machine && part.is_alive());
        let all_known = here.map(|((run, _), _)| run).all(|run| self.record.runs.contains_key(run));
        ensure!(
            !all_known || load.cpus <= capacity.cpus && load.memory <= capacity.memory,
            "run {run} makes its machine use {load:?} of {capacity:?}"
        );
        self.may_start(run, epoch)
    }

    fn may_start(&self, run: RunId, epoch: Epoch) -> Verdict {
        let Some(fact) = self.record.runs.get(&run) else {
            let rewound = run.epoch < epoch;
            ensure!(rewound, "run {run} starts although its launch was never committed");
            return Ok(());
        };
        // An abandoned run may start or go on nevertheless.
        if fact.abandoned {
            return Ok(());
        }
        ensure!(fact.ended.is_none(), "run {run} starts after its end was recorded");
        let Some(task) = self.record.tasks.get(&fact.task) else {
            ensure!(false, "run {run} starts, but its task {} was removed", fact.task);
            return Ok(());
        };
        let outcome = &task.outcome;
        ensure!(outcome.is_none(), "run {run} starts, but task {} is over: {outcome:?}", fact.task);
        for dependency in &task.spec.after {
            let released = task.released.contains(&dependency.task);
            ensure!(released, "run {run} of task {} starts, {dependency:?} unmet", fact.task);
        }
        Ok(())
    }

    /// Answers how much GPU time it used.
    pub(in crate::chaos) fn run_ends(
        &mut self,
        machine: usize,
        launch: &Launch,
        ending: &Ending,
        now: Time,
        (idle, limit): (Span, Option<Span>),
    ) -> Verdict<Span> {
        let part = self.truth.parts.entry((launch.run, machine)).or_default();
        part.ending = Some(ending.clone());
        let Some(since) = part.alive_since.take() else {
            return Ok(Span::ZERO);
        };
        for gpu in &launch.gpus {
            if let Some(users) = self.truth.in_use.get_mut(gpu) {
                users.remove(&launch.run);
            }
        }
        if let Some(load) = self.truth.load.get_mut(&machine) {
            load.cpus -= launch.spec.request.cpus;
            load.memory -= launch.spec.request.memory;
        }
        let ran = now.since(since).saturating_sub(idle);
        let vanished = matches!(ending.exit, danlu_core::run::Exit::Vanished { .. });
        let limit = limit.filter(|_| !vanished && !ending.stopped);
        let in_time = limit.is_none_or(|limit| ran <= limit + LIMIT_SLACK);
        ensure!(in_time, "run {} runs {}ms, beyond its time limit", launch.run, ran.0);
        Ok(ran.times(launch.spec.request.gpus.min(launch.gpus.len() as u32)))
    }
}
