//! The server's own log: where the configuration puts it, filtered, followed, and for administrators only.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    process::Stdio,
};

use serde_json::Value;

use crate::support::daemon::{Daemon, Setup, until};

fn daemon(settings: &str) -> Daemon {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let config = directory.path().join("danlu.toml");
    let path = directory.path().join("own.log");
    fs::write(&config, format!("[log]\npath = \"{}\"\n{settings}", path.display()))
        .expect("it can be written");
    let mut setup = Setup::simulated(1);
    setup.arguments.extend(["--config".to_owned(), config.display().to_string()]);
    Daemon::start_in(directory, setup)
}

/// A warning: the configuration is wrong now.
fn warn(daemon: &Daemon, word: &str) {
    let config = daemon.directory().join("danlu.toml");
    fs::write(&config, format!("{word} = 1\n")).expect("it can be written");
    let pid = nix::unistd::Pid::from_raw(i32::try_from(daemon.pid()).expect("a process id"));
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGHUP).expect("it is ours");
    until("the warning is in the log", || daemon.say(&["logs", "server"]).contains(word));
}

#[test]
fn the_log_is_filtered_by_level_text_and_time() {
    let daemon = daemon("");
    assert!(!daemon.data().join("server.log").exists(), "it is where the configuration says");
    warn(&daemon, "frobnicate");
    let all = daemon.say(&["logs", "server"]);
    assert!(all.contains(" INFO ") && all.contains(" WARN "), "{all}");
    // More may have come meanwhile.
    assert!(daemon.say(&["logs", "main"]).starts_with(&all));
    let warnings = daemon.say(&["logs", "server", "--level", "warn"]);
    assert!(warnings.contains("frobnicate") && !warnings.contains(" INFO "), "{warnings}");
    assert_eq!(daemon.say(&["logs", "server", "--level", "error"]), "");
    let found = daemon.say(&["logs", "server", "--text", "FROBNICATE"]);
    assert!(found.contains("frobnicate") && !found.contains(" INFO "), "{found}");
    assert!(daemon.say(&["logs", "server", "--since", "1h"]).starts_with(&all));
    let last = daemon.say(&["logs", "server", "--tail", "1"]);
    assert_eq!(last.trim().lines().count(), 1, "{last}");
    let wrong = daemon.ask(&["logs", "server", "--level", "loud"]);
    assert_eq!(wrong.status, 2, "{wrong:?}");
    let task = daemon.ask(&["logs", "1", "--level", "warn"]);
    assert_eq!(task.status, 2, "{task:?}");
    assert!(task.stderr.contains("danlu logs server --level warn"), "{task:?}");
}

#[test]
fn json_lines_are_objects_and_are_followed() {
    let daemon = daemon("format = \"json\"\n");
    let shown = daemon.say(&["config", "show"]);
    assert!(shown.contains("log.format") && shown.contains("json"), "{shown}");
    let mut follow = daemon.command(&["logs", "server", "-f", "--level", "warn"]);
    let mut follow = follow.stdout(Stdio::piped()).spawn().expect("the binary starts");
    let lines = BufReader::new(follow.stdout.take().expect("piped"));
    warn(&daemon, "frobnicate");
    let first = lines.lines().next().expect("a line").expect("text");
    follow.kill().expect("it is ours");
    follow.wait().expect("it ends");
    let record: Value = serde_json::from_str(&first).expect("an object");
    assert_eq!(record["level"], "warn");
    assert!(record["cause"].as_str().is_some_and(|it| it.contains("frobnicate")), "{record}");
    assert!(record["message"].is_string() && record["at"].is_string(), "{record}");
    for line in daemon.say(&["logs", "server"]).lines() {
        let record: Value = serde_json::from_str(line).expect("an object");
        assert!(record["level"].is_string(), "{record}");
    }
}

#[test]
fn wrong_settings_of_the_log_are_refused_with_their_place() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let config = directory.path().join("danlu.toml");
    for (wrong, words) in [
        ("[log]\nlevel = \"loud\"\n", "line 2"),
        ("[log]\nsize = \"5M\"\n", "line 2"),
        ("[log]\nmax_size = \"1k\"\n", "from 64K to 1G"),
        ("[log]\npath = \"own.log\"\n", "an absolute path"),
    ] {
        fs::write(&config, wrong).expect("it can be written");
        let data = directory.path().join("data").display().to_string();
        let config = config.display().to_string();
        let said =
            crate::support::danlu::danlu("en", &format!("up --data {data} --config {config}"));
        assert_eq!(said.status, 64, "{wrong}: {said:?}");
        assert!(said.stderr.contains(words), "{wrong}: {said:?}");
    }
}

#[test]
fn what_is_in_a_file_that_was_put_aside_is_found() {
    let mut daemon = daemon("max_size = \"64K\"\nkeep = 3\n");
    daemon.terminate();
    // As the server writes them: the oldest has the highest number.
    let line = |at: &str, word: &str| format!("{at}  INFO {word}\n");
    let path = daemon.directory().join("own.log");
    let older = |number: u32| path.with_extension(format!("log.{number}"));
    let now = jiff::Timestamp::now();
    let before = |hours: i64| (now - jiff::SignedDuration::from_hours(hours)).to_string();
    fs::write(older(2), line(&before(5), "long ago")).expect("a file");
    fs::write(older(1), line(&before(2), "second") + &line(&before(1), "third")).expect("a file");
    fs::write(&path, line(&before(0), "fourth")).expect("a file");
    daemon.start_again();
    let words = |arguments: &[&str]| -> Vec<String> {
        let said = daemon.say(&[&["logs", "server"], arguments].concat());
        let word = |line: &str| line.split("  INFO ").nth(1).unwrap_or_default().to_owned();
        said.lines().map(word).take_while(|word| !word.contains("serving")).collect()
    };
    assert_eq!(words(&["--since", "3h"])[..3], ["second", "third", "fourth"]);
    let all = words(&["--since", "9h"]);
    assert_eq!(all[..4], ["long ago", "second", "third", "fourth"]);
    let said = daemon.say(&["logs", "server", "-n", "1000"]);
    assert!(said.contains("long ago") && said.contains("serving"), "{said}");
    let count = said.lines().count();
    let most = daemon.say(&["logs", "server", "-n", &(count - 1).to_string()]);
    assert!(most.contains("second") && !most.contains("long ago"), "{most}");
}

#[test]
fn the_journal_reads_a_priority_before_each_line_and_nobody_else() {
    for is_journal in [true, false] {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let errors = directory.path().join("server.err");
        fs::write(&errors, "").expect("a file");
        let facts = nix::sys::stat::stat(&errors).expect("it is there");
        let file = facts.st_ino + u64::from(!is_journal);
        let mut setup = Setup::simulated(1);
        setup.variables.push(("JOURNAL_STREAM".to_owned(), format!("{}:{file}", facts.st_dev)));
        let daemon = Daemon::start_in(directory, setup);
        until("it has said something", || daemon.errors().contains("serving"));
        for line in daemon.errors().lines() {
            assert_eq!(line.starts_with("<6>") || line.starts_with("<4>"), is_journal, "{line}");
        }
        assert!(!daemon.say(&["logs", "server"]).contains("<6>"), "the file has none");
    }
}
