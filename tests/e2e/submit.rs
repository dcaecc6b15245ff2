//! `danlu submit`, with a real server.

use std::{fs, os::unix::fs::PermissionsExt as _};

use crate::support::daemon::Daemon;
use crate::support::danlu::answer;
use serde_json::json;

#[test]
fn a_task_runs_with_the_directory_environment_and_gpus_it_was_given() {
    let daemon = Daemon::start();
    let mut command = daemon.command(&[
        "submit",
        "-q",
        "-g",
        "2",
        "--env",
        "GIVEN=v-{task_id}",
        "--",
        "sh",
        "-c",
        "pwd; echo $CAPTURED $GIVEN gpus=$CUDA_VISIBLE_DEVICES",
    ]);
    command.env("CAPTURED", "yes").current_dir(daemon.directory());
    let id = answer(command.output().expect("it starts")).stdout.trim().to_owned();
    assert_eq!(daemon.ask(&["wait", &id]).status, 0);
    let directory = fs::canonicalize(daemon.directory()).expect("it is there");
    let expect = format!("{}\nyes v-{id} gpus=0,1\n", directory.display());
    assert_eq!(daemon.say(&["logs", &id]), expect);
    let task = &daemon.json(&["show", &id, "--json"])["task"];
    assert_eq!(
        (&task["state"], &task["gpus"], &task["exit_code"]),
        (&json!("succeeded"), &json!(2), &json!(0))
    );
}

#[test]
fn submit_prints_the_id_for_scripts() {
    let daemon = Daemon::start();
    assert_eq!(daemon.say(&["submit", "--", "true"]), "submitted task 1\n");
    assert_eq!(daemon.say(&["submit", "-q", "--", "true"]), "2\n");
    assert_eq!(
        daemon.json(&["submit", "--json", "--", "true"]),
        json!({"v": 1, "id": 3, "count": 1})
    );
    assert_eq!(daemon.say(&["submit", "--array", "0-9", "--", "true"]), "submitted tasks 4-13\n");
    assert_eq!(daemon.say(&["submit", "-q", "--array", "5,7", "--", "true"]), "14\n");
}

#[test]
fn what_can_never_run_is_refused_at_once() {
    let daemon = Daemon::start();
    let refused = |arguments: &[&str], status: i32| {
        let said = daemon.ask(&[&["submit"], arguments, &["--", "true"]].concat());
        assert_eq!((said.status, said.stdout.as_str()), (status, ""), "{arguments:?}: {said:?}");
        assert!(said.stderr.starts_with("error: ") && said.stderr.contains("\nhint: "), "{said:?}");
    };
    refused(&["-g", "5"], 64);
    refused(&["-g", "H100:1"], 64);
    refused(&["--dir", "/nowhere"], 64);
    refused(&["--output", "/nowhere/a.log"], 64);
    refused(&["-d", "afterok:77"], 69);
    refused(&["-w", "nowhere"], 64);
    let tasks = daemon.json(&["ls", "-a", "--json"]);
    assert_eq!(tasks["tasks"], json!([]), "nothing was queued");
}

#[test]
fn scripts_carry_their_options_and_are_taken_as_they_are_now() {
    let daemon = Daemon::start();
    let script = daemon.directory().join("job.sh");
    let source = "#!/bin/bash\n#SBATCH --job-name=from-script --gres=gpu:2\n#SBATCH -t 1:00:00\n#DANLU --label a=b\n\
                  echo \"$0\" \"$@\" $CUDA_VISIBLE_DEVICES\n";
    fs::write(&script, source).expect("it can be written");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let path = script.to_str().expect("it is UTF-8");
    let id = daemon.say(&["submit", "-q", "--hold", "--name", "mine", path, "one", "--two"]);
    let id = id.trim();
    fs::write(&script, "#!/bin/bash\necho something else\n").expect("it can be written");
    daemon.say(&["release", id]);
    assert_eq!(daemon.ask(&["wait", id]).status, 0);
    assert_eq!(daemon.say(&["logs", id]), format!("{path} one --two 0,1\n"));
    let task = &daemon.json(&["show", id, "--json"])["task"];
    let expect = (&json!("mine"), &json!(2), &json!(3_600), &json!({"a": "b"}));
    assert_eq!((&task["name"], &task["gpus"], &task["time_limit"], &task["labels"]), expect);
}

#[test]
fn dependencies_are_kept_and_output_goes_to_the_named_files() {
    let daemon = Daemon::start();
    let first = daemon.submit("--hold", "exit 3");
    let ok = daemon.submit(&format!("-d afterok:{first}"), "true");
    let any = daemon.submit("-d afterany:@~1", "true");
    assert_eq!(daemon.state(&ok), "blocked");
    daemon.say(&["release", &first]);
    assert_eq!(daemon.ask(&["wait", &first]).status, 3);
    assert_eq!(daemon.ask(&["wait", &ok]).status, 130, "it can never start");
    assert_eq!(daemon.ask(&["wait", &any]).status, 0);
    let directory = daemon.directory().to_str().expect("it is UTF-8");
    let id = daemon
        .submit(&format!("--dir {directory} --stdout out --stderr err"), "echo a; echo b >&2");
    let both = daemon.submit(&format!("--output {directory}"), "echo a; echo b >&2");
    assert_eq!(daemon.ask(&["wait", &id, &both]).status, 0);
    let read =
        |name: &str| fs::read_to_string(daemon.directory().join(name)).expect("it was written");
    assert_eq!((read("out").as_str(), read("err").as_str()), ("a\n", "b\n"));
    assert_eq!(read(&format!("{both}.log")), "a\nb\n");
    assert_eq!(daemon.say(&["logs", &id, "--stderr"]), "b\n");
}

#[test]
fn a_dry_run_without_gpus_starts_at_once_as_the_task_itself_does() {
    let daemon = Daemon::start();
    let all = daemon.submit("-g 4 -t 20h", "sleep 1000");
    daemon.wait_until(&all, "running");
    daemon.submit("-g 4 -t 10h", "true");
    let dry = daemon.json(&["submit", "--dry-run", "-g", "0", "--json", "--", "true"]);
    assert_eq!(dry["dry_run"]["now"], true, "{dry}");
    let dry = daemon.json(&["submit", "--dry-run", "-g", "1", "--json", "--", "true"]);
    assert_eq!(dry["dry_run"]["now"], false, "{dry}");
    let real = daemon.submit("-g 0", "true");
    assert_eq!(daemon.ask(&["wait", &real]).status, 0);
}
