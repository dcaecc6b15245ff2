//! The `ssh` command line of a user's own connection: only that user's key, and nothing of the server's but the route.
//!
//! No configuration file is read, no other key, certificate or agent is offered, and no host key is trusted that the server's
//! own connection would not trust. The administrator's configuration still says where the machine is and what lies between:
//! `ssh -G` is asked for that, as for the server's own connection and never with a name that a user has chosen. A jump host is
//! a hop of the network: the server logs in to it as itself and forwards one connection, inside which the machine sees only the
//! user.

use super::node_entry::SshTarget;
use super::ssh::{self, Step, Unreachable};
use danlu_messages::machines::MachineProblem;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;

/// Timeout of `ssh -G`.
const PATIENCE: Duration = Duration::from_secs(20);

/// The user of the connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Person<'a> {
    pub(super) login: &'a str,
    pub(super) key: &'a Path,
}

/// The route to a machine, from the administrator's SSH configuration.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct SshRoute {
    /// The options that say where a machine is.
    options: Vec<(&'static str, String)>,
    proxy: Option<String>,
}

/// By the names that `ssh -G` prints.
const WHERE: [(&str, &str); 4] = [
    ("hostname", "HostName"),
    ("port", "Port"),
    ("hostkeyalias", "HostKeyAlias"),
    ("globalknownhostsfile", "GlobalKnownHostsFile"),
];

impl SshRoute {
    pub(super) async fn to(target: &SshTarget) -> Result<SshRoute, Unreachable> {
        let failed = |problem| Unreachable::new(Step::LogIn, problem);
        let unknown = |said: String| failed(MachineProblem::SshRouteUnknown { said });
        let mut asked = ssh::bare();
        asked.arg("-G").arg("-T").stdin(Stdio::null());
        ssh::name_login(&mut asked, target);
        asked.arg("--").arg(&target.host);
        let said = tokio::time::timeout(PATIENCE, asked.output()).await;
        let said = said.map_err(|_| failed(MachineProblem::SshRouteSilent))?;
        let said = said.map_err(|error| unknown(error.to_string()))?;
        if !said.status.success() {
            let words = String::from_utf8_lossy(&said.stderr);
            return Err(unknown(super::message_limits::line(
                words.lines().last().unwrap_or_default(),
            )));
        }
        SshRoute::read(&String::from_utf8_lossy(&said.stdout)).map_err(failed)
    }

    fn read(said: &str) -> Result<SshRoute, MachineProblem> {
        let mut route = SshRoute::default();
        for line in said.lines() {
            let (name, value) = line.split_once(' ').unwrap_or((line, ""));
            if let Some((_, option)) = WHERE.iter().find(|(printed, _)| *printed == name) {
                route.options.push((option, value.to_owned()));
            }
            match (name, value) {
                ("proxycommand" | "proxyjump", "none") => {}
                ("proxycommand", command) => route.proxy = Some(command.to_owned()),
                ("proxyjump", jumps) => route.proxy = Some(through(jumps)?),
                ("proxyusefdpass", "yes") => {
                    route.options.push(("ProxyUseFdpass", "yes".to_owned()));
                }
                _ => {}
            }
        }
        Ok(route)
    }
}

/// What `ssh` itself would make of `ProxyJump`, but for the configuration file, which the connection itself goes without.
fn through(jumps: &str) -> Result<String, MachineProblem> {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "._-@:[]".contains(it);
    let is_host = |it: &str| !it.is_empty() && !it.starts_with('-') && it.chars().all(is_plain);
    if !jumps.split(',').all(is_host) {
        return Err(MachineProblem::ProxyJumpInvalid { jumps: super::message_limits::line(jumps) });
    }
    let (before, last) = match jumps.rsplit_once(',') {
        Some((before, last)) => (format!("-J '{before}' "), last),
        None => (String::new(), jumps),
    };
    Ok(format!(
        "exec ssh -o BatchMode=yes -o ConnectTimeout=10 -o ControlPath=none {before}-W '[%h]:%p' -- 'ssh://{last}'"
    ))
}

