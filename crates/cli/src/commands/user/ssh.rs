//! `danlu user ssh`: your login on other machines, and your own key for it.

use std::{
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use clap::Args;
use danlu_messages::cli::user as msg;
use danlu_wire::api::{Document, MyNode, MyNodes, NewSshLogin, Secret};
use serde_json::json;

use crate::{
    client::{Client, path_segment, read},
    failure::{Exit, Failure},
    screen::{
        self, colour,
        table::{Column, Table},
        width,
    },
};

#[derive(Debug, Args)]
pub(super) struct UserSsh {
    #[arg(value_name = "MACHINE", help = msg::machine_argument())]
    node: Option<String>,

    #[arg(long, value_name = "NAME", requires = "node", help = msg::your_user_name_there())]
    user: Option<String>,

    #[arg(long, value_name = "FILE", requires = "user", help = msg::private_key())]
    key: Option<PathBuf>,

    #[arg(long, conflicts_with_all = ["user", "key"], requires = "node", help = msg::take_both_away())]
    remove: bool,

    #[arg(long, help = msg::print_one_json_document())]
    json: bool,
}

pub(super) fn run(client: &Client, ssh: &UserSsh) -> Result<(), Failure> {
    let path = |node: &String| format!("/me/nodes/{}", path_segment(node));
    let document = match (&ssh.node, &ssh.user) {
        (Some(node), Some(user)) => {
            let key = ssh.key.as_deref().map(key_in).transpose()?;
            client.send("PUT", &path(node), &NewSshLogin { ssh_user: user.clone(), key })?
        }
        (Some(node), None) if ssh.remove => client.send("DELETE", &path(node), &json!({}))?,
        _ => client.get_document("/me/nodes")?,
    };
    if ssh.json {
        return screen::print_document(&document);
    }
    let mut nodes = read::<Document<MyNodes>>(&document)?.content.nodes;
    if let Some(node) = &ssh.node {
        nodes.retain(|it| it.node == *node);
        if nodes.is_empty() {
            let message = msg::no_such_machine(&node);
            return Err(Failure::new(Exit::NotFound, message).hint("danlu nodes"));
        }
    }
    show(&nodes)
}

/// Larger than any key.
const MOST_BYTES: u64 = 64 << 10;

fn key_in(file: &Path) -> Result<Secret, Failure> {
    let mut key = String::new();
    let text = File::open(file).and_then(|opened| opened.take(MOST_BYTES).read_to_string(&mut key));
    text.map_err(|cause| {
        let file = file.display();
        Failure::new(Exit::Refused, msg::could_not_read_the_key_file_cause(&file, &cause))
            .hint(format!("ls -l {file}"))
    })?;
    Ok(Secret(key))
}

fn show(nodes: &[MyNode]) -> Result<(), Failure> {
    let mut table = Table::new(vec![
        Column::left(msg::machine()),
        Column::left(msg::tasks_run_as()),
        Column::left(msg::ssh_user()),
        Column::left(msg::key()),
    ]);
    for node in nodes {
        let runs_as = if node.takes_keys || node.ssh_user.is_some() {
            node.ssh_user.as_deref().unwrap_or(msg::nobody_yet())
        } else {
            node.os_user.as_str()
        };
        table.row(vec![
            node.node.as_str().into(),
            runs_as.into(),
            node.ssh_user.as_deref().unwrap_or_default().into(),
            node.key.as_deref().unwrap_or_default().into(),
        ]);
    }
    screen::print(&table.render(width::of_stdout(), colour::wanted(&io::stdout())))?;
    for node in nodes {
        if let Some(problem) = node.problem.as_deref() {
            let (name, problem) = (&node.node, width::plain(problem));
            screen::note(&msg::own_connection_failed(&name, &problem));
        }
    }
    Ok(())
}
