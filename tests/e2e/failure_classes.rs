//! Failure classes: state, class and evidence of a failed task, and the exit codes of `wait` and `run`.

use std::{fs, os::unix::fs::PermissionsExt as _};

use crate::support::daemon::{Daemon, until};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use serde_json::{Value, json};

struct Failed<'a> {
    state: &'a str,
    class: &'a str,
    evidence: &'a str,
    code: Value,
    /// Of `wait`.
    status: i32,
}

#[track_caller]
fn check(daemon: &Daemon, id: &str, expect: &Failed<'_>) {
    let said = daemon.ask(&["wait", id]);
    let task = daemon.show(id);
    assert_eq!(said.status, expect.status, "{task}");
    assert_eq!(task["state"], expect.state, "{task}");
    assert_eq!(task["exit_code"], expect.code, "{task}");
    assert_eq!(task["failure"]["class"], expect.class, "{task}");
    let evidence = task["failure"]["evidence"].as_str().expect("what proves it");
    assert!(evidence.contains(expect.evidence), "{evidence}");
    // A person is told the same.
    let shown = daemon.say(&["show", id]);
    assert!(shown.contains(expect.evidence), "{shown}");
}

#[test]
fn a_task_that_cannot_be_launched_fails_with_class_launch() {
    let daemon = Daemon::start();
    let script = daemon.directory().join("script");
    fs::write(&script, "#!/no/such/interpreter\n").expect("it can be written");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let path = script.to_str().expect("it is UTF-8");
    let vanishing = daemon.directory().join("vanishing");
    fs::create_dir(&vanishing).expect("it can be made");
    let directory = vanishing.to_str().expect("it is UTF-8");

    let launch = |evidence| Failed {
        state: "failed",
        class: "launch",
        evidence,
        code: Value::Null,
        status: 1,
    };
    let id = daemon.say(&["submit", "-q", "--", path]);
    check(&daemon, id.trim(), &launch(path));
    let id = daemon.submit(&format!("--hold --dir {directory}"), "true");
    fs::remove_dir(&vanishing).expect("it is empty");
    daemon.say(&["release", &id]);
    check(&daemon, &id, &launch(directory));
    let said = daemon.ask(&["run", "-q", "--", path]);
    assert_eq!((said.status, said.stdout.as_str()), (1, ""), "{said:?}");
    // Nothing is left of it that would keep its GPU.
    let all = daemon.submit("-g 4", "true");
    assert_eq!(daemon.ask(&["wait", &all]).status, 0);
}

#[test]
fn a_command_that_the_shell_does_not_find_has_class_command_not_found() {
    let daemon = Daemon::start();
    let id = daemon.submit("", "no-such-command");
    let not_found = Failed {
        state: "failed",
        class: "command_not_found",
        evidence: "127",
        code: json!(127),
        status: 127,
    };
    check(&daemon, &id, &not_found);
    assert_eq!(daemon.ask(&["run", "-q", "--", "sh", "-c", "no-such-command"]).status, 127);
}

#[test]
fn a_task_over_its_time_limit_has_class_timeout() {
    let daemon = Daemon::start();
    let id = daemon.submit("-t 1s", "sleep 1000");
    let timeout = Failed {
        state: "timed_out",
        class: "timeout",
        evidence: "time limit",
        code: json!(124),
        status: 124,
    };
    check(&daemon, &id, &timeout);
}

#[test]
fn a_task_ended_by_a_signal_has_class_killed() {
    let daemon = Daemon::start();
    let file = daemon.directory().join("pid");
    let draft = file.with_extension("new");
    let line =
        format!("echo $$ > {0}; mv {0} {1}; exec sleep 1000", draft.display(), file.display());
    for (signal, code) in [(Signal::SIGKILL, 137), (Signal::SIGTERM, 143)] {
        let id = daemon.submit("", &line);
        until("it runs", || file.exists());
        let pid = fs::read_to_string(&file).expect("it is there").trim().parse().expect("a pid");
        fs::remove_file(&file).expect("it is there");
        kill(Pid::from_raw(pid), signal).expect("it runs");
        let evidence = format!("signal {}", signal as i32);
        let killed = Failed {
            state: "failed",
            class: "killed",
            evidence: &evidence,
            code: json!(code),
            status: code,
        };
        check(&daemon, &id, &killed);
    }
}

#[test]
fn a_nonzero_exit_code_has_class_other() {
    let daemon = Daemon::start();
    for code in [3, 255] {
        let id = daemon.submit("", &format!("echo why; exit {code}"));
        let evidence = format!("exit code {code}");
        let other = Failed {
            state: "failed",
            class: "other",
            evidence: &evidence,
            code: json!(code),
            status: code,
        };
        check(&daemon, &id, &other);
    }
    assert_eq!(daemon.ask(&["run", "-q", "--", "sh", "-c", "exit 3"]).status, 3);
    // Those that are stopped or succeed have not failed.
    let fine = daemon.submit("", "true");
    let stopped = daemon.submit("", "sleep 1000");
    daemon.wait_until(&stopped, "running");
    daemon.say(&["cancel", &stopped, "--wait"]);
    assert_eq!(daemon.ask(&["wait", &fine]).status, 0);
    for id in [fine, stopped] {
        assert_eq!(daemon.show(&id)["failure"], Value::Null);
    }
}

