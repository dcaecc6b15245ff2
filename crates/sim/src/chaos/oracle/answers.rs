//! What the daemon promises by each answer.

use super::Oracle;
use super::record::{NodeFact, Record, TaskFact};
use crate::chaos::engine_driver::Turn;
use crate::chaos::verdict::{Verdict, Violation, ensure};
use danlu_core::task::TaskSpec;
use danlu_core::{Actor, Event, Input, Refusal, Reply, RunId, Span, TaskId, UserId};
use std::collections::BTreeMap;
use std::sync::Arc;

impl Oracle {
    /// What the answer to an input promises.
    pub(super) fn answered(&mut self, turn: &Turn) -> Verdict {
        let reply = match &turn.step.reply {
            Ok(reply) => *reply,
            Err(Refusal::KeyReused) => {
                ensure!(false, "a repeated submit was refused: {:?}", turn.input);
                return Ok(());
            }
            Err(_) => return Ok(()),
        };
        match (&turn.input, reply) {
            (Input::Submit { by, spec, key }, Reply::Task(id)) => {
                self.submitted(id, *by, spec, key.as_ref(), &turn.step.events)?;
            }
            (Input::AddUser { admin: true, .. }, Reply::User(id)) => {
                self.record.admins.insert(id);
            }
            (Input::AddNode { name, labels, .. }, Reply::Node(id)) => {
                let number = name.trim_start_matches('n').split('r').next().unwrap_or("");
                let machine = number.parse().unwrap_or(0);
                let (name, labels) = (name.clone(), labels.clone());
                self.record
                    .nodes
                    .insert(id, NodeFact { machine, name, labels, resources: BTreeMap::new() });
            }
            (Input::Cancel { by, task }, _) => {
                self.permitted(*by, *task)?.cancelled = true;
                self.cancelled_while_running(*task);
            }
            (Input::Hold { by, task }, _) => self.permitted(*by, *task)?.held = true,
            (Input::Configure { settings, .. }, _) => {
                self.record.settings = settings.clone();
                self.record.gpus.reclaimed |= settings.reclaim_unused_memory;
                self.truth.reclaimed |= settings.reclaim_unused_memory;
            }
            (Input::Release { by, task }, _) => {
                self.permitted(*by, *task)?.held = false;
                self.doubt_is_over(*task);
            }
            (Input::EndUnknownRuns { node, .. }, _) => {
                self.truth.unknown_ordered.insert(*node);
            }
            (Input::Retry { by, task }, _) => {
                self.permitted(*by, *task)?.held = false;
                self.doubt_is_over(*task);
                self.waits_for_its_beginning(*task);
            }
            (Input::Edit { by, task, spec }, _) => {
                let fact = self.permitted(*by, *task)?;
                let before = fact.spec.begin;
                if fact.spec.time_limit != spec.time_limit {
                    fact.extra_time = Span::ZERO;
                }
                fact.spec = Arc::new(spec.clone());
                if before != spec.begin {
                    self.waits_for_its_beginning(*task);
                }
                self.release(*task);
            }
            (Input::Extend { by, task, more }, _) => {
                self.permitted(*by, *task)?.extra_time += *more;
            }
            (Input::Keep { by, task, time }, _) => {
                let run = self.permitted(*by, *task)?.last_run;
                self.idle_kept(run, turn.at + *time);
            }
            (Input::Requeue { by, task }, _) => self.permitted(*by, *task)?.put_back = true,
            (
                Input::Pause { by, task }
                | Input::Resume { by, task }
                | Input::Move { by, task, .. }
                | Input::Remove { by, task },
                _,
            ) => {
                self.permitted(*by, *task)?;
            }
            (Input::Abandon { run, .. }, _) => {
                if let Some(fact) = self.record.runs.get_mut(run) {
                    fact.abandoned = true;
                }
            }
            (Input::ManageGpus { node, change, .. }, _) => self.gpus_managed(*node, change),
            (Input::SetLabels { node, change, .. }, _) => {
                if let Some(fact) = self.record.nodes.get_mut(node) {
                    for (key, value) in change {
                        match value {
                            Some(value) => drop(fact.labels.insert(key.clone(), value.clone())),
                            None => drop(fact.labels.remove(key)),
                        }
                    }
                }
            }
            (Input::SetResources { node, resources, .. }, _) => {
                if let Some(fact) = self.record.nodes.get_mut(node) {
                    fact.resources.clone_from(resources);
                }
            }
            (Input::Drain { node, .. }, _) => drop(self.record.drained.insert(*node)),
            (Input::Undrain { node, .. } | Input::RemoveNode { node, .. }, _) => {
                self.record.drained.remove(node);
            }
            _ => {}
        }
        Ok(())
    }

