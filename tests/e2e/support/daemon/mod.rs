//! A real server for the duration of a test, with simulated GPUs by default.

pub(crate) mod processes;

use std::{
    fs::{self, File},
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::danlu::{Answer, BUILT, LONGEST, client, client_command, command_of};

pub(crate) struct Daemon {
    directory: TempDir,
    setup: Setup,
    child: Child,
    reach: Reach,
}

/// Where a server can be reached.
struct Reach {
    socket: PathBuf,
    /// `http://…` or `https://…` each, in the order in which they were asked for.
    addresses: Vec<String>,
}

/// How the server is started, each time.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
    pub(crate) variables: Vec<(String, String)>,
    /// So many must have been found before a test begins.
    pub(crate) gpus: usize,
}

/// Looks again and again until it is so, and says what it waited for when it never is.
#[track_caller]
pub(crate) fn until(what: &str, mut so: impl FnMut() -> bool) {
    let since = Instant::now();
    while !so() {
        assert!(since.elapsed() < LONGEST, "waited in vain: {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// A directory on no disk, where there is such a thing: for tests that write much and are not about disks.
pub(crate) fn in_memory() -> TempDir {
    let made = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    made.expect("a temporary directory")
}

impl Setup {
    pub(crate) fn simulated(gpus: usize) -> Setup {
        let arguments = vec!["--sim-gpus".to_owned(), gpus.to_string()];
        Setup { program: BUILT.into(), arguments, variables: Vec::new(), gpus }
    }
}

impl Daemon {
    /// With four simulated GPUs.
    pub(crate) fn start() -> Daemon {
        Daemon::start_with(Setup::simulated(4))
    }

    pub(crate) fn start_with(setup: Setup) -> Daemon {
        let directory = tempfile::tempdir().expect("a temporary directory");
        Daemon::start_in(directory, setup)
    }

    /// In a directory that the test has prepared.
    pub(crate) fn start_in(directory: TempDir, setup: Setup) -> Daemon {
        let mut child = begin(directory.path(), &setup);
        let Some(reach) = ready(&mut child) else {
            child.wait().expect("it ends");
            let words = fs::read_to_string(directory.path().join(ERRORS)).expect("it is text");
            panic!("the server did not start: {words}");
        };
        let daemon = Daemon { directory, setup, child, reach };
        daemon.wait_for_gpus();
        daemon
    }

    /// The server accepts tasks before its node has said what it has.
    fn wait_for_gpus(&self) {
        let wanted = self.setup.gpus;
        until("the GPUs appear", || {
            let seen = self.json(&["gpus", "--json"]);
            seen["gpus"].as_array().is_some_and(|gpus| gpus.len() >= wanted)
        });
    }

    pub(crate) fn socket(&self) -> &Path {
        &self.reach.socket
    }

    /// Host and port of the network side.
    pub(crate) fn address(&self) -> &str {
        self.reach.addresses[0].trim_start_matches("http://")
    }

    /// The second one, as the server printed it.
    pub(crate) fn other_address(&self) -> &str {
        &self.reach.addresses[1]
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// A directory of the test's own.
    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    /// What it has written to standard error.
    pub(crate) fn errors(&self) -> String {
        fs::read_to_string(self.directory.path().join(ERRORS)).unwrap_or_default()
    }

    /// Any answer.
    pub(crate) fn ask(&self, arguments: &[&str]) -> Answer {
        client(&self.reach.socket, arguments)
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
    pub(crate) fn show(&self, id: &str) -> Value {
        self.json(&["show", id, "--json"])["task"].take()
    }

    #[track_caller]
    pub(crate) fn state(&self, id: &str) -> String {
        self.show(id)["state"].as_str().expect("a state").to_owned()
    }

    /// Fails when the task ends without having been in that state.
    #[track_caller]
    pub(crate) fn wait_until(&self, id: &str, state: &str) {
        // Sooner than the client is killed, so that it can say how far the task is.
        let timeout = format!("{}s", LONGEST.as_secs() - 5);
        let said = self.ask(&["wait", id, "--until", state, "--timeout", &timeout]);
        assert_eq!(said.status, 0, "task {id} has not been {state}: {said:?}");
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        client_command(&self.reach.socket, arguments)
    }

    /// Ends the server as a crash would.
    pub(crate) fn crash(&mut self) {
        self.child.kill().expect("it can be killed");
        self.child.wait().expect("it ends");
    }

    /// As the system does at its end, or a service manager.
    pub(crate) fn terminate(&mut self) {
        let pid = Pid::from_raw(i32::try_from(self.child.id()).expect("a process id"));
        kill(pid, Signal::SIGTERM).expect("it is ours");
        assert!(self.child.wait().expect("it ends").success());
    }

    /// From the next start on.
    pub(crate) fn add_argument(&mut self, argument: &str) {
        self.setup.arguments.push(argument.to_owned());
    }

    /// Starts another on the same data, without waiting for it.
    pub(crate) fn begin_again(&mut self) {
        self.child = begin(self.directory.path(), &self.setup);
    }

    /// Starts another on the same data, and waits until it takes requests.
    pub(crate) fn start_again(&mut self) {
        self.begin_again();
        let reach = ready(&mut self.child);
        self.reach = reach.unwrap_or_else(|| panic!("it started before: {}", self.errors()));
    }

    pub(crate) fn crash_and_restart(&mut self) {
        self.crash();
        self.start_again();
    }

    /// A backup is copied over the database: what was done in between is lost, and that is accepted.
    pub(crate) fn restore_after(&mut self, done: impl FnOnce(&Daemon)) {
        self.terminate();
        let database = self.data().join("danlu.db");
        let bytes = fs::read(&database).expect("the database");
        self.start_again();
        done(self);
        self.terminate();
        fs::write(&database, bytes).expect("a restore");
        self.add_argument("--accept-loss");
        self.start_again();
    }

    /// Whether the server's process has ended by itself.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().is_ok_and(|status| status.is_some())
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // Tasks outlive their server; nothing of a test should.
        if !self.has_ended() && !thread::panicking() {
            self.ask(&["down", "--cancel-tasks"]);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        processes::end_all_with(&self.directory.path().display().to_string());
    }
}

/// A server that was started in another way than usual.
pub(crate) struct Foreground {
    child: Child,
    pub(crate) socket: PathBuf,
}

impl Foreground {
    pub(crate) fn start(mut command: Command) -> Foreground {
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the binary starts");
        match ready(&mut child) {
            Some(Reach { socket, .. }) => Foreground { child, socket },
            None => panic!("it did not start: {:?}", child.wait()),
        }
    }
}

impl Drop for Foreground {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// In the directory of the test.
const ERRORS: &str = "server.err";

fn begin(directory: &Path, setup: &Setup) -> Child {
    // A file, which nobody need read and which never blocks.
    let errors = File::options().create(true).append(true).open(directory.join(ERRORS));
    command_of(&setup.program, "en")
        .args(["up", "--listen", "127.0.0.1:0", "--data"])
        .arg(directory.join("data"))
        .args(&setup.arguments)
        .envs(setup.variables.iter().cloned())
        .stdout(Stdio::piped())
        .stderr(errors.expect("a file"))
        .spawn()
        .expect("the binary starts")
}

/// Where it can be reached, when it can; `None` when it has ended.
fn ready(child: &mut Child) -> Option<Reach> {
    let mut lines = BufReader::new(child.stdout.take().expect("it was piped")).lines();
    let mut addresses = Vec::new();
    let socket = lines.find_map(|line| {
        let line = line.ok()?;
        addresses.extend(line.strip_prefix("listening on ").map(str::to_owned));
        Some(PathBuf::from(line.strip_prefix("socket ")?))
    });
    drain(lines);
    Some(Reach { socket: socket?, addresses })
}

/// Nobody reads on, and nothing may block because of that.
fn drain(lines: std::io::Lines<BufReader<ChildStdout>>) {
    thread::spawn(move || lines.for_each(drop));
}
