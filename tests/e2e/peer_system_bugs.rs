//! One test for each bug of other task managers that only shows with real processes, named after the rule that holds here.

use std::{fs, io::Write as _, os::unix::net::UnixStream};

use crate::support::daemon::{Daemon, Setup, processes, until};

#[track_caller]
fn log_of(daemon: &Daemon, id: &str) -> String {
    daemon.ask(&["wait", id]);
    daemon.say(&["logs", id])
}

// gputasker: `"` and backticks in a command ran on the master. Distributed manager: a `'` lost the whole request.
#[test]
fn quotes_dollars_and_backticks_stay_in_their_argument() {
    let daemon = Daemon::start();
    let nasty =
        ["it's", "\"two\"", "$HOME", "`id`", "$(id)", "a;b|c&d>e", "\\", "*", "~", "é 中文"];
    let mut arguments = vec!["submit", "-q", "--", "printf", "%s\\n"];
    arguments.extend(nasty);
    let id = daemon.say(&arguments).trim().to_owned();
    let lines: String = nasty.iter().map(|word| format!("{word}\n")).collect();
    assert_eq!(log_of(&daemon, &id), lines);
    // A shell line is the shell's, and nobody else's.
    let line = "a='it'\"'\"'s'; echo \"$a\" `echo two` $(echo three) | cat";
    let id = daemon.say(&["submit", "-q", "--shell", "--", line]).trim().to_owned();
    assert_eq!(log_of(&daemon, &id), "it's two three\n");
    let name = "'; rm -rf / \" $(id) `id` ../../x";
    let id = daemon.say(&["submit", "-q", "-J", name, "--", "true"]).trim().to_owned();
    assert_eq!(daemon.ask(&["wait", &id]).status, 0);
    assert_eq!(daemon.show(&id)["name"], name);
}

// gputasker: the name of a task was part of a path.
#[test]
fn the_name_of_a_task_is_no_path() {
    let daemon = Daemon::start();
    let id = daemon.say(&["submit", "-q", "-J", "../../../escaped", "--", "echo", "x"]);
    assert_eq!(log_of(&daemon, id.trim()), "x\n");
    assert!(!daemon.directory().join("escaped").exists());
}

// gpuman: a time limit ended the command and left what it had started on the GPU.
#[test]
fn a_time_limit_ends_grandchildren_too() {
    let daemon = Daemon::start();
    let word = format!("grandchild-{}", daemon.directory().display());
    let line = format!("sh -c 'sleep 1000; :' {word} & sh -c 'sleep 1000; :' {word}; :");
    let id = daemon.submit("-t 1s", &line);
    assert_eq!(daemon.ask(&["wait", &id]).status, 124);
    assert!(processes::with(&word).is_empty());
}

// gpuman: submits of the last quarter of an hour were lost in a crash, and what ran was started again.
// gpulimit: everything was.
#[test]
fn a_crash_loses_no_task_and_runs_none_twice() {
    let mut daemon = Daemon::start();
    let marks = daemon.directory().join("marks");
    let line = format!("echo start >> {}; sleep 2", marks.display());
    let running = daemon.submit("-g 4", &line);
    daemon.wait_until(&running, "running");
    let waiting = daemon.submit("-g 4", "true");
    daemon.crash_and_restart();
    assert_eq!(daemon.ask(&["wait", &running, &waiting]).status, 0);
    assert_eq!(fs::read_to_string(&marks).expect("it ran"), "start\n");
}

// gpulimit: a second daemon took the socket away from the first.
#[test]
fn a_second_server_does_not_take_over_a_live_socket() {
    let daemon = Daemon::start();
    let data = daemon.data();
    let data = data.to_str().expect("it is UTF-8");
    let second = daemon.ask(&["up", "--data", data, "--listen", "127.0.0.1:0", "--sim-gpus", "1"]);
    assert_ne!(second.status, 0, "{second:?}");
    daemon.say(&["ls"]);
}

// gpulimit: one malformed request ended the daemon.
#[test]
fn a_malformed_request_does_not_end_the_server() {
    let daemon = Daemon::start();
    for garbage in
        [&b"\x00\x00\x00\x00\x7f\xff\xff\xff\x80\x03]q\x00."[..], b"{", b"GET\r\n\r\n", b"\xff"]
    {
        let mut stream = UnixStream::connect(daemon.socket()).expect("it listens");
        // It may hang up before all is said.
        let _ = stream.write_all(garbage);
    }
    daemon.say(&["ls"]);
}

