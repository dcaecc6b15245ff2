//! `danlu node`: adds, changes, drains and removes machines.

use std::{collections::BTreeMap, io};

use clap::{Args, Subcommand};
use danlu_messages::cli::node as msg;
use danlu_wire::api::{
    AddedNode, DeclareLost, DeclaredLost, Document, LabelChange, NewNode, NodeChange, NodeCheck,
    NodeRole, OneNode,
};
use serde_json::json;

use super::{node_import, nodes};
use crate::{
    client::{Client, path_segment, read},
    failure::{Exit, Failure},
    parse::pair::{Pair, parse_pair},
    screen::{
        self,
        colour::{self, Colour},
        places, width,
    },
};

#[derive(Debug, Args)]
#[command(
    about = msg::machines_that_work_for_this_server(),
    override_usage = msg::usage(),
    after_help = msg::help(),
    disable_help_subcommand = true,
)]
pub(crate) struct NodeArguments {
    #[command(subcommand)]
    what: Option<NodeCommand>,
}

#[derive(Debug, Subcommand)]
enum NodeCommand {
    #[command(about = msg::all_machines_as_danlu_nodes(), override_usage = "danlu node list [--json]")]
    List(nodes::NodesArguments),
    #[command(about = msg::about_add(), override_usage = msg::usage_add())]
    Add(Box<NodeAdd>),
    #[command(about = msg::about_edit(), override_usage = msg::danlu_node_edit_name_options())]
    Edit(Box<NodeEdit>),
    #[command(about = msg::about_import(), override_usage = msg::usage_import())]
    Import(node_import::NodeImport),
    #[command(about = msg::about_remove(), override_usage = msg::danlu_node_remove_name(), alias = "rm")]
    Remove(NodeNames),
    #[command(about = msg::about_label(), override_usage = msg::danlu_node_label_name_key_value_key())]
    Label(NodeLabel),
    #[command(about = msg::about_declare_lost(), override_usage = msg::danlu_node_declare_lost_name_force(), after_help = msg::help_declare_lost())]
    DeclareLost(NodeLost),
    #[command(about = msg::about_drain(), override_usage = msg::danlu_node_drain_name())]
    Drain(NodeNames),
    #[command(about = msg::give_it_tasks_again(), override_usage = msg::danlu_node_undrain_name())]
    Undrain(NodeNames),
    #[command(about = msg::about_end_unknown(), override_usage = msg::danlu_node_end_unknown_name())]
    EndUnknown(NodeNames),
    #[command(about = msg::about_check(), override_usage = msg::danlu_node_check_name())]
    Check(NodeNames),
    #[command(about = msg::about_accept(), override_usage = msg::danlu_node_accept_name())]
    Accept(NodeNames),
    #[command(about = msg::about_token(), override_usage = msg::danlu_node_token_name())]
    Token(NodeNames),
    #[command(about = msg::about_revoke(), override_usage = msg::danlu_node_revoke_name())]
    Revoke(NodeNames),
}

#[derive(Debug, Args)]
struct NodeAdd {
    #[arg(value_name = "NAME", help = msg::what_it_is_called_here())]
    name: String,

    #[arg(long, value_name = "USER@HOST[:PORT]", required_unless_present = "dial_in", conflicts_with = "dial_in", help = msg::how_it_is_reached_names_of_your_ssh())]
    ssh: Option<String>,

    #[arg(long, conflicts_with_all = ["identity", "accept_new_key", "sudo"], help = msg::dial_in())]
    dial_in: bool,

    #[arg(long, value_name = "FILE", help = msg::identity_file())]
    identity: Option<String>,

    #[arg(long, value_name = "KEY=VALUE", value_parser = parse_pair, help = msg::label_option())]
    label: Vec<Pair>,

    #[arg(long, help = msg::accept_new_key())]
    accept_new_key: bool,

    #[arg(long, help = msg::sudo())]
    sudo: bool,

    #[arg(long, value_name = "DIR", help = msg::run_directory())]
    data: Option<String>,

