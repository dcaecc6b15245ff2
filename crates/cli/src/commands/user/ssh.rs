//! Who one is on other machines, and one's own key for them.

use std::{
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use clap::Args;
use danlu_server::nodes::words;
use danlu_wire::api::{Document, MyNode, MyNodes, NewSshLogin, Secret};
use serde_json::json;

use super::path_segment;
use crate::{
    client::{Client, read},
    failure::{Exit, Failure},
    language::{Language, say, text},
    screen::{
        self, colour,
        table::{Column, Table},
        width,
    },
};

#[derive(Debug, Args)]
pub(super) struct Ssh {
    #[arg(value_name = "MACHINE", help = text("The machine; all are shown unless told", "机器；不写则全部列出"))]
    node: Option<String>,

    #[arg(long, value_name = "NAME", requires = "node", help = text("Your user name there", "您在该机器上的用户名"))]
    user: Option<String>,

    #[arg(long, value_name = "FILE", requires = "user", help = text("Your private key for it, without a passphrase; the server keeps a copy that nobody else can read", "您用于该机器的私钥，不带口令；服务器保存一份他人不可读的副本"))]
    key: Option<PathBuf>,

    #[arg(long, conflicts_with_all = ["user", "key"], requires = "node", help = text("Take both away", "删除两者"))]
    remove: bool,

    #[arg(long, help = text("Print one JSON document", "输出一个 JSON 文档"))]
    json: bool,
}

pub(super) fn run(client: &Client, ssh: &Ssh) -> Result<(), Failure> {
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
            let message = say!("there is no machine {node}", "没有机器 {node}");
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
        Failure::new(
            Exit::Refused,
            say!("could not read the key {file}: {cause}", "无法读取密钥 {file}：{cause}"),
        )
        .hint(format!("ls -l {file}"))
    })?;
    Ok(Secret(key))
}

fn show(nodes: &[MyNode]) -> Result<(), Failure> {
    let mut table = Table::new(vec![
        Column::left(text("MACHINE", "机器")),
        Column::left(text("TASKS RUN AS", "任务运行身份")),
        Column::left(text("SSH USER", "SSH 用户")),
        Column::left(text("KEY", "密钥")),
    ]);
    for node in nodes {
        let runs_as = if node.takes_keys || node.ssh_user.is_some() {
            node.ssh_user.as_deref().unwrap_or(text("nobody yet", "尚未设置"))
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
            let (problem, _) = words::problem(problem, "", Language::current());
            let (name, problem) = (&node.node, width::plain(&problem));
            screen::note(&say!(
                "{name}: your own connection is not open: {problem}",
                "{name}：您自己的连接未建立：{problem}"
            ));
        }
    }
    Ok(())
}
