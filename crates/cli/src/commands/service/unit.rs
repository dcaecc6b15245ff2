//! systemd unit files of the server and the agent.
//!
//! Tasks are children of the service: whatever confines it confines them. So there is no seccomp filter, device policy, mount or
//! other namespace, bounding set or `NoNewPrivileges` here: tasks need GPUs, set-uid programs and namespaces of their own.
//! What is set here is either undone for tasks by the process that starts them (umask, OOM score, soft limit of
//! descriptors, session keyring) or meant for them, too.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

use danlu_messages::cli::service as msg;
use danlu_node::private;

use crate::failure::{Exit, Failure};

#[derive(Debug)]
pub(crate) struct Unit {
    pub(crate) name: &'static str,
    pub(crate) description: String,
    pub(crate) start: String,
    pub(crate) kind: UnitKind,
    /// Lines such as `Nice=5`.
    pub(crate) more: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnitKind {
    /// Tells when it is ready, reads its configuration again on SIGHUP.
    Server {
        for_user: bool,
    },
    Agent,
}

impl Unit {
    pub(crate) fn text(&self) -> String {
        let Unit { description, start, kind, more, .. } = self;
        let description = description.replace('%', "%%");
        let for_user = *kind == UnitKind::Server { for_user: true };
        let mut lines = vec!["[Unit]".to_owned(), format!("Description={description}")];
        if !for_user {
            lines.push("Wants=network-online.target".into());
            lines.push("After=network-online.target local-fs.target nss-user-lookup.target".into());
        }
        lines.push("\n[Service]".into());
        lines.push(format!("ExecStart={start}"));
        match kind {
            UnitKind::Server { for_user } => {
                let kept = ["Type=notify", "NotifyAccess=main", "ExecReload=kill -HUP $MAINPID"];
                lines.extend(kept.map(str::to_owned));
                lines.extend(["Restart=on-failure", "RestartSec=5"].map(str::to_owned));
                if !for_user {
                    lines.push("# /run/danlu for the socket, /var/lib/danlu for the data.".into());
                    lines.push("RuntimeDirectory=danlu\nRuntimeDirectoryPreserve=yes".into());
                    lines.push("StateDirectory=danlu\nStateDirectoryMode=0711".into());
                }
            }
            UnitKind::Agent => lines.extend(["Restart=always", "RestartSec=30"].map(str::to_owned)),
        }
        lines.push(
            "# Tasks live on while the service restarts, and are limited by themselves alone."
                .into(),
        );
        lines.push("KillMode=process\nDelegate=yes\nTasksMax=infinity\nOOMPolicy=continue".into());
        lines.push("# Not passed on to tasks.".into());
        lines.push("UMask=0077\nKeyringMode=private\nLimitNOFILE=1024:524288".into());
        if !for_user {
            lines.push("OOMScoreAdjust=-500".into());
        }
        if !more.is_empty() {
            lines.push("# Passed on to tasks.".into());
            lines.extend(more.iter().cloned());
        }
        let target = if for_user { "default.target" } else { "multi-user.target" };
        lines.push(format!("\n[Install]\nWantedBy={target}"));
        lines.join("\n") + "\n"
    }

    /// Below `root`, which is `/` but for tests and images.
    pub(crate) fn path(&self, root: &Path) -> Result<PathBuf, Failure> {
        let file = format!("{}.service", self.name);
        if self.kind != (UnitKind::Server { for_user: true }) {
            return Ok(root.join("etc/systemd/system").join(file));
        }
        let base = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
        let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".config"));
        let base = base
            .or_else(home)
            .ok_or_else(|| Failure::new(Exit::Refused, msg::home_is_not_set()))?;
        Ok(base.join("systemd/user").join(file))
    }

    pub(crate) fn write(&self, root: &Path) -> Result<PathBuf, Failure> {
        let path = self.path(root)?;
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(failed("create", parent))?;
        }
        private::replace_durably(&path, self.text().as_bytes()).map_err(failed("write", &path))?;
        readable(&path).map_err(failed("write", &path))?;
        Ok(path)
    }

    /// `false` where systemd does not run.
    pub(crate) fn systemctl(&self, commands: &[&[&str]]) -> Result<bool, Failure> {
        if !Path::new("/run/systemd/system").exists() {
            return Ok(false);
        }
        let user = self.kind == UnitKind::Server { for_user: true };
        for arguments in commands {
            let mut systemctl = Command::new("systemctl");
            let done = systemctl.args(user.then_some("--user")).args(*arguments).status();
            if !done.map_err(failed("run", Path::new("systemctl")))?.success() {
                let words = arguments.join(" ");
                let message = msg::systemctl_words_failed(&words);
                let hint = format!("journalctl -u {}", self.name);
                return Err(Failure::new(Exit::Refused, message).hint(hint));
            }
        }
        Ok(true)
    }
}

/// Everybody may know how a service is started.
fn readable(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o644))
}

/// As it has to be written in a unit file.
pub(crate) fn quoted(word: &str) -> String {
    let plain =
        |character: char| character.is_ascii_alphanumeric() || "-_./:=[]@,+".contains(character);
    let escaped = word.replace('%', "%%");
    match !word.is_empty() && word.chars().all(|character| plain(character) || character == '%') {
        true => escaped,
        false => {
            let escaped = escaped.replace('\\', "\\\\").replace('"', "\\\"").replace('$', "$$");
            format!("\"{escaped}\"")
        }
    }
}

pub(crate) fn own_program() -> Result<String, Failure> {
    let program = std::env::current_exe().map_err(failed("find", Path::new("/proc/self/exe")))?;
    Ok(quoted(&program.display().to_string()))
}

pub(crate) fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Failure {
    let path = path.display().to_string();
    move |cause| {
        let message = msg::could_not_action_path_cause(&action, &path, &cause);
        Failure::new(Exit::Refused, message).hint(msg::run_it_as_root())
    }
}
