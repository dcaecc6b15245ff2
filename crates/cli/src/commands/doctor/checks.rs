//! The checks. Each looks at one thing and returns one finding, or none where it does not apply.

use std::{
    env, fs,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use danlu_messages::cli::doctor as msg;
use danlu_server::daemon::{host_health, notices::words};
use danlu_wire::api::{Document, GpuStateName, Gpus, Nodes, NoticeList, ServerHealth};
use jiff::Timestamp;
use nix::sys::{
    resource::{Resource, getrlimit},
    statvfs::statvfs,
};

use super::{Finding, Verdict, host_checks, server_health};
use crate::{
    client::{Address, Client, responses::ConfigAnswer},
    screen::{amounts, places, states, width},
};

pub(super) fn all(server: Option<&str>) -> Vec<Finding> {
    let (mut findings, mut host) = (vec![tool()], None);
    match Client::new(server) {
        Ok(client) => {
            let health = health(&client);
            host = health.as_ref().and_then(|health| health.host.clone());
            findings.extend(server_checks(&client, health.as_ref()));
            // Where the server keeps its data, it knows best.
            findings.extend(data_directory().filter(|_| health.is_none()));
        }
        Err(failure) => {
            findings.push(wrong(failure.message(), failure.hint_words()));
            findings.extend(data_directory());
        }
    }
    // Tasks run where the server is; where that does not tell, it may be here.
    let host = host.unwrap_or_else(host_health::look);
    findings.extend(host_checks::findings(&host));
    findings.extend([open_files(), lingering()].into_iter().flatten());
    findings
}

fn tool() -> Finding {
    fine(concat!("danlu ", env!("CARGO_PKG_VERSION")).to_owned())
}

/// For administrators; servers of earlier releases do not tell it.
fn health(client: &Client) -> Option<ServerHealth> {
    client.get::<Document<ServerHealth>>("/server/health").ok().map(|health| health.content)
}

fn server_checks(client: &Client, health: Option<&ServerHealth>) -> Vec<Finding> {
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
    let role = if who.admin { msg::role_admin() } else { msg::role_user() };
    let mut findings = vec![fine(msg::server_answers(&at, &user, &role))];
    findings.extend(client.get::<Document<ConfigAnswer>>("/config").ok().and_then(not_encrypted));
    if let Some(health) = health {
        findings.extend(server_health::findings(health, Timestamp::now()));
    }
    if let Ok(notices) = client.get::<Document<NoticeList>>("/notices") {
        findings.extend(notices.content.notices.iter().map(|notice| {
            let (what, hint) = words(notice);
            note(&width::plain(&what), &width::plain(&hint))
        }));
    }
    if let Ok(nodes) = client.get::<Document<Nodes>>("/nodes") {
        findings.extend(node_checks(&nodes.content));
        findings.extend(server_health::machine_clocks(&nodes.content.nodes));
        findings.extend(server_health::machine_disks(&nodes.content.nodes));
    }
    if let Ok(gpus) = client.get::<Document<Gpus>>("/gpus") {
        findings.extend(gpu_checks(&gpus.content));
    }
    findings
}

/// Plain HTTP on an address that others reach.
fn not_encrypted(Document { content, .. }: Document<ConfigAnswer>) -> Option<Finding> {
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
    Some(note(&msg::not_encrypted(&open), msg::encrypt_or_localhost()))
}

fn node_checks(nodes: &Nodes) -> Vec<Finding> {
    let metrics = nodes.nodes.iter().flat_map(|node| {
        let what = |words: &String| format!("{}: {words}", node.name);
        node.failed_metrics.iter().map(move |words| note(&what(words), "danlu config show"))
    });
    let away = nodes.nodes.iter().filter(|node| !node.schedulable);
    let away = away.map(|node| {
        let (name, state) = (&node.name, states::node(node.state));
        let what = msg::machine_name_takes_no_tasks_state(&name, &state);
        Finding { verdict: Verdict::Note, what, hint: Some("danlu nodes".to_owned()) }
    });
    away.chain(metrics).collect()
}

fn gpu_checks(gpus: &Gpus) -> Vec<Finding> {
    let count = gpus.gpus.len();
    if count == 0 {
        let what = msg::no_gpus_found();
        return vec![note(what, msg::try_nvidia_smi())];
    }
    let mut findings = vec![fine(msg::gpus_found(&count))];
    for gpu in &gpus.gpus {
        let place = places::place(Some(&gpu.node), &[gpu.index]);
        let state = states::gpu(gpu.state);
        let what = msg::gpu_place_is_not_given_out_state(&place, &state);
        match gpu.state {
            GpuStateName::Foreign => findings.push(note(&what, "danlu gpus")),
            GpuStateName::Unknown | GpuStateName::Dirty | GpuStateName::Quarantined => {
                findings.push(wrong(&what, Some("danlu gpus")));
            }
            GpuStateName::Conflict
            | GpuStateName::Disabled
            | GpuStateName::Free
            | GpuStateName::Held
            | GpuStateName::Shared => {}
        }
    }
    findings
}

fn data_directory() -> Option<Finding> {
    let directory = usual_data_directory();
    let there = directory.ancestors().find(|path| path.exists())?;
    let shown = directory.display();
    if let Some(kind) = network_file_system(there) {
        return Some(note(&msg::network_file_system(&shown, &kind), msg::use_local_disk()));
    }
    let facts = statvfs(there).ok()?;
    let free = facts.blocks_available() * facts.fragment_size();
    let room = amounts::bytes_in_words(free);
    let what = msg::room_free_for_data_in_shown(&room, &shown);
    if free < LEAST_ROOM {
        return Some(wrong(&what, Some(msg::free_disk_space())));
    }
    Some(fine(what))
}

pub(super) const LEAST_ROOM: u64 = 1 << 30;

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
    Some(note(&msg::most_open_files(&most), "ulimit -n 65536"))
}

pub(super) const LEAST_FILES: u64 = 4_096;

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
    Some(note(msg::ends_at_logout(), &format!("loginctl enable-linger {user}")))
}

pub(super) fn fine(what: String) -> Finding {
    Finding { verdict: Verdict::Fine, what, hint: None }
}

pub(super) fn note(what: &str, hint: &str) -> Finding {
    Finding { verdict: Verdict::Note, what: what.to_owned(), hint: Some(hint.to_owned()) }
}

pub(super) fn wrong(what: &str, hint: Option<&str>) -> Finding {
    Finding { verdict: Verdict::Wrong, what: what.to_owned(), hint: hint.map(str::to_owned) }
}
