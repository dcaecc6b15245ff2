//! Data of earlier releases is taken over: accounts, queue, history, logs and running tasks.

use std::{
    fs,
    io::Write as _,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use crate::support::daemon::{Daemon, Setup};
use crate::support::danlu;
use serde_json::{Value, json};

/// A process that holds a run directory as the shim of a run does, until it is told how its command ended.
struct FakeShim {
    process: Child,
    dir: PathBuf,
}

impl FakeShim {
    fn adopt(dir: PathBuf) -> FakeShim {
        // Without a fork, so that who holds the lock is the process that is named in the file. Signals are for real shims.
        let process = Command::new("flock")
            .args(["--nonblock", "--no-fork"])
            .arg(&dir)
            .args(["sh", "-c", "trap '' USR1 USR2 TERM; echo locked; read word"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("util-linux is installed");
        let mut shim = FakeShim { process, dir };
        let mut said = [0; 7];
        let out = shim.process.stdout.as_mut().expect("it was piped");
        std::io::Read::read_exact(out, &mut said).expect("it has the lock");
        let mut state = shim.read("state.json");
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").expect("a kernel");
        state["boot_id"] = boot.trim().into();
        let pid = shim.process.id();
        state["shim"] = json!({ "pid": pid, "start": start_of(pid) });
        state["leader"] = pid.into();
        shim.write("state.json", &state);
        shim
    }

    fn end(mut self, code: i32) {
        let exit = json!({
            "v": 1, "boot_id": self.read("state.json")["boot_id"], "exit": { "code": code },
            "stopped": false, "interrupted": false, "started_at": null,
            "ended_at": self.read("state.json")["started_at"].as_i64().expect("a time") + 60_000,
        });
        self.write("exit.json", &exit);
        self.process.stdin.take().expect("it was piped").write_all(b"end\n").expect("it reads");
        self.process.wait().expect("it ends");
    }

    fn read(&self, name: &str) -> Value {
        let text = fs::read_to_string(self.dir.join(name)).expect("it was recorded");
        serde_json::from_str(&text).expect("JSON")
    }

    fn write(&self, name: &str, content: &Value) {
        fs::write(self.dir.join(name), content.to_string()).expect("it can be written");
    }
}

impl Drop for FakeShim {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// In clock ticks since the boot.
fn start_of(pid: u32) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("it lives");
    let rest = stat.rsplit_once(") ").expect("a name in brackets").1;
    rest.split(' ').nth(19).expect("a start").parse().expect("a number")
}

/// The data directory that a release left behind, as if it had always been here.
pub(crate) fn unpack(version: &str, directory: &Path) {
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/e2e/releases");
    let status = Command::new("tar")
        .args(["--no-same-owner", "-xpzf"])
        .arg(recorded.join(format!("{version}.tar.gz")))
        .arg("-C")
        .arg(directory)
        .status();
    assert!(status.expect("tar is installed").success());
    let data = directory.join("data");
    fs::rename(directory.join(version), &data).expect("it was unpacked");
    // The file has another number here, which is a sign of a restored backup.
    let path = data.join("epoch.json");
    let mut seen: Value =
        serde_json::from_str(&fs::read_to_string(&path).expect("it was recorded")).expect("JSON");
    seen["inode"] = fs::metadata(data.join("danlu.db")).expect("it was recorded").ino().into();
    fs::write(&path, seen.to_string()).expect("it can be written");
    // Real GPUs keep their ids whatever version looks at them; simulated ones had others then.
    let gpu = |number: u32| {
        let id = format!("GPU-51300000-0000-4000-8000-{number:012x}");
        (number.to_string(), json!({ "id": id }))
    };
    let gpus: serde_json::Map<String, Value> = (0..4).map(gpu).collect();
    fs::create_dir_all(data.join("simulated")).expect("it can be made");
    fs::write(data.join("simulated/gpus.json"), json!({ "gpus": gpus }).to_string())
        .expect("it can be written");
    fs::write(directory.join("danlu.toml"), "node_name = \"lab1\"\n").expect("it can be written");
}

pub(crate) fn setup(directory: &Path) -> Setup {
    let config = directory.join("danlu.toml").display().to_string();
    let mut setup = Setup::simulated(4);
    setup.arguments.extend(["--config".to_owned(), config]);
    setup
}

#[test]
fn the_data_directory_of_0_1_0_is_taken_over_with_what_runs() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    unpack("0.1.0", directory.path());
    let recorded = fs::read_to_string(directory.path().join("data/ls.json")).expect("recorded");
    let recorded: Value = serde_json::from_str(&recorded).expect("JSON");
    let runs = directory.path().join("data/node/runs");
    let first = FakeShim::adopt(runs.join("1-6"));
    let second = FakeShim::adopt(runs.join("1-7"));
    let setup = setup(directory.path());
    let daemon = Daemon::start_in(directory, setup);

    // Every task is in the state that it was in, with what was said about it.
    daemon.wait_until("5", "running");
    let now = daemon.json(&["ls", "-a", "--json", "-n", "100"]);
    let tasks = |of: &Value| of["tasks"].as_array().expect("a list").clone();
    assert_eq!(tasks(&now).len(), tasks(&recorded).len());
    for (now, before) in tasks(&now).iter().zip(&tasks(&recorded)) {
        for field in ["id", "name", "user", "state", "command", "gpus", "exit_code", "labels"] {
            assert_eq!(now[field], before[field], "{field} of {before}");
        }
    }
    assert_eq!(daemon.say(&["logs", "1"]), "hello\n");
    assert_eq!(daemon.show("2")["failure"]["class"], "cuda_oom");
    assert_eq!(daemon.say(&["logs", "2", "--run", "1"]).trim(), "RuntimeError: CUDA out of memory");
    assert_eq!(daemon.show("7")["description"], "等待四张卡");

    // Their ends are recorded, and what waited for them goes on.
    first.end(0);
    second.end(0);
    assert_eq!(daemon.ask(&["wait", "5"]).status, 0);
    assert_eq!(daemon.ask(&["wait", "6", "7", "8"]).status, 0);
    assert_eq!(daemon.say(&["logs", "8"]), "after\n");
    assert_eq!(daemon.state("9"), "held");

    // Accounts, a token, a machine.
    let users = daemon.say(&["user", "list"]);
    for name in ["ann", "bo", "eve"] {
        assert!(users.contains(name), "{users}");
    }
    let token = fs::read_to_string(daemon.data().join("token")).expect("recorded");
    let said = danlu::said(
        daemon
            .command(&["ls", "--json"])
            .env("DANLU_SERVER", format!("http://{}", daemon.address()))
            .env("DANLU_TOKEN", token.trim()),
    );
    assert_eq!(said.status, 0, "{said:?}");
    let nodes = daemon.json(&["nodes", "--json"]);
    let names: Vec<&str> = nodes["nodes"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|node| node["name"].as_str().expect("a name"))
        .collect();
    assert!(names.contains(&"lab1") && names.contains(&"gpu9"), "{names:?}");

    // Ids go on where they were.
    let new: u64 = daemon.submit("", "true").parse().expect("an id");
    assert_eq!(new, 15);
}
