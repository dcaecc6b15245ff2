//! `sinfo`: the machines, in the one partition, grouped by what a format shows of them.

use danlu_messages::slurm as msg;
use danlu_wire::api::{NodeStateName, NodeView};

use crate::environment::PARTITION;
use crate::formats::padded;
use crate::hostlist;

/// `idle`, `mixed`, `allocated`, `drained`, `draining`, `down`.
pub fn node_state(node: &NodeView) -> &'static str {
    let busy = !node.tasks.is_empty();
    match node.state {
        NodeStateName::Ready if !busy => "idle",
        NodeStateName::Ready if node.gpus > 0 && node.gpus_free == 0 => "allocated",
        NodeStateName::Ready => "mixed",
        NodeStateName::Draining if busy => "draining",
        NodeStateName::Draining => "drained",
        NodeStateName::Unverified => "unknown",
        NodeStateName::Unfit => "fail",
        NodeStateName::Down => "down",
        NodeStateName::Unknown => "unknown",
    }
}

fn short_state(state: &str) -> &str {
    match state {
        "mixed" => "mix",
        "allocated" => "alloc",
        "drained" => "drain",
        "draining" => "drng",
        "unknown" => "unk",
        other => other,
    }
}

/// How a name that `-t` gives is meant.
pub fn is_state(node: &NodeView, name: &str) -> bool {
    let state = node_state(node);
    let name = name.to_ascii_lowercase();
    let is_drain = name == "drain" && (state == "drained" || state == "draining");
    is_drain || state == name || short_state(state) == name || name == "all"
}

struct SinfoColumn {
    letter: char,
    names: &'static [&'static str],
    header: &'static str,
    /// The whole group has one value; `None`: nodes are counted or listed.
    value: fn(&[&NodeView]) -> String,
    /// Nodes with different ones are on different lines.
    groups: bool,
}

fn first(nodes: &[&NodeView], value: impl Fn(&NodeView) -> String) -> String {
    nodes.first().map(|node| value(node)).unwrap_or_default()
}

fn count(nodes: &[&NodeView], state: impl Fn(&str) -> bool) -> usize {
    nodes.iter().filter(|node| state(node_state(node))).count()
}

fn is_busy(state: &str) -> bool {
    ["allocated", "mixed", "draining"].contains(&state)
}

/// Allocated, idle, other, total.
fn parts(nodes: &[&NodeView]) -> String {
    let (busy, idle) = (count(nodes, is_busy), count(nodes, |state| state == "idle"));
    format!("{busy}/{idle}/{}/{}", nodes.len() - busy - idle, nodes.len())
}

fn cpu_parts(nodes: &[&NodeView]) -> String {
    let sum = |wanted: fn(&str) -> bool| -> u64 {
        nodes.iter().filter(|node| wanted(node_state(node))).map(|node| u64::from(node.cpus)).sum()
    };
    let (busy, idle) = (sum(is_busy), sum(|state| state == "idle"));
    let total: u64 = nodes.iter().map(|node| u64::from(node.cpus)).sum();
    format!("{busy}/{idle}/{}/{total}", total - busy - idle)
}

