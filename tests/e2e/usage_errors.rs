//! Wrong command lines: the error, a hint, and the exit status.

use std::fs;

use crate::support::danlu::{Answer, answer, command, danlu};

fn check(arguments: &str, status: i32, message: &str) {
    let said = danlu("en", arguments);
    assert_eq!(said.status, status, "{arguments}: {said:?}");
    assert_eq!(said.stdout, "", "{arguments}");
    assert_eq!(
        said.stderr.lines().next(),
        Some(format!("error: {message}").as_str()),
        "{arguments}"
    );
    assert!(said.stderr.contains("\nhint: "), "{arguments}: {said:?}");
}

#[test]
fn malformed_task_ids_are_refused_with_the_form() {
    let form =
        "expected a task id (12), a range (3-9), `@` (your last task) or `@~1` (the one before)";
    check("show abc", 2, &format!("invalid value `abc` for `<ID>`: {form}"));
    check("cancel 9-3", 2, "invalid value `9-3` for `[ID]...`: write the range as 3-9");
    check("why 3-9", 2, "invalid value `3-9` for `<ID>`: expected one task, not a range");
    check("cancel", 2, "no tasks given");
    check("cancel 3 --state queued", 2, "ids and filters cannot be combined");
    check("cancel 3 --all", 2, "`[ID]...` and `--all` cannot be combined");
    check("show", 2, "missing argument `<ID>`");
    check(
        "ls --state runing",
        2,
        "invalid value `runing` for `--state <STATE>`: expected one of held, blocked, queued, starting, running, paused, stopping, lost, succeeded, failed, cancelled, timed_out, or open, waiting, active, ended",
    );
}

#[test]
fn wrong_options_of_submit_are_refused_with_a_hint() {
    check("submit", 2, "no command given");
    check(
        "submit --gpus x -- true",
        2,
        "invalid value `x` for `--gpus <N|MODEL:N>`: expected a number, or a model and a number: 2, x:1",
    );
    check(
        "submit --gpu-ids 0,x -- true",
        2,
        "invalid value `0,x` for `--gpu-ids <LIST>`: expected GPU numbers such as 0,2 or 0-3",
    );
    check(
        "submit -t soon -- true",
        2,
        "invalid value `soon` for `--time <TIME>`: expected a duration such as 90m, 2h, 1h30m, 1-02:00:00 (days-hours:minutes:seconds) or `none`",
    );
    check(
        "submit --mem many -- true",
        2,
        "invalid value `many` for `--mem <SIZE>`: expected a size such as 20G or 512M",
    );
    check(
        "submit --array 3-1 -- true",
        2,
        "invalid value `3-1` for `--array <LIST>`: expected an array such as 0-99, 0-99%4 (4 at once) or 1,3,5-9:2",
    );
    check(
        "submit -d after:3 -- true",
        2,
        "invalid value `after:3` for `--after <LIST>`: expected afterok:12,13, afterany:14 or afternotok:15",
    );
    check("submit --env A -- true", 2, "invalid value `A` for `--env <K=V>`: expected NAME=VALUE");
    check("submit --truncate -- true", 2, "`--truncate` needs --stdout or --stderr");
    check(
        "submit --nodes 0 -- true",
        2,
        "invalid value `0` for `--nodes <N>`: expected a whole number of at least 1",
    );
    check("submit --gpuss 1 -- true", 2, "unknown argument `--gpuss`");
    check("run --array 0-3 -- true", 2, "`run` cannot follow an array or a held task");
}

#[test]
fn who_is_to_be_told_of_what_is_asked_back() {
    check(
        "run --notify a@b.c -- true",
        2,
        "invalid value `a@b.c` for `--notify <WHEN[:TO]>`: say when: end:a@b.c, or start,end:a@b.c",
    );
    check(
        "run --notify ended -- true",
        2,
        "invalid value `ended` for `--notify <WHEN[:TO]>`: `ended` is not one of start, end, fail, requeue, expiring, none",
    );
}

fn submit_script(source: &str) -> Answer {
    let directory = tempfile::tempdir().expect("a temporary directory");
    fs::write(directory.path().join("job.sh"), source).expect("it can be written");
    let mut command = command("en");
    command.args(["submit", "--server", "/nowhere", "job.sh"]).current_dir(directory.path());
    answer(command.output().expect("it starts"))
}

#[test]
fn scripts_are_refused_with_their_line() {
    for (source, status, message) in [
        (
            "#!/bin/sh\n#SBATCH --exclude=gpu7\n",
            64,
            "`job.sh` line 2: `--exclude` is not supported",
        ),
        ("#!/bin/sh\n\n#SBATCH -N 2-4\n", 64, "`job.sh` line 3: `-N 2-4` is not supported"),
        (
            "#!/bin/sh\n#SBATCH -G 3\n#SBATCH -N 2\n",
            64,
            "`job.sh` line 2: 3 GPUs cannot be divided equally among 2 machines",
        ),
        (
            "#!/bin/sh\n#DANLU --notify a@b\n",
            2,
            "`job.sh` line 2: invalid value `a@b` for `--notify <WHEN[:TO]>`: say when: end:a@b, or start,end:a@b",
        ),
        ("#!/bin/sh\n#DANLU --gpu 1\n", 2, "`job.sh` line 2: unknown argument `--gpu`"),
        ("print(1)\n", 64, "`job.sh` is not executable and has no `#!` line"),
    ] {
        let said = submit_script(source);
        assert_eq!(said.status, status, "{source}: {said:?}");
        assert_eq!(said.stderr.lines().next(), Some(format!("error: {message}").as_str()));
        assert!(said.stderr.contains("\nhint: "), "{said:?}");
    }
    // This one is fine, and only the server is missing.
    assert_eq!(submit_script("#!/bin/sh\n#SBATCH --gres=gpu:2\necho\n").status, 75);
    assert_eq!(submit_script("#!/bin/sh\n#SBATCH -N 2 --ntasks-per-node=1\necho\n").status, 75);
}
