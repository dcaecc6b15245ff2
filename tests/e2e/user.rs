//! `danlu user`: accounts, groups and quotas.

use crate::support::daemon::Daemon;

#[test]
fn users_are_listed_and_changed() {
    let daemon = Daemon::start();
    let listed = daemon.json(&["user", "list", "--json"]);
    let me = listed["users"][0].clone();
    let name = me["name"].as_str().expect("whoever asks has an account").to_owned();
    assert_eq!((&me["priority"], &me["weight"], &me["group"]), (&1.into(), &1.into(), &().into()));
    let set = |what: &[&str]| {
        let words = [&["user", "set", name.as_str(), "--json"], what].concat();
        daemon.json(&words)["user"].clone()
    };
    assert_eq!(set(&["priority=2.5"])["priority"], 2.5);
    assert_eq!(set(&["--priority", "-1"])["priority"], -1);
    let changed = set(&["--weight", "0.5", "group=vision"]);
    assert_eq!((&changed["weight"], &changed["group"]), (&0.5.into(), &"vision".into()));
    assert_eq!(set(&["group="])["group"], serde_json::Value::Null);
    let shown = daemon.say(&["user", "list"]);
    assert!(shown.contains("PRIORITY") && shown.contains(&name), "{shown}");

    let status = |words: &[&str]| daemon.ask(words).status;
    assert_eq!(status(&["user", "set", "nobody-there", "priority=1"]), 69);
    assert_eq!(status(&["user", "set", &name, "weight=0"]), 64);
    assert_eq!(status(&["user", "set", &name]), 2);
    assert_eq!(status(&["user", "set", &name, "priority"]), 2);
    assert_eq!(status(&["user", "set", &name, "colour=red"]), 2);
    assert_eq!(status(&["user", "set", &name, "priority=much"]), 2);
}

#[test]
fn groups_have_weights() {
    let daemon = Daemon::start();
    assert_eq!(daemon.say(&["policy", "set", "fair"]), "fair+easy\n");
    assert_eq!(daemon.say(&["set", "fair.half_life", "14d"]), "fair.half_life = 14d\n");
    assert_eq!(daemon.say(&["set", "fair.groups.vision", "2.5"]), "fair.groups.vision = 2.5\n");
    assert_eq!(daemon.ask(&["set", "fair.groups.vision", "0"]).status, 64);
    assert_eq!(daemon.ask(&["set", "fair.groups.vision", "null"]).status, 69, "it is gone");
}

#[test]
fn quotas_are_set_and_explained() {
    let daemon = Daemon::start();
    assert_eq!(
        daemon.say(&["set", "quota.user.running_gpus", "1"]),
        "quota.user.running_gpus = 1\n"
    );
    assert_eq!(daemon.ask(&["set", "quota.user.running_gpus", "many"]).status, 64);
    let refused = daemon.ask(&["submit", "-g", "2", "--", "true"]);
    assert_eq!(refused.status, 64, "{refused:?}");
    assert!(refused.stderr.contains("'s quota: 0 of 1 GPUs in use"), "{refused:?}");
    let first = daemon.say(&["submit", "-q", "-g", "1", "--", "sleep", "1000"]);
    let second = daemon.say(&["submit", "-q", "-g", "1", "--", "sleep", "1000"]);
    let why = daemon.say(&["why", second.trim()]);
    assert!(why.contains("quota: 1 of 1 GPUs in use"), "{why}");
    let me = daemon.json(&["user", "list", "--json"])["users"][0]["name"].clone();
    let me = me.as_str().expect("a name");
    let user = daemon.json(&["user", "set", me, "running_gpus=2", "--json"])["user"].clone();
    assert_eq!(user["quota"]["running_gpus"], 2);
    daemon.json(&["user", "set", me, "running_gpus=default", "--json"]);
    assert_eq!(
        daemon.say(&["set", "quota.project.llm.queued_tasks", "0"]),
        "quota.project.llm.queued_tasks = 0\n"
    );
    let refused = daemon.ask(&["submit", "--project", "llm", "--", "true"]);
    assert_eq!(refused.status, 64, "{refused:?}");
    daemon.say(&["cancel", first.trim(), second.trim()]);
}
