//! A full disk of the server: nothing new is accepted, nothing is lost, and work goes on when there is space again.

use std::{
    fs::{self, File},
    time::{Duration, Instant},
};

use crate::support::daemon::{Daemon, Setup, until};
use crate::support::small_disk::SmallDisk;
use tempfile::TempDir;

/// What is declared last goes first: the disk is out of sight, and of the way, before the directory is removed.
fn server() -> Option<(Daemon, SmallDisk)> {
    let directory: TempDir = tempfile::tempdir().expect("a temporary directory");
    let disk = SmallDisk::mount(&directory.path().join("data"), "size=100m,mode=0700")?;
    Some((Daemon::start_in(directory, Setup::simulated(4)), disk))
}

#[test]
fn nothing_is_forgotten_while_there_is_no_room() {
    let Some((mut daemon, disk)) = server() else { return };
    let go = daemon.directory().join("go");
    let line = format!("while [ ! -e {} ]; do sleep 0.02; done; exit 7", go.display());
    let first = daemon.submit("", &line);
    let second = daemon.submit("", &line);
    daemon.wait_until(&first, "running");
    daemon.wait_until(&second, "running");
    let filler = disk.fill();

    let said = daemon.ask(&["submit", "--", "true"]);
    assert_eq!((said.status, said.stdout.as_str()), (75, ""), "{said:?}");
    assert!(said.stderr.contains("nearly full") && said.stderr.contains("\nhint: "), "{said:?}");
    // They end, and neither their shims nor the server can write it down.
    fs::write(&go, "").expect("another disk");
    let said = daemon.ask(&["cancel", &second]);
    assert!([0, 64, 75].contains(&said.status), "{said:?}");
    daemon.say(&["ls"]);
    assert!(!daemon.has_ended());

    fs::remove_file(filler).expect("it is there");
    assert_eq!(daemon.ask(&["wait", &first]).status, 7);
    assert!([7, 130].contains(&daemon.ask(&["wait", &second]).status));
    let next = daemon.submit("-g 4", "echo again");
    assert_eq!(daemon.ask(&["wait", &next]).status, 0);
    assert_eq!(daemon.say(&["logs", &next]), "again\n");
}

#[test]
fn a_crash_without_room_loses_nothing() {
    let Some((mut daemon, disk)) = server() else { return };
    let at = daemon.directory().to_path_buf();
    let line =
        "cd \"$0\"; echo >> ran; while [ ! -e go ]; do sleep 0.02; done; touch ended; exit 7";
    let options = ["submit", "-q", "--", "sh", "-c", line, at.to_str().expect("it is UTF-8")];
    let first = daemon.say(&options).trim().to_owned();
    daemon.wait_until(&first, "running");
    let waits = daemon.submit("-g 4", "echo after");
    let filler = disk.fill();
    daemon.crash();
    fs::write(at.join("go"), "").expect("another disk");
    until("the command has ended", || at.join("ended").exists());
    // It may start or refuse to, but must not begin anew.
    daemon.begin_again();
    fs::remove_file(filler).expect("it is there");
    until("there is a server", || {
        if daemon.has_ended() {
            daemon.begin_again();
        }
        daemon.ask(&["ls"]).status == 0
    });
    assert_eq!(daemon.ask(&["wait", &first]).status, 7);
    assert_eq!(daemon.ask(&["wait", &waits]).status, 0);
    assert_eq!(daemon.say(&["logs", &waits]), "after\n");
    assert_eq!(fs::read_to_string(at.join("ran")).expect("it is there"), "\n", "it ran twice");
}

/// How it ended is known without anybody making room; for others to start there must be some.
#[test]
fn a_task_that_fills_the_disk_ends_with_its_own_code() {
    let Some((mut daemon, _disk)) = server() else { return };
    let ended = daemon.directory().join("ended");
    let greedy = daemon.submit("", &format!("yes; touch {}; exit 3", ended.display()));
    until("it has filled the disk", || ended.exists());
    assert_eq!(daemon.ask(&["submit", "--", "true"]).status, 75);
    assert!(!daemon.has_ended());
    assert_eq!(daemon.ask(&["wait", &greedy]).status, 3);
    let logs = daemon.data().join("node/logs");
    let kept = || fs::read_dir(&logs).expect("it is there").next();
    until("its log is put away", || kept().is_some());
    let log = kept().expect("there is one").expect("it is there").path();
    File::options().write(true).truncate(true).open(log).expect("it can be emptied");
    let next = daemon.submit("", "echo again");
    assert_eq!(daemon.ask(&["wait", &next]).status, 0);
    assert_eq!(daemon.say(&["logs", &next]), "again\n");
}

#[test]
fn what_is_set_aside_lets_people_act_on_a_full_disk() {
    let Some((daemon, disk)) = server() else { return };
    let reserve = daemon.data().join("reserve");
    assert!(fs::metadata(&reserve).is_ok_and(|facts| facts.len() > 8 << 20), "space is set aside");
    let first = daemon.submit("", "exit 3");
    assert_eq!(daemon.ask(&["wait", &first]).status, 3);
    daemon.say(&["submit", "-q", "--hold", "--array", "0-9999", "--", "true"]);
    let filler = disk.fill();
    assert_eq!(daemon.ask(&["submit", "--", "true"]).status, 75);
    let since = Instant::now();
    daemon.say(&["rm", &first]);
    // More than what fits into the log that SQLite has already.
    daemon.say(&["cancel", "--all", "--yes"]);
    let ended = daemon.json(&["status", "--json"])["tasks"]["cancelled"].take();
    assert_eq!(ended, 10_000);
    assert!(since.elapsed() < Duration::from_secs(30), "{:?}", since.elapsed());
    assert_eq!(daemon.ask(&["submit", "--", "true"]).status, 75);
    fs::remove_file(filler).expect("it is there");
    until("space is set aside again", || reserve.exists());
    let next = daemon.submit("", "exit 4");
    assert_eq!(daemon.ask(&["wait", &next]).status, 4);
}

#[test]
fn a_start_on_a_full_disk_says_so() {
    let Some((mut daemon, disk)) = server() else { return };
    let task = daemon.submit("--hold", "true");
    daemon.terminate();
    let _ = fs::remove_file(daemon.data().join("reserve"));
    let filler = disk.fill();
    daemon.begin_again();
    until("it refuses to start", || daemon.has_ended());
    let said = daemon.errors();
    let last: Vec<&str> = said.lines().rev().take(2).collect();
    assert!(last[1].starts_with("error: the disk of ") && last[1].ends_with(" is full"), "{said}");
    assert!(last[0].starts_with("hint: free some space on that disk"), "{said}");
    fs::remove_file(filler).expect("it is there");
    daemon.start_again();
    assert_eq!(daemon.state(&task), "held");
}
