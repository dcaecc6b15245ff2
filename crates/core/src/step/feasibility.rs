//! Whether any known node could ever run a request, and if not, what it lacks.

use crate::model::node::Node;
use crate::model::resources::{NodeSelector, Request};
use crate::schedule::pool::{Pool, Thresholds};
use crate::state::State;
use crate::step::refusal::{Lack, Largest, NameKind, Refusal, SizedNode};

/// The maximum number of nodes named in a refusal.
const NAMED: usize = 4;

/// Refuse what no known node could ever run, whatever its state is now. What a node has that never reported is not
/// known: with one that would be chosen, everything may be possible.
pub(crate) fn check(state: &State, request: &Request) -> Result<(), Refusal> {
    check_names(state, request)?;
    let ground = state.ground(Thresholds::All);
    let fits = |pool: &Pool| pool.place(request, &ground).is_some();
    if state.nodes.is_empty() || fits(state.idle_pool()) {
        return Ok(());
    }
    let whole = Pool::of_whole_nodes(state.nodes.values());
    if fits(&whole) {
        return Ok(());
    }
    let unreached = |node: &&Node| node.capacity.is_none() && node.accepts(request);
    let unreached = state.nodes.values().filter(unreached).count();
    if request.is_gang() {
        let nodes = whole.nodes_with_room(request, &ground) + unreached;
        if nodes >= request.nodes as usize {
            return Ok(());
        }
        return Err(Refusal::TooFewNodes { wanted: Box::new(request.clone()), nodes });
    }
    if unreached > 0 {
        return Ok(());
    }
    let lacks = lack(state, request);
    let wanted = Box::new(request.clone());
    Err(Refusal::Impossible { wanted, most: largest(state, request), lacks })
}

/// Unknown names are treated as typos, whether or not a node is connected; not before the first node is registered.
fn check_names(state: &State, request: &Request) -> Result<(), Refusal> {
    if state.nodes.is_empty() {
        return Ok(());
    }
    let nodes = || state.nodes.values();
    // What is merely preferred may be missing.
    if let Some(selector) = &request.node
        && !nodes().any(|node| selector.matches(&node.name, &node.labels))
    {
        return Err(match selector {
            NodeSelector::Name(name) => {
                let names = nodes().map(|node| node.name.clone());
                unknown(NameKind::Node, name.clone(), names)
            }
            NodeSelector::Label { key, value } => {
                let labels = nodes().flat_map(|node| &node.labels);
                let labels = labels.map(|(key, value)| format!("{key}={value}"));
                unknown(NameKind::Label, format!("{key}={value}"), labels)
            }
        });
    }
    for name in request.resources.keys() {
        if !nodes().any(|node| node.resources.contains_key(name)) {
            let names = nodes().flat_map(|node| node.resources.keys().cloned());
            return Err(unknown(NameKind::Resource, name.clone(), names));
        }
    }
    Ok(())
}

fn unknown(kind: NameKind, name: String, known: impl Iterator<Item = String>) -> Refusal {
    let nearest = nearest(&name, known);
    Refusal::UnknownName { kind, name, nearest }
}

/// The most similar known name.
pub fn nearest(name: &str, known: impl Iterator<Item = String>) -> Option<String> {
    let name: Vec<char> = name.to_lowercase().chars().collect();
    let far = (name.len() / 3).clamp(1, 3);
    let distances = known.map(|other| {
        let letters: Vec<char> = other.to_lowercase().chars().collect();
        (distance(&name, &letters), other)
    });
    distances.filter(|(distance, _)| *distance <= far).min().map(|(_, other)| other)
}

/// The edit distance.
fn distance(one: &[char], other: &[char]) -> usize {
    let mut before: Vec<usize> = (0..=other.len()).collect();
    for (row, letter) in one.iter().enumerate() {
        let mut now = vec![row + 1];
        for (column, wanted) in other.iter().enumerate() {
            let replaced = before[column] + usize::from(letter != wanted);
            now.push(replaced.min(before[column + 1] + 1).min(now[column] + 1));
        }
        before = now;
    }
    before[other.len()]
}

/// The one thing that is too much or not there at all, where it is one thing.
fn lack(state: &State, request: &Request) -> Option<Lack> {
    let nodes = || state.nodes.values().filter(|node| node.accepts(request));
    let called = |node: &&Node| node.gpus.iter().any(|gpu| gpu.is_called(request));
    if let Some(model) = request.gpu_model.as_ref().filter(|_| !nodes().any(|node| called(&node))) {
        let models = nodes().flat_map(|node| &node.gpus).map(|gpu| gpu.model.as_str());
        let mut models: Vec<String> = models.map(str::to_owned).collect();
        models.sort_unstable();
        models.dedup();
        models.truncate(NAMED);
        return Some(Lack::Model { model: model.clone(), there_are: models });
    }
    let plain = Request { span_nodes: request.span_nodes, ..Request::gpus(request.gpus) };
    let ground = state.ground(Thresholds::All);
    let whole = Pool::of_whole_nodes(state.nodes.values());
    if request.gpus > 0 && !request.span_nodes && whole.place(&plain, &ground).is_none() {
        let sized =
            |node: &Node| SizedNode { name: node.name.clone(), gpus: node.managed_gpus().count() };
        let mut largest: Vec<SizedNode> = nodes().map(sized).collect();
        largest.sort_by(|a, b| (b.gpus, &a.name).cmp(&(a.gpus, &b.name)));
        let most = largest.first().map_or(0, |node| node.gpus);
        largest.retain(|node| node.gpus == most);
        let equal = largest.len();
        largest.truncate(NAMED);
        return Some(Lack::Gpus { wanted: request.gpus, most, equal, largest });
    }
    None
}

fn largest(state: &State, request: &Request) -> Largest {
    let sizes = || state.nodes.values().map(|node| node.managed_gpus().count());
    let capacities = || state.nodes.values().filter_map(|node| node.capacity);
    let counts = |name| state.nodes.values().filter_map(|node| node.resources.get(name)).max();
    let named = request.resources.keys();
    Largest {
        gpus: sizes().max().unwrap_or(0),
        gpus_in_all: sizes().sum(),
        cpus: capacities().map(|capacity| capacity.cpus).max().unwrap_or(0),
        memory: capacities().map(|capacity| capacity.memory).max().unwrap_or(0),
        resources: named.map(|name| (name.clone(), *counts(name).unwrap_or(&0))).collect(),
    }
}
