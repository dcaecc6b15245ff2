//! `danlu node`: machines that work for this server.

use std::{collections::BTreeMap, io};

use clap::{Args, Subcommand};
use danlu_server::nodes::words;
use danlu_wire::api::{
    AddedNode, DeclareLost, DeclaredLost, Document, LabelChange, NewNode, NodeChange, NodeCheck,
    NodeRole, OneNode,
};
use serde_json::json;

use super::{node_import, nodes, user::path_segment};
use crate::{
    client::{Client, read},
    failure::{Exit, Failure},
    given::pair::{Pair, parse_pair},
    language::{Language, say, text},
    screen::{
        self,
        colour::{self, Colour},
        places, width,
    },
};

#[derive(Debug, Args)]
#[command(
    about = text("Machines that work for this server", "管理为本服务器工作的机器"),
    override_usage = text("danlu node [list | add | import | edit | remove | label | drain | undrain | end-unknown | check | accept | token | revoke | declare-lost] NAME…", "danlu node [list | add | import | edit | remove | label | drain | undrain | end-unknown | check | accept | token | revoke | declare-lost] 名称…"),
    after_help = text(
        "Nothing need be installed on a machine: the server logs in by SSH and brings its own program.\n\
         A machine that it cannot reach dials in by itself: add it with --dial-in.\n\n\
         Examples:\n  \
           danlu node add gpu7 --ssh root@gpu7 --accept-new-key\n  \
           danlu node add gpu8 --ssh ops@10.0.0.8:2222 --identity /etc/danlu/id_ed25519 --sudo --label room=b12\n  \
           danlu node add gpu9 --dial-in\n  \
           danlu node check gpu7\n  \
           danlu node label gpu7 room=b12 old-\n  \
           danlu node drain gpu7",
        "机器上无需预先安装任何东西：服务器通过 SSH 登录，并自带程序。\n\
         服务器无法到达的机器可以主动连接：添加时用 --dial-in。\n\n\
         示例：\n  \
           danlu node add gpu7 --ssh root@gpu7 --accept-new-key\n  \
           danlu node add gpu8 --ssh ops@10.0.0.8:2222 --identity /etc/danlu/id_ed25519 --sudo --label room=b12\n  \
           danlu node add gpu9 --dial-in\n  \
           danlu node check gpu7\n  \
           danlu node label gpu7 room=b12 old-\n  \
           danlu node drain gpu7",
    ),
    disable_help_subcommand = true,
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Debug, Subcommand)]
enum What {
    #[command(about = text("All machines, as `danlu nodes`", "列出所有机器，同 `danlu nodes`"), override_usage = "danlu node list [--json]")]
    List(nodes::Arguments),
    #[command(about = text("Add a machine: reached by SSH, or one that dials in", "添加一台机器：通过 SSH 访问，或由其主动连接"), override_usage = text("danlu node add NAME --ssh USER@HOST[:PORT] | --dial-in [OPTIONS]", "danlu node add 名称 --ssh 用户@主机[:端口] | --dial-in [选项]"))]
    Add(Box<Add>),
    #[command(about = text("Reach a machine in another way; what runs there goes on", "改变访问机器的方式；已运行的继续"), override_usage = text("danlu node edit NAME [OPTIONS]", "danlu node edit 名称 [选项]"))]
    Edit(Box<Edit>),
    #[command(about = text("Add the machines of the master/slave training manager", "导入主从训练管理系统的机器"), override_usage = text("danlu node import gpu_slaver_info.json [OPTIONS]", "danlu node import gpu_slaver_info.json [选项]"))]
    Import(node_import::Import),
    #[command(about = text("Take a machine out; nothing may run there", "移除机器；其上不能有任务运行"), override_usage = text("danlu node remove NAME…", "danlu node remove 名称…"), alias = "rm")]
    Remove(Which),
    #[command(about = text("Set labels, or take them away with a dash: room=b12 old-", "设置标签，或用减号去掉：room=b12 old-"), override_usage = text("danlu node label NAME KEY=VALUE… KEY-…", "danlu node label 名称 键=值… 键-…"))]
    Label(Label),
    #[command(about = text("What ran on a machine that is away has failed, and is queued again", "将离线机器上的任务判为失败并重新排队"), override_usage = text("danlu node declare-lost NAME [--force]", "danlu node declare-lost 名称 [--force]"), after_help = text(
        "What ran there may still be running. When the machine comes back, it is ended before anything else starts there;\n\
         until then it may write to the same files as its next run. Without --force the machine must have been away for as\n\
         long as the setting `lost_after` says (never, unless set), which also does this by itself.",
        "其上的任务可能仍在运行。机器恢复后会先结束它们，再运行其他任务；在此之前，它可能与重新运行的任务写同一批文件。\n\
         不带 --force 时，机器须已离线达到设置 `lost_after` 的时长（默认从不）；该设置到时也会自动执行。",
    ))]
    DeclareLost(Lost),
    #[command(about = text("Give it nothing new; what runs goes on", "不再分配新任务；已运行的继续"), override_usage = text("danlu node drain NAME…", "danlu node drain 名称…"))]
    Drain(Which),
    #[command(about = text("Give it tasks again", "恢复分配任务"), override_usage = text("danlu node undrain NAME…", "danlu node undrain 名称…"))]
    Undrain(Which),
    #[command(about = text("End runs there that the server does not know (after a loss or a restore)", "结束其上服务器不认识的运行（数据丢失或恢复之后）"), override_usage = text("danlu node end-unknown NAME…", "danlu node end-unknown 名称…"))]
    EndUnknown(Which),
    #[command(about = text("Go there, step by step, and say how far one gets", "逐步检查到达该机器的每一步"), override_usage = text("danlu node check NAME…", "danlu node check 名称…"))]
    Check(Which),
    #[command(about = text("Another machine has this address now: take it for this node", "该地址现在是另一台机器：以它作为此节点"), override_usage = text("danlu node accept NAME", "danlu node accept 名称"))]
    Accept(Which),
    #[command(about = text("A new token for a machine that dials in; the old one is worth nothing", "为主动连接的机器换新令牌；旧令牌作废"), override_usage = text("danlu node token NAME", "danlu node token 名称"))]
    Token(Which),
    #[command(about = text("Its token is worth nothing from now on", "作废其令牌"), override_usage = text("danlu node revoke NAME…", "danlu node revoke 名称…"))]
    Revoke(Which),
}

