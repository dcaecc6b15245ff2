//! `sinfo`: the machines.

use std::process::ExitCode;

use danlu_slurm::{
    Program,
    environment::PARTITION,
    getopt::CommandLine,
    hostlist, json,
    options::Act,
    sinfo::{BY_NODE, BY_NODE_LONG, LONG, SUMMARY, USUAL, is_state, table},
};
use danlu_spec::input_error::InputError;
use danlu_wire::api::{Document, NodeView, Nodes};

use super::{SlurmError, client, has, now, print, value, variable, warn_of_ignored};
use crate::client::Client;

pub(super) fn nodes(client: &Client) -> Result<Vec<NodeView>, SlurmError> {
    let document: Document<Nodes> = client.get("/nodes")?;
    Ok(document.content.nodes)
}

pub(super) fn run(line: &CommandLine) -> Result<ExitCode, SlurmError> {
    let options = &line.options;
    warn_of_ignored(Program::Sinfo, options)?;
    let mut nodes = nodes(&client()?)?;
    if let Some(list) = value(options, Act::NodeList) {
        let names = hostlist::expand(list).map_err(InputError::usage)?;
        nodes.retain(|node| names.contains(&node.name));
    }
    if let Some(states) = value(options, Act::States) {
        nodes.retain(|node| states.split(',').any(|state| is_state(node, state.trim())));
    }
    if value(options, Act::Partition).is_some_and(|list| !list.split(',').any(|it| it == PARTITION))
    {
        nodes.clear();
    }
    if has(options, Act::Json) {
        print(&format!("{:#}\n", json::sinfo(&nodes)));
        return Ok(ExitCode::SUCCESS);
    }
    let (by_node, is_long) = (has(options, Act::NodeLines), has(options, Act::Long));
    let usual = variable("SINFO_FORMAT");
    let (format, by_names) = match (value(options, Act::LongFormat), value(options, Act::Format)) {
        (Some(names), _) => (names, true),
        (None, Some(letters)) => (letters, false),
        (None, None) if by_node && is_long => (BY_NODE_LONG, false),
        (None, None) if by_node => (BY_NODE, false),
        (None, None) if is_long => (LONG, false),
        (None, None) if has(options, Act::Summarize) => (SUMMARY, false),
        (None, None) => (usual.as_deref().unwrap_or(USUAL), false),
    };
    let header = !has(options, Act::NoHeader);
    if is_long && header {
        let now = now();
        print(&format!("{}\n", now.at.to_zoned(now.zone.clone()).strftime("%a %b %d %H:%M:%S %Y")));
    }
    print(&table(&nodes, format, by_names, by_node, header).map_err(InputError::usage)?);
    Ok(ExitCode::SUCCESS)
}
