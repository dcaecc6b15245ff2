//! Slurm's commands, called by their names through links, with a real server.

use crate::support::daemon::{Daemon, until};
use crate::support::danlu::{Answer, answer, command_of};
use serde_json::Value;
use std::{fs, path::PathBuf, process::Command};

/// A server, and the links to its client.
struct Lab {
    daemon: Daemon,
    links: PathBuf,
    work: PathBuf,
}

impl Lab {
    fn new() -> Lab {
        let daemon = Daemon::start();
        let (links, work) = (daemon.directory().join("bin"), daemon.directory().join("work"));
        daemon.say(&["slurm-shims", links.to_str().expect("it is UTF-8")]);
        fs::create_dir(&work).expect("it can be made");
        Lab { daemon, links, work }
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = command_of(&self.links.join(words[0]), "en");
        let path = std::env::var("PATH").expect("there is one");
        command
            .args(&words[1..])
            .env("DANLU_SERVER", self.daemon.socket())
            .env("PATH", format!("{}:{path}", self.links.display()))
            .current_dir(&self.work);
        command
    }

    fn ask(&self, words: &[&str]) -> Answer {
        answer(self.command(words).output().expect("it starts"))
    }

    #[track_caller]
    fn say(&self, words: &[&str]) -> String {
        let said = self.ask(words);
        assert_eq!(said.status, 0, "{words:?}: {said:?}");
        said.stdout
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.work.join(file)).unwrap_or_default()
    }

    fn write(&self, file: &str, text: &str) {
        fs::write(self.work.join(file), text).expect("it can be written");
    }

    #[track_caller]
    fn until_state(&self, job: &str, state: &str) {
        until(&format!("job {job} is {state}"), || {
            let seen = self.say(&["sacct", "-X", "-n", "-P", "-o", "State", "-j", job]);
            seen.trim() == state
        });
    }
}

#[test]
fn a_script_runs_with_its_options_and_variables() {
    let lab = Lab::new();
    let script = "#!/bin/bash\n#SBATCH -J from-script --gres=gpu:2 -p gpu\n#SBATCH --time=10\n\
                  echo \"$SLURM_JOB_ID $SLURM_JOB_NAME $SLURM_SUBMIT_DIR $SLURM_JOB_GPUS $1\"\n\
                  echo \"$SLURM_NTASKS $SLURM_JOB_NUM_NODES ${SLURM_RESTART_COUNT:-none} $CUDA_VISIBLE_DEVICES\"\n";
    lab.write("job.sh", script);
    let said = lab.ask(&["sbatch", "-W", "job.sh", "argument"]);
    assert_eq!((said.status, said.stdout.as_str()), (0, "Submitted batch job 1\n"), "{said:?}");
    assert_eq!(said.stderr, "sbatch: no effect here: -p\n");
    let work = fs::canonicalize(&lab.work).expect("it is there");
    let expect = format!("1 from-script {} 0,1 argument\n1 1 none 0,1\n", work.display());
    assert_eq!(lab.read("slurm-1.out"), expect);
    // The command line wins over variables, and they over the script.
    let mut command = lab.command(&["sbatch", "--parsable", "-H", "-t", "30", "job.sh"]);
    command.env("SBATCH_TIMELIMIT", "20").env("SBATCH_JOB_NAME", "from-variable");
    let id = answer(command.output().expect("it starts")).stdout;
    let shown = lab.say(&["squeue", "-h", "-j", id.trim(), "-o", "%j %l %r %b"]);
    assert_eq!(shown, "from-variable 30:00 JobHeldUser gres:gpu:2\n");
    // Without GPUs unless some are asked for, and as a program of others calls it.
    let said =
        lab.say(&["sbatch", "--parsable", "--wait", "--wrap", "echo got:$CUDA_VISIBLE_DEVICES"]);
    assert_eq!(lab.read(&format!("slurm-{}.out", said.trim())), "got:\n");
    // Programs make such a directory only when they know the id.
    let id =
        lab.say(&["sbatch", "--parsable", "--wait", "-o", "logs/%j/out.txt", "--wrap", "echo it"]);
    assert_eq!(lab.read(&format!("logs/{}/out.txt", id.trim())), "it\n");
    let failed = lab.ask(&["sbatch", "-Q", "-W", "--wrap", "exit 3"]);
    assert_eq!((failed.status, failed.stdout.as_str()), (3, ""), "{failed:?}");
}