#[derive(Debug, Args)]
struct Add {
    #[arg(value_name = "NAME", help = text("What it is called here", "在此的名称"))]
    name: String,

    #[arg(long, value_name = "USER@HOST[:PORT]", required_unless_present = "dial_in", conflicts_with = "dial_in", help = text("How it is reached; names of your ssh configuration work too", "如何到达；也可用 ssh 配置中的名称"))]
    ssh: Option<String>,

    #[arg(long, conflicts_with_all = ["identity", "accept_new_key", "sudo"], help = text("It connects by itself, with the token that is printed", "由其主动连接，使用打印出的令牌"))]
    dial_in: bool,

    #[arg(long, value_name = "FILE", help = text("A private key on the server, readable by its user alone", "服务器上的私钥文件，仅其用户可读"))]
    identity: Option<String>,

    #[arg(long, value_name = "KEY=VALUE", value_parser = parse_pair, help = text("For `submit --node KEY=VALUE`; several times", "供 `submit --node 键=值` 选择；可多次"))]
    label: Vec<Pair>,

    #[arg(long, help = text("Trust the host key that it shows the first time", "信任首次出示的主机密钥"))]
    accept_new_key: bool,

    #[arg(long, help = text("Become root there by sudo without a password", "在该机器上用免密 sudo 成为 root"))]
    sudo: bool,

    #[arg(long, value_name = "DIR", help = text("Where it keeps its runs; a local disk", "其运行目录所在；须为本地磁盘"))]
    data: Option<String>,

    #[arg(long, value_name = "PROGRAM", help = text("nvidia-smi, if it is at an unusual place", "nvidia-smi 的路径，若不在常规位置"))]
    probe: Option<String>,