const OUT_OF_MEMORY: &str =
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.";

/// What Python prints when a program raises this.
fn raising(last: &str) -> String {
    format!(
        "printf '%s\\n' 'Traceback (most recent call last):' '  File \"train.py\", line 9, in <module>' \
         '{last}' >&2; exit 1"
    )
}

#[test]
fn what_a_task_prints_last_tells_why_it_failed() {
    let daemon = Daemon::start();
    for (line, class) in [
        (OUT_OF_MEMORY, "cuda_oom"),
        ("ModuleNotFoundError: No module named transformers", "env_missing"),
        ("OSError: [Errno 28] No space left on device", "disk_full"),
        ("torch.distributed.DistBackendError: NCCL error in: NCCLUtils.hpp:219", "nccl"),
        ("KeyError: lr", "python_exception"),
        ("MemoryError", "host_oom"),
    ] {
        let id = daemon.submit("", &raising(line));
        let failed = Failed { state: "failed", class, evidence: line, code: json!(1), status: 1 };
        check(&daemon, &id, &failed);
    }
}

#[test]
fn what_others_have_printed_into_the_same_file_does_not_count() {
    let daemon = Daemon::start();
    let file = daemon.directory().join("all.log");
    let path = file.to_str().expect("it is UTF-8");
    fs::write(&file, "cp: error writing: No space left on device\n").expect("it can be written");
    let other = Failed {
        state: "failed",
        class: "other",
        evidence: "exit code 3",
        code: json!(3),
        status: 3,
    };
    let id = daemon.submit(&format!("--output {path}"), "exit 3");
    check(&daemon, &id, &other);
    let id = daemon.submit(&format!("--output {path}"), &raising(OUT_OF_MEMORY));
    let oom = Failed {
        state: "failed",
        class: "cuda_oom",
        evidence: OUT_OF_MEMORY,
        code: json!(1),
        status: 1,
    };
    check(&daemon, &id, &oom);
    let id = daemon.submit(&format!("--stdout /dev/null --stderr {path}"), &raising("KeyError: x"));
    let raised = Failed { class: "python_exception", evidence: "KeyError: x", ..oom };
    check(&daemon, &id, &raised);
}

#[test]
fn retries_are_for_the_failures_that_were_named() {
    let daemon = Daemon::start();
    daemon.say(&["set", "retry_backoff", "10ms"]);
    let line = format!("echo attempt $DANLU_ATTEMPT; {}", raising(OUT_OF_MEMORY));
    let once = daemon.submit("--retries 2:nccl,timeout", &line);
    let thrice = daemon.submit("--retries 2:cuda_oom", &line);
    daemon.ask(&["wait", &once, &thrice]);
    assert_eq!(daemon.show(&once)["runs"].as_array().map(Vec::len), Some(1));
    let runs = daemon.show(&thrice)["runs"].clone();
    let classes: Vec<&Value> =
        runs.as_array().into_iter().flatten().map(|run| &run["failure"]["class"]).collect();
    assert_eq!(classes, ["cuda_oom"; 3]);
    // Each run keeps its own log.
    for attempt in ["1", "2", "3"] {
        let log = daemon.say(&["logs", &thrice, "--run", attempt]);
        assert!(log.starts_with(&format!("attempt {attempt}\n")), "{log}");
    }
    let said = daemon.ask(&["submit", "--retries", "2:oom", "--", "true"]);
    assert!(said.status == 2 && said.stderr.contains("cuda_oom"), "{said:?}");
}

#[test]
fn a_retry_waits_a_while_and_says_until_when() {
    let daemon = Daemon::start();
    daemon.say(&["set", "retry_backoff", "1h"]);
    daemon.say(&["set", "default_retries", "1"]);
    let id = daemon.submit("", "exit 1");
    until("it waits to be tried again", || daemon.show(&id)["wait"]["reason"] == "retry_at");
    assert_eq!(daemon.show(&id)["state"], "queued");
    assert!(daemon.say(&["why", &id]).contains("retry at"));
    daemon.say(&["start", &id]);
    assert_eq!(daemon.ask(&["wait", &id]).status, 1);
    assert_eq!(daemon.show(&id)["attempt"], 2);
}

#[test]
fn a_task_begins_when_it_was_told_to() {
    let daemon = Daemon::start();
    let later = daemon.submit("--begin now+2h", "true");
    assert_eq!(daemon.show(&later)["wait"]["reason"], "begins");
    assert!(daemon.say(&["why", &later]).contains("begins at"));
    daemon.say(&["edit", &later, "--begin", "now"]);
    let soon = daemon.submit("--begin now+1", "true");
    assert_eq!(daemon.ask(&["wait", &later, &soon]).status, 0);
    let said = daemon.ask(&["submit", "--begin", "yesterday", "--", "true"]);
    assert_eq!(said.status, 2, "{said:?}");
}
