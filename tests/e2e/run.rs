//! `danlu run` and `danlu wait`, with a real server.

use crate::support::daemon::Daemon;

#[test]
fn run_is_the_command_with_a_queue_before_it() {
    let daemon = Daemon::start();
    let run = |arguments: &[&str]| daemon.ask(&[&["run"], arguments].concat());
    let said = run(&["--", "sh", "-c", "echo out; exit 3"]);
    assert_eq!((said.status, said.stdout.as_str()), (3, "out\n"), "{said:?}");
    assert!(said.stderr.contains("task 1 failed after 0:00:0"), "{said:?}");
    let said = run(&["-q", "--", "true"]);
    assert_eq!((said.status, said.stdout.as_str(), said.stderr.as_str()), (0, "", ""));
    assert_eq!(run(&["-q", "--", "sh", "-c", "kill -9 $$"]).status, 137);
    assert_eq!(run(&["-q", "-t", "1s", "--", "sleep", "60"]).status, 124);
    let said = run(&[
        "-q",
        "--retries",
        "1",
        "--",
        "sh",
        "-c",
        "echo $DANLU_ATTEMPT; [ $DANLU_ATTEMPT = 2 ]",
    ]);
    assert_eq!((said.status, said.stdout.as_str()), (0, "1\n2\n"), "{said:?}");
    let said = run(&["-q", "--", "no-such-command"]);
    assert_eq!(said.status, 1, "{said:?}");
}

#[test]
fn wait_has_the_code_of_the_lowest_that_did_not_succeed() {
    let daemon = Daemon::start();
    let held = daemon.submit("--hold", "exit 9");
    let good = daemon.submit("", "exit 0");
    let four = daemon.submit("", "sleep 0.5; exit 4");
    let five = daemon.submit("", "exit 5");
    assert_eq!(daemon.ask(&["wait", &five, &four, &good]).status, 4);
    assert_eq!(daemon.ask(&["wait", &good]).status, 0);
    assert_eq!(daemon.ask(&["wait", "2-90"]).status, 4, "those of a range that are there");
    assert_eq!(daemon.ask(&["wait", "99"]).status, 69);
    assert_eq!(
        daemon.ask(&["wait", "--all"]).status,
        0,
        "held tasks are not waited for, ended ones neither"
    );
    daemon.say(&["cancel", &held]);
    assert_eq!(daemon.ask(&["wait", &held]).status, 130);
    let document = daemon.json(&["wait", &good, "--json"]);
    assert_eq!(document["tasks"][0]["state"], "succeeded");
}