    #[arg(long, value_name = "N", help = text("Warn when it has fewer", "少于此数时警告"))]
    expect_gpus: Option<u32>,

    #[arg(long, value_name = "ROLE", value_parser = ["tasks", "data"], default_value = "tasks", hide_default_value = true, help = text("`data`: for files only, it gets no tasks", "`data`：仅用于文件，不分配任务"))]
    role: String,

    #[arg(long, value_name = "DIR", help = text("Logs go to this directory, which it shares with the server", "日志写入此目录，须与服务器共享"))]
    logs: Option<String>,

    #[arg(long, value_name = "N", hide = true, help = text("Simulate so many GPUs there", "模拟的 GPU 数"))]
    sim_gpus: Option<u32>,

    #[arg(long, help = text("Print one JSON document", "输出一个 JSON 文档"))]
    json: bool,
}

#[derive(Debug, Args)]
struct Label {
    #[arg(value_name = "NAME", help = text("Which machine", "哪台机器"))]
    name: String,

    #[arg(value_name = "KEY=VALUE|KEY-", required = true, value_parser = parse_label, help = text("A label to set, or one to take away", "要设置或去掉的标签"))]
    labels: Vec<(String, Option<String>)>,

    #[arg(long, help = text("Print one JSON document", "输出一个 JSON 文档"))]
    json: bool,
}

#[derive(Debug, Args)]
struct Lost {
    #[arg(value_name = "NAME", help = text("Which machine", "哪台机器"))]
    name: String,

    #[arg(long, help = text("Although it may still be running there", "即使可能仍在运行"))]
    force: bool,

    #[arg(long, help = text("Print one JSON document", "输出一个 JSON 文档"))]
    json: bool,
}

/// As kubectl has it: `key=value` sets, `key-` takes away.
fn parse_label(given: &str) -> Result<(String, Option<String>), String> {
    let change = match given.split_once('=') {
        Some((key, value)) => (key, Some(value.to_owned())),
        None => (given.strip_suffix('-').unwrap_or_default(), None),
    };
    match change {
        ("", _) => {
            Err(text("KEY=VALUE sets it, KEY- takes it away", "键=值 设置，键- 去掉").to_owned())
        }
        (key, value) => Ok((key.to_owned(), value)),
    }
}

#[derive(Debug, Args)]
struct Edit {
    #[arg(value_name = "NAME", help = text("Which", "哪一台"))]
    name: String,

    #[arg(long, value_name = "USER@HOST[:PORT]", help = text("How it is reached", "如何到达"))]
    ssh: Option<String>,

    #[arg(long, value_name = "FILE", help = text("A private key on the server, readable by its user alone", "服务器上的私钥文件，仅其用户可读"))]
    identity: Option<String>,

    #[arg(long, value_name = "YES", num_args = 0..=1, default_missing_value = "true", help = text("Trust the host key that it shows the first time", "信任首次出示的主机密钥"))]
    accept_new_key: Option<bool>,

    #[arg(long, value_name = "YES", num_args = 0..=1, default_missing_value = "true", help = text("Become root there by sudo without a password", "在该机器上用免密 sudo 成为 root"))]
    sudo: Option<bool>,

    #[arg(long, value_name = "DIR", help = text("Where it keeps its runs; nothing may run there", "其运行目录所在；其上不能有任务运行"))]
    data: Option<String>,

    #[arg(long, value_name = "PROGRAM", help = text("nvidia-smi, if it is at an unusual place", "nvidia-smi 的路径，若不在常规位置"))]
    probe: Option<String>,

    #[arg(long, value_name = "N", help = text("Warn when it has fewer", "少于此数时警告"))]
    expect_gpus: Option<u32>,

    #[arg(long, value_name = "ROLE", value_parser = ["tasks", "data"], help = text("`data`: for files only, it gets no tasks", "`data`：仅用于文件，不分配任务"))]
    role: Option<String>,

    #[arg(long, value_name = "DIR", help = text("Logs go to this directory, which it shares with the server", "日志写入此目录，须与服务器共享"))]
    logs: Option<String>,