#[test]
fn scripts_come_by_standard_input_and_mistakes_are_named() {
    let lab = Lab::new();
    lab.write("in.sh", "#!/bin/sh\necho from-stdin $1\n");
    let mut command = lab.command(&["sbatch", "-W", "-o", "out.txt"]);
    command.stdin(fs::File::open(lab.work.join("in.sh")).expect("it is there"));
    assert_eq!(answer(command.output().expect("it starts")).status, 0);
    assert_eq!(lab.read("out.txt"), "from-stdin\n");
    lab.write("no.sh", "echo\n");
    lab.write("odd.sh", "#!/bin/sh\n#SBATCH --nonsense\n");
    for (words, part) in [
        (&["sbatch", "--nonsense"][..], "sbatch: error: unrecognized option '--nonsense'"),
        (&["sbatch", "missing.sh"], "Unable to open file missing.sh"),
        (&["sbatch", "no.sh"], "This does not look like a batch script"),
        (&["sbatch", "odd.sh"], "line 2: unrecognized option"),
        (&["sbatch", "--exclude=n1", "in.sh"], "--exclude is not supported"),
        (&["sbatch", "-N2", "in.sh"], "several nodes"),
        (&["sbatch", "-d", "afterok:77", "in.sh"], "Invalid job id specified"),
        (&["squeue", "-j", "77"], "Invalid job id specified"),
        (&["scancel", "77"], "Kill job error on job id 77"),
        (&["scancel"], "No job identification provided"),
        (&["scontrol", "show", "job", "77"], "Invalid job id specified"),
        (&["sacct", "-o", "Nonsense"], "Invalid field requested"),
        (&["salloc"], "terminal"),
    ] {
        let said = lab.ask(words);
        assert!(said.status != 0 && said.stderr.contains(part), "{words:?}: {said:?}");
    }
    let mut strict = lab.command(&["sbatch", "-p", "gpu", "in.sh"]);
    let said = answer(strict.env("DANLU_SLURM_STRICT", "1").output().expect("it starts"));
    assert!(said.status != 0 && said.stderr.contains("-p has no effect here"), "{said:?}");
    assert_eq!(lab.say(&["squeue", "-h"]), "", "nothing was queued");
}

#[test]
fn arrays_are_one_line_while_they_wait_and_parts_of_them_are_cancelled() {
    let lab = Lab::new();
    let id = lab.say(&[
        "sbatch",
        "--parsable",
        "-H",
        "-a",
        "1-5%2",
        "-o",
        "a_%A_%a.txt",
        "--wrap",
        "echo $SLURM_ARRAY_TASK_ID",
    ]);
    let id = id.trim();
    let line = format!("{id}_[1-5]");
    assert_eq!(lab.say(&["squeue", "-h", "-o", "%i %K %T"]), format!("{line} 1-5 PENDING\n"));
    assert_eq!(lab.say(&["squeue", "-h", "-r"]).lines().count(), 5);
    lab.say(&["scancel", &format!("{id}_[4-5]")]);
    lab.say(&["scontrol", "release", id]);
    for index in 1..=3 {
        lab.until_state(&format!("{id}_{index}"), "COMPLETED");
        assert_eq!(lab.read(&format!("a_{id}_{index}.txt")), format!("{index}\n"));
    }
    lab.until_state(&format!("{id}_5"), "CANCELLED");
    let after =
        lab.say(&["sbatch", "--parsable", "-W", "-d", &format!("afterany:{id}"), "--wrap", "true"]);
    let document: Value =
        serde_json::from_str(&lab.say(&["squeue", "--json", "-t", "all", "-j", after.trim()]))
            .expect("JSON");
    assert_eq!(document["jobs"][0]["job_state"], "COMPLETED");
    let nodes: Value = serde_json::from_str(&lab.say(&["sinfo", "--json"])).expect("JSON");
    assert_eq!(nodes["nodes"][0]["gres"], "gpu:4");
}

#[test]
fn steps_have_ranks_labels_and_the_worst_exit_code() {
    let lab = Lab::new();
    let script = "#!/bin/bash\n\
        srun -n 3 -l bash -c 'echo rank $SLURM_PROCID of $SLURM_NTASKS; exit $SLURM_PROCID'\n\
        echo code=$?\n\
        srun -n 2 -o step_%j_%t.txt bash -c 'echo $SLURM_LOCALID'\n\
        srun -n 2 -K bash -c 'test $SLURM_PROCID = 1 && exit 7; exec sleep 1000'\n\
        echo killed=$?\n";
    lab.write("steps.sh", script);
    lab.say(&["sbatch", "-W", "-o", "out.txt", "-e", "err.txt", "steps.sh"]);
    let out = lab.read("out.txt");
    let mut lines: Vec<&str> = out.lines().collect();
    lines.sort_unstable();
    assert_eq!(
        lines,
        ["0: rank 0 of 3", "1: rank 1 of 3", "2: rank 2 of 3", "code=2", "killed=143"]
    );
    assert_eq!((lab.read("step_1_0.txt"), lab.read("step_1_1.txt")), ("0\n".into(), "1\n".into()));
    assert!(
        lab.read("err.txt").contains("task 2: Exited with exit code 2"),
        "{}",
        lab.read("err.txt")
    );
    // Outside of a job it is queued and followed.
    let said = lab.ask(&["srun", "-O", "-n", "2", "-l", "echo", "hi"]);
    assert_eq!(said.status, 0, "{said:?}");
    assert!(said.stdout.contains("0: hi\n") && said.stdout.contains("1: hi\n"), "{said:?}");
    assert_eq!(lab.ask(&["srun", "sh", "-c", "exit 5"]).status, 5);
    let said = lab.ask(&["salloc", "--gres=gpu:1", "sh", "-c", "echo $SLURM_GPUS"]);
    assert_eq!((said.status, said.stdout.as_str()), (0, "1\n"), "{said:?}");
    assert!(said.stderr.starts_with("salloc: Granted job allocation "), "{said:?}");
}

