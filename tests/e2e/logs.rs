//! `danlu logs`, with a real server.

use std::{io::Read as _, process::Stdio};

use crate::support::daemon::Daemon;

#[test]
fn logs_prints_tails_earlier_runs_and_progress_bars_as_one_line() {
    let daemon = Daemon::start();
    let id = daemon.submit("", "seq 1 1000; printf ' 1%%\\r 50%%\\r100%%\\n'");
    let again = daemon.submit("--retries 1", "echo attempt $DANLU_ATTEMPT; exit 1");
    let waits = daemon.submit("--hold", "true");
    daemon.ask(&["wait", &id, &again]);
    assert_eq!(daemon.say(&["logs", &id]).lines().count(), 1001);
    assert_eq!(daemon.say(&["logs", &id, "--tail", "2"]), "1000\n100%\n");
    assert_eq!(daemon.say(&["logs", &id, "--tail", "1", "--raw"]), " 1%\r 50%\r100%\n");
    assert_eq!(daemon.say(&["logs", &again]), "attempt 2\n");
    assert_eq!(daemon.say(&["log", &again, "--run", "1"]), "attempt 1\n");
    assert_eq!(daemon.ask(&["logs", &again, "--run", "7"]).status, 69);
    assert_eq!(daemon.ask(&["logs", &waits]).status, 69);
    assert_eq!(daemon.ask(&["logs", "99"]).status, 69);
}

#[test]
fn following_waits_for_the_start_and_outlives_a_crash_of_the_server() {
    let mut daemon = Daemon::start();
    let id = daemon.submit("--hold", "echo first; sleep 1; echo second; sleep 2; echo third");
    let mut command = daemon.command(&["logs", "-f", &id]);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
    daemon.say(&["release", &id]);
    let mut seen = [0; 6];
    let mut out = child.stdout.take().expect("it was piped");
    out.read_exact(&mut seen).expect("the first line comes at once");
    assert_eq!(&seen, b"first\n");
    daemon.crash_and_restart();
    let mut rest = String::new();
    out.read_to_string(&mut rest).expect("it ends");
    assert_eq!(rest, "second\nthird\n");
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn much_output_is_followed_to_its_last_byte() {
    let daemon = Daemon::start();
    let id = daemon.submit("", "seq 1 300000");
    let followed = daemon.say(&["follow", &id]);
    assert_eq!(followed.lines().last(), Some("300000"));
    assert_eq!(followed, daemon.say(&["logs", &id]));
}
