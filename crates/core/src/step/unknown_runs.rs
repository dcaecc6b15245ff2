//! Runs on a machine that the state does not know, because the store was lost or is older than they are. They are users'
//! work and go on; their GPUs count as used until they end or an administrator ends them.

use crate::fault_injection::{Mutant, mutated};
use crate::model::ids::{GpuId, NodeId, RunId, TaskId};
use crate::model::limits;
use crate::model::node::UnknownRun;
use crate::model::run::{ReportedState, RunReport};
use crate::state::State;
use crate::step::boot::HIGHEST_ID;
use crate::step::effect::StopOrder;
use crate::step::event::Event;
use crate::step::input::Actor;
use crate::step::nodes::known;
use crate::step::permission::require_admin;
use crate::step::refusal::Refusal;
use crate::step::runs;
use crate::step::{Answer, Reply, Turn};
use std::collections::BTreeSet;

/// A machine may report run ids up to this far beyond the known ones; higher ones are not believed.
const RUNS_AHEAD: u64 = 1_000_000_000;

/// An administrator ends the unknown runs of a node.
pub(crate) fn end(turn: &mut Turn<'_>, by: Actor, id: NodeId) -> Answer {
    require_admin(turn.state, by)?;
    known(turn.state, id)?;
    let node = &turn.state.nodes[&id];
    let unknown: Vec<RunId> = node.unknown_runs.iter().map(|it| it.run).collect();
    if unknown.is_empty() {
        return Err(Refusal::NoUnknownRuns { name: node.name.clone() });
    }
    turn.state.change_unknown_runs(id, |runs| runs.iter_mut().for_each(|it| it.stopping = true));
    for run in &unknown {
        runs::send_stop(turn, id, *run, StopOrder::Stray);
    }
    turn.event(Event::UnknownRunsStopping { node: id, runs: unknown });
    Ok(Reply::Done)
}

/// Whether this run belongs to a lost store. Runs that the state has known, or with ids that were never assigned, do
/// not.
pub(crate) fn is_unknown(state: &State, run: RunId) -> bool {
    let ledger = &state.ledger;
    let ahead = run.epoch == ledger.epoch
        && (ledger.next_run..ledger.next_run.saturating_add(RUNS_AHEAD)).contains(&run.number);
    let lost = run.epoch < ledger.epoch || ahead;
    lost && !state.runs.contains_key(&run) && !mutated(Mutant::UnknownRunStopped)
}

/// A report lists all of them. Returns whether they are few enough to be kept.
pub(crate) fn take(turn: &mut Turn<'_>, id: NodeId, reports: &[RunReport]) -> bool {
    let before = &turn.state.nodes[&id].unknown_runs;
    let ordered: BTreeSet<RunId> =
        before.iter().filter(|it| it.stopping).map(|it| it.run).collect();
    let was: BTreeSet<RunId> = before.iter().map(|it| it.run).collect();
    let mut unknown: Vec<UnknownRun> = reports.iter().filter_map(unknown_run).collect();
    unknown.iter_mut().for_each(|it| it.stopping = ordered.contains(&it.run));
    unknown.sort_by_key(|it| it.run);
    unknown.dedup_by_key(|it| it.run);
    let few = unknown.len() <= limits::UNKNOWN_RUNS_PER_NODE;
    unknown.truncate(limits::UNKNOWN_RUNS_PER_NODE);
    let is: BTreeSet<RunId> = unknown.iter().map(|it| it.run).collect();
    skip_ids(turn, &unknown);
    let changed = turn.state.nodes[&id].unknown_runs != unknown;
    if changed {
        turn.state.change_unknown_runs(id, |runs| *runs = unknown);
        turn.event(Event::GpusChanged { node: id });
    }
    let new: Vec<RunId> = is.difference(&was).copied().collect();
    let over: Vec<RunId> = was.difference(&is).copied().collect();
    if !new.is_empty() {
        turn.event(Event::NodeHasUnknownRuns { node: id, runs: new });
    }
    if !over.is_empty() {
        turn.event(Event::UnknownRunsEnded { node: id, runs: over });
    }
    for run in ordered.intersection(&is) {
        runs::send_stop(turn, id, *run, StopOrder::Stray);
    }
    few
}

/// One of them is over.
pub(crate) fn ended(turn: &mut Turn<'_>, id: NodeId, run: RunId) {
    let listed = turn.state.nodes[&id].unknown_runs.iter().any(|it| it.run == run);
    if listed {
        turn.state.change_unknown_runs(id, |runs| runs.retain(|it| it.run != run));
        turn.event(Event::UnknownRunsEnded { node: id, runs: vec![run] });
    }
}

/// A task is not started while a run of it goes on that the store has forgotten.
pub(crate) fn refuse_second_run(state: &State, task: TaskId) -> Result<(), Refusal> {
    for node in state.nodes.values() {
        if let Some(it) = node.unknown_runs.iter().find(|it| it.task == Some(task)) {
            return Err(Refusal::RunsUnknown { task, run: it.run, node: node.name.clone() });
        }
    }
    Ok(())
}

/// Ids found on a machine were assigned before: no new task or run gets them again.
fn skip_ids(turn: &mut Turn<'_>, unknown: &[UnknownRun]) {
    let ledger = &mut turn.state.ledger;
    let (task, run) = (ledger.next_task, ledger.next_run);
    for it in unknown {
        let told = it.task.map_or(0, |task| task.0).min(HIGHEST_ID);
        if !mutated(Mutant::IdsRestart) {
            ledger.next_task = ledger.next_task.max(TaskId(told + 1));
        }
        if it.run.epoch == ledger.epoch {
            ledger.next_run = ledger.next_run.max(it.run.number + 1);
        }
    }
    if (task, run) != (ledger.next_task, ledger.next_run) {
        turn.event(Event::IdsSkipped);
    }
}

fn unknown_run(report: &RunReport) -> Option<UnknownRun> {
    let ReportedState::Alive { since, .. } = report.state else { return None };
    let gpus: Vec<GpuId> = report.gpus.iter().take(limits::GPUS_PER_NODE).cloned().collect();
    Some(UnknownRun { run: report.run, task: report.task, gpus, since, stopping: false })
}
