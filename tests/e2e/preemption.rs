//! Preemption with real processes: notice, signal, grace period, and another attempt later.

use crate::support::daemon::{Daemon, Setup, processes, until};

fn one_gpu(order: &str) -> Daemon {
    let daemon = Daemon::start_with(Setup::simulated(1));
    daemon.say(&["policy", "set", order]);
    daemon.say(&["set", "min_run_before_preemption", "0s"]);
    daemon
}

/// Goes on until it is asked to leave, and says how it was asked; ends by itself the next time.
const POLITE: &str = r#"
echo "attempt $DANLU_ATTEMPT"
trap 'test -e "$DANLU_PREEMPT_FILE" && echo noticed; exit 3' TERM
test -e "$DANLU_PREEMPT_FILE" && echo too early
while [ "$DANLU_ATTEMPT" = 1 ]; do sleep 0.05; done
echo done
"#;

#[track_caller]
fn check_preempted(daemon: &Daemon, long: &str, short: &str) {
    assert_eq!(daemon.ask(&["wait", short, long]).status, 0);
    assert_eq!(daemon.say(&["logs", long, "--run", "1"]), "attempt 1\nnoticed\n");
    assert_eq!(daemon.say(&["logs", long, "--run", "2"]), "attempt 2\ndone\n");
    let task = daemon.show(long);
    assert_eq!(task["runs"][0]["failure"]["class"], "preempted", "{task}");
    assert_eq!((&task["attempt"], &task["failure"]), (&2.into(), &serde_json::Value::Null));
}

#[test]
fn a_shorter_task_preempts_a_preemptible_one_under_srtf() {
    let daemon = one_gpu("srtf");
    let long = daemon.submit("--preemptible -t 10h", POLITE);
    until("it has begun", || daemon.ask(&["logs", &long]).stdout.contains("attempt"));
    let short = daemon.submit("-t 1h", "true");
    check_preempted(&daemon, &long, &short);
}

#[test]
fn a_task_that_has_run_little_preempts_one_that_has_run_long_under_las() {
    let daemon = one_gpu("las");
    daemon.say(&["set", "las_threshold", "200ms"]);
    let long = daemon.submit("--preemptible", POLITE);
    until("it has begun", || daemon.ask(&["logs", &long]).stdout.contains("attempt"));
    let short = daemon.submit("", "true");
    check_preempted(&daemon, &long, &short);
}

#[test]
fn a_preempted_task_is_killed_with_its_tree_after_the_grace() {
    let daemon = one_gpu("srtf");
    daemon.say(&["set", "stop_grace", "200ms"]);
    let word = format!("preempted-{}", daemon.directory().display());
    let line = format!(
        "[ $DANLU_ATTEMPT = 1 ] || exit 0; trap '' TERM; sh -c 'trap \"\" TERM; while :; do sleep 1; done' {word} & \
         echo ready; while :; do sleep 1; done"
    );
    let long = daemon.submit("--preemptible -t 10h", &line);
    until("it has begun", || daemon.ask(&["logs", &long]).stdout.contains("ready"));
    let short = daemon.submit("-t 1h", "true");
    assert_eq!(daemon.ask(&["wait", &short]).status, 0);
    assert!(processes::with(&word).is_empty());
    assert_eq!(daemon.ask(&["wait", &long]).status, 0);
}

#[test]
fn a_task_that_is_not_preemptible_keeps_its_gpu() {
    let daemon = one_gpu("srtf");
    let long = daemon.submit("-t 10h", "sleep 1");
    daemon.wait_until(&long, "running");
    let short = daemon.submit("-t 1h", "true");
    assert_eq!(daemon.ask(&["wait", &long, &short]).status, 0);
    assert_eq!(daemon.show(&long)["attempt"], 1);
}
