//! The single checks. Each looks at one thing and answers with one finding, or with none where it does not apply.

use std::{
    env, fs,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use danlu_wire::api::{Document, Gpus, Nodes};
use nix::sys::{
    resource::{Resource, getrlimit},
    statvfs::statvfs,
};

use serde::Deserialize;

use super::{Finding, Verdict};
use crate::{
    client::{Address, Client},
    language::{say, text},
    screen::{amounts, places, states},
};

pub(super) fn all(server: Option<&str>) -> Vec<Finding> {
    let mut findings = vec![tool()];
    match Client::new(server) {
        Ok(client) => findings.extend(server_checks(&client)),
        Err(failure) => findings.push(wrong(failure.message(), failure.hint_words())),
    }
    findings.extend(
        [nvidia(), cgroups(), data_directory(), open_files(), lingering()].into_iter().flatten(),
    );
    findings
}

fn tool() -> Finding {
    fine(concat!("danlu ", env!("CARGO_PKG_VERSION")).to_owned())
}

fn server_checks(client: &Client) -> Vec<Finding> {
    let who = match client.who_am_i() {
        Ok(who) => who,
        Err(problem) => {
            let failure = crate::failure::Failure::from(problem);
            return vec![wrong(failure.message(), failure.hint_words())];
        }
    };
    let at = match client.address() {
        Address::Socket(path) => path.display().to_string(),
        Address::Http(address) => address.clone(),
    };
    let user = who.user;
    let role =
        if who.admin { text("an admin", "管理员") } else { text("a user", "普通用户") };
    let mut findings = vec![fine(say!(
        "the server answers at {at}; you are {user}, {role}",
        "服务器 {at} 可用；您是 {user}，{role}"
    ))];
    findings.extend(client.get::<Document<ConfigBody>>("/config").ok().and_then(not_encrypted));
    if let Ok(nodes) = client.get::<Document<Nodes>>("/nodes") {
        findings.extend(node_checks(&nodes.content));
    }
    if let Ok(gpus) = client.get::<Document<Gpus>>("/gpus") {
        findings.extend(gpu_checks(&gpus.content));
    }
    findings
}

#[derive(Deserialize)]
struct ConfigBody {
    config: Vec<ConfigEntry>,
}

#[derive(Deserialize)]
struct ConfigEntry {
    key: String,
    value: String,
}

/// Plain HTTP on an address that others reach.
fn not_encrypted(Document { content, .. }: Document<ConfigBody>) -> Option<Finding> {
    let value = |key: &str| content.config.iter().find(|it| it.key == key).map(|it| &it.value);
    if value("plain_http")? != "true" {
        return None;
    }
    let addresses = value("listen")?.split(", ").filter_map(|it| it.parse::<SocketAddr>().ok());
    let open: Vec<String> =
        addresses.filter(|it| !it.ip().is_loopback()).map(|it| it.to_string()).collect();
    if open.is_empty() {
        return None;
    }
    let open = open.join(", ");
    Some(note(
        &say!(
            "{open} is not encrypted (plain_http): passwords and tokens can be read on the network",
            "{open} 未加密（plain_http）：网络上可以读到密码和令牌"
        ),
        text(
            "leave plain_http out for HTTPS, or listen on 127.0.0.1 behind a proxy that encrypts",
            "去掉 plain_http 以使用 HTTPS，或只监听 127.0.0.1 并由代理加密",
        ),
    ))
}

fn node_checks(nodes: &Nodes) -> Vec<Finding> {
    let away = nodes.nodes.iter().filter(|node| !node.schedulable);
    away.map(|node| {
        let (name, state) = (&node.name, states::other(&node.state));
        let what =
            say!("machine {name} takes no tasks: {state}", "机器 {name} 不接受任务：{state}");
        Finding { verdict: Verdict::Note, what, hint: Some("danlu nodes".to_owned()) }
    })
    .collect()
}

fn gpu_checks(gpus: &Gpus) -> Vec<Finding> {
    let count = gpus.gpus.len();
    if count == 0 {
        let what = text(
            "the server has found no GPUs: only -g 0 tasks can run",
            "服务器没有发现 GPU：只能运行 -g 0 的任务",
        );
        return vec![note(
            what,
            text("nvidia-smi shows whether the driver works", "nvidia-smi 可查看驱动是否正常"),
        )];
    }
    let mut findings =
        vec![fine(say!("the server has found {count} GPUs", "服务器发现 {count} 块 GPU"))];
    for gpu in &gpus.gpus {
        let place = places::place(Some(&gpu.node), &[gpu.index]);
        let state = states::other(&gpu.state);
        let what = say!("GPU {place} is not given out: {state}", "GPU {place} 未被分配：{state}");
        match gpu.state.as_str() {
            "foreign" => findings.push(note(&what, "danlu gpus")),
            "unknown" | "dirty" | "quarantined" => findings.push(wrong(&what, Some("danlu gpus"))),
            _ => {}
        }
    }
    findings
}

/// A card that the kernel knows and the driver's tools do not.
fn nvidia() -> Option<Finding> {
    let cards = || fs::read_dir("/proc/driver/nvidia/gpus").map(Iterator::count).unwrap_or(0);
    let device = Path::new("/dev/nvidiactl").exists();
    if !device && cards() == 0 {
        return None;
    }
    let tool = in_path("nvidia-smi").is_some();
    if tool {
        return Some(fine(text("the NVIDIA driver is there", "NVIDIA 驱动已安装").to_owned()));
    }
    Some(note(
        text("there is an NVIDIA driver, but no nvidia-smi", "有 NVIDIA 驱动，但没有 nvidia-smi"),
        text("install the tools of the driver (nvidia-utils)", "请安装驱动工具（nvidia-utils）"),
    ))
}

/// With control groups nothing of a task survives its end.
fn cgroups() -> Option<Finding> {
    let unified = Path::new("/sys/fs/cgroup/cgroup.controllers").exists();
    let hybrid = Path::new("/sys/fs/cgroup/unified/cgroup.procs").exists();
    if unified || hybrid {
        return Some(fine(text("control groups v2 are there", "cgroup v2 可用").to_owned()));
    }
    Some(note(
        text(
            "no control groups v2: tasks are ended by walking their processes, memory limits are not kept",
            "没有 cgroup v2：任务通过遍历进程来结束，且无法限制内存",
        ),
        text(
            "boot with systemd.unified_cgroup_hierarchy=1",
            "启动参数：systemd.unified_cgroup_hierarchy=1",
        ),
    ))
}

fn data_directory() -> Option<Finding> {
    let directory = usual_data_directory();
    let there = directory.ancestors().find(|path| path.exists())?;
    let shown = directory.display();
    if let Some(kind) = network_file_system(there) {
        return Some(note(
            &say!(
                "{shown} is on a network file system ({kind})",
                "{shown} 位于网络文件系统（{kind}）"
            ),
            text(
                "danlu up --data DIR with a directory on a local disk",
                "danlu up --data 目录，选用本地磁盘上的目录",
            ),
        ));
    }
    let facts = statvfs(there).ok()?;
    let free = facts.blocks_available() * facts.fragment_size();
    let room = amounts::bytes_in_words(free);
    let what = say!("{room} free for data in {shown}", "数据目录 {shown} 可用空间 {room}");
    if free < LEAST_ROOM {
        return Some(wrong(
            &what,
            Some(text(
                "make room: submits are refused when it is full",
                "请清理磁盘：空间不足时无法提交",
            )),
        ));
    }
    Some(fine(what))
}

const LEAST_ROOM: u64 = 1 << 30;

fn usual_data_directory() -> PathBuf {
    if let Some(data) = env::var_os("DANLU_DATA") {
        return PathBuf::from(data);
    }
    if nix::unistd::geteuid().is_root() {
        return PathBuf::from("/var/lib/danlu");
    }
    let state = env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let home = || Some(PathBuf::from(env::var_os("HOME")?).join(".local/state"));
    state.or_else(home).unwrap_or_else(env::temp_dir).join("danlu")
}

/// As the kernel lists it; the longest mount point decides.
fn network_file_system(path: &Path) -> Option<String> {
    let path = fs::canonicalize(path).ok()?;
    let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
    let covering = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ').skip(1);
        let (point, kind) = (words.next()?, words.next()?);
        path.starts_with(point).then_some((point.len(), kind))
    });
    let (_, kind) = covering.max_by_key(|(length, _)| *length)?;
    let network =
        ["nfs", "cifs", "smb", "fuse.sshfs", "ceph", "lustre", "gpfs", "beegfs", "9p", "glusterfs"];
    network.iter().any(|name| kind.starts_with(name)).then(|| kind.to_owned())
}