#[rustfmt::skip]
const COLUMNS: &[SinfoColumn] = &[
    SinfoColumn { letter: 'P', names: &["Partition"], header: "PARTITION", value: |_| format!("{PARTITION}*"), groups: false },
    SinfoColumn { letter: 'R', names: &["PartitionName"], header: "PARTITION", value: |_| PARTITION.into(), groups: false },
    SinfoColumn { letter: 'a', names: &["Available"], header: "AVAIL", value: |_| "up".into(), groups: false },
    SinfoColumn { letter: 'l', names: &["Time"], header: "TIMELIMIT", value: |_| "infinite".into(), groups: false },
    SinfoColumn { letter: 'L', names: &["DefaultTime"], header: "DEFAULTTIME", value: |_| "n/a".into(), groups: false },
    SinfoColumn { letter: 's', names: &["Size"], header: "JOB_SIZE", value: |_| "1-infinite".into(), groups: false },
    SinfoColumn { letter: 'r', names: &["Root"], header: "ROOT", value: |_| "no".into(), groups: false },
    SinfoColumn { letter: 'h', names: &["OverSubscribe"], header: "OVERSUBS", value: |_| "NO".into(), groups: false },
    SinfoColumn { letter: 'g', names: &["Groups"], header: "GROUPS", value: |_| "all".into(), groups: false },
    SinfoColumn { letter: 'D', names: &["Nodes"], header: "NODES", value: |nodes| nodes.len().to_string(), groups: false },
    SinfoColumn { letter: 'F', names: &["NodeAIOT"], header: "NODES(A/I/O/T)", value: parts, groups: false },
    SinfoColumn { letter: 'C', names: &["CPUsState"], header: "CPUS(A/I/O/T)", value: cpu_parts, groups: false },
    SinfoColumn { letter: 't', names: &["StateCompact"], header: "STATE", value: |nodes| first(nodes, |node| short_state(node_state(node)).into()), groups: true },
    SinfoColumn { letter: 'T', names: &["StateLong", "State"], header: "STATE", value: |nodes| first(nodes, |node| node_state(node).into()), groups: true },
    SinfoColumn { letter: 'N', names: &["NodeList"], header: "NODELIST", value: |nodes| hostlist::compress(nodes.iter().map(|node| node.name.as_str())), groups: false },
    SinfoColumn { letter: 'n', names: &["NodeHost", "HostNames"], header: "HOSTNAMES", value: |nodes| first(nodes, |node| node.name.clone()), groups: true },
    SinfoColumn { letter: 'o', names: &["NodeAddr"], header: "NODE_ADDR", value: |nodes| first(nodes, |node| node.name.clone()), groups: true },
    SinfoColumn { letter: 'c', names: &["CPUs"], header: "CPUS", value: |nodes| first(nodes, |node| node.cpus.to_string()), groups: true },
    SinfoColumn { letter: 'm', names: &["Memory"], header: "MEMORY", value: |nodes| first(nodes, |node| (node.memory_total >> 20).to_string()), groups: true },
    SinfoColumn { letter: 'e', names: &["FreeMem"], header: "FREE_MEM", value: |nodes| first(nodes, |node| (node.memory_total.saturating_sub(node.memory_used.unwrap_or(0)) >> 20).to_string()), groups: true },
    SinfoColumn { letter: 'O', names: &["CPUsLoad"], header: "CPU_LOAD", value: |nodes| first(nodes, |node| node.load.map_or("N/A".into(), |load| format!("{load:.2}"))), groups: true },
    SinfoColumn { letter: 'd', names: &["Disk"], header: "TMP_DISK", value: |_| "0".into(), groups: false },
    SinfoColumn { letter: 'w', names: &["Weight"], header: "WEIGHT", value: |_| "1".into(), groups: false },
    SinfoColumn { letter: 'z', names: &["SocketCoreThread"], header: "S:C:T", value: |nodes| first(nodes, |node| format!("{}:1:1", node.cpus)), groups: true },
    SinfoColumn { letter: 'f', names: &["Features"], header: "AVAIL_FEATURES", value: features, groups: true },
    SinfoColumn { letter: 'b', names: &["FeaturesAct"], header: "ACTIVE_FEATURES", value: features, groups: true },
    SinfoColumn { letter: 'G', names: &["Gres"], header: "GRES", value: |nodes| first(nodes, |node| match node.gpus { 0 => "(null)".into(), gpus => format!("gpu:{gpus}") }), groups: true },
    SinfoColumn { letter: 'E', names: &["Reason"], header: "REASON", value: |nodes| first(nodes, |node| node.problem.clone().unwrap_or_else(|| "none".into())), groups: true },
    SinfoColumn { letter: 'v', names: &["Version"], header: "VERSION", value: |nodes| first(nodes, |node| node.version.clone().unwrap_or_default()), groups: true },
];

fn features(nodes: &[&NodeView]) -> String {
    first(nodes, |node| match node.labels.is_empty() {
        true => "(null)".into(),
        false => node
            .labels
            .iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect::<Vec<_>>()
            .join(","),
    })
}