    #[arg(long, value_name = "PROGRAM", help = msg::nvidia_smi_path())]
    probe: Option<String>,

    #[arg(long, value_name = "N", help = msg::warn_when_it_has_fewer())]
    expect_gpus: Option<u32>,

    #[arg(long, value_name = "ROLE", value_parser = ["tasks", "data"], default_value = "tasks", hide_default_value = true, help = msg::role_data())]
    role: String,

    #[arg(long, value_name = "DIR", help = msg::shared_log_directory())]
    logs: Option<String>,

    #[arg(long, value_name = "N", hide = true, help = msg::simulate_so_many_gpus_there())]
    sim_gpus: Option<u32>,

    #[arg(long, help = msg::print_one_json_document())]
    json: bool,
}

#[derive(Debug, Args)]
struct NodeLabel {
    #[arg(value_name = "NAME", help = msg::which_machine())]
    name: String,

    #[arg(value_name = "KEY=VALUE|KEY-", required = true, value_parser = parse_label, help = msg::label_argument())]
    labels: Vec<(String, Option<String>)>,

    #[arg(long, help = msg::print_one_json_document())]
    json: bool,
}

#[derive(Debug, Args)]
struct NodeLost {
    #[arg(value_name = "NAME", help = msg::which_machine())]
    name: String,

    #[arg(long, help = msg::force())]
    force: bool,

    #[arg(long, help = msg::print_one_json_document())]
    json: bool,
}

/// As kubectl has it: `key=value` sets, `key-` takes away.
fn parse_label(given: &str) -> Result<(String, Option<String>), String> {
    let change = match given.split_once('=') {
        Some((key, value)) => (key, Some(value.to_owned())),
        None => (given.strip_suffix('-').unwrap_or_default(), None),
    };
    match change {
        ("", _) => Err(msg::key_value_sets_it_key_takes_it_away().to_owned()),
        (key, value) => Ok((key.to_owned(), value)),
    }
}

#[derive(Debug, Args)]
struct NodeEdit {
    #[arg(value_name = "NAME", help = msg::which())]
    name: String,

    #[arg(long, value_name = "USER@HOST[:PORT]", help = msg::how_it_is_reached())]
    ssh: Option<String>,

    #[arg(long, value_name = "FILE", help = msg::identity_file())]
    identity: Option<String>,

    #[arg(long, value_name = "YES", num_args = 0..=1, default_missing_value = "true", help = msg::accept_new_key())]
    accept_new_key: Option<bool>,

    #[arg(long, value_name = "YES", num_args = 0..=1, default_missing_value = "true", help = msg::sudo())]
    sudo: Option<bool>,

    #[arg(long, value_name = "DIR", help = msg::run_directory_edit())]
    data: Option<String>,

    #[arg(long, value_name = "PROGRAM", help = msg::nvidia_smi_path())]
    probe: Option<String>,

    #[arg(long, value_name = "N", help = msg::warn_when_it_has_fewer())]
    expect_gpus: Option<u32>,

    #[arg(long, value_name = "ROLE", value_parser = ["tasks", "data"], help = msg::role_data())]
    role: Option<String>,

    #[arg(long, value_name = "DIR", help = msg::shared_log_directory())]
    logs: Option<String>,

    #[arg(long, help = msg::print_one_json_document())]
    json: bool,
}

#[derive(Debug, Args)]
struct NodeNames {
    #[arg(value_name = "NAME", required = true, help = msg::which_machines())]
    names: Vec<String>,

    #[arg(long, help = msg::print_one_json_document_for_each())]
    json: bool,
}

