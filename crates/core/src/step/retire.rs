//! Ended tasks leave the state, and `Recall` brings one back before an input that names it.

use crate::fault_injection::{Mutant, mutated};
use crate::model::ids::{NodeId, RunId, TaskId, UserId};
use crate::model::limits;
use crate::model::node::Link;
use crate::model::run::ReportedState;
use crate::state::{Retired, State};
use crate::step::effect::StopOrder;
use crate::step::event::Event;
use crate::step::input::{Input, NodeMessage, NodeReport, depends_on};
use crate::step::nodes;
use crate::step::refusal::Refusal;
use crate::step::runs;
use crate::step::{Answer, Reply, Turn};
use std::collections::BTreeSet;

/// What an input names that is not in the state. The store may have it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Missing {
    Task(TaskId),
    /// The task that this user submitted with this key.
    Key(UserId, String),
}

/// A slice of the ended tasks that are no longer recent.
pub(crate) fn retire(turn: &mut Turn<'_>) {
    let leaving = turn.state.to_retire();
    if leaving.is_empty() {
        return;
    }
    let (mut tasks, mut specs, mut runs) = (Vec::new(), Vec::new(), Vec::new());
    let mut users = BTreeSet::new();
    for id in leaving {
        let (retired, spec) = turn.state.retire(id);
        tasks.push(id);
        specs.extend(spec);
        runs.extend(retired.runs.iter().map(|run| run.id));
        users.insert(retired.task.owner);
        if !mutated(Mutant::RetiredDropped) {
            turn.retired.push(retired);
        }
    }
    turn.event(Event::TasksRetired { tasks, specs, runs, users: users.into_iter().collect() });
}

/// It is an ended task of the state again, until it is no longer recent.
pub(crate) fn recall(turn: &mut Turn<'_>, mut retired: Retired) -> Answer {
    if mutated(Mutant::RecallForgetsRuns) {
        retired.runs.clear();
    }
    let (task, owner) = (retired.task.id, retired.task.owner);
    if !turn.state.may_recall(&retired) {
        return Err(Refusal::NoSuchTask(task));
    }
    let runs: Vec<RunId> = retired.runs.iter().map(|run| run.id).collect();
    let spec = turn.state.recall(retired);
    stop_strays(turn, &runs);
    turn.event(Event::TaskRecalled { task, owner, spec, runs });
    Ok(Reply::Done)
}

/// A machine that did not say which task its run is of may have one of them, which counted as unknown: it is known to
/// have ended now.
fn stop_strays(turn: &mut Turn<'_>, runs: &[RunId]) {
    let has = |run: RunId| runs.binary_search(&run).is_ok();
    let nodes = turn.state.nodes.values().filter(|node| !node.unknown_runs.is_empty());
    let nodes: Vec<(NodeId, Vec<RunId>)> = nodes
        .map(|node| {
            let strays = node.unknown_runs.iter().map(|it| it.run).filter(|run| has(*run));
            (node.id, strays.collect())
        })
        .collect();
    let since = turn.now;
    for (id, strays) in nodes.into_iter().filter(|(_, strays)| !strays.is_empty()) {
        turn.state.change_unknown_runs(id, |unknown| unknown.retain(|it| !has(it.run)));
        for run in &strays {
            runs::send_stop(turn, id, *run, StopOrder::Stray);
        }
        if turn.state.nodes[&id].is_ready() {
            turn.state.change_node(id, |node| node.link = Link::Unverified { since });
        }
        turn.event(Event::NodeHasStrays { node: id, runs: strays });
    }
}

impl Input {
    /// What it names that is not in the state, as far as the decision depends on it. To be asked again after that was
    /// recalled: what a task depends on is known with the task.
    pub fn missing(&self, state: &State) -> Vec<Missing> {
        if let Input::Submit { by, key: Some(key), .. } = self {
            if state.index.keys.contains_key(&(*by, key.as_str().into())) {
                return Vec::new();
            }
            let unknown =
                (!mutated(Mutant::OldKeyForgotten)).then(|| Missing::Key(*by, key.clone()));
            return unknown.into_iter().chain(absent(state, self.tasks())).collect();
        }
        let mut missing = absent(state, self.tasks());
        if let Input::Retry { task, .. } = self
            && let Some(task) = state.tasks.get(task)
            && !mutated(Mutant::OldDependencyIgnored)
        {
            missing.extend(absent(state, depends_on(&task.spec)));
        }
        if let Input::Node { node, session, message: NodeMessage::Report(report) } = self
            && nodes::is_current(state, *node, *session)
        {
            missing.extend(absent(state, tasks_of_unknown_runs(state, report)));
        }
        missing
    }
}

/// Runs of an earlier epoch that go on: of a lost store, or of a task that has ended and left the state, and then they
/// are strays. Those of the present epoch are strays in any case.
fn tasks_of_unknown_runs<'a>(
    state: &'a State,
    report: &'a NodeReport,
) -> impl Iterator<Item = TaskId> + 'a {
    let unknown = report.runs.iter().filter(|it| {
        matches!(it.state, ReportedState::Alive { .. })
            && it.run.epoch < state.ledger.epoch
            && !state.runs.contains_key(&it.run)
    });
    unknown.take(limits::UNKNOWN_RUNS_PER_NODE).filter_map(|it| it.task)
}

fn absent(state: &State, tasks: impl IntoIterator<Item = TaskId>) -> Vec<Missing> {
    let absent = |id: &TaskId| *id < state.ledger.next_task && !state.tasks.contains_key(id);
    tasks.into_iter().filter(absent).map(Missing::Task).collect()
}
