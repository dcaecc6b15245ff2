//! `danlu sim`.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process,
};

use crate::support::danlu::{Answer, danlu};

/// A file that is gone when the test ends.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, text: &str) -> Self {
        let path = env::temp_dir().join(format!("danlu-sim-{}-{name}", process::id()));
        fs::write(&path, text).expect("the temporary directory can be written");
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("the temporary directory has a plain name")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // It may never have been written.
        let _ = fs::remove_file(&self.0);
    }
}

const TWO_VCS: &str = "\
job_id,submit_time,vc,user,num_gpus,duration,est_duration
a,0,left,ada,4,100,200
b,0,left,bo,8,10,10
c,0,left,ada,4,10,20
d,5,right,bo,16,30,60
";

fn sim(language: &str, trace: &Scratch, arguments: &str) -> Answer {
    danlu(language, &format!("sim --trace {} {arguments}", trace.path()))
}

#[test]
fn wrong_arguments_are_explained() {
    let check = |arguments, message: &str| {
        let answer = danlu("en", arguments);
        assert_eq!(answer.status, 2, "{answer:?}");
        assert_eq!(answer.stderr.lines().next(), Some(message));
        assert!(answer.stderr.contains("\nhint: "), "{answer:?}");
    };
    check("sim", "error: missing argument `--trace <FILE>`");
    check("sim --trace", "error: `--trace <FILE>` needs a value");
    check("sim --trace a.csv", "error: the size of the cluster is missing");
    check(
        "sim --trace a.csv --nodes x=4,y",
        "error: invalid value `x=4,y` for `--nodes <LIST>`: `y` is not of the form VC=4",
    );
    check(
        "sim --trace a.csv --nodes 4 --placement near",
        "error: invalid value `near` for `--placement <RULE>`: expected one of consolidate, spread, count, frag, lowest",
    );
    check(
        "sim --trace a.csv --placement count --nodes 4 --gpus 32",
        "error: `--nodes <LIST>` and `--gpus <N>` cannot be combined",
    );
    check(
        "sim --trace a.csv --gpus 32",
        "error: `--gpus` says nothing about nodes, and this placement needs them",
    );
    check("sim --trace a.csv --nodes 4 --policy fairest", "error: there is no policy `fairest`");
    check(
        "sim --trace a.csv --nodes 4 --policy fifo,las+easy",
        "error: `las` takes no backfill: it preempts instead",
    );
    check(
        "sim --trace a.csv --nodes 4 --gpus-per-node 0",
        "error: invalid value `0` for `--gpus-per-node <N>`: number would be zero for non-zero type",
    );
}

#[test]
fn a_bad_trace_is_refused_with_file_line_and_hint_in_both_languages() {
    let trace = Scratch::new("bad.csv", "submit_time,num_gpus,duration\n0,1,5\n0,0,5\n");
    let path = trace.path();
    let answer = sim("en", &trace, "--nodes 1");
    assert_eq!(answer.status, 64, "{answer:?}");
    let said = format!(
        "error: `{path}` line 3: column `num_gpus`: `0` is less than 1\n\
         hint: the trace replays GPU jobs only: leave out rows without GPUs\n"
    );
    assert_eq!(answer.stderr, said);
    let answer = sim("zh", &trace, "--nodes 1");
    let said = format!(
        "错误：`{path}` 第 3 行：`num_gpus` 列的 `0` 小于 1\n\
         提示：只回放 GPU 作业：请删去不用 GPU 的行\n"
    );
    assert_eq!(answer.stderr, said);
    let answer = danlu("en", "sim --trace /nowhere/a.csv --nodes 1");
    assert_eq!(answer.status, 64, "{answer:?}");
    assert!(answer.stderr.starts_with("error: could not read `/nowhere/a.csv`: "), "{answer:?}");
}

#[test]
fn a_vc_without_a_size_is_named_with_the_flag_to_type() {
    let trace = Scratch::new("no-size.csv", TWO_VCS);
    for (arguments, missing, flag) in [
        ("--nodes 4", "left (3 jobs), right (1 jobs)", "--nodes left="),
        ("--nodes left=1", "right (1 jobs)", "--nodes left=1,right="),
        ("--placement count --gpus 9", "left (3 jobs), right (1 jobs)", "--gpus left="),
    ] {
        let answer = sim("en", &trace, arguments);
        assert_eq!(answer.status, 2, "{answer:?}");
        let said =
            format!("error: no size is given for these VCs of the trace: {missing}\nhint: {flag}");
        assert!(answer.stderr.starts_with(&said), "{answer:?}");
    }
}