pub(crate) fn run(client: &Client, arguments: &NodeArguments) -> Result<(), Failure> {
    match &arguments.what {
        None => nodes::run(client, &nodes::NodesArguments::default()),
        Some(NodeCommand::List(list)) => nodes::run(client, list),
        Some(NodeCommand::Add(new)) => add(client, new),
        Some(NodeCommand::Edit(change)) => edit(client, change),
        Some(NodeCommand::Import(import)) => node_import::run(client, import),
        Some(NodeCommand::Remove(which)) => remove(client, which),
        Some(NodeCommand::Label(change)) => label(client, change),
        Some(NodeCommand::DeclareLost(lost)) => declare_lost(client, lost),
        Some(NodeCommand::Drain(which)) => act(client, which, "drain"),
        Some(NodeCommand::Undrain(which)) => act(client, which, "undrain"),
        Some(NodeCommand::EndUnknown(which)) => act(client, which, "end-unknown"),
        Some(NodeCommand::Accept(which)) => act(client, which, "accept"),
        Some(NodeCommand::Token(which)) => token(client, which, "token"),
        Some(NodeCommand::Revoke(which)) => token(client, which, "revoke"),
        Some(NodeCommand::Check(which)) => check(client, which),
    }
}

fn add(client: &Client, new: &NodeAdd) -> Result<(), Failure> {
    let pair = |pair: &Pair| (pair.name.clone(), pair.value.clone());
    let labels: BTreeMap<String, String> = new.label.iter().map(pair).collect();
    let body = NewNode {
        name: new.name.clone(),
        ssh: new.ssh.clone(),
        dial_in: new.dial_in,
        identity: new.identity.as_deref().map(whole),
        labels,
        accept_new_key: new.accept_new_key,
        sudo: new.sudo,
        data: new.data.clone(),
        probe: new.probe.clone(),
        expect_gpus: new.expect_gpus,
        sim_gpus: new.sim_gpus,
        role: role(&new.role),
        logs: new.logs.as_deref().map(whole),
    };
    let document = client.send("POST", "/nodes", &body)?;
    if new.json {
        return screen::print_document(&document);
    }
    let name = &new.name;
    let AddedNode { node, token, addresses } = read::<Document<AddedNode>>(&document)?.content;
    if let Some(words) = nodes::same_as(&node) {
        screen::note(&words);
    }
    if let Some(token) = token {
        return screen::print(&how_to_join(name, &token, &addresses));
    }
    screen::print(&msg::added_connecting(&name))
}

fn edit(client: &Client, change: &NodeEdit) -> Result<(), Failure> {
    let body = NodeChange {
        ssh: change.ssh.clone(),
        identity: change.identity.as_deref().map(whole),
        accept_new_key: change.accept_new_key,
        sudo: change.sudo,
        data: change.data.clone(),
        probe: change.probe.clone(),
        expect_gpus: change.expect_gpus,
        role: change.role.as_deref().map(role),
        logs: change.logs.as_deref().map(whole),
    };
    if body == NodeChange::default() {
        let message = msg::nothing_is_to_be_changed();
        return Err(Failure::new(Exit::Usage, message).hint("danlu node edit --help"));
    }
    let document = client.send("PATCH", &address(&change.name, ""), &body)?;
    if change.json {
        return screen::print_document(&document);
    }
    let name = &change.name;
    screen::print(&msg::changed_reconnecting(&name))
}

fn role(word: &str) -> NodeRole {
    if word == "data" { NodeRole::Data } else { NodeRole::Tasks }
}

/// Said once: the server does not know the token any more.
fn how_to_join(name: &str, token: &str, addresses: &[String]) -> String {
    let far = addresses.iter().find(|it| it.starts_with("https://"));
    let near = || addresses.first().map_or("https://SERVER:8787", String::as_str);
    let address = far.map_or_else(near, String::as_str);
    let warning =
        if far.is_some() || addresses.is_empty() { "" } else { msg::listens_locally_only() };
    msg::dial_in_token(&name, &address, &token, &warning)
}

fn token(client: &Client, which: &NodeNames, act: &str) -> Result<(), Failure> {
    for name in &which.names {
        let document = client.send("POST", &address(name, act), &json!({}))?;
        if which.json {
            screen::print_document(&document)?;
            continue;
        }
        let AddedNode { token, addresses, .. } = read::<Document<AddedNode>>(&document)?.content;
        screen::print(&match token {
            Some(token) => how_to_join(name, &token, &addresses),
            None => msg::name_cannot_dial_in_any_more(&name),
        })?;
    }
    Ok(())
}

