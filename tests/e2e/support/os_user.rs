//! OS users of this machine, for the duration of a test.

use std::{
    fs,
    os::unix::{fs::PermissionsExt as _, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
};

use nix::unistd::{User, geteuid};
use serde_json::Value;

use crate::support::danlu::{Answer, said};

pub(crate) struct OsUser {
    pub(crate) name: String,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

impl OsUser {
    /// `None`, and it says so, where users cannot be made.
    pub(crate) fn new() -> Option<OsUser> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        if !geteuid().is_root() {
            crate::support::danlu::skip("only root can make a user");
            return None;
        }
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("danlu{}n{number}", std::process::id());
        let mut useradd = Command::new("useradd");
        // A second group, to see that it is not forgotten.
        useradd.args(["-M", "-d", "/nonexistent", "-G", "users", &name]);
        if !useradd.status().is_ok_and(|status| status.success()) {
            crate::support::danlu::skip("there is no useradd here, or no group `users`");
            return None;
        }
        let user = User::from_name(&name).expect("it can be looked up").expect("it was made");
        Some(OsUser { name, uid: user.uid.as_raw(), gid: user.gid.as_raw() })
    }

    pub(crate) fn set_login_shell(&self, shell: &Path) {
        let mut usermod = Command::new("usermod");
        usermod.arg("-s").arg(shell).arg(&self.name).stderr(Stdio::null());
        assert!(usermod.status().is_ok_and(|status| status.success()));
    }

    /// Any program as this user, with nothing of the test's own environment.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.uid(self.uid).gid(self.gid).stdin(Stdio::null()).current_dir("/");
        command.env_clear().env("DANLU_LANG", "en").env("PATH", "/usr/bin:/bin");
        command
    }

    /// A verb of `danlu` as this user.
    pub(crate) fn ask(&self, danlu: &Path, socket: &Path, arguments: &[&str]) -> Answer {
        let mut command = self.command(danlu);
        command.env("DANLU_SERVER", socket).args(arguments);
        said(&mut command)
    }

    /// A request over the socket from a process of this user: the server's answer, or `Null`.
    pub(crate) fn http(&self, socket: &Path, request: &str, body: &str) -> Value {
        let (method, path) = request.split_once(' ').expect("a method and a path");
        let mut command = self.command(Path::new("curl"));
        command.args(["--silent", "--max-time", "20", "-X", method, "--unix-socket"]);
        command.arg(socket).arg(format!("http://danlu{path}"));
        command.args(["-H", "content-type: application/json", "-d", body]);
        let output = command.output().expect("there is curl");
        serde_json::from_slice(&output.stdout).unwrap_or(Value::Null)
    }

    /// A directory that is this user's, and nobody else's.
    pub(crate) fn directory(&self, path: PathBuf) -> PathBuf {
        fs::create_dir(&path).expect("it can be made");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).expect("it is ours");
        std::os::unix::fs::chown(&path, Some(self.uid), Some(self.gid)).expect("root may");
        path
    }
}

impl Drop for OsUser {
    fn drop(&mut self) {
        // Also where something of theirs has not quite ended.
        let _ = Command::new("userdel").args(["-f", &self.name]).stderr(Stdio::null()).status();
    }
}

/// The binary where every user may execute it, which the directory that it was built in need not allow.
pub(crate) fn open_to_all(directory: &Path) -> PathBuf {
    let everybody = fs::Permissions::from_mode(0o755);
    fs::set_permissions(directory, everybody).expect("it is ours");
    let danlu = directory.join("danlu");
    let built = env!("CARGO_BIN_EXE_danlu");
    fs::hard_link(built, &danlu).or_else(|_| fs::copy(built, &danlu).map(drop)).expect("a link");
    danlu
}