/// Only for a machine that the server is connected to: whose host key it knows already.
pub(super) fn command(
    target: &SshTarget,
    route: &SshRoute,
    person: Person<'_>,
    known_hosts: &Path,
) -> Command {
    let mut ssh = ssh::bare();
    ssh.args(["-F", "none"]);
    for option in ssh::ALWAYS.iter().chain(&NOTHING_ELSE) {
        ssh.arg("-o").arg(option);
    }
    ssh.arg("-o").arg(ssh::trusted_hosts(known_hosts));
    // Unlike `-i`, this leaves no room for the usual keys when the file is gone.
    let key = person.key.display().to_string().replace('%', "%%");
    ssh.arg("-o").arg(format!("IdentityFile=\"{key}\""));
    for (option, value) in &route.options {
        ssh.arg("-o").arg(format!("{option}={value}"));
    }
    match &route.proxy {
        Some(proxy) => ssh.arg("-o").arg(format!("ProxyCommand={proxy}")),
        None => ssh.env_remove("SSH_AUTH_SOCK"),
    };
    ssh.arg("-T").arg("-l").arg(person.login).arg("--").arg(&target.host);
    ssh
}

const NOTHING_ELSE: [&str; 12] = [
    "StrictHostKeyChecking=yes",
    "UpdateHostKeys=no",
    "IdentitiesOnly=yes",
    "IdentityAgent=none",
    "AddKeysToAgent=no",
    "PreferredAuthentications=publickey",
    "PubkeyAuthentication=yes",
    "PasswordAuthentication=no",
    "HostbasedAuthentication=no",
    "PermitLocalCommand=no",
    "ControlMaster=no",
    "Tunnel=no",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_way_is_taken_over() {
        let said = "user root\nhostname 10.0.0.7\nport 2222\nidentityfile ~/.ssh/id_root\n\
                    certificatefile ~/.ssh/c\nidentityagent /run/agent\nproxycommand none\n\
                    hostkeyalias gpu7\nsendenv SECRET\nlocalcommand id\n";
        let route = SshRoute::read(said).unwrap();
        let options = [("HostName", "10.0.0.7"), ("Port", "2222"), ("HostKeyAlias", "gpu7")];
        let options = options.map(|(name, value)| (name, value.to_owned())).to_vec();
        assert_eq!(route, SshRoute { options, proxy: None });
    }

    #[test]
    fn jumps_are_hops_of_the_server() {
        let route = |jumps: &str| SshRoute::read(&format!("hostname a\nproxyjump {jumps}\n"));
        let proxy = route("bob@one:99,[fe80::1]:22").unwrap().proxy.unwrap();
        assert!(proxy.contains("-J 'bob@one:99' "), "{proxy}");
        assert!(proxy.ends_with("-W '[%h]:%p' -- 'ssh://[fe80::1]:22'"), "{proxy}");
        assert!(route("a';id;'").is_err());
        assert!(route("-oProxyCommand=id").is_err());
        assert_eq!(
            SshRoute::read("proxycommand nc %h %p").unwrap().proxy.as_deref(),
            Some("nc %h %p")
        );
    }

    #[test]
    fn nothing_of_the_server_is_offered() {
        let target = "ops@gpu7".parse().unwrap();
        let person = Person { login: "ann", key: Path::new("/data/keys/3/gpu7") };
        let ssh = command(&target, &SshRoute::default(), person, Path::new("/data/known_hosts"));
        let words: Vec<_> = ssh.as_std().get_args().map(|it| it.to_str().unwrap()).collect();
        assert_eq!(words[..2], ["-F", "none"]);
        let files: Vec<_> = words.iter().filter(|it| it.starts_with("IdentityFile")).collect();
        assert_eq!(files, [&"IdentityFile=\"/data/keys/3/gpu7\""]);
        for option in ["IdentityAgent=none", "IdentitiesOnly=yes", "StrictHostKeyChecking=yes"] {
            assert!(words.contains(&option), "{option}");
        }
        assert!(!words.contains(&"-i") && !words.contains(&"ops"), "{words:?}");
    }
}