fn open_files() -> Option<Finding> {
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE).ok()?;
    if most >= LEAST_FILES {
        return None;
    }
    Some(note(
        &say!("at most {most} files can be open at once", "最多同时打开 {most} 个文件"),
        "ulimit -n 65536",
    ))
}

const LEAST_FILES: u64 = 4_096;

/// A server of a person without root ends with the last login, unless that person lingers.
fn lingering() -> Option<Finding> {
    let uid = nix::unistd::geteuid();
    if uid.is_root() || !Path::new("/run/systemd/system").exists() {
        return None;
    }
    let user = nix::unistd::User::from_uid(uid).ok().flatten()?.name;
    if Path::new("/var/lib/systemd/linger").join(&user).exists() {
        return None;
    }
    Some(note(
        text("a server of your own would end when you log out", "您自己的服务器会在注销时结束"),
        &format!("loginctl enable-linger {user}"),
    ))
}

fn in_path(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|directory| directory.join(program)).find(|file| file.is_file())
}

fn fine(what: String) -> Finding {
    Finding { verdict: Verdict::Fine, what, hint: None }
}

fn note(what: &str, hint: &str) -> Finding {
    Finding { verdict: Verdict::Note, what: what.to_owned(), hint: Some(hint.to_owned()) }
}

fn wrong(what: &str, hint: Option<&str>) -> Finding {
    Finding { verdict: Verdict::Wrong, what: what.to_owned(), hint: hint.map(str::to_owned) }
}