    #[arg(long, help = text("Print one JSON document", "输出一个 JSON 文档"))]
    json: bool,
}

#[derive(Debug, Args)]
struct Which {
    #[arg(value_name = "NAME", required = true, help = text("Which", "哪些"))]
    names: Vec<String>,

    #[arg(long, help = text("Print one JSON document for each", "每台输出一个 JSON 文档"))]
    json: bool,
}

pub(crate) fn run(client: &Client, arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.what {
        None => nodes::run(client, &nodes::Arguments::default()),
        Some(What::List(list)) => nodes::run(client, list),
        Some(What::Add(new)) => add(client, new),
        Some(What::Edit(change)) => edit(client, change),
        Some(What::Import(import)) => node_import::run(client, import),
        Some(What::Remove(which)) => remove(client, which),
        Some(What::Label(change)) => label(client, change),
        Some(What::DeclareLost(lost)) => declare_lost(client, lost),
        Some(What::Drain(which)) => act(client, which, "drain"),
        Some(What::Undrain(which)) => act(client, which, "undrain"),
        Some(What::EndUnknown(which)) => act(client, which, "end-unknown"),
        Some(What::Accept(which)) => act(client, which, "accept"),
        Some(What::Token(which)) => token(client, which, "token"),
        Some(What::Revoke(which)) => token(client, which, "revoke"),
        Some(What::Check(which)) => check(client, which),
    }
}

fn add(client: &Client, new: &Add) -> Result<(), Failure> {
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
    screen::print(&say!(
        "added {name}; the server connects to it now. How far it gets: danlu node check {name}\n",
        "已添加 {name}，服务器正在连接。查看进展：danlu node check {name}\n"
    ))
}

fn edit(client: &Client, change: &Edit) -> Result<(), Failure> {
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
        let message = text("nothing is to be changed", "没有要更改的内容");
        return Err(Failure::new(Exit::Usage, message).hint("danlu node edit --help"));
    }
    let document = client.send("PATCH", &address(&change.name, ""), &body)?;
    if change.json {
        return screen::print_document(&document);
    }
    let name = &change.name;
    screen::print(&say!(
        "changed {name}; the server connects to it anew. How far it gets: danlu node check {name}\n",
        "已更改 {name}，服务器正在重新连接。查看进展：danlu node check {name}\n"
    ))
}

fn role(word: &str) -> NodeRole {
    if word == "data" { NodeRole::Data } else { NodeRole::Tasks }
}

/// Said once: the server does not know the token any more.
fn how_to_join(name: &str, token: &str, addresses: &[String]) -> String {
    let far = addresses.iter().find(|it| it.starts_with("https://"));
    let near = || addresses.first().map_or("https://SERVER:8787", String::as_str);
    let address = far.map_or_else(near, String::as_str);
    let warning = if far.is_some() || addresses.is_empty() {
        ""
    } else {
        text(
            "\nThis server listens on its own machine only. For others: danlu up --listen 0.0.0.0:8787\n",
            "\n本服务器只在本机监听。若要供其他机器连接：danlu up --listen 0.0.0.0:8787\n",
        )
    };
    say!(
        "{name} may dial in with this token, which is shown this once. On {name}:\n\n  \
         danlu agent install {address} --token {token}\n{warning}",
        "{name} 可用此令牌连接；令牌只显示这一次。在 {name} 上运行：\n\n  \
         danlu agent install {address} --token {token}\n{warning}"
    )
}

fn token(client: &Client, which: &Which, act: &str) -> Result<(), Failure> {
    for name in &which.names {
        let document = client.send("POST", &address(name, act), &json!({}))?;
        if which.json {
            screen::print_document(&document)?;
            continue;
        }
        let AddedNode { token, addresses, .. } = read::<Document<AddedNode>>(&document)?.content;
        screen::print(&match token {
            Some(token) => how_to_join(name, &token, &addresses),
            None => say!("{name} cannot dial in any more\n", "{name} 不能再连接\n"),
        })?;
    }
    Ok(())
}

/// The server may have another working directory.
fn whole(path: &str) -> String {
    std::path::absolute(path).map_or_else(|_| path.to_owned(), |path| path.display().to_string())
}

