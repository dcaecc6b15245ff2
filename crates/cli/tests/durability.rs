//! Nothing that was acknowledged is lost, run twice or ended without a word: lost files, restored backups, our own bugs.

mod daemon;
mod danlu;

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use daemon::{Daemon, Setup, until};
use serde_json::Value;

fn log(daemon: &Daemon) -> PathBuf {
    daemon.data().join("danlu.db-wal")
}

/// Waits until the database itself has everything.
fn settled(daemon: &Daemon, id: &str) {
    let copy = daemon.directory().join("copy.db");
    until("the database itself knows the task", || {
        fs::copy(daemon.data().join("danlu.db"), &copy).is_ok() && knows(&copy, id)
    });
}

/// A copy of the database alone, as `sqlite3` would read it.
fn knows(database: &Path, id: &str) -> bool {
    let bytes = fs::read(database).unwrap_or_default();
    let text = format!("\"task\":{{\"id\":{id},");
    bytes.windows(text.len()).any(|part| part == text.as_bytes())
}

#[test]
fn a_lost_log_is_noticed_before_anything_is_served() {
    let Some(mut daemon) = Daemon::start() else { return };
    let first = daemon.submit("", "echo first");
    assert_eq!(daemon.ask(&["wait", &first]).status, 0);
    settled(&daemon, &first);
    let (_, pid) = endless(&daemon, "-g 1 -J second");
    let waits = daemon.submit("-g 4 -J waits", "true");
    daemon.crash();
    fs::remove_file(log(&daemon)).expect("it is there");
    daemon.begin_again();
    until("it refuses to start", || daemon.has_ended());
    let said = daemon.errors();
    assert!(said.contains("is older than it was"), "{said}");
    assert!(said.contains("danlu restore") && said.contains("danlu up --accept-loss"), "{said}");
    // Nothing is changed by that: the next attempt says the same.
    daemon.begin_again();
    until("it refuses again", || daemon.has_ended());
    assert!(alive(pid), "what ran goes on");

    daemon.add_argument("--accept-loss");
    daemon.start_again();
    assert_eq!(daemon.say(&["logs", &first]), "first\n");
    let status = daemon.say(&["status"]);
    assert!(status.contains("! The database was older than expected"), "{status}");
    let audit = daemon.say(&["audit"]);
    assert!(audit.contains("data-lost"), "{audit}");
    let new = daemon.submit("-J new", "echo new");
    assert_eq!(daemon.ask(&["wait", &new]).status, 0, "the machine works");
    let number = |id: &str| id.parse::<u64>().expect("an id");
    assert!(number(&new) > number(&waits), "{new}: ids never restart");
    assert!(alive(pid), "what the server does not know is not ended without an order");
    let notice = daemon.json(&["notices", "--json"])["notices"][0].take();
    let id = notice["id"].as_str().expect("an id").to_owned();
    daemon.say(&["notices", "--acknowledge", &id]);
    assert!(!daemon.say(&["status"]).contains("older than expected"));
    daemon.crash_and_restart();
    assert!(!daemon.say(&["status"]).contains("older than expected"), "told once");
    daemon.say(&["node", "end-unknown", &node(&daemon)]);
    until("an admin has ended it", || !alive(pid));
}

fn node(daemon: &Daemon) -> String {
    let nodes = daemon.json(&["nodes", "--json"]);
    nodes["nodes"][0]["name"].as_str().expect("a name").to_owned()
}

/// A task that runs until it is ended, and its process.
fn endless(daemon: &Daemon, options: &str) -> (String, u32) {
    let file = daemon.directory().join("pid");
    let line = format!("echo $$ > {0}.new; mv {0}.new {0}; exec sleep 600", file.display());
    let task = daemon.submit(options, &line);
    until("it runs", || file.exists());
    let pid = fs::read_to_string(&file).expect("text").trim().parse().expect("a process id");
    fs::remove_file(&file).expect("it is there");
    (task, pid)
}

