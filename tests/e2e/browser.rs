//! Real browsers: users log in, submit, watch and cancel tasks, and are logged out.

use std::{
    env, fs,
    io::{BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use crate::support::daemon::{Daemon, Setup};
use crate::support::danlu::{BUILT, command_of};
use crate::support::ssh_lab::SshLab;
use crate::support::ssh_user::SshUser;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use tempfile::TempDir;

const PASSWORD: &str = "correct horse battery";

#[test]
fn people_do_everything_in_a_browser() {
    let Some(browser) = browser() else { return };
    let daemon = Daemon::start_with(Setup::simulated(4));
    add_admin(&daemon);
    let nobody_yet = EmptyServer::start();
    let mut walk = visit("walk.mjs", &daemon, &browser);
    walk.env("SETUP", &nobody_yet.link);
    walk.env("PASSWORDS", format!(r#"{{"ada":"{PASSWORD}"}}"#));
    goes_well(&mut walk);
}

/// What a refresh leaves alone, which log is followed, and what is said when a session has ended.
#[test]
fn pages_are_refreshed_calmly() {
    let Some(browser) = browser() else { return };
    let daemon = Daemon::start_with(Setup::simulated(4));
    add_admin(&daemon);
    let mut visit = visit("calm.mjs", &daemon, &browser);
    visit.env("PASSWORD", PASSWORD);
    goes_well(&mut visit);
}

#[test]
fn a_key_is_given_in_a_browser() {
    let Some(browser) = browser() else { return };
    let Some(lab) = SshLab::new(1) else { return };
    let (Some(ops), Some(ann)) = (SshUser::new(&lab), SshUser::new(&lab)) else { return };
    ops.add(&lab, "n1", &lab.machines[0]);
    add_admin(&lab.daemon);
    let key = fs::read_to_string(ann.key(&lab, true)).expect("it was made");
    let mut visit = visit("key.mjs", &lab.daemon, &browser);
    visit.env("NAME", "ada").env("PASSWORD", PASSWORD);
    visit.env("SSH_USER", &ann.os_user.name).env("KEY", key);
    goes_well(&mut visit);
}

fn visit(script: &str, daemon: &Daemon, browser: &Path) -> Command {
    let mut visit = Command::new("node");
    visit.arg(scripts().join(script)).arg(format!("http://{}", daemon.address()));
    visit.arg(browser).arg(pictures());
    visit
}

#[track_caller]
fn goes_well(visit: &mut Command) {
    let visit = visit.output().expect("node is there");
    let (told, wrong) =
        (String::from_utf8_lossy(&visit.stdout), String::from_utf8_lossy(&visit.stderr));
    assert!(visit.status.success(), "{told}{wrong}\npictures are in {}", pictures().display());
}

/// A server that nobody has asked anything, so that it has no administrator.
struct EmptyServer {
    child: Child,
    link: String,
    _directory: TempDir,
}

impl EmptyServer {
    fn start() -> EmptyServer {
        let directory = tempfile::tempdir().expect("a directory");
        let mut command = command_of(Path::new(BUILT), "en");
        command.args(["up", "--listen", "127.0.0.1:0", "--sim-gpus", "1", "--data"]);
        command.arg(directory.path().join("data")).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the binary starts");
        let mut said = BufReader::new(child.stdout.take().expect("piped")).lines();
        let link = said.find_map(|line| {
            let line = line.ok()?;
            line.find("http://")
                .filter(|_| line.contains("/setup?key="))
                .map(|at| line[at..].to_owned())
        });
        let link = link.expect("it prints where the first administrator is made");
        EmptyServer { child, link, _directory: directory }
    }
}

impl Drop for EmptyServer {
    fn drop(&mut self) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).expect("a process id"));
        let _ = kill(pid, Signal::SIGTERM);
        let _ = self.child.wait();
    }
}

/// Her tasks run as somebody who is on every machine.
fn add_admin(daemon: &Daemon) {
    let os_user = if nix::unistd::geteuid().is_root() { "nobody" } else { "" };
    let mut arguments = vec!["user", "add", "ada", "--admin", "--password-stdin"];
    if !os_user.is_empty() {
        arguments.extend(["--os-user", os_user]);
    }
    let mut adding = daemon.command(&arguments);
    let mut adding = adding.stdin(Stdio::piped()).spawn().expect("the binary starts");
    let mut input = adding.stdin.take().expect("it was piped");
    writeln!(input, "{PASSWORD}").expect("it reads");
    drop(input);
    assert!(adding.wait().expect("it ends").success());
}

fn scripts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/e2e/browser")
}

/// Kept to be looked at.
fn pictures() -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("browser");
    fs::create_dir_all(&target).expect("a directory for pictures");
    target
}

/// `None`, with a line that says why, where there is none.
fn browser() -> Option<PathBuf> {
    let found = ["chromium", "chromium-browser", "google-chrome"].into_iter().find_map(program);
    let missing = match (&found, program("node")) {
        (None, _) => "there is no Chromium",
        (_, None) => "there is no node",
        _ if !scripts().join("node_modules/playwright-core").exists() => {
            "tests/e2e/browser has no node_modules: npm ci"
        }
        _ => return found,
    };
    crate::support::danlu::skip(missing);
    None
}

fn program(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|directory| directory.join(name)).find(|file| file.is_file())
}