fn remove(client: &Client, which: &Which) -> Result<(), Failure> {
    for name in &which.names {
        let document = client.send("DELETE", &address(name, ""), &json!({}))?;
        if which.json {
            screen::print_document(&document)?;
        } else {
            screen::print(&say!("removed {name}\n", "已移除 {name}\n"))?;
        }
    }
    Ok(())
}

fn label(client: &Client, change: &Label) -> Result<(), Failure> {
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
        true => say!("{name} has no labels\n", "{name} 没有标签\n"),
        false => say!("{name}: {labels}\n", "{name}：{labels}\n"),
    })
}

fn declare_lost(client: &Client, lost: &Lost) -> Result<(), Failure> {
    let name = &lost.name;
    let body = DeclareLost { force: lost.force };
    let document = client.send("POST", &address(name, "declare-lost"), &body)?;
    if lost.json {
        return screen::print_document(&document);
    }
    let tasks = read::<Document<DeclaredLost>>(&document)?.content.tasks;
    if tasks.is_empty() {
        return screen::print(&say!("nothing ran on {name}\n", "{name} 上没有任务在运行\n"));
    }
    let tasks = places::list(&tasks);
    screen::note(&say!(
        "what still runs on {name} is ended when it comes back; until then it may write to the same files as its next run",
        "{name} 上仍在运行的任务会在其恢复后结束；在此之前，它可能与重新运行的任务写同一批文件"
    ));
    screen::print(&say!("lost on {name}: tasks {tasks}\n", "{name} 上失联的任务：{tasks}\n"))
}

fn act(client: &Client, which: &Which, act: &str) -> Result<(), Failure> {
    for name in &which.names {
        let document = client.send("POST", &address(name, act), &json!({}))?;
        if which.json {
            screen::print_document(&document)?;
            continue;
        }
        let node = read::<Document<OneNode>>(&document)?.content.node;
        let tasks = node.tasks.len();
        screen::print(&match act {
            "drain" if tasks > 0 => say!(
                "{name} gets nothing new; {tasks} tasks go on there\n",
                "{name} 不再接受新任务；其上 {tasks} 个任务继续运行\n"
            ),
            "drain" => say!("{name} gets nothing new\n", "{name} 不再接受新任务\n"),
            "undrain" => say!("{name} gets tasks again\n", "{name} 恢复接受任务\n"),
            "end-unknown" => say!(
                "runs on {name} that the server does not know are being ended\n",
                "正在结束 {name} 上服务器不认识的运行\n"
            ),
            _ => say!(
                "the machine that answers at {name}'s address is {name} from now on\n",
                "此后在 {name} 的地址应答的机器即为 {name}\n"
            ),
        })?;
    }
    Ok(())
}

/// All steps of all; an error when one of them fails.
fn check(client: &Client, which: &Which) -> Result<(), Failure> {
    let mut failed = None;
    let coloured = colour::wanted(&io::stdout());
    for name in &which.names {
        let document = client.send("POST", &address(name, "check"), &json!({}))?;
        let checked = read::<Document<NodeCheck>>(&document)?.content;
        if which.json {
            screen::print_document(&document)?;
        }
        for step in &checked.steps {
            let (message, hint) = words::problem(&step.message, &step.hint, Language::current());
            let (mark, colour) =
                if step.ok { ("✓", Colour::Green) } else { ("✗", Colour::Red) };
            if !which.json {
                let mark = colour::paint(mark, Some(colour), coloured);
                let message = width::plain(&message);
                screen::print(&format!("{mark} {name}  {:<7} {message}\n", step.step))?;
            }
            if !step.ok {
                let message = format!("{name}: {}: {}", step.step, width::plain(&message));
                failed = Some(Failure::new(Exit::Unreachable, message).hint(width::plain(&hint)));
            }
        }
    }
    failed.map_or(Ok(()), Err)
}

fn address(name: &str, act: &str) -> String {
    let name = path_segment(name);
    if act.is_empty() { format!("/nodes/{name}") } else { format!("/nodes/{name}/{act}") }
}
