//! Nodes: added, removed, labelled, drained, connected, lost; and what they say about GPUs, memory and fitness.

use crate::fault_injection::{Mutant, mutated};
use crate::model::gpu::{GpuConfig, GpuReport};
use crate::model::ids::{GpuId, NodeId, RunId, SessionId, UserId};
use crate::model::limits;
use crate::model::node::{Link, Node};
use crate::model::trouble::{Trouble, Unfit};
use crate::state::State;
use crate::step::configure::check_name;
use crate::step::event::Event;
use crate::step::input::Actor;
use crate::step::logs;
use crate::step::permission::require_admin;
use crate::step::refusal::{Counted, Refusal};
use crate::step::validate;
use crate::step::{Answer, Reply, Turn};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) fn add(
    turn: &mut Turn<'_>,
    by: Actor,
    name: String,
    labels: BTreeMap<String, String>,
) -> Answer {
    require_admin(turn.state, by)?;
    check_name(&name)?;
    let state = &mut *turn.state;
    if state.nodes.values().any(|node| node.name == name) {
        return Err(Refusal::NameTaken { name });
    }
    if state.nodes.len() >= limits::NODES {
        return Err(Refusal::TooMany { what: Counted::Nodes, limit: limits::NODES });
    }
    validate::check_labels(&labels)?;
    let id = state.ledger.next_node;
    state.ledger.next_node = NodeId(id.0 + 1);
    state.insert_node(Node {
        id,
        name,
        labels,
        link: Link::Down { since: turn.now },
        session: SessionId(0),
        resources: BTreeMap::new(),
        draining: false,
        capacity: None,
        gpus: Vec::new(),
        gpu_config: GpuConfig::default(),
        gpu_rules: BTreeMap::new(),
        free_memory: None,
        unfit: None,
        unknown_runs: Vec::new(),
    });
    turn.event(Event::NodeAdded { node: id });
    Ok(Reply::Node(id))
}

pub(crate) fn remove(turn: &mut Turn<'_>, by: Actor, id: NodeId) -> Answer {
    require_admin(turn.state, by)?;
    known(turn.state, id)?;
    let runs = turn.state.runs_on(id).count();
    if runs > 0 {
        return Err(Refusal::NodeBusy { node: id, runs });
    }
    logs::give_up(turn, id);
    turn.state.remove_node(id);
    turn.event(Event::NodeRemoved { node: id });
    Ok(Reply::Done)
}

/// Runs go on, even if they hold more than exists now.
pub(crate) fn set_resources(
    turn: &mut Turn<'_>,
    by: Actor,
    id: NodeId,
    resources: BTreeMap<String, u32>,
) -> Answer {
    require_admin(turn.state, by)?;
    known(turn.state, id)?;
    validate::check_resources(&resources)?;
    if turn.state.nodes[&id].resources != resources {
        turn.state.change_node(id, |node| node.resources = resources);
        turn.event(Event::NodeResourcesChanged { node: id });
    }
    Ok(Reply::Done)
}

/// Waiting tasks use the new labels; runs go on.
pub(crate) fn set_labels(
    turn: &mut Turn<'_>,
    by: Actor,
    id: NodeId,
    change: BTreeMap<String, Option<String>>,
) -> Answer {
    require_admin(turn.state, by)?;
    known(turn.state, id)?;
    let mut labels = turn.state.nodes[&id].labels.clone();
    for (key, value) in change {
        match value {
            Some(value) => drop(labels.insert(key, value)),
            None => drop(labels.remove(&key)),
        }
    }
    validate::check_labels(&labels)?;
    if turn.state.nodes[&id].labels != labels {
        turn.state.change_node(id, |node| node.labels = labels);
        turn.event(Event::NodeLabelsChanged { node: id });
    }
    Ok(Reply::Done)
}

pub(crate) fn set_draining(turn: &mut Turn<'_>, by: Actor, id: NodeId, draining: bool) -> Answer {
    require_admin(turn.state, by)?;
    known(turn.state, id)?;
    if turn.state.nodes[&id].draining != draining {
        turn.state.change_node(id, |node| node.draining = draining);
        turn.event(if draining {
            Event::NodeDraining { node: id }
        } else {
            Event::NodeUndrained { node: id }
        });
    }
    Ok(Reply::Done)
}

