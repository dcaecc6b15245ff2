//! Durability: no acknowledged task is lost, run twice or ended silently after lost files, restored backups or our own bugs.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Stdio,
};

use crate::support::daemon::{Daemon, Setup, until};
use crate::support::danlu;
use crate::support::http::Connection;
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
    let mut daemon = Daemon::start();
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
    assert!(said.contains("is older than expected"), "{said}");
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
    let new = daemon.submit("-g 0 -J new", "echo new");
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
    let daemon = Daemon::start();
    let id = daemon.submit("--hold", "true");
    settled(&daemon, &id);
}

#[test]
fn damage_and_a_full_disk_are_told_in_words() {
    let mut daemon = Daemon::start();
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

// ---- backups ----

fn backup(daemon: &Daemon, name: &str) -> PathBuf {
    let file = daemon.directory().join(name);
    daemon.say(&["backup", file.to_str().expect("text")]);
    file
}

fn restore(daemon: &Daemon, file: &Path) -> danlu::Answer {
    let mut command = danlu::command("en");
    command.args(["restore", "--yes"]).arg(file).arg("--data").arg(daemon.data());
    // Not the machine's own configuration.
    command.arg("--config").arg(daemon.directory().join("danlu.toml"));
    danlu::said(&mut command)
}

#[test]
fn an_old_backup_runs_nothing_twice() {
    let directory = tempfile::tempdir().expect("a directory");
    fs::write(directory.path().join("danlu.toml"), "").expect("it can be written");
    let mut setup = Setup::simulated(4);
    let config = directory.path().join("danlu.toml").display().to_string();
    setup.arguments.extend(["--config".into(), config]);
    let mut daemon = Daemon::start_in(directory, setup);
    let count = daemon.directory().join("count");
    let once = |name: &str| {
        let (count, pid) = (count.display(), daemon.directory().join(name));
        format!("echo {name} >> {count}; echo $$ > {}; exec sleep 600", pid.display())
    };
    let ended = daemon.submit("-g 0 -J ended", &format!("echo ended >> {}", count.display()));
    assert_eq!(daemon.ask(&["wait", &ended]).status, 0);
    let running = daemon.submit("-g 1 -J running", &once("running"));
    daemon.wait_until(&running, "running");
    let queued = daemon.submit("-g 4 -J queued", &once("queued"));
    daemon.say(&["user", "add", "ann"]);
    let file = backup(&daemon, "one.tar");
    let mode = fs::metadata(&file).expect("it is there").permissions().mode() & 0o777;
    assert_eq!(mode, 0o600, "it has keys in it");
    assert!(daemon.ask(&["backup", file.to_str().expect("text")]).status != 0, "never overwritten");

    // After the backup: what was queued runs, and something new does.
    daemon.say(&["cancel", &running]);
    assert_eq!(daemon.ask(&["wait", &running]).status, 130);
    daemon.wait_until(&queued, "running");
    let later = daemon.submit("-g 0 -J later", &format!("echo later >> {}", count.display()));
    assert_eq!(daemon.ask(&["wait", &later]).status, 0);
    until("all have begun", || {
        fs::read_to_string(&count).is_ok_and(|text| text.lines().count() == 4)
    });
    let pid = fs::read_to_string(daemon.directory().join("queued")).expect("text");
    let pid: u32 = pid.trim().parse().expect("a process id");
    let said = restore(&daemon, &file);
    assert!(said.status != 0 && said.stderr.contains("in use by another server"), "{said:?}");
    daemon.terminate();
    let said = restore(&daemon, &file);
    assert_eq!(said.status, 0, "{said:?}");
    assert!(said.stdout.contains("before-restore-"), "{said:?}");
    daemon.start_again();

    let status = daemon.say(&["status"]);
    assert!(status.contains("! Restored at"), "{status}");
    assert!(daemon.say(&["audit"]).contains("restored"));
    assert_eq!(daemon.ask(&["show", &later]).status, 69, "it was submitted after the backup");
    assert!(daemon.say(&["user", "list"]).contains("ann"));
    let new = daemon.submit("-g 0 -J new", "true");
    assert_eq!(daemon.ask(&["wait", &new]).status, 0);
    let number = |id: &str| id.parse::<u64>().expect("an id");
    assert!(number(&new) > number(&later), "ids never restart");
    assert!(alive(pid), "what runs goes on");
    assert_eq!(daemon.state(&queued), "held", "it may have run");
    assert_eq!(daemon.state(&running), "held", "it may have run");
    let text = fs::read_to_string(&count).expect("text");
    assert_eq!(text.lines().count(), 4, "nothing has run twice: {text}");
    daemon.say(&["db", "check"]);
    daemon.say(&["node", "end-unknown", &node(&daemon)]);
    until("an admin has ended it", || !alive(pid));
}

#[test]
fn a_backup_has_the_archive_of_ended_tasks_wherever_it_is() {
    let directory = tempfile::tempdir().expect("a directory");
    let archive = directory.path().join("elsewhere.jsonl");
    let config = directory.path().join("danlu.toml");
    let path = format!("[archive]\npath = \"{}\"\n", archive.display());
    fs::write(&config, path).expect("it can be written");
    let mut setup = Setup::simulated(4);
    setup.arguments.extend(["--config".into(), config.display().to_string()]);
    let mut daemon = Daemon::start_in(directory, setup);
    daemon.submit("", "true");
    daemon.ask(&["wait", "--all"]);
    daemon.say(&["archive", "--all", "--yes"]);
    let lines = fs::read_to_string(&archive).expect("it is there");
    assert_eq!(lines.lines().count(), 1);
    let file = backup(&daemon, "one.tar");
    daemon.terminate();
    // What was archived since is not replaced.
    fs::write(&archive, "newer\n").expect("it can be written");
    let said = restore(&daemon, &file);
    assert_eq!(said.status, 0, "{said:?}");
    let restored = daemon.data().join("archive.jsonl");
    assert_eq!(fs::read_to_string(restored).expect("it is there"), lines);
    assert_eq!(fs::read_to_string(&archive).expect("it is there"), "newer\n");
}

#[test]
fn a_backup_is_consistent_while_tasks_are_submitted() {
    let mut daemon = Daemon::start();
    let mut submitting =
        daemon.command(&["submit", "-q", "--hold", "--array", "0-2999", "--", "true"]);
    let mut submitting = submitting.spawn().expect("it starts");
    let files: Vec<PathBuf> =
        (0..4).map(|number| backup(&daemon, &format!("{number}.tar"))).collect();
    assert!(submitting.wait().expect("it ends").success());
    assert!(daemon.say(&["db", "check"]).contains("3000 tasks"));
    daemon.terminate();
    for file in files {
        let data = daemon.directory().join(format!("{}.data", file.display()));
        let mut command = danlu::command("en");
        command.args(["restore", "--yes"]).arg(&file).arg("--data").arg(&data);
        command.arg("--config").arg(daemon.directory().join("none/danlu.toml"));
        let config = daemon.directory().join("none");
        fs::create_dir_all(&config).expect("it can be made");
        fs::write(config.join("danlu.toml"), "").expect("it can be written");
        let said = danlu::said(&mut command);
        assert_eq!(said.status, 0, "{said:?}");
    }
    let mut check = danlu::command("en");
    let said = danlu::said(check.args(["db", "check", "--data"]).arg(daemon.data()));
    assert!(said.stdout.contains("is sound: 3000 tasks"), "{said:?}");
}

#[test]
fn what_is_no_whole_backup_changes_nothing() {
    let mut daemon = Daemon::start();
    let task = daemon.submit("--hold", "true");
    let file = backup(&daemon, "one.tar");
    daemon.terminate();
    fs::write(daemon.directory().join("danlu.toml"), "").expect("it can be written");
    let bytes = fs::read(&file).expect("it is there");
    let bad = daemon.directory().join("bad.tar");
    let mut changed = bytes.clone();
    changed[5000] ^= 1;
    let cut = bytes[..bytes.len() / 2].to_vec();
    for content in [changed, cut, b"no tar".to_vec(), Vec::new()] {
        fs::write(&bad, content).expect("it can be written");
        let said = restore(&daemon, &bad);
        assert!(said.status != 0 && said.stderr.contains("incomplete backup"), "{said:?}");
    }
    // Names that lead out of the directory.
    let outside = daemon.directory().join("outside");
    let made = std::process::Command::new("tar")
        .args(["-c", "-P", "-f"])
        .arg(&bad)
        .args(["--transform", "s|^.*$|../outside|"])
        .arg(&file)
        .status();
    assert!(made.expect("tar is installed").success());
    let said = restore(&daemon, &bad);
    assert!(said.stderr.contains("incomplete backup"), "{said:?}");
    assert!(!outside.exists());
    daemon.start_again();
    assert_eq!(daemon.state(&task), "held");
    assert!(!daemon.say(&["status"]).contains("Restored"));
}

#[test]
fn reset_empties_an_installation_when_nothing_runs() {
    let mut daemon = Daemon::start();
    let config = daemon.directory().join("danlu.toml");
    fs::write(&config, "").expect("it can be written");
    let reset = |daemon: &Daemon, more: &[&str]| {
        let mut command = danlu::command("en");
        command.args(["reset", "--config"]).arg(&config).arg("--data").arg(daemon.data());
        danlu::said(command.args(more))
    };
    let (task, _) = endless(&daemon, "-g 1");
    let said = reset(&daemon, &["--yes"]);
    assert!(said.stderr.contains("in use by another server"), "{said:?}");
    daemon.terminate();
    let said = reset(&daemon, &["--yes"]);
    assert!(said.stderr.contains("1 tasks are still running"), "{said:?}");
    daemon.start_again();
    daemon.say(&["cancel", &task]);
    assert_eq!(daemon.ask(&["wait", &task]).status, 130);
    daemon.terminate();
    let said = reset(&daemon, &[]);
    assert!(said.status != 0 && said.stderr.contains("confirmation required"), "{said:?}");
    fs::write(daemon.data().join("notes.txt"), "mine").expect("it can be written");
    let said = reset(&daemon, &["--yes"]);
    assert!(said.status == 0 && said.stdout.contains("removed danlu.db\n"), "{said:?}");
    let left: Vec<_> = fs::read_dir(daemon.data()).expect("it is there").flatten().collect();
    assert_eq!(left.len(), 1, "only what is not the server's: {left:?}");
    daemon.start_again();
    assert_eq!(daemon.ask(&["show", &task]).status, 69);
}

// ---- bugs of our own ----

struct FaultFile(PathBuf);

impl FaultFile {
    fn now(&self, lines: &str) {
        fs::write(&self.0, lines).expect("it can be written");
    }
}

fn with_faults() -> Option<(Daemon, FaultFile)> {
    if !cfg!(debug_assertions) {
        crate::support::danlu::skip("faults are compiled into builds for development alone");
        return None;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let fault = FaultFile(directory.path().join("fault"));
    let mut setup = Setup::simulated(4);
    let named = fault.0.display().to_string();
    setup.variables.push(("DANLU_TEST_PANIC".into(), named));
    Some((Daemon::start_in(directory, setup), fault))
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
        until("it is told", || daemon.say(&["ls"]).contains("Scheduling paused"));
        assert!(daemon.say(&["status"]).contains("danlu resume-queue"));
        assert!(daemon.say(&["nodes"]).contains("Scheduling paused"));
        let waits = daemon.submit("-g 1", "echo at last");
        assert_eq!(daemon.state(&waits), "queued");
        assert_eq!(daemon.state(&running), "running");
        let count = reports(&daemon).len();
        let more = daemon.submit("--hold", "true");
        daemon.say(&["cancel", &running]);
        daemon.say(&["cancel", &more]);
        daemon.wait_until(&running, "cancelled");
        assert_eq!(reports(&daemon).len(), count, "it does not try again by itself");
        // Resumed too early, it pauses again.
        daemon.say(&["resume-queue"]);
        until("it is told again", || daemon.say(&["ls"]).contains("Scheduling paused"));
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
    until("it is not trusted", || state() == "unverified");
    let status = daemon.say(&["status"]);
    assert!(status.contains(" disabled at "), "{status}");
    let count = reports(&daemon).len();
    fault.now("");
    until("it has reported anew", || state() == "ready");
    assert_eq!(daemon.state(&task), "running");
    daemon.say(&["cancel", &task]);
    assert!(reports(&daemon).len() <= count + 1, "no endless loop");
}

// ---- readers ----

/// What is answered at once, whatever the engine does.
fn promptly(daemon: &Daemon, arguments: &[&str]) -> String {
    let mut command = daemon.command(arguments);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
    until(&format!("{arguments:?} is answered"), || {
        child.try_wait().expect("it is ours").is_some()
    });
    let output = child.wait_with_output().expect("it has ended");
    assert!(output.status.success(), "{arguments:?}: {}", daemon.errors());
    String::from_utf8(output.stdout).expect("text")
}

/// Lists, single tasks and pages, with the reasons why tasks wait.
fn everything_can_be_read(daemon: &Daemon, who: &str, waiting: &str) {
    let list = promptly(daemon, &["ls"]);
    assert!(list.contains("waits") && list.contains("runs"), "{list}");
    let tasks: Value =
        serde_json::from_str(&promptly(daemon, &["ls", "--json"])).expect("it is JSON");
    assert!(tasks.to_string().contains("\"wait\":{"), "no reason: {tasks}");
    let shown = promptly(daemon, &["show", waiting]);
    assert!(shown.contains("waits"), "{shown}");
    let why = promptly(daemon, &["why", waiting]);
    assert!(!why.trim().is_empty(), "{why}");
    promptly(daemon, &["status"]);
    promptly(daemon, &["nodes"]);
    promptly(daemon, &["user", "list"]);
    let mut connection = Connection::to(daemon.address());
    let page = connection.text("GET /", who);
    assert!(page.contains("</html>") && page.contains("waits"), "{page}");
    let page = connection.text("GET /admin/quotas", who);
    assert!(page.contains("</html>"), "{page}");
}

fn with_readers() -> Option<(Daemon, FaultFile, String, String)> {
    let (daemon, fault) = with_faults()?;
    let token = daemon.say(&["token", "new", "admin", "-q", "--scope", "admin"]);
    let who = format!("authorization: Bearer {}\r\n", token.trim());
    let runs = daemon.submit("-g 4 -J runs", "exec sleep 600");
    daemon.wait_until(&runs, "running");
    let waiting = daemon.submit("-g 1 -J waits", "true");
    Some((daemon, fault, who, waiting))
}

#[test]
fn lists_are_answered_while_commits_fail() {
    let Some((daemon, fault, who, waiting)) = with_readers() else { return };
    fault.now("commit");
    let said = daemon.ask(&["hold", &waiting]);
    assert!(said.status != 0 && said.stderr.contains("is full"), "{said:?}");
    everything_can_be_read(&daemon, &who, &waiting);
    promptly(&daemon, &["audit"]);
    // Requests are refused for what is wrong, not as if the server stopped.
    let said = daemon.ask(&["hold", &waiting]);
    assert!(said.status != 0 && said.stderr.contains("is full"), "{said:?}");
    let said = daemon.ask(&["submit", "--dry-run", "--", "true"]);
    assert!(said.status == 0 || said.stderr.contains("is full"), "{said:?}");
    fault.now("");
    until("commits work again", || daemon.ask(&["hold", &waiting]).status == 0);
    assert_eq!(daemon.state(&waiting), "held");
}

#[test]
fn lists_are_answered_while_a_commit_takes_long() {
    let Some((daemon, fault, who, waiting)) = with_readers() else { return };
    fault.now("late");
    let mut holding = daemon.command(&["hold", &waiting]).spawn().expect("it starts");
    everything_can_be_read(&daemon, &who, &waiting);
    assert!(holding.try_wait().expect("it is ours").is_none(), "nothing is answered before");
    assert_eq!(daemon.state(&waiting), "queued");
    fault.now("");
    assert!(holding.wait().expect("it ends").success());
    assert_eq!(daemon.state(&waiting), "held");
}

#[test]
fn a_server_whose_commits_fail_can_be_stopped() {
    let Some((mut daemon, fault, _, waiting)) = with_readers() else { return };
    fault.now("commit");
    assert!(daemon.ask(&["hold", &waiting]).status != 0);
    daemon.terminate();
    fault.now("");
    daemon.start_again();
    assert_eq!(daemon.state(&waiting), "queued");
}