#[test]
fn signals_reach_the_script_or_its_steps() {
    let lab = Lab::new();
    let step = "trap 'echo step-got; exit 0' USR1; touch $0.ready; while :; do sleep 0.1; done";
    lab.write("step.sh", &format!("#!/bin/bash\n{step}\n"));
    lab.write("job.sh", "#!/bin/bash\ntrap 'echo script-got' USR1\nsrun bash step.sh\necho over\n");
    let id = lab.say(&["sbatch", "--parsable", "-o", "out.txt", "job.sh"]);
    let id = id.trim();
    until("the step runs", || lab.work.join("step.sh.ready").exists());
    lab.say(&["scancel", "--signal=USR1", id]);
    lab.until_state(id, "COMPLETED");
    let out = lab.read("out.txt");
    assert!(out.ends_with("step-got\nover\n") && !out.contains("script-got"), "{out}");
    // Before its limit: the script alone, four seconds after its start.
    lab.write(
        "warned.sh",
        "#!/bin/bash\ntrap 'echo warned; exit 9' USR1\nwhile :; do sleep 0.1; done\n",
    );
    let said = lab.ask(&[
        "sbatch",
        "-W",
        "-t",
        "1",
        "--signal=B:USR1@56",
        "-o",
        "warned.txt",
        "warned.sh",
    ]);
    assert_eq!((said.status, lab.read("warned.txt").as_str()), (9, "warned\n"), "{said:?}");
    assert!(lab.ask(&["scancel", "-s", "NONSENSE", id]).stderr.contains("Unknown job signal"));
}

#[test]
fn jobs_are_held_changed_and_queued_again() {
    let lab = Lab::new();
    let id = lab.say(&[
        "sbatch",
        "--parsable",
        "-H",
        "-J",
        "before",
        "-o",
        "out.txt",
        "--open-mode=append",
        "--wrap",
        "echo ${SLURM_RESTART_COUNT:-0}",
    ]);
    let id = id.trim();
    lab.say(&["scontrol", "update", &format!("JobId={id}"), "TimeLimit=2:00:00", "JobName=after"]);
    let shown = lab.say(&["scontrol", "show", "job", id]);
    for part in
        ["JobName=after", "TimeLimit=02:00:00", "JobState=PENDING Reason=JobHeldUser", "StdOut="]
    {
        assert!(shown.contains(part), "{shown}");
    }
    lab.say(&["scontrol", "release", id]);
    lab.until_state(id, "COMPLETED");
    let line = lab.say(&["scontrol", "-o", "show", "job", id]);
    assert!(line.lines().count() == 1 && line.contains("ExitCode=0:0"), "{line}");
    assert!(lab.say(&["scontrol", "show", "node"]).contains("Gres=gpu:4"));
    assert_eq!(lab.say(&["scontrol", "show", "hostnames", "a[01-02],b"]), "a01\na02\nb\n");
    assert!(lab.say(&["sinfo", "-h"]).starts_with("danlu*       up   infinite      1   idle "));
    assert!(lab.say(&["scontrol", "ping"]).contains("is UP"));
    // Of the past, what the window of time has.
    let window =
        |from: &str| lab.say(&["sacct", "-X", "-n", "-P", "-o", "JobID,JobName", "-S", from]);
    assert_eq!(window("now-1hour"), format!("{id}|after\n"));
    assert_eq!(window("2100-01-01"), "");
    assert_eq!(lab.say(&["sacct", "-X", "-n", "-P", "-o", "State", "--name=other"]), "");
    // A second one of the same name waits for the first.
    let first = lab.say(&["sbatch", "--parsable", "-H", "-J", "one", "--wrap", "true"]);
    lab.say(&["sbatch", "-J", "one", "-d", "singleton", "--wrap", "true"]);
    assert!(lab.say(&["squeue", "-h", "-n", "one", "-o", "%r"]).contains("Dependency"));
    lab.say(&["scancel", first.trim()]);
    until("the second one runs", || lab.say(&["squeue", "-h", "-n", "one"]).is_empty());
}

#[test]
fn links_are_never_made_over_files_of_others() {
    let daemon = Daemon::start();
    let directory = daemon.directory().join("bin");
    fs::create_dir(&directory).expect("it can be made");
    fs::write(directory.join("squeue"), "the real one").expect("it can be written");
    let path = directory.to_str().expect("it is UTF-8");
    let said = daemon.ask(&["slurm-shims", path]);
    assert!(said.status == 64 && said.stderr.contains("squeue is there"), "{said:?}");
    assert!(!directory.join("sbatch").exists(), "all or none");
    daemon.say(&["slurm-shims", path, "--force"]);
    daemon.say(&["slurm-shims", path]);
    assert!(directory.join("sbatch").exists());
    let said = daemon.ask(&["slurm", "squeue", "-h"]);
    assert_eq!((said.status, said.stdout.as_str()), (0, ""), "{said:?}");
    assert_eq!(daemon.ask(&["slurm", "nonsense"]).status, 2);
}