#[test]
fn the_flag_in_the_hint_works() {
    let trace = Scratch::new("hint.csv", TWO_VCS);
    let answer = sim("en", &trace, "--nodes 4");
    let flag = answer.stderr.split("hint: ").nth(1).expect("there is a hint");
    let answer = sim("en", &trace, flag);
    assert_eq!(answer.status, 0, "{answer:?}");
}

#[test]
fn a_job_that_never_fits_is_named() {
    let trace = Scratch::new("never.csv", TWO_VCS);
    let answer = sim("en", &trace, "--nodes left=1,right=1");
    assert_eq!(answer.status, 64, "{answer:?}");
    assert!(
        answer.stderr.starts_with("error: job `d` (line 5): no node can ever run this"),
        "{answer:?}"
    );
    assert!(answer.stderr.contains("\nhint: "), "{answer:?}");
}

#[test]
fn json_is_one_document_with_every_measure_of_every_policy() {
    let trace = Scratch::new("json.csv", TWO_VCS);
    let answer = sim("en", &trace, "--nodes left=1,right=2 --policy fifo,easy-est --json");
    assert_eq!((answer.status, answer.stderr.as_str()), (0, ""), "{answer:?}");
    // left: a 0–100, b 100–110, c 110–120; right: d 5–35. Slowdowns: ada 1 and 12, bo 11 and 1.
    let fifo = "{\"v\":1,\"results\":[{\"policy\":\"fifo\",\"jobs\":4,\"mean_jct\":90.0,\"p50_jct\":100,\
                \"p90_jct\":120,\"p99_jct\":120,\"mean_queue\":52.5,\"p50_queue\":0,\"p90_queue\":110,\
                \"p99_queue\":110,\"makespan\":120,\"utilization\":0.3472222222222222,\
                \"mean_bounded_slowdown\":6.25,\"jain\":0.9984025559105432,\"preemptions\":0,\"wall_seconds\":";
    assert!(answer.stdout.starts_with(fifo), "{}", answer.stdout);
    assert!(
        answer.stdout.contains("{\"policy\":\"fifo+easy@column\",\"jobs\":4,"),
        "{}",
        answer.stdout
    );
    assert!(answer.stdout.ends_with("}]}\n"), "{}", answer.stdout);
    assert!(!answer.stdout.contains("per_vc"), "{}", answer.stdout);
}

#[test]
fn per_vc_adds_each_cluster() {
    let trace = Scratch::new("per-vc.csv", TWO_VCS);
    let answer = sim("en", &trace, "--nodes left=1,right=2 --json --per-vc");
    for part in [
        "\"per_vc\":[{\"vc\":\"left\",\"jobs\":3,",
        "{\"vc\":\"right\",\"jobs\":1,\"mean_jct\":30.0,",
    ] {
        assert!(answer.stdout.contains(part), "{}", answer.stdout);
    }
    let answer = sim("en", &trace, "--nodes left=1,right=2 --per-vc");
    assert!(
        answer.stdout.contains("\nleft\n") && answer.stdout.contains("\nright\n"),
        "{}",
        answer.stdout
    );
}

#[test]
fn per_job_has_a_row_for_each_and_two_runs_are_identical() {
    let trace = Scratch::new("per-job.csv", TWO_VCS);
    let read = |out: &Scratch| fs::read_to_string(Path::new(out.path())).expect("it was written");
    let run = |name: &str| {
        let out = Scratch::new(name, "");
        let arguments = "--nodes left=1,right=2 --policy fifo --per-job";
        let answer = sim("en", &trace, &format!("{arguments} {}", out.path()));
        assert_eq!(answer.status, 0, "{answer:?}");
        read(&out)
    };
    let expect = "job_id,vc,submit_time,first_start,end,queue\n\
                  a,left,0,0,100,0\nb,left,0,100,110,100\nc,left,0,110,120,110\nd,right,5,5,35,0\n";
    assert_eq!(run("out1.csv"), expect);
    assert_eq!(run("out2.csv"), expect);
    let answer = sim("en", &trace, "--nodes left=1,right=2 --per-job /nowhere/out.csv");
    assert_eq!(answer.status, 64, "{answer:?}");
    assert!(answer.stderr.starts_with("error: could not write `/nowhere/out.csv`: "), "{answer:?}");
}