pub const USUAL: &str = "%9P %.5a %.10l %.6D %.6t %N";
pub const LONG: &str = "%9P %.5a %.10l %.10s %.4r %.8h %.10g %.6D %.11T %N";
pub const SUMMARY: &str = "%9P %.5a %.10l %.16F  %N";
pub const BY_NODE: &str = "%N %.6D %.9P %6t";
pub const BY_NODE_LONG: &str = "%N %.6D %.9P %.11T %4c %.8z %.6m %.8d %.6w %.8f %20E";

/// A chosen column: the text before it, its width, and whether it stands at the right.
struct SinfoChosen {
    before: String,
    column: &'static SinfoColumn,
    width: usize,
    right: bool,
}

/// The table, line by line. `by_node`: a line for each machine.
pub fn table(
    nodes: &[NodeView],
    format: &str,
    by_names: bool,
    by_node: bool,
    header: bool,
) -> Result<String, String> {
    let (chosen, after) = if by_names { of_names(format)? } else { of_letters(format)? };
    let mut groups: Vec<(Vec<String>, Vec<&NodeView>)> = Vec::new();
    for node in nodes {
        let own = chosen.iter().filter(|it| it.column.groups).map(|it| (it.column.value)(&[node]));
        let mut key: Vec<String> = own.collect();
        key.extend(by_node.then(|| node.name.clone()));
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, members)) => members.push(node),
            None => groups.push((key, vec![node])),
        }
    }
    // The names begin their column, as wide as the longest.
    let widest =
        nodes.iter().map(|node| node.name.len()).max().unwrap_or(0).max("NODELIST".len() + 2);
    let row = |cell: &dyn Fn(&SinfoColumn) -> String| {
        let mut out = String::new();
        for (place, SinfoChosen { before, column, width, right }) in chosen.iter().enumerate() {
            out += before;
            let width = if *width == 0 && place == 0 && chosen.len() > 1 && column.letter == 'N' {
                widest
            } else {
                *width
            };
            out += &padded(&cell(column), width, *right);
        }
        out + &after + "\n"
    };
    let mut out = String::new();
    if header {
        out += &row(&|column| column.header.to_owned());
    }
    for (_, members) in &groups {
        out += &row(&|column| (column.value)(members));
    }
    Ok(out)
}

fn of_letters(format: &str) -> Result<(Vec<SinfoChosen>, String), String> {
    let (mut chosen, mut before) = (Vec::new(), String::new());
    let mut rest = format.chars().peekable();
    while let Some(letter) = rest.next() {
        if letter != '%' {
            before.push(letter);
            continue;
        }
        let right = rest.next_if_eq(&'.').is_some();
        let mut width = String::new();
        while let Some(digit) = rest.next_if(char::is_ascii_digit) {
            width.push(digit);
        }
        let width = width.parse().unwrap_or(0).min(1_000);
        let Some(letter) = rest.next() else { break };
        let column = COLUMNS.iter().find(|column| column.letter == letter);
        let column = column.ok_or_else(|| msg::unknown_format_letter(&letter))?;
        chosen.push(SinfoChosen { before: std::mem::take(&mut before), column, width, right });
    }
    Ok((chosen, before))
}

fn of_names(format: &str) -> Result<(Vec<SinfoChosen>, String), String> {
    let mut chosen = Vec::new();
    for part in format.split(',').filter(|part| !part.is_empty()) {
        let (name, size) = part.split_once(':').unwrap_or((part, ""));
        let right = size.starts_with('.');
        let width = size.trim_start_matches('.').parse().unwrap_or(20).min(1_000);
        let is_it = |column: &&SinfoColumn| {
            column.names.iter().any(|known| known.eq_ignore_ascii_case(name.trim()))
        };
        let column = COLUMNS.iter().find(is_it).ok_or_else(|| msg::unknown_format_name(&name))?;
        chosen.push(SinfoChosen { before: String::new(), column, width, right });
    }
    Ok((chosen, String::new()))
}
