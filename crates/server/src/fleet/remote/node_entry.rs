//! A machine's entry: how it is reached, as administrators configured it.

use crate::auth::SecretHash;
use danlu_messages::errors;
use danlu_wire::agent::StationOrder;
use danlu_wire::api::{NewNode, NodeRole};
use serde::{Deserialize, Serialize};
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Stored beside the core's node of the same name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NodeRecord {
    pub(crate) name: String,
    #[serde(flatten)]
    pub(crate) route: NodeRoute,
    /// Become root there with `sudo -n`.
    #[serde(default)]
    pub(crate) sudo: bool,
    #[serde(default)]
    pub(crate) data: Option<String>,
    /// The GPU probe program.
    #[serde(default)]
    pub(crate) probe: Option<String>,
    /// Fewer GPUs cause a warning.
    #[serde(default)]
    pub(crate) expect_gpus: Option<u32>,
    #[serde(default)]
    pub(crate) sim_gpus: Option<u32>,
    /// The id of the machine that answered first. Another machine at this address is not trusted.
    #[serde(default)]
    pub(crate) machine: Option<String>,
    #[serde(default)]
    pub(crate) role: NodeRole,
    /// A directory for logs that it shares with the server.
    #[serde(default)]
    pub(crate) logs: Option<String>,
    /// It is configured in a file, and removed when it is removed there.
    #[serde(default)]
    pub(crate) from_file: bool,
}

/// How the connection is made: from the server, or by the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NodeRoute {
    Ssh(SshTarget),
    /// The machine connects with a token of this hash; `None` if the token was revoked.
    DialIn(Option<SecretHash>),
}