#[test]
fn the_table_fits_a_terminal_and_stderr_stays_empty_without_one() {
    let trace = Scratch::new("table.csv", TWO_VCS);
    let policies = "fifo,fifo+skip,fifo+easy,fifo+easy@column,sjf,sjf+skip,srtf,las";
    for (language, word) in [("en", "makespan"), ("zh", "总时长")] {
        let answer = sim(language, &trace, &format!("--nodes left=1,right=2 --policy {policies}"));
        assert_eq!((answer.status, answer.stderr.as_str()), (0, ""), "{answer:?}");
        assert!(answer.stdout.contains(word), "{}", answer.stdout);
        let widest = answer.stdout.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(80), "{}", answer.stdout);
        assert!(policies.split(',').all(|policy| answer.stdout.contains(policy)));
    }
}

#[test]
fn gpus_are_counted_without_nodes() {
    let rows = "submit_time,num_gpus,duration\n0,100,10\n0,200,10\n0,100,10\n";
    let trace = Scratch::new("count.csv", rows);
    let answer = sim("en", &trace, "--placement count --gpus 300 --json");
    assert!(answer.stdout.contains("\"makespan\":20,"), "{answer:?}");
}

#[test]
fn a_size_for_a_vc_without_jobs_is_noted() {
    let trace = Scratch::new("unused.csv", TWO_VCS);
    let answer = sim("en", &trace, "--nodes left=1,right=2,lef=3");
    assert_eq!(answer.status, 0, "{answer:?}");
    assert_eq!(answer.stderr, "note: the trace has no jobs of lef\n");
}

#[test]
fn a_lab_week_needs_no_trace_and_compares_six_policies() {
    for (language, sentence) in [("en", "A made-up week of a lab"), ("zh", "虚构的实验室一周")]
    {
        let answer = danlu(language, "sim --lab-week");
        assert_eq!((answer.status, answer.stderr.as_str()), (0, ""), "{answer:?}");
        assert!(answer.stdout.starts_with(sentence), "{}", answer.stdout);
        for policy in ["fifo", "fifo+skip", "fifo+easy", "sjf+skip", "srtf", "las"] {
            // Once with what it does, once above its column.
            let named = answer.stdout.split_whitespace().filter(|word| *word == policy).count();
            assert_eq!(named, 2, "{policy}:\n{}", answer.stdout);
        }
        assert!(answer.stdout.contains("danlu sim --trace jobs.csv"), "{}", answer.stdout);
    }
}

#[test]
fn a_workload_fills_machines_with_tasks_that_share() {
    let machines = Scratch::new("machines", "sn,cpu_milli,memory_mib,gpu,model\na,8000,64,4,A\n");
    let tasks = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec\nt,1000,8,1,500,\n";
    let tasks = Scratch::new("tasks", tasks);
    let (tasks, machines) = (tasks.path(), machines.path());
    let command = format!("sim --workload {tasks} --nodes-file {machines} --seeds 2");
    let answer = danlu("en", &command);
    assert_eq!(answer.status, 0, "{answer:?}");
    for row in ["best fit", "frag"] {
        let row = answer.stdout.lines().find(|line| line.starts_with(row)).expect("a row");
        assert!(row.ends_with("100.00 ± 0.00 %"), "{row}");
    }
    let answer = danlu("en", &format!("{command} --placement frag --demand 50 --json"));
    let document: serde_json::Value = serde_json::from_str(&answer.stdout).expect("a document");
    assert_eq!(document["placements"][0]["allocation"]["mean"], 50.0, "{document}");
    assert_eq!(document["placements"].as_array().map(Vec::len), Some(1));
    let answer = danlu("en", &format!("sim --workload {tasks}"));
    assert!(answer.status == 2 && answer.stderr.contains("--nodes-file"), "{answer:?}");
}
