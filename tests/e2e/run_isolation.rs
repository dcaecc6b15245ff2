//! A run inherits nothing of the daemon or of other runs, and other users cannot prepare or lock an agent's files.

use std::{
    fs,
    io::Write as _,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::support::daemon::{Daemon, Setup};
use crate::support::danlu;
use crate::support::danlu::Answer;
use crate::support::os_user::{OsUser, open_to_all};
use danlu_wire::{Hello, ToAgent, agent::StationOrder, frame::encode};
use serde_json::json;

struct IsolationMachine {
    daemon: Daemon,
    danlu: PathBuf,
    owner: OsUser,
}

impl IsolationMachine {
    fn new(setup: Setup) -> Option<IsolationMachine> {
        let owner = OsUser::new()?;
        let daemon = Daemon::start_with(setup);
        let danlu = open_to_all(daemon.directory());
        Some(IsolationMachine { daemon, danlu, owner })
    }

    fn ask(&self, arguments: &[&str]) -> Answer {
        self.owner.ask(&self.danlu, self.daemon.socket(), arguments)
    }

    /// What a task of the owner prints, which must succeed.
    #[track_caller]
    fn output(&self, id: &str) -> String {
        let said = self.ask(&["wait", id]);
        assert_eq!(
            said.status,
            0,
            "{said:?} {} {:?}",
            self.daemon.show(id),
            self.ask(&["logs", id])
        );
        self.ask(&["logs", id]).stdout
    }
}

fn has_python() -> bool {
    let there = Command::new("python3").arg("--version").stdout(Stdio::null()).status();
    if !there.is_ok_and(|status| status.success()) {
        crate::support::danlu::skip("there is no python3 to make system calls with");
        return false;
    }
    true
}

/// `add_key`, `request_key` and `keyctl`; `-3` is the session's keyring, `KEYCTL_JOIN_SESSION_KEYRING` is 1.
const KEYS: &str = "\
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
def add(name, text): return libc.syscall(248, b'user', name, text, len(text), -3)
def find(name): return libc.syscall(249, b'user', name, None, 0)
def join(): return libc.syscall(250, 1, None, 0, 0, 0)
";

#[test]
fn runs_have_a_keyring_of_their_own() {
    if !has_python() {
        return;
    }
    if !cfg!(target_arch = "x86_64") {
        crate::support::danlu::skip("the numbers of system calls are those of x86-64");
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    // A daemon with a key in its session, as somebody who starts it from a login may have.
    let wrapper = directory.path().join("with-a-key");
    let line = format!(
        "#!/usr/bin/env python3\n{KEYS}\
         if join() < 0 or add(b'danlu-daemon', b's3cret') < 0:\n    print('no keys', file=sys.stderr)\n\
         if find(b'danlu-daemon') < 0: print('not found', file=sys.stderr)\n\
         os.execv({:?}, ['danlu'] + sys.argv[1:])\n",
        danlu::BUILT
    );
    fs::write(&wrapper, line).expect("it can be written");
    fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let Some(machine) = IsolationMachine::new(Setup { program: wrapper, ..Setup::simulated(2) })
    else {
        return;
    };
    if machine.daemon.errors().contains("no keys") || machine.daemon.errors().contains("not found")
    {
        crate::support::danlu::skip("this kernel has no keys, or does not let us have them");
        return;
    }
    let submit = |script: String| {
        let words = ["submit", "-q", "-g", "0", "--", "python3", "-c"];
        let said = machine.ask(&[&words[..], &[script.as_str()]].concat());
        assert_eq!(said.status, 0, "{said:?}");
        said.stdout.trim().to_owned()
    };
    let first = submit(format!(
        "{KEYS}print(find(b'danlu-daemon'), add(b'danlu-task', b'x') > 0, find(b'danlu-task') > 0)"
    ));
    assert_eq!(machine.output(&first), "-1 True True\n", "its own keys only");
    let second = submit(format!("{KEYS}print(find(b'danlu-daemon'), find(b'danlu-task'))"));
    assert_eq!(machine.output(&second), "-1 -1\n", "nor those of another task");
}

#[test]
fn files_of_a_task_have_the_umask_of_its_submitter() {
    let Some(machine) = IsolationMachine::new(Setup::simulated(2)) else { return };
    let own = machine.owner.directory(machine.daemon.directory().join("own"));
    for (umask, name, mode) in [("027", "narrow", 0o640), ("002", "wide", 0o664)] {
        let [file, log] = ["file", "log"].map(|kind| own.join(format!("{name}-{kind}")));
        let mut shell = machine.owner.command(Path::new("/bin/sh"));
        let line = format!(
            "umask {umask}; exec {} submit -q --output {} -- touch {}",
            machine.danlu.display(),
            log.display(),
            file.display()
        );
        shell.env("DANLU_SERVER", machine.daemon.socket()).args(["-c", &line]);
        let said = danlu::said(&mut shell);
        assert_eq!(said.status, 0, "{said:?}");
        assert_eq!(machine.ask(&["wait", said.stdout.trim()]).status, 0);
        for path in [file, log] {
            let found = fs::metadata(&path).expect("it is there").mode() & 0o777;
            assert_eq!(found, mode, "{}: {found:o}", path.display());
        }
    }
}

#[test]
fn nobody_else_can_hold_the_lock_of_an_agent() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let node = directory.path().join("data/node");
    fs::create_dir_all(&node).expect("it can be made");
    // As an earlier version left it.
    let lock = node.join("agent.lock");
    fs::write(&lock, "").expect("it can be written");
    fs::set_permissions(&lock, fs::Permissions::from_mode(0o644)).expect("it is ours");
    let Some(owner) = OsUser::new() else { return };
    let daemon = Daemon::start_in(directory, Setup::simulated(1));
    let danlu = open_to_all(daemon.directory());
    let mut flock = owner.command(Path::new("/usr/bin/flock"));
    let said = danlu::said(flock.arg("--nonblock").arg(&lock).arg("true"));
    assert!(said.status != 0 && said.stderr.contains("Permission denied"), "{said:?}");

    // Nothing of the node's can be listed or read by others, whatever has run.
    let id = daemon.submit("-g 0", "echo secret");
    assert_eq!(daemon.ask(&["wait", &id]).status, 0);
    assert_eq!(
        owner.ask(&danlu, daemon.socket(), &["ls"]).status,
        0,
        "the socket is for everybody"
    );
    let mut list = owner.command(Path::new("find"));
    let said = danlu::said(list.arg(daemon.data().join("node")).args(["-mindepth", "1"]));
    assert_eq!(said.stdout, "", "{said:?}");
    for name in ["agent.lock", "gpu-baselines.json", "runs", "logs", "spare"] {
        let mut look = owner.command(Path::new("sh"));
        look.args(["-c", "test ! -e \"$0\" || ! test -r \"$0\""]);
        let said = danlu::said(look.arg(daemon.data().join("node").join(name)));
        assert_eq!(said.status, 0, "{name} can be read: {said:?}");
    }
}

/// `danlu agent --stdio` without a home directory works in `/var/tmp`, where anybody may have been first.
#[test]
fn an_agent_does_not_work_where_somebody_else_has_prepared_its_place() {
    let (Some(victim), Some(attacker)) = (OsUser::new(), OsUser::new()) else { return };
    let directory = tempfile::tempdir().expect("a temporary directory");
    let danlu = open_to_all(directory.path());
    let mut sleep = victim.command(Path::new("sleep")).arg("1000").spawn().expect("it starts");
    let stat = fs::read_to_string(format!("/proc/{}/stat", sleep.id())).expect("it runs");
    let start: u64 = stat
        .rsplit(')')
        .next()
        .and_then(|rest| rest.split_whitespace().nth(19)?.parse().ok())
        .expect("a start");
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").expect("it is there");
    let planted =
        json!({"process": {"pid": sleep.id(), "start": start}, "boot_id": boot.trim()}).to_string();
    let base = PathBuf::from(format!("/var/tmp/danlu-{}", victim.uid));
    for whose in [&attacker, &victim] {
        // Even one that belongs to the victim is not used as long as others may write there.
        let place = base.join("far");
        for made in [&base, &place] {
            fs::create_dir(made).expect("it can be made");
            std::os::unix::fs::chown(made, Some(whose.uid), None).expect("root may");
            fs::set_permissions(made, fs::Permissions::from_mode(0o777)).expect("root may");
        }
        let file = place.join("station.json");
        fs::write(&file, &planted).expect("it can be written");
        std::os::unix::fs::chown(&file, Some(attacker.uid), None).expect("root may");
        let said = greet(&victim, &danlu);
        assert_ne!(said.status, 0, "{said:?}");
        assert!(said.stderr.contains("/var/tmp/danlu-"), "{said:?}");
        assert!(said.stderr.contains("hint: "), "{said:?}");
        assert!(sleep.try_wait().expect("it is ours").is_none(), "it was killed");
        fs::remove_dir_all(&base).expect("root may");
    }
    sleep.kill().expect("it is ours");
    sleep.wait().expect("it ends");
}

/// An agent that hears a greeting, and then nothing more.
fn greet(who: &OsUser, danlu: &Path) -> Answer {
    let station =
        StationOrder { name: "far".to_owned(), sim_gpus: Some(1), ..StationOrder::default() };
    let hello =
        Hello { station: Some(station), ..Hello::new("test", danlu_core::SessionId(1), None) };
    let mut command = who.command(danlu);
    command.args(["agent", "--stdio"]).stdin(Stdio::piped()).stdout(Stdio::null());
    let mut agent = command.stderr(Stdio::piped()).spawn().expect("it starts");
    let greeting = encode(&ToAgent::Hello(hello)).expect("it can be said");
    let mut input = agent.stdin.take().expect("it was piped");
    let _ = input.write_all(&greeting);
    drop(input);
    let output = agent.wait_with_output().expect("it ends");
    Answer {
        status: output.status.code().unwrap_or(-1),
        stdout: String::new(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}
