//! Logins with the password of the machine, through its real PAM.

use crate::support::daemon::{Daemon, Setup, until};
use crate::support::http::{Connection, Reply};
use serde_json::json;
use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process,
};

const PASSWORD: &str = "of the machine";
/// Is on every machine, and is nobody's account here.
const OS_USER: &str = "daemon";

/// Rules of PAM for as long as the test runs.
struct Rules(PathBuf);

impl Rules {
    /// `None`, with a line that says why, where a test may not make any.
    fn new(directory: &Path) -> Option<Rules> {
        let modules = ["/lib/x86_64-linux-gnu/security", "/usr/lib/x86_64-linux-gnu/security"];
        let modules = [&modules[..], &["/lib64/security", "/usr/lib64/security"]].concat();
        let modules = [&modules[..], &["/lib/aarch64-linux-gnu/security"]].concat();
        let there = modules.iter().any(|place| Path::new(place).join("pam_exec.so").exists());
        if !nix::unistd::geteuid().is_root() || !there || !Path::new("/etc/pam.d").is_dir() {
            crate::support::danlu::skip("only root makes rules of PAM, with pam_exec");
            return None;
        }
        let check = directory.join("check");
        let script = format!(
            "#!/bin/sh\nread -r given\n[ \"$PAM_USER\" = {OS_USER} ] && [ \"$given\" = '{PASSWORD}' ]\n"
        );
        fs::write(&check, script).expect("a script");
        fs::set_permissions(&check, fs::Permissions::from_mode(0o755)).expect("it can be run");
        let rules = PathBuf::from(format!("/etc/pam.d/danlu-test-{}", process::id()));
        let lines = format!(
            "auth required pam_exec.so expose_authtok quiet {}\naccount required pam_permit.so\n",
            check.display()
        );
        fs::write(&rules, lines).expect("rules");
        Some(Rules(rules))
    }

    fn service(&self) -> String {
        self.0.file_name().map(|name| name.to_string_lossy().into_owned()).expect("a name")
    }
}

impl Drop for Rules {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn log_in(daemon: &Daemon, name: &str, password: &str) -> Reply {
    let body = json!({ "user": name, "password": password });
    Connection::to(daemon.address()).json("POST /api/v1/session", &body)
}

#[test]
fn the_password_of_the_machine_opens_the_account_of_that_os_user() {
    let directory = tempfile::tempdir().expect("a directory");
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755)).expect("open to all");
    let Some(rules) = Rules::new(directory.path()) else { return };
    let config = directory.path().join("danlu.toml");
    let lines = format!("[auth]\npam = true\npam_service = \"{}\"\n", rules.service());
    fs::write(&config, lines).expect("it can be written");
    let mut setup = Setup::simulated(1);
    setup.arguments.extend(["--config".to_owned(), config.display().to_string()]);
    let daemon = Daemon::start_in(directory, setup);

    assert_eq!(log_in(&daemon, OS_USER, "wrong").status, 401);
    assert_eq!(log_in(&daemon, "no-such-os-user", PASSWORD).status, 401);
    assert_eq!(log_in(&daemon, "root", PASSWORD).status, 401);
    let users = daemon.json(&["user", "list", "--json"]).to_string();
    assert!(!users.contains(OS_USER), "a wrong password makes no account: {users}");

    let reply = log_in(&daemon, OS_USER, PASSWORD);
    assert_eq!((reply.status, &reply.body["admin"]), (201, &false.into()), "{reply:?}");
    let cookie = reply.header("set-cookie").and_then(|it| it.split(';').next()).expect("one");
    let who = format!("cookie: {cookie}\r\n");
    let me = Connection::to(daemon.address()).ask("GET /api/v1/me", &who, b"").body;
    assert_eq!((&me["user"], &me["os_user"]), (&OS_USER.into(), &OS_USER.into()));

    daemon.say(&["user", "lock", OS_USER]);
    assert_eq!(log_in(&daemon, OS_USER, PASSWORD).status, 403, "locked stays locked");
    daemon.say(&["user", "unlock", OS_USER]);
    daemon.say(&["user", "set", OS_USER, "os_user=nobody"]);
    let other = log_in(&daemon, OS_USER, PASSWORD);
    assert_eq!(other.status, 401, "it is not the password of whom the tasks run as: {other:?}");
}

#[test]
fn without_the_setting_nobody_asks_the_machine() {
    let directory = tempfile::tempdir().expect("a directory");
    let Some(_rules) = Rules::new(directory.path()) else { return };
    let daemon = Daemon::start();
    assert_eq!(log_in(&daemon, OS_USER, PASSWORD).status, 401);
}

#[test]
fn a_session_ends_when_the_configuration_says() {
    let directory = tempfile::tempdir().expect("a directory");
    let config = directory.path().join("danlu.toml");
    fs::write(&config, "[auth]\nsession_longest = \"1s\"\n").expect("it can be written");
    let mut setup = Setup::simulated(1);
    setup.arguments.extend(["--config".to_owned(), config.display().to_string()]);
    let daemon = Daemon::start_in(directory, setup);
    let admin = daemon.say(&["token", "new", "admin", "-q", "--scope", "admin"]);
    let admin = format!("authorization: Bearer {}\r\n", admin.trim());
    let body = json!({ "name": "ann", "password": "correct horse" }).to_string();
    let made = Connection::to(daemon.address()).ask("POST /api/v1/users", &admin, body.as_bytes());
    assert_eq!(made.status, 201);
    let reply = log_in(&daemon, "ann", "correct horse");
    let cookie = reply.header("set-cookie").expect("one");
    assert!(cookie.contains("Max-Age=1;") || cookie.ends_with("Max-Age=1"), "{cookie}");
    let who = format!("cookie: {}\r\n", cookie.split(';').next().expect("one"));
    let mut connection = Connection::to(daemon.address());
    until("the session ends", || connection.ask("GET /api/v1/me", &who, b"").status == 401);
}
