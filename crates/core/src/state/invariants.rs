//! Checks every invariant of the state from scratch, for tests and the simulator.

use crate::model::gpu::Gpu;
use crate::model::ids::RunId;
use crate::model::limits;
use crate::model::node::Node;
use crate::model::resources::Sharing;
use crate::model::run::{PartState, Run, RunPart, RunState};
use crate::model::task::{Task, TaskState};
use crate::state::State;
use std::collections::BTreeMap;

impl State {
    /// Describes the first broken invariant.
    pub fn check(&self) -> Result<(), String> {
        self.check_rows()?;
        self.check_index()
    }

    /// The same without the index, which is most of the work.
    pub fn check_rows(&self) -> Result<(), String> {
        self.tasks.iter().try_for_each(|(id, task)| {
            ensure(*id == task.id, || format!("task {id} is filed wrong"))?;
            self.check_task(task)
        })?;
        self.runs.iter().try_for_each(|(id, run)| {
            ensure(*id == run.id, || format!("run {id} is filed wrong"))?;
            self.check_run(run)
        })?;
        self.nodes.values().try_for_each(|node| self.check_node(node))?;
        self.check_log_removals()?;
        self.check_past_work()?;
        self.check_holders()
    }

    fn check_past_work(&self) -> Result<(), String> {
        self.past_work.iter().try_for_each(|(user, past)| {
            let known = *user == past.user && self.users.contains_key(user);
            ensure(known, || format!("the past work of user {user} is filed wrong"))?;
            ensure(!past.is_empty() && past.is_bounded(), || {
                format!("the past work of user {user} has the wrong size")
            })?;
            let live = past.ended().find(|(_, it)| self.tasks.contains_key(&it.1));
            ensure(live.is_none(), || format!("user {user} has past work that is still there"))
        })
    }

    fn check_task(&self, task: &Task) -> Result<(), String> {
        let id = task.id;
        ensure(id < self.ledger.next_task, || format!("task {id} has an id of the future"))?;
        ensure(task.spec_id < self.ledger.next_spec, || {
            format!("task {id} has a spec of the future")
        })?;
        ensure(self.users.contains_key(&task.owner), || format!("task {id} has no owner"))?;
        match &task.state {
            TaskState::Blocked { on } => {
                ensure(!on.is_empty(), || format!("task {id} is blocked on nothing"))?;
                for other in on {
                    let named = task.spec.after.iter().any(|after| after.task == *other);
                    ensure(named, || format!("task {id} waits for {other}, unasked"))?;
                    let open = self.tasks.get(other).is_some_and(|task| !task.is_finished());
                    ensure(open, || format!("task {id} waits for {other}, which has ended"))?;
                }
            }
            TaskState::Active { run } => {
                let active = self.runs.get(run).is_some_and(|it| it.task == id && !it.is_ended());
                ensure(active, || format!("task {id} is active without a run"))?;
                ensure(task.trail().last_run == Some(*run), || {
                    format!("task {id} forgot run {run}")
                })?;
            }
            TaskState::Held | TaskState::Queued { .. } | TaskState::Finished { .. } => {}
        }
        Ok(())
    }

    fn check_run(&self, run: &Run) -> Result<(), String> {
        let id = run.id;
        let next = RunId { epoch: self.ledger.epoch, number: self.ledger.next_run };
        ensure(id < next, || format!("run {id} has an id of the future"))?;
        let Some(task) = self.tasks.get(&run.task) else {
            return Err(format!("run {id} has no task"));
        };
        let active = task.state == TaskState::Active { run: id };
        ensure(active != run.is_ended(), || {
            format!("run {id} and task {} disagree on whether it runs", task.id)
        })?;
        ensure(!run.parts.is_empty(), || format!("run {id} is nowhere"))?;
        let all_ended = run.parts.iter().all(RunPart::is_ended);
        ensure(all_ended == run.is_ended(), || format!("run {id} and its parts disagree"))?;
        let launching =
            run.parts.iter().any(|part| matches!(part.state, PartState::Launching { .. }));
        match run.state {
            RunState::Starting => ensure(launching, || format!("run {id} has started long ago")),
            RunState::Running { .. } | RunState::Paused { .. } => {
                ensure(!launching, || format!("run {id} is still starting"))
            }
            RunState::Stopping { .. } | RunState::Ended { .. } => Ok(()),
        }
    }

