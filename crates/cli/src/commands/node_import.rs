//! `danlu node import`: the machines of the master/slave training manager, from its `gpu_slaver_info.json`.

use std::{collections::BTreeMap, fs, path::PathBuf};

use clap::Args;
use danlu_wire::api::NewNode;
use serde::Deserialize;

use crate::{
    client::Client,
    failure::{Exit, Failure},
    language::{say, text},
    screen,
};

/// Longer files are no lists of machines.
const MOST_BYTES: u64 = 1 << 20;

#[derive(Debug, Args)]
pub(super) struct Import {
    #[arg(value_name = "FILE", help = text("gpu_slaver_info.json of the master/slave training manager", "主从训练管理系统的 gpu_slaver_info.json"))]
    file: PathBuf,

    #[arg(long, value_name = "FILE", help = text("A private key on the server, for all of them", "服务器上的私钥文件，用于所有机器"))]
    identity: Option<String>,

    #[arg(long, help = text("Trust the host keys that they show the first time", "信任它们首次出示的主机密钥"))]
    accept_new_key: bool,

    #[arg(long, help = text("Become root there by sudo without a password", "在这些机器上用免密 sudo 成为 root"))]
    sudo: bool,

    #[arg(long, help = text("Show what would be added, and change nothing", "只显示将添加的机器，不做更改"))]
    dry_run: bool,
}

/// One machine there. The password that it shared with all others is not taken over: Danlu uses keys.
#[derive(Debug, Deserialize)]
struct Slaver {
    name: String,
    ip: String,
    user_name: String,
    #[serde(default)]
    gpu_count: Option<u32>,
    #[serde(default)]
    gpu_info: Vec<String>,
}

pub(super) fn run(client: &Client, import: &Import) -> Result<(), Failure> {
    let mut failed = 0;
    for slaver in read(import)? {
        let node = wanted(import, &slaver);
        let (name, ssh) = (&slaver.name, node.ssh.clone().unwrap_or_default());
        if import.dry_run {
            let gpus = slaver.gpu_count.unwrap_or(0);
            screen::print(&say!(
                "would add {name}: ssh {ssh}, {gpus} GPUs expected\n",
                "将添加 {name}：ssh {ssh}，应有 {gpus} 块 GPU\n"
            ))?;
            continue;
        }
        match client.send("POST", "/nodes", &node) {
            Ok(_) => {
                screen::print(&say!("added {name}: ssh {ssh}\n", "已添加 {name}：ssh {ssh}\n"))?
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
    let message = say!("{failed} machines were not added", "{failed} 台机器未能添加");
    Err(Failure::new(Exit::Refused, message)
        .hint(text("correct them, and import again", "改正后再次导入")))
}

fn read(import: &Import) -> Result<Vec<Slaver>, Failure> {
    let shown = import.file.display();
    let wrong = |what: String| {
        let hint = text(
            "it is a list of {\"name\", \"ip\", \"user_name\", \"gpu_count\", \"gpu_info\"}",
            "应为 {\"name\", \"ip\", \"user_name\", \"gpu_count\", \"gpu_info\"} 的列表",
        );
        Failure::new(Exit::Usage, format!("{shown}: {what}")).hint(hint)
    };
    let facts = fs::metadata(&import.file).map_err(|cause| wrong(cause.to_string()))?;
    if facts.len() > MOST_BYTES {
        return Err(wrong(text("it is too long", "文件过长").to_owned()));
    }
    let bytes = fs::read(&import.file).map_err(|cause| wrong(cause.to_string()))?;
    serde_json::from_slice(&bytes).map_err(|cause| wrong(cause.to_string()))
}

fn wanted(import: &Import, slaver: &Slaver) -> NewNode {
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