// gpulimit: a directory as the place of the log was an error, though its own example had one.
#[test]
fn a_directory_as_log_path_gets_a_file_for_each_task() {
    let daemon = Daemon::start();
    let directory = daemon.directory().to_str().expect("it is UTF-8").to_owned();
    let id = daemon.submit(&format!("--dir {directory} --logpath ./"), "echo here");
    assert_eq!(daemon.ask(&["wait", &id]).status, 0);
    let log = daemon.directory().join(format!("{id}.log"));
    assert_eq!(fs::read_to_string(log).expect("it is there"), "here\n");
}

// gpulimit, gpuman: a task did not see its submitter's variables, nor so much as a PATH.
#[test]
fn a_task_has_the_environment_of_its_submitter() {
    let daemon = Daemon::start();
    let mut command =
        daemon.command(&["submit", "-q", "--", "sh", "-c", "echo $MY_OWN; env | sort"]);
    let output = command.env("MY_OWN", "it's mine").output().expect("it runs");
    let id = String::from_utf8(output.stdout).expect("an id").trim().to_owned();
    let log = log_of(&daemon, &id);
    assert!(log.starts_with("it's mine\n") && log.contains("\nPATH=/"), "{log}");
    // Distributed manager: this was set for everybody.
    assert!(!log.contains("NCCL_P2P_DISABLE"), "{log}");
}

// gpulimit: there was no daemon where there was no GPU.
#[test]
fn a_machine_without_gpus_runs_cpu_tasks() {
    let daemon = Daemon::start_with(Setup::simulated(0));
    let id = daemon.submit("", "echo ran");
    assert_eq!(log_of(&daemon, &id), "ran\n");
}

// Distributed manager: what a program printed last was lost at its end.
#[test]
fn the_last_output_is_kept() {
    let daemon = Daemon::start();
    let id = daemon.submit("", "seq 1 20000; printf 'no newline at the end'");
    let log = log_of(&daemon, &id);
    assert!(log.ends_with("20000\nno newline at the end"), "{}", log.len());
}

// gpuman: output that could not be opened was thrown away without a word.
#[test]
fn a_task_whose_output_cannot_be_opened_fails() {
    let daemon = Daemon::start();
    let directory = daemon.directory().join("kept");
    fs::create_dir(&directory).expect("it can be made");
    let file = directory.join("out");
    let id = daemon.submit(&format!("--hold --stdout {}", file.display()), "echo x");
    fs::remove_dir(&directory).expect("it is empty");
    daemon.say(&["release", &id]);
    assert_eq!(daemon.ask(&["wait", &id]).status, 1);
    let failure = daemon.show(&id)["failure"].clone();
    assert_eq!(failure["class"], "launch");
    assert!(failure["evidence"].as_str().is_some_and(|it| it.contains("kept/out")), "{failure}");
}

// Distributed manager: whoever edited a task found its environment set back.
#[test]
fn an_edit_keeps_the_environment() {
    let daemon = Daemon::start();
    let id = daemon.submit("--hold --env A=1", "echo $A $PATH");
    daemon.say(&["edit", &id, "--name", "other"]);
    daemon.say(&["release", &id]);
    let log = log_of(&daemon, &id);
    assert!(log.starts_with("1 /"), "{log}");
}

// gpulimit: a retry wrote over the log of the run before.
#[test]
fn a_retry_keeps_the_log_of_the_first_run() {
    let daemon = Daemon::start();
    let id = daemon.submit("", "echo $DANLU_ATTEMPT; exit 1");
    daemon.ask(&["wait", &id]);
    daemon.say(&["retry", &id]);
    daemon.ask(&["wait", &id]);
    assert_eq!(daemon.say(&["logs", &id, "--run", "1"]), "1\n");
    assert_eq!(daemon.say(&["logs", &id, "--run", "2"]), "2\n");
}

// gpulimit, gpuman: only the direct child was ended, or a tree that was guessed.
#[test]
fn a_cancel_ends_the_whole_process_tree() {
    let daemon = Daemon::start();
    let word = format!("child-{}", daemon.directory().display());
    let id = daemon.submit("", &format!("setsid sh -c 'sleep 1000; :' {word} & wait"));
    until("all of it runs", || !processes::with(&word).is_empty());
    daemon.say(&["cancel", &id, "--wait"]);
    assert!(processes::with(&word).is_empty());
}

// gpulimit: a task that was paused could not be reached any more.
#[test]
fn a_paused_process_is_resumed() {
    let daemon = Daemon::start();
    let file = daemon.directory().join("go");
    let line = format!("while [ ! -e {} ]; do sleep 0.05; done; echo done", file.display());
    let id = daemon.submit("-t 60s", &line);
    daemon.wait_until(&id, "running");
    daemon.say(&["pause", &id]);
    assert_eq!(daemon.state(&id), "paused");
    fs::write(&file, "").expect("it can be written");
    daemon.say(&["resume", &id]);
    assert_eq!(log_of(&daemon, &id), "done\n");
}
