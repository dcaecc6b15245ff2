//! A real server with simulated GPUs, for as long as a test runs.
#![allow(dead_code, reason = "every test file is a crate of its own and uses a part of this")]

use std::{
    io::{BufRead as _, BufReader, Read as _},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::danlu::{Answer, answer, client, client_command, command};

pub(crate) struct Daemon {
    directory: TempDir,
    child: Child,
    socket: PathBuf,
}

const LONGEST: Duration = Duration::from_secs(60);

impl Daemon {
    /// `None`, with a line that says so, where there is no such verb.
    pub(crate) fn start() -> Option<Daemon> {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let data = directory.path().join("data");
        let (child, socket) = up(&data)?;
        let daemon = Daemon { directory, child, socket };
        daemon.wait_for_gpus();
        Some(daemon)
    }

    /// The server accepts tasks before its node has said what it has.
    fn wait_for_gpus(&self) {
        let since = Instant::now();
        while self.json(&["gpus", "--json"])["gpus"].as_array().is_none_or(|gpus| gpus.len() < 4) {
            assert!(since.elapsed() < LONGEST, "the GPUs do not appear");
            thread::sleep(Duration::from_millis(10));
        }
    }

    pub(crate) fn socket(&self) -> &Path {
        &self.socket
    }

    /// A directory of the test's own.
    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Any answer.
    pub(crate) fn ask(&self, arguments: &[&str]) -> Answer {
        client(&self.socket, arguments)
    }

    /// What it prints when it succeeds, which it must.
    #[track_caller]
    pub(crate) fn say(&self, arguments: &[&str]) -> String {
        let said = self.ask(arguments);
        assert_eq!(said.status, 0, "{arguments:?}: {said:?}");
        said.stdout
    }

    #[track_caller]
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.say(arguments)).expect("one JSON document")
    }

    /// The id of a new task; `options` are separated by spaces.
    #[track_caller]
    pub(crate) fn submit(&self, options: &str, line: &str) -> String {
        let mut arguments = vec!["submit", "-q"];
        arguments.extend(options.split_whitespace());
        arguments.extend(["--", "sh", "-c", line]);
        self.say(&arguments).trim().to_owned()
    }

    #[track_caller]
    pub(crate) fn state(&self, id: &str) -> String {
        self.json(&["show", id, "--json"])["task"]["state"].as_str().expect("a state").to_owned()
    }

    /// The server has no way to say "when it runs", so that this looks again and again.
    #[track_caller]
    pub(crate) fn wait_until(&self, id: &str, state: &str) {
        let since = Instant::now();
        while self.state(id) != state {
            assert!(since.elapsed() < LONGEST, "task {id} is {}, not {state}", self.state(id));
            thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        client_command(&self.socket, arguments)
    }

    /// Ends the server as a crash would, and starts another on the same data.
    pub(crate) fn crash_and_restart(&mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ends");
        let data = self.directory.path().join("data");
        let (child, socket) = up(&data).expect("it started before");
        self.child = child;
        self.socket = socket;
    }

    /// Whether the server's process has ended by itself.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().is_ok_and(|status| status.is_some())
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // Tasks outlive their server; nothing of a test should.
        if !self.has_ended() {
            self.ask(&["down", "--cancel-tasks"]);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn up(data: &Path) -> Option<(Child, PathBuf)> {
    let mut child = command("en")
        .args(["up", "--sim-gpus", "4", "--listen", "127.0.0.1:0", "--data"])
        .arg(data)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut lines = BufReader::new(child.stdout.take().expect("it was piped")).lines();
    let socket = lines.find_map(|line| Some(PathBuf::from(line.ok()?.strip_prefix("socket ")?)));
    // Nobody reads on, and nothing may block because of that.
    let mut errors = child.stderr.take().expect("it was piped");
    let Some(socket) = socket else {
        let said = answer(child.wait_with_output().expect("it ends"));
        let mut words = said.stderr;
        errors.read_to_string(&mut words).expect("it is text");
        assert!(words.contains("unknown verb"), "the server did not start: {words}");
        println!("skipped: there is no `danlu up`");
        return None;
    };
    thread::spawn(move || lines.for_each(drop));
    thread::spawn(move || std::io::copy(&mut errors, &mut std::io::sink()));
    Some((child, socket))
}