/// A new connection replaces the one before, whose messages no longer count. What the node has
/// is not known before it reports.
pub(crate) fn connected(turn: &mut Turn<'_>, id: NodeId, session: SessionId) -> Answer {
    known(turn.state, id)?;
    if session <= turn.state.nodes[&id].session && !mutated(Mutant::StaleSessionAccepted) {
        return ignore_late(turn, id, None);
    }
    let since = turn.now;
    turn.state.change_node(id, |node| {
        node.session = session;
        node.link = if mutated(Mutant::ReadyOnConnect) {
            Link::Ready { since }
        } else {
            Link::Unverified { since }
        };
    });
    turn.event(Event::NodeConnected { node: id, session });
    Ok(Reply::Done)
}

/// Lost is not failed: its runs go on, and their GPUs stay held.
pub(crate) fn lost(turn: &mut Turn<'_>, id: NodeId) -> Answer {
    let since = turn.now;
    turn.state.change_node(id, |node| node.link = Link::Down { since });
    turn.event(Event::NodeLost { node: id });
    if mutated(Mutant::LostFreesGpus) {
        let runs: Vec<RunId> = turn.state.runs_on(id).collect();
        for run in runs {
            super::runs::end_without_record(turn, id, run, crate::model::run::Exit::NeverStarted);
        }
    }
    Ok(Reply::Done)
}

pub(crate) fn gpus_changed(turn: &mut Turn<'_>, id: NodeId, gpus: Vec<GpuReport>) -> Answer {
    take_gpus(turn, id, gpus);
    Ok(Reply::Done)
}

pub(crate) fn memory_changed(turn: &mut Turn<'_>, id: NodeId, free: u64) -> Answer {
    if turn.state.nodes[&id].free_memory != Some(free) {
        turn.state.change_node(id, |node| node.free_memory = Some(free));
        turn.event(Event::GpusChanged { node: id });
    }
    Ok(Reply::Done)
}

pub(crate) fn fitness_changed(turn: &mut Turn<'_>, id: NodeId, trouble: Option<Trouble>) -> Answer {
    take_fitness(turn, id, trouble);
    Ok(Reply::Done)
}

/// A node that cannot start anything gets nothing new until it says that it is well.
pub(crate) fn take_fitness(turn: &mut Turn<'_>, id: NodeId, trouble: Option<Trouble>) {
    let trouble = trouble.map(|trouble| trouble.bounded());
    let before = turn.state.nodes[&id].unfit.as_ref();
    if before.map(|unfit| &unfit.trouble) == trouble.as_ref() {
        return;
    }
    let since = before.map_or(turn.now, |unfit| unfit.since);
    let unfit = trouble.clone().map(|trouble| Unfit { trouble, since });
    turn.state.change_node(id, |node| node.unfit = unfit);
    turn.event(match trouble {
        Some(trouble) => Event::NodeUnfit { node: id, trouble },
        None => Event::NodeFit { node: id },
    });
}

pub(crate) fn take_gpus(turn: &mut Turn<'_>, id: NodeId, gpus: Vec<GpuReport>) {
    let news = turn.state.set_gpus(id, gpus, turn.now);
    if news.changed {
        turn.event(Event::GpusChanged { node: id });
    }
    for (gpu, why) in news.quarantined {
        let owners = owners_on(turn.state, id, &gpu);
        turn.event(Event::GpuQuarantined { node: id, gpu, why, owners });
    }
}

/// Whether a message of this connection still counts.
pub(crate) fn is_current(state: &State, id: NodeId, session: SessionId) -> bool {
    let Some(node) = state.nodes.get(&id) else {
        return false;
    };
    let live = node.live_session();
    live == Some(session) || (live.is_some() && mutated(Mutant::StaleSessionAccepted))
}

pub(crate) fn ignore_late(turn: &mut Turn<'_>, node: NodeId, run: Option<RunId>) -> Answer {
    turn.event(Event::LateMessageIgnored { node, run });
    Ok(Reply::Done)
}

pub(crate) fn known(state: &State, id: NodeId) -> Result<(), Refusal> {
    if state.nodes.contains_key(&id) { Ok(()) } else { Err(Refusal::NoSuchNode(id)) }
}

/// The owners of runs on this GPU.
fn owners_on(state: &State, node: NodeId, gpu: &GpuId) -> Vec<UserId> {
    let gpu = state.nodes[&node].gpus.iter().find(|it| it.id == *gpu);
    let runs = gpu.into_iter().flat_map(|gpu| &gpu.holders);
    let owners = runs.map(|run| state.tasks[&state.runs[run].task].owner);
    let owners: BTreeSet<UserId> = owners.collect();
    owners.into_iter().collect()
}