    fn check_node(&self, node: &Node) -> Result<(), String> {
        let name = &node.name;
        ensure(node.id < self.ledger.next_node, || format!("node {name} is of the future"))?;
        let count = node.gpus.len();
        ensure(count <= limits::GPUS_PER_NODE, || format!("node {name} has {count} GPUs"))?;
        let sorted = node.gpus.is_sorted_by(|a, b| (a.index, &a.id) < (b.index, &b.id));
        ensure(sorted, || format!("the GPUs of node {name} are out of order"))?;
        for unknown in &node.unknown_runs {
            let known = self.runs.contains_key(&unknown.run);
            ensure(!known, || format!("node {name} has run {}, which is known", unknown.run))?;
        }
        if node.is_ready() {
            for id in self.runs_on(node.id) {
                if let Some(PartState::Launching { session }) =
                    self.runs[&id].part_on(node.id).map(|part| &part.state)
                {
                    ensure(*session == node.session, || {
                        format!("run {id} waits for a launch on a connection that is gone")
                    })?;
                }
            }
        }
        Ok(())
    }

    fn check_log_removals(&self) -> Result<(), String> {
        self.log_removals.iter().try_for_each(|(id, removal)| {
            ensure(*id == removal.run, || format!("the removed log {id} is filed wrong"))?;
            ensure(!self.runs.contains_key(id), || format!("run {id} is there without its log"))?;
            let known = |node| self.nodes.contains_key(node);
            ensure(!removal.nodes.is_empty() && removal.nodes.iter().all(known), || {
                format!("the log of run {id} is to be deleted where no node is")
            })
        })
    }

    /// A GPU is held by those that say so, and by several only if they agreed to share it in the same way.
    fn check_holders(&self) -> Result<(), String> {
        let mut holders: BTreeMap<_, Vec<RunId>> = BTreeMap::new();
        for run in self.runs.values() {
            for part in run.parts.iter().filter(|part| !part.is_ended()) {
                for gpu in &part.gpus {
                    holders.entry((part.node, gpu)).or_default().push(run.id);
                }
            }
        }
        for node in self.nodes.values() {
            for gpu in &node.gpus {
                let runs = holders.remove(&(node.id, &gpu.id)).unwrap_or_default();
                ensure(runs == gpu.holders, || {
                    format!("GPU {} says {:?}, the runs say {runs:?}", gpu.id, gpu.holders)
                })?;
                self.check_together(gpu)?;
            }
        }
        match holders.first_key_value() {
            Some(((_, gpu), run)) => {
                Err(format!("run {run:?} holds GPU {gpu}, which is not there"))
            }
            None => Ok(()),
        }
    }

    fn check_together(&self, gpu: &Gpu) -> Result<(), String> {
        let sharing = |run: &RunId| self.tasks[&self.runs[run].task].spec.request.sharing;
        let kinds: Vec<Sharing> = gpu.holders.iter().map(sharing).collect();
        let shared = kinds.iter().filter(|kind| matches!(kind, Sharing::Shared { .. })).count();
        ensure(shared == 0 || shared == kinds.len(), || {
            format!("GPU {} is shared by some and held by others: {:?}", gpu.id, gpu.holders)
        })?;
        ensure(kinds.len() < 2 || !kinds.contains(&Sharing::Exclusive), || {
            format!("GPU {} is held by one for itself and by others: {:?}", gpu.id, gpu.holders)
        })?;
        let tenants = gpu.tenants.iter().all(|tenant| gpu.holders.contains(&tenant.run));
        ensure(tenants, || format!("GPU {} remembers runs that have left it", gpu.id))
    }

    /// The index is what the rows make it.
    fn check_index(&self) -> Result<(), String> {
        let fresh = self.rebuilt();
        let (ours, theirs) = (&self.index, &fresh.index);
        let differs = |what: &str| format!("the index of {what} is out of step");
        ensure(ours.queue == theirs.queue, || differs("queued tasks"))?;
        ensure(ours.pool == theirs.pool, || differs("free resources"))?;
        ensure(ours.held == theirs.held, || differs("held GPUs"))?;
        ensure(ours.releases == theirs.releases, || differs("expected ends"))?;
        ensure(ours.log_bytes == theirs.log_bytes, || differs("kept logs"))?;
        ensure(ours == theirs, || differs("something else"))
    }
}

fn ensure(holds: bool, broken: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(broken()) }
}