    fn cancelled_while_running(&mut self, id: TaskId) {
        let Record { tasks, runs, .. } = &mut self.record;
        if let Some(fact) = tasks.get_mut(&id) {
            let open = |run: &RunId| runs.get(run).is_some_and(|it| it.ended.is_none());
            fact.cancelled_run = fact.last_run.filter(open);
        }
    }

    /// The first answer to a submit, or one more to the same.
    fn submitted(
        &mut self,
        first: TaskId,
        owner: UserId,
        spec: &TaskSpec,
        key: Option<&String>,
        events: &[Event],
    ) -> Verdict {
        let Record { tasks, keys, .. } = &mut self.record;
        if let Some(key) = key
            && let Some(before) = keys.insert((owner, key.clone()), first)
        {
            ensure!(before == first, "key {key} has made two tasks, {before} and {first}");
        }
        // Elements of an array may be added later, but have their ids.
        let is_new = |event: &Event| match event {
            Event::TaskSubmitted { task, .. } => *task == first,
            Event::TasksSubmitted { first: from, .. } => *from == first,
            _ => false,
        };
        if !events.iter().any(is_new) {
            let fact = tasks.get(&first);
            let same = fact.is_some_and(|it| *it.submitted == *spec && it.key.as_ref() == key);
            ensure!(same && key.is_some(), "task {first} is not what was submitted");
            return Ok(());
        }
        let spec = Arc::new(spec.clone());
        let count = spec.array.as_ref().map_or(1, |array| array.indices.len());
        for id in (first.0..).take(count).map(TaskId) {
            let tasks = &mut self.record.tasks;
            let known = tasks.contains_key(&id);
            let again = self.truth.newest_task.is_some_and(|newest| id <= newest);
            ensure!(!known && !again, "task {id} was given out twice");
            self.truth.newest_task = Some(id);
            let array = spec.array.as_ref().map(|_| first);
            tasks.insert(id, TaskFact::new(owner, key.filter(|_| id == first), &spec, array));
            self.release(id);
            self.waits_for_its_beginning(id);
        }
        Ok(())
    }

    /// Predecessors that have ended already have their say at once.
    fn release(&mut self, id: TaskId) {
        let tasks = &mut self.record.tasks;
        let Some(spec) = tasks.get(&id).map(|fact| Arc::clone(&fact.spec)) else {
            return;
        };
        for after in &spec.after {
            let outcome = tasks.get(&after.task).and_then(|fact| fact.outcome.clone());
            if let Some((outcome, fact)) = outcome.zip(tasks.get_mut(&id)) {
                fact.release(after.task, &outcome);
            }
        }
    }

    fn permitted(&mut self, by: Actor, id: TaskId) -> Verdict<&mut TaskFact> {
        let Record { tasks, admins, .. } = &mut self.record;
        let Some(fact) = tasks.get_mut(&id) else {
            return Err(Violation(format!("something was done to task {id}, which is not there")));
        };
        let permitted = match by {
            Actor::Daemon => true,
            Actor::User(user) => user == fact.owner || admins.contains(&user),
            Actor::Limited(user) => user == fact.owner,
        };
        ensure!(permitted, "{by:?} was let near task {id} of user {}", fact.owner);
        Ok(fact)
    }
}
