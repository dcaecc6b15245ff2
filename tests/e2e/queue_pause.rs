//! `danlu pause-queue` and `danlu resume-queue`, with real processes.

use crate::support::daemon::{Daemon, until};

#[test]
fn a_paused_queue_starts_nothing_and_survives_a_restart() {
    let mut daemon = Daemon::start();
    daemon.say(&["pause-queue"]);
    let id = daemon.submit("", "true");
    daemon.crash_and_restart();
    assert_eq!(daemon.show(&id)["wait"]["reason"], "queue_paused");
    assert!(daemon.say(&["why", &id]).contains("danlu resume-queue"));
    daemon.say(&["resume-queue"]);
    assert_eq!(daemon.ask(&["wait", &id]).status, 0);
}

#[test]
fn pause_queue_puts_running_tasks_back_when_asked() {
    let daemon = Daemon::start();
    let line = "echo attempt $DANLU_ATTEMPT; [ $DANLU_ATTEMPT = 2 ] || sleep 1000";
    let id = daemon.submit("", line);
    until("it has begun", || daemon.ask(&["logs", &id]).stdout.contains("attempt"));
    daemon.say(&["pause-queue", "--requeue-running"]);
    daemon.wait_until(&id, "queued");
    daemon.say(&["resume-queue"]);
    assert_eq!(daemon.ask(&["wait", &id]).status, 0);
    assert_eq!(daemon.say(&["logs", &id]), "attempt 2\n");
}
