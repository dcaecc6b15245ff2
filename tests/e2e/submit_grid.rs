//! `submit --grid`: one task for each combination of values.

use crate::support::daemon::Daemon;
use serde_json::json;

#[test]
fn every_combination_runs_with_its_own_values() {
    let daemon = Daemon::start();
    let submit = [
        "submit",
        "-q",
        "-J",
        "sweep",
        "--grid",
        "lr=1e-3,1e-4",
        "--grid",
        "seed=0..1",
        "--array",
        "%2",
        "--env",
        "OUT=run-{seed}",
        "--",
        "sh",
        "-c",
        "echo {lr} {seed} $OUT $DANLU_GRID_LR $DANLU_ARRAY_INDEX {other}",
    ];
    let first: u64 = daemon.say(&submit).trim().parse().expect("the first id");
    let ids: Vec<String> = (first..first + 4).map(|id| id.to_string()).collect();
    let wait: Vec<&str> = ["wait"].into_iter().chain(ids.iter().map(String::as_str)).collect();
    assert_eq!(daemon.ask(&wait).status, 0);
    let logs: String = ids.iter().map(|id| daemon.say(&["logs", id])).collect();
    let expected = "1e-3 0 run-0 1e-3 0 {other}\n1e-3 1 run-1 1e-3 1 {other}\n\
                    1e-4 0 run-0 1e-4 2 {other}\n1e-4 1 run-1 1e-4 3 {other}\n";
    assert_eq!(logs, expected);
    let last = daemon.show(&ids[3]);
    assert_eq!(last["grid"], json!({"lr": "1e-4", "seed": "1"}));
    assert!(daemon.say(&["show", &ids[3]]).contains("lr=1e-4 seed=1"));
    let all = daemon.json(&["ls", "--json"]);
    assert_eq!(all["tasks"].as_array().map(Vec::len), Some(4), "{all}");
}

#[test]
fn too_many_combinations_are_refused() {
    let daemon = Daemon::start();
    let grid = ["submit", "--grid", "a=0..999", "--grid", "b=0..999", "--", "true"];
    assert_eq!(daemon.ask(&grid).status, 64);
    assert_eq!(daemon.ask(&["submit", "--grid", "task_id=1", "--", "true"]).status, 64);
    assert_eq!(daemon.ask(&["submit", "--grid", "x", "--", "true"]).status, 2);
    assert_eq!(daemon.json(&["ls", "--json"])["tasks"], json!([]));
}
