//! A read-only state that follows another by its changed rows, for questions that the rows alone do not answer.
//!
//! It has the open tasks and the statistics of ended ones, and answers as the original would: why a task waits, when it
//! is expected to start. `step` is never called on it.

use super::State;
use crate::model::ids::{NodeId, RunId, TaskId, UserId};
use crate::model::node::Node;
use crate::model::past_work::PastWork;
use crate::model::run::Run;
use crate::model::settings::Order;
use crate::model::task::Task;
use crate::model::user::User;
use crate::state::rows::Ledger;
use std::sync::Arc;

/// What has changed between two commits. `None` where there is no such row.
#[derive(Debug, Default)]
pub struct Changes<'a> {
    pub ledger: Option<&'a Ledger>,
    pub users: Vec<(UserId, Option<&'a User>)>,
    pub nodes: Vec<(NodeId, Option<&'a Node>)>,
    pub tasks: Vec<TaskChange<'a>>,
    pub runs: Vec<(RunId, Option<&'a Arc<Run>>)>,
    pub past_work: Vec<(UserId, Option<&'a Arc<PastWork>>)>,
}

/// Before and after.
pub type TaskChange<'a> = (TaskId, Option<&'a Arc<Task>>, Option<&'a Arc<Task>>);

impl State {
    /// All rows are new.
    pub fn following(rows: &Changes<'_>) -> State {
        let mut state = State::new();
        if let Some(ledger) = rows.ledger {
            state.ledger = ledger.clone();
        }
        state.follow(rows);
        state
    }

    /// `false` if that takes a new one.
    pub fn follow(&mut self, changes: &Changes<'_>) -> bool {
        if let Some(ledger) = changes.ledger {
            if ledger.settings != self.ledger.settings {
                return false;
            }
            self.ledger = ledger.clone();
        }
        // Runs are on nodes and of tasks: they go first and come last.
        changes.runs.iter().for_each(|(id, _)| self.unhook_run(*id));
        changes.nodes.iter().for_each(|(id, node)| self.follow_node(*id, *node));
        for (id, user) in &changes.users {
            match user {
                Some(user) => self.insert_user(User::clone(user)),
                None => drop(self.users.remove(id)),
            }
        }
        // A task that has left the state, or is back, is counted once: the old record goes first, the new one comes last.
        changes.past_work.iter().for_each(|(user, _)| self.remove_past_work(*user));
        for (id, before, after) in &changes.tasks {
            self.follow_task(*id, *before, *after);
        }
        for past in changes.past_work.iter().filter_map(|(_, past)| *past) {
            self.insert_past_work(Arc::clone(past));
        }
        let going = changes.runs.iter().filter_map(|(_, run)| *run);
        for run in going.filter(|run| !run.is_ended()) {
            self.insert_run(Arc::clone(run));
        }
        true
    }

    fn follow_node(&mut self, id: NodeId, node: Option<&Node>) {
        let Some(mut node) = node.cloned() else {
            return self.remove_node(id);
        };
        if !self.nodes.contains_key(&id) {
            return self.insert_node(node);
        }
        for gpu in &mut node.gpus {
            let holds = |run: &RunId| {
                self.runs[run].part_on(id).is_some_and(|part| part.gpus.contains(&gpu.id))
            };
            gpu.holders = self.runs_on(id).filter(holds).collect();
        }
        self.nodes.insert(id, node);
        self.refresh_gpus(id);
    }

    fn follow_task(&mut self, id: TaskId, before: Option<&Arc<Task>>, after: Option<&Arc<Task>>) {
        if let Some(task) = before.filter(|task| task.is_finished()) {
            self.index.demand_mix.remove(&task.spec.request);
            self.index.history.unlearn(task);
            if self.settings().order == Order::Auto {
                self.index.queue.batches_mut().uncount(task);
            }
        }
        match after {
            Some(task) if !task.is_finished() => match self.tasks.contains_key(&id) {
                true => self.replace_task(id, Arc::clone(task)),
                false => self.insert_task(Arc::clone(task)),
            },
            ended => {
                if self.tasks.contains_key(&id) {
                    self.remove_task(id);
                }
                if let Some(task) = ended {
                    self.index.demand_mix.add(&task.spec.request);
                    self.index.history.learn(task);
                    if self.settings().order == Order::Auto {
                        self.index.queue.batches_mut().count(task);
                    }
                }
            }
        }
    }

    fn unhook_run(&mut self, id: RunId) {
        let Some(run) = self.runs.get(&id) else { return };
        let task = run.task;
        if let Some(at) = run.release_at() {
            self.index.releases.remove(&(at, id));
        }
        let nodes: Vec<NodeId> = self.held_by(id).iter().map(|hold| hold.node).collect();
        nodes.into_iter().for_each(|node| self.free_part(id, node));
        self.index.held.remove(&id);
        if let Some(runs) = self.index.runs_of.get_mut(&task) {
            runs.remove(&id);
        }
        self.runs.remove(&id);
    }
}