/// The server may have another working directory.
fn whole(path: &str) -> String {
    std::path::absolute(path).map_or_else(|_| path.to_owned(), |path| path.display().to_string())
}

fn remove(client: &Client, which: &NodeNames) -> Result<(), Failure> {
    for name in &which.names {
        let document = client.send("DELETE", &address(name, ""), &json!({}))?;
        if which.json {
            screen::print_document(&document)?;
        } else {
            screen::print(&msg::removed_name(&name))?;
        }
    }
    Ok(())
}

fn label(client: &Client, change: &NodeLabel) -> Result<(), Failure> {
    let name = &change.name;
    let labels: BTreeMap<String, Option<String>> = change.labels.iter().cloned().collect();
    let document = client.send("POST", &address(name, "labels"), &LabelChange { labels })?;
    if change.json {
        return screen::print_document(&document);
    }
    let node = read::<Document<OneNode>>(&document)?.content.node;
    let labels: Vec<String> =
        node.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let labels = width::plain(&labels.join(" "));
    screen::print(&match labels.is_empty() {
        true => msg::name_has_no_labels(&name),
        false => msg::name_labels(&name, &labels),
    })
}

fn declare_lost(client: &Client, lost: &NodeLost) -> Result<(), Failure> {
    let name = &lost.name;
    let body = DeclareLost { force: lost.force };
    let document = client.send("POST", &address(name, "declare-lost"), &body)?;
    if lost.json {
        return screen::print_document(&document);
    }
    let tasks = read::<Document<DeclaredLost>>(&document)?.content.tasks;
    if tasks.is_empty() {
        return screen::print(&msg::nothing_ran_on_name(&name));
    }
    let tasks = places::list(&tasks);
    screen::note(&msg::still_running_there(&name));
    screen::print(&msg::lost_on_name_tasks_tasks(&name, &tasks))
}

fn act(client: &Client, which: &NodeNames, act: &str) -> Result<(), Failure> {
    for name in &which.names {
        let document = client.send("POST", &address(name, act), &json!({}))?;
        if which.json {
            screen::print_document(&document)?;
            continue;
        }
        let node = read::<Document<OneNode>>(&document)?.content.node;
        let tasks = node.tasks.len();
        screen::print(&match act {
            "drain" if tasks > 0 => msg::drained_but_running(&name, &tasks),
            "drain" => msg::name_gets_nothing_new(&name),
            "undrain" => msg::name_gets_tasks_again(&name),
            "end-unknown" => msg::ending_unknown_runs(&name),
            _ => msg::accepted(&name),
        })?;
    }
    Ok(())
}

/// All steps of all; an error when one of them fails.
fn check(client: &Client, which: &NodeNames) -> Result<(), Failure> {
    let mut failed = None;
    let coloured = colour::wanted(&io::stdout());
    for name in &which.names {
        let document = client.send("POST", &address(name, "check"), &json!({}))?;
        let checked = read::<Document<NodeCheck>>(&document)?.content;
        if which.json {
            screen::print_document(&document)?;
        }
        for step in &checked.steps {
            let message = width::plain(&step.message);
            let (mark, colour) =
                if step.ok { ("✓", Colour::Green) } else { ("✗", Colour::Red) };
            if !which.json {
                let mark = colour::paint(mark, Some(colour), coloured);
                screen::print(&format!("{mark} {name}  {:<7} {message}\n", step.step.as_str()))?;
            }
            if !step.ok {
                let message = format!("{name}: {}: {message}", step.step.as_str());
                let hint = width::plain(&step.hint);
                failed = Some(Failure::new(Exit::Unreachable, message).hint(hint));
            }
        }
    }
    failed.map_or(Ok(()), Err)
}

fn address(name: &str, act: &str) -> String {
    let name = path_segment(name);
    if act.is_empty() { format!("/nodes/{name}") } else { format!("/nodes/{name}/{act}") }
}