impl std::fmt::Display for NodeRoute {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NodeRoute::Ssh(target) => write!(f, "ssh {target}"),
            NodeRoute::DialIn(_) => f.write_str("dials in"),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SshTarget {
    pub(crate) host: String,
    #[serde(default)]
    pub(crate) user: Option<String>,
    #[serde(default)]
    pub(crate) port: Option<u16>,
    #[serde(default)]
    pub(crate) identity: Option<PathBuf>,
    /// Accept the host key at the first connection. A changed key is refused all the same.
    #[serde(default)]
    pub(crate) accept_new: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub(crate) struct BadNode {
    pub(crate) message: String,
    pub(crate) hint: &'static str,
}

fn bad(message: impl Into<String>, hint: &'static str) -> BadNode {
    BadNode { message: message.into(), hint }
}

impl NodeRecord {
    pub(crate) fn new(wanted: &NewNode) -> Result<NodeRecord, BadNode> {
        check_name(&wanted.name)?;
        for path in [&wanted.data, &wanted.logs].into_iter().flatten() {
            if !path.starts_with('/') || path.contains('\0') || path.len() > 4096 {
                return Err(bad(
                    errors::path_is_not_a_whole_path(&format_args!("{path:?}")),
                    errors::begin_it_with(),
                ));
            }
        }
        Ok(NodeRecord {
            name: wanted.name.clone(),
            route: NodeRoute::wanted(wanted)?,
            sudo: wanted.sudo,
            data: wanted.data.clone(),
            probe: wanted.probe.clone(),
            expect_gpus: wanted.expect_gpus,
            sim_gpus: wanted.sim_gpus,
            machine: None,
            role: wanted.role,
            logs: wanted.logs.clone(),
            from_file: false,
        })
    }

    pub(crate) fn station(&self) -> StationOrder {
        StationOrder {
            name: self.name.clone(),
            data: self.data.clone(),
            without_cgroups: false,
            probe: self.probe.clone(),
            sim_gpus: self.sim_gpus,
            sim_load: self.sim_gpus.is_some() && danlu_node::gpu::sim_load_wanted(),
        }
    }
}

impl NodeRoute {
    fn wanted(wanted: &NewNode) -> Result<NodeRoute, BadNode> {
        let hint = errors::give_ssh_or_dial_in();
        match (&wanted.ssh, wanted.dial_in) {
            (Some(ssh), false) => {
                let mut ssh: SshTarget = ssh.parse()?;
                ssh.identity = wanted.identity.as_deref().map(checked_identity).transpose()?;
                ssh.accept_new = wanted.accept_new_key;
                Ok(NodeRoute::Ssh(ssh))
            }
            (None, true) if wanted.identity.is_none() && !wanted.sudo && !wanted.accept_new_key => {
                Ok(NodeRoute::DialIn(None))
            }
            (None, true) => {
                let hint = errors::leave_out_ssh_fields();
                Err(bad(errors::dial_in_needs_no_login(), hint))
            }
            (Some(_), true) => Err(bad(errors::ssh_or_dial_in(), hint)),
            (None, false) => Err(bad(errors::no_way_to_machine(), hint)),
        }
    }
}

/// Contains nothing that `ssh` or a shell would interpret.
fn is_word(it: &str, more: &str) -> bool {
    !it.is_empty()
        && it.len() <= 255
        && !it.starts_with('-')
        && it.chars().all(|it| it.is_ascii_alphanumeric() || more.contains(it))
}

/// The name becomes a directory name there.
fn check_name(name: &str) -> Result<(), BadNode> {
    let plain = |it: char| it.is_ascii_alphanumeric() || "._-".contains(it);
    if name.is_empty()
        || name.len() > 64
        || name.starts_with(['.', '-'])
        || !name.chars().all(plain)
    {
        return Err(bad(
            errors::bad_machine_name(&format_args!("{name:?}")),
            errors::machine_name_letters(),
        ));
    }
    Ok(())
}

/// `user@host:port`; only the host is required.
impl std::str::FromStr for SshTarget {
    type Err = BadNode;

    fn from_str(text: &str) -> Result<SshTarget, BadNode> {
        let hint = errors::for_example_ssh_alice_gpu7_22();
        let (user, rest) = match text.rsplit_once('@') {
            Some((user, rest)) => (Some(user), rest),
            None => (None, text),
        };
        // `[fe80::1]:22`, `host:22`, or an address of version 6 alone.
        let (host, port) = match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((host, "")) => (host, None),
            Some((host, port)) => (host, port.strip_prefix(':').or(Some(port))),
            None => match rest.split_once(':') {
                Some((host, port)) if !port.contains(':') => (host, Some(port)),
                _ => (rest, None),
            },
        };
        let port = match port {
            None => None,
            Some(port) => match port.parse() {
                Ok(port @ 1..) => Some(port),
                _ => return Err(bad(errors::port_is_not_a_port(&format_args!("{port:?}")), hint)),
            },
        };
        if !is_word(host, "._-:%") {
            return Err(bad(
                errors::host_is_not_the_name_of_a_machine(&format_args!("{host:?}")),
                hint,
            ));
        }
        if user.is_some_and(|user| !is_word(user, "._-$")) {
            let user = user.unwrap_or_default();
            return Err(bad(
                errors::user_is_not_the_name_of_a_user(&format_args!("{user:?}")),
                hint,
            ));
        }
        let user = user.map(str::to_owned);
        Ok(SshTarget { host: host.to_owned(), user, port, identity: None, accept_new: false })
    }
}

impl std::fmt::Display for SshTarget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(user) = &self.user {
            write!(f, "{user}@")?;
        }
        f.write_str(&self.host)?;
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

/// Refuses a private key that others can read.
fn checked_identity(path: &str) -> Result<PathBuf, BadNode> {
    let hint = errors::give_private_key_file();
    let path = Path::new(path);
    if !path.is_absolute() {
        return Err(bad(errors::display_is_not_a_whole_path(&path.display()), hint));
    }
    let facts = fs::metadata(path)
        .map_err(|error| bad(errors::key_problem(&path.display(), &error), hint))?;
    if !facts.is_file() || facts.mode() & 0o077 != 0 {
        return Err(bad(errors::others_may_read_the_key_display(&path.display()), hint));
    }
    Ok(path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_read() {
        let read = |text: &str| text.parse::<SshTarget>().map(|target| target.to_string());
        for good in ["gpu7", "alice@gpu7", "alice@gpu7:2222", "root@10.0.0.1:22", "fe80::1"] {
            assert_eq!(read(good), Ok(good.to_owned()));
        }
        assert_eq!(read("[fe80::1%eth0]:22"), Ok("fe80::1%eth0:22".to_owned()));
        for bad in [
            "",
            "-oProxyCommand=id",
            "a b",
            "x;id",
            "$(id)",
            "`id`",
            "a@-x",
            "'@b",
            "gpu7:0",
            "gpu7:x",
            "gpu7:99999",
            "a\nb",
            "@gpu7",
        ] {
            assert!(read(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn names_are_plain() {
        for good in ["gpu7", "gpu-7.lab_1"] {
            assert_eq!(check_name(good), Ok(()));
        }
        for bad in ["", ".", "..", "../x", "a/b", "-x", "a b", "é", "$(id)", &"x".repeat(65)] {
            assert!(check_name(bad).is_err(), "{bad:?}");
        }
    }
}
