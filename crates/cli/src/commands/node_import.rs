//! `danlu node import`: adds the machines of the master/slave training manager, from its `gpu_slaver_info.json`.

use std::{collections::BTreeMap, fs, path::PathBuf};

use clap::Args;
use danlu_messages::cli::node_import as msg;
use danlu_wire::api::NewNode;
use serde::Deserialize;

use crate::{
    client::Client,
    failure::{Exit, Failure},
    screen,
};

/// Longer files are no lists of machines.
const MOST_BYTES: u64 = 1 << 20;

#[derive(Debug, Args)]
pub(super) struct NodeImport {
    #[arg(value_name = "FILE", help = msg::file())]
    file: PathBuf,

    #[arg(long, value_name = "FILE", help = msg::identity_file())]
    identity: Option<String>,

    #[arg(long, help = msg::accept_new_keys())]
    accept_new_key: bool,

    #[arg(long, help = msg::sudo())]
    sudo: bool,

    #[arg(long, help = msg::dry_run())]
    dry_run: bool,
}

/// One machine there. The password that it shared with all others is not taken over: Danlu uses keys.
#[derive(Debug, Deserialize)]
struct ImportedMachine {
    name: String,
    ip: String,
    user_name: String,
    #[serde(default)]
    gpu_count: Option<u32>,
    #[serde(default)]
    gpu_info: Vec<String>,
}

pub(super) fn run(client: &Client, import: &NodeImport) -> Result<(), Failure> {
    let mut failed = 0;
    for slaver in read(import)? {
        let node = wanted(import, &slaver);
        let (name, ssh) = (&slaver.name, node.ssh.clone().unwrap_or_default());
        if import.dry_run {
            let gpus = slaver.gpu_count.unwrap_or(0);
            screen::print(&msg::would_add(&name, &ssh, &gpus))?;
            continue;
        }
        match client.send("POST", "/nodes", &node) {
            Ok(_) => {
                screen::print(&msg::added_name_ssh_ssh(&name, &ssh))?;
            }
            // The others are none the worse for it.
            Err(problem) => {
                failed += 1;
                Failure::from(problem).at(&format!("{name}: ")).report();
            }
        }
    }
    if failed == 0 {
        return Ok(());
    }
    let message = msg::failed_machines_were_not_added(&failed);
    Err(Failure::new(Exit::Refused, message).hint(msg::correct_them_and_import_again()))
}

fn read(import: &NodeImport) -> Result<Vec<ImportedMachine>, Failure> {
    let shown = import.file.display();
    let wrong = |what: String| {
        let hint = msg::expected_list();
        Failure::new(Exit::Usage, format!("{shown}: {what}")).hint(hint)
    };
    let facts = fs::metadata(&import.file).map_err(|cause| wrong(cause.to_string()))?;
    if facts.len() > MOST_BYTES {
        return Err(wrong(msg::file_too_large().to_owned()));
    }
    let bytes = fs::read(&import.file).map_err(|cause| wrong(cause.to_string()))?;
    serde_json::from_slice(&bytes).map_err(|cause| wrong(cause.to_string()))
}

fn wanted(import: &NodeImport, slaver: &ImportedMachine) -> NewNode {
    let whole = |path: &String| {
        std::path::absolute(path).map_or_else(|_| path.clone(), |path| path.display().to_string())
    };
    // Several models are no label.
    let mut models = slaver.gpu_info.clone();
    models.dedup();
    let labels: BTreeMap<String, String> = match models.as_slice() {
        [one] => [("gpu".to_owned(), one.clone())].into(),
        _ => BTreeMap::new(),
    };
    NewNode {
        name: slaver.name.clone(),
        ssh: Some(format!("{}@{}", slaver.user_name, slaver.ip)),
        identity: import.identity.as_ref().map(whole),
        accept_new_key: import.accept_new_key,
        sudo: import.sudo,
        expect_gpus: slaver.gpu_count,
        labels,
        ..NewNode::default()
    }
}