fn alive(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

#[test]
fn the_database_alone_has_everything_when_the_server_is_idle() {
    let Some(daemon) = Daemon::start() else { return };
    let id = daemon.submit("--hold", "true");
    settled(&daemon, &id);
}

#[test]
fn damage_and_a_full_disk_are_told_in_words() {
    let Some(mut daemon) = Daemon::start() else { return };
    daemon.terminate();
    let database = daemon.data().join("danlu.db");
    let mut bytes = fs::read(&database).expect("it is there");
    let whole = bytes.clone();
    for byte in bytes.iter_mut().skip(4096) {
        *byte = 0x5a;
    }
    fs::write(&database, bytes).expect("it can be written");
    daemon.begin_again();
    until("it refuses to start", || daemon.has_ended());
    let said = daemon.errors();
    assert!(said.contains("is damaged") && said.contains("danlu restore FILE"), "{said}");
    fs::write(&database, whole).expect("it can be written");
    daemon.start_again();
}

// ---- bugs of our own ----

struct Fault(PathBuf);

impl Fault {
    fn now(&self, lines: &str) {
        fs::write(&self.0, lines).expect("it can be written");
    }
}

fn with_faults() -> Option<(Daemon, Fault)> {
    if !cfg!(debug_assertions) {
        println!("skipped: faults are compiled into builds for development alone");
        return None;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let fault = Fault(directory.path().join("fault"));
    let mut setup = Setup::simulated(4);
    let named = fault.0.display().to_string();
    setup.variables.push(("DANLU_TEST_PANIC".into(), named));
    Some((Daemon::start_in(directory, setup)?, fault))
}

fn reports(daemon: &Daemon) -> Vec<PathBuf> {
    let Ok(found) = fs::read_dir(daemon.data().join("reports")) else { return Vec::new() };
    found.map(|entry| entry.expect("it is there").path()).collect()
}

#[test]
fn a_request_that_makes_the_core_panic_is_refused_and_nothing_else_is_lost() {
    let Some((daemon, fault)) = with_faults() else { return };
    let before = daemon.submit("-g 1", "exec sleep 600");
    daemon.wait_until(&before, "running");
    // Once: a fresh state mends it, and nobody notices.
    fault.now("submit once");
    let mended = daemon.submit("-J boom", "echo mended");
    assert_eq!(daemon.ask(&["wait", &mended]).status, 0);
    assert_eq!(reports(&daemon).len(), 1);

    fault.now("submit");
    let said = daemon.ask(&["submit", "-J", "boom", "--env", "SECRET=hunter2", "--", "true"]);
    assert!(said.status != 0 && said.stderr.contains("internal error"), "{said:?}");
    assert!(said.stderr.contains("reports/panic-"), "{said:?}");
    let files = reports(&daemon);
    assert_eq!(files.len(), 2, "one for each");
    for file in &files {
        let mode = fs::metadata(file).expect("it is there").permissions().mode() & 0o777;
        assert_eq!(mode, 0o600);
        let text = fs::read_to_string(file).expect("text");
        assert!(text.contains("on purpose") && text.contains("boom"), "{text}");
        assert!(!text.contains("hunter2"), "no environments: {text}");
    }
    // Everybody else goes on, together with the bad one in a batch, too.
    let good: Vec<_> = (0..6)
        .map(|number| {
            let (bad, name) = (number % 2 == 0, format!("good{number}"));
            let name = if bad { "boom" } else { &name };
            daemon.command(&["submit", "-q", "-J", name, "--", "true"]).spawn().expect("it starts")
        })
        .collect();
    let fine = good.into_iter().map(|mut child| child.wait().expect("it ends").success());
    assert_eq!(fine.filter(|fine| *fine).count(), 3);
    assert_eq!(daemon.state(&before), "running");
    fault.now("");
    let names = daemon.json(&["ls", "--json", "-a"]);
    let names: Vec<&str> = names["tasks"]
        .as_array()
        .expect("tasks")
        .iter()
        .filter_map(|task| task["name"].as_str())
        .filter(|name| name.starts_with("good"))
        .collect();
    assert_eq!(names.len(), 3, "{names:?}");
    assert!(reports(&daemon).len() <= 20);
}

#[test]
fn a_scheduler_that_panics_pauses_scheduling_until_an_admin_resumes_it() {
    for word in ["schedule", "wake"] {
        let Some((daemon, fault)) = with_faults() else { return };
        let running = daemon.submit("-g 1", "exec sleep 600");
        daemon.wait_until(&running, "running");
        fault.now(word);
        daemon.submit("--hold", "true");
        until("it is told", || daemon.say(&["ls"]).contains("Scheduling is paused"));
        assert!(daemon.say(&["status"]).contains("danlu resume-queue"));
        assert!(daemon.say(&["nodes"]).contains("Scheduling is paused"));
        let waits = daemon.submit("-g 1", "echo at last");
        assert_eq!(daemon.state(&waits), "queued");
        assert_eq!(daemon.state(&running), "running");
        let count = reports(&daemon).len();
        let more = daemon.submit("--hold", "true");
        daemon.say(&["cancel", &running]);
        daemon.say(&["cancel", &more]);
        until("what runs can be ended", || daemon.state(&running) == "cancelled");
        assert_eq!(reports(&daemon).len(), count, "it does not try again by itself");
        // Resumed too early, it pauses again.
        daemon.say(&["resume-queue"]);
        until("it is told again", || daemon.say(&["ls"]).contains("Scheduling is paused"));
        fault.now("");
        daemon.say(&["resume-queue"]);
        assert_eq!(daemon.ask(&["wait", &waits]).status, 0);
        assert!(!daemon.say(&["status"]).contains("paused"));
        assert!(daemon.say(&["audit"]).contains("scheduling-paused"));
    }
}

#[test]
fn a_message_that_makes_the_core_panic_costs_its_machine_the_trust() {
    let Some((daemon, fault)) = with_faults() else { return };
    fault.now("started");
    let task = daemon.submit("-g 1", "exec sleep 600");
    let state = || daemon.json(&["nodes", "--json"])["nodes"][0]["state"].take();
    until("it is not trusted", || state() == Value::from("unverified"));
    let status = daemon.say(&["status"]);
    assert!(status.contains("is not used since"), "{status}");
    let count = reports(&daemon).len();
    fault.now("");
    until("it has reported anew", || state() == Value::from("ready"));
    assert_eq!(daemon.state(&task), "running");
    daemon.say(&["cancel", &task]);
    assert!(reports(&daemon).len() <= count + 1, "no endless loop");
}
