//! Several users on one machine: a task belongs to its owner, runs as its owner, and other users cannot touch it.

use std::{
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink},
    path::{Path, PathBuf},
};

use crate::support::daemon::{Daemon, Setup};
use crate::support::danlu::Answer;
use crate::support::os_user::{OsUser, open_to_all};
use crate::support::{daemon, danlu};
use serde_json::Value;

struct TwoUserMachine {
    daemon: Daemon,
    danlu: PathBuf,
    owner: OsUser,
    other: OsUser,
}

impl TwoUserMachine {
    fn new() -> Option<TwoUserMachine> {
        let (owner, other) = (OsUser::new()?, OsUser::new()?);
        let mut setup = Setup::simulated(4);
        setup.variables.push(("SECRET_OF_THE_SERVER".to_owned(), "s3cret".to_owned()));
        let daemon = Daemon::start_with(setup);
        let danlu = open_to_all(daemon.directory());
        Some(TwoUserMachine { daemon, danlu, owner, other })
    }

    fn ask(&self, who: &OsUser, arguments: &[&str]) -> Answer {
        who.ask(&self.danlu, self.daemon.socket(), arguments)
    }

    #[track_caller]
    fn say(&self, who: &OsUser, arguments: &[&str]) -> String {
        let said = self.ask(who, arguments);
        assert_eq!(said.status, 0, "{arguments:?}: {said:?}");
        said.stdout.trim().to_owned()
    }

    #[track_caller]
    fn submit(&self, options: &[&str], line: &str) -> String {
        let command = ["--", "sh", "-c", line];
        self.say(&self.owner, &[&["submit", "-q"], options, &command].concat())
    }

    /// The output of a task of the owner, which must succeed.
    #[track_caller]
    fn output(&self, options: &[&str], line: &str) -> String {
        let id = self.submit(options, line);
        let said = self.ask(&self.owner, &["wait", &id]);
        assert_eq!(said.status, 0, "{said:?} {}", self.daemon.show(&id));
        self.say(&self.owner, &["logs", &id])
    }

    fn http(&self, who: &OsUser, request: &str, body: &str) -> Value {
        who.http(self.daemon.socket(), request, body)
    }
}

#[test]
fn no_verb_touches_a_task_of_somebody_else() {
    let Some(machine) = TwoUserMachine::new() else { return };
    let ended = machine.submit(&[], "echo private; exit 3");
    assert_eq!(machine.ask(&machine.owner, &["wait", &ended]).status, 3);
    let held = machine.submit(&["--hold"], "true");
    let runs = machine.submit(&["-g", "4"], "sleep 1000");
    machine.daemon.wait_until(&runs, "running");
    let waits = machine.submit(&[], "true");
    let verbs: [&[&str]; 18] = [
        &["cancel", &runs],
        &["cancel", &waits],
        &["kill", &held],
        &["hold", &waits],
        &["release", &held],
        &["pause", &runs],
        &["resume", &runs],
        &["retry", &ended],
        &["clone", &ended],
        &["edit", &held, "--gpus", "2"],
        &["start", &waits],
        &["move", &waits],
        &["rm", &ended, "--yes"],
        &["rm", &runs, "--yes"],
        &["logs", &ended],
        &["logs", &ended, "--tail", "1"],
        &["logs", "-f", &ended],
        &["follow", &runs],
    ];
    let before = machine.daemon.json(&["ls", "-a", "--json"]);
    for arguments in verbs {
        let said = machine.ask(&machine.other, arguments);
        assert_eq!((said.status, said.stdout.as_str()), (77, ""), "{arguments:?}: {said:?}");
        assert!(said.stderr.contains("\nhint: "), "{said:?}");
    }
    for all in [&["cancel", "--all", "--yes"][..], &["rm", "--all", "--yes"]] {
        machine.ask(&machine.other, all);
    }
    let without_times = |mut tasks: Value| {
        for task in tasks["tasks"].as_array_mut().expect("a list") {
            task["wait"].take();
            task["why"].take();
        }
        tasks
    };
    let after = machine.daemon.json(&["ls", "-a", "--json"]);
    assert_eq!(without_times(after), without_times(before), "something has changed");
    // Root may.
    for arguments in [
        &["logs", ended.as_str()][..],
        &["hold", &waits],
        &["release", &waits],
        &["pause", &runs],
        &["resume", &runs],
        &["edit", &held, "--gpus", "2"],
        &["cancel", &runs],
        &["rm", &ended, "--yes"],
    ] {
        machine.daemon.say(arguments);
    }
}

#[test]
fn no_request_touches_a_task_of_somebody_else() {
    let Some(machine) = TwoUserMachine::new() else { return };
    let id = machine.submit(&["-g", "4"], "sleep 1000");
    machine.daemon.wait_until(&id, "running");
    let acts = ["cancel", "hold", "release", "pause", "resume", "retry", "start", "move", "remove"];
    for act in acts {
        let said = machine.http(&machine.other, &format!("POST /api/v1/tasks/{id}/{act}"), "{}");
        assert_eq!(said["error"]["code"], "not_permitted", "{act}: {said}");
        let body = format!(r#"{{"act":"{act}","ids":[{id}]}}"#);
        let said = machine.http(&machine.other, "POST /api/v1/tasks/act", &body);
        assert_eq!(said["results"][0]["error"]["code"], "not_permitted", "{act}: {said}");
    }
    for (request, body) in [
        (format!("PATCH /api/v1/tasks/{id}"), r#"{"name":"mine"}"#),
        (format!("DELETE /api/v1/tasks/{id}"), ""),
        (format!("GET /api/v1/tasks/{id}/logs"), ""),
        ("PATCH /api/v1/settings".to_owned(), r#"{"key":"max_losses","value":9}"#),
        ("POST /api/v1/server/stop".to_owned(), "{}"),
    ] {
        let said = machine.http(&machine.other, &request, body);
        assert_eq!(said["error"]["code"], "not_permitted", "{request}: {said}");
    }
    assert_eq!(machine.daemon.state(&id), "running");
    for arguments in [&["down"][..], &["set", "max_losses", "9"], &["policy", "set", "sjf"]] {
        assert_eq!(machine.ask(&machine.other, arguments).status, 77, "{arguments:?}");
    }
    assert_eq!(machine.daemon.state(&id), "running");
}

#[test]
fn environment_is_shown_to_its_owner_and_to_root() {
    let Some(machine) = TwoUserMachine::new() else { return };
    let mut submit = machine.owner.command(&machine.danlu);
    submit.env("DANLU_SERVER", machine.daemon.socket()).env("TOKEN_CAPTURED", "c4ptured");
    submit.args(["submit", "-q", "--hold", "--env", "TOKEN_GIVEN=g1ven", "--", "true"]);
    let output = submit.output().expect("it starts");
    let id = String::from_utf8(output.stdout).expect("it is text").trim().to_owned();
    let shown = |text: &str| (text.contains("c4ptured"), text.contains("g1ven"));
    let arguments = ["show", id.as_str(), "--json"];
    assert_eq!(shown(&machine.say(&machine.owner, &arguments)), (true, true), "to the owner");
    assert_eq!(shown(&machine.daemon.say(&arguments)), (true, true), "to root");
    assert_eq!(shown(&machine.say(&machine.other, &arguments)), (false, false), "to somebody else");
    let listed = machine.say(&machine.other, &["ls", "-a", "--json"]);
    assert_eq!(shown(&listed), (false, false), "in the list");
}

/// Under `fifo` a smaller number than the usual one passes everybody; where users take turns, only the owner's others.
#[test]
fn only_root_may_put_a_task_before_those_of_everybody() {
    let Some(machine) = TwoUserMachine::new() else { return };
    machine.say(&machine.other, &["submit", "-p", "1", "--", "true"]);
    machine.daemon.say(&["policy", "set", "fifo"]);
    let said = machine.ask(&machine.other, &["submit", "-p", "1", "--", "true"]);
    assert_eq!(said.status, 77, "{said:?}");
    machine.say(&machine.other, &["submit", "-p", "9", "--", "true"]);
    assert_eq!(machine.daemon.ask(&["submit", "-p", "1", "--", "true"]).status, 0);
}

#[test]
fn a_task_runs_as_its_submitter_with_nothing_of_the_server() {
    let Some(machine) = TwoUserMachine::new() else { return };
    let OsUser { name, uid, .. } = &machine.owner;
    let output = machine.output(&[], "id -u; id -un; id -Gn; id -ru");
    assert_eq!(output, format!("{uid}\n{name}\n{name} users\n{uid}"));
    let status = machine.output(&[], "grep -E '^Cap(Inh|Prm|Eff|Amb)' /proc/self/status");
    assert!(status.lines().all(|line| line.ends_with("0000000000000000")), "{status}");
    assert_eq!(status.lines().count(), 4);
    let environment = machine.output(&[], "env");
    assert!(!environment.contains("SECRET_OF_THE_SERVER"), "{environment}");
    assert!(environment.contains(&format!("USER={name}\n")), "{environment}");
    // Of `ls`: the three streams, and the directory that it reads.
    let descriptors = machine.output(&[], "exec ls -l /proc/self/fd/");
    assert_eq!(descriptors.matches(" -> ").count(), 4, "{descriptors}");
}

#[test]
fn directories_and_files_are_opened_with_the_rights_of_the_submitter() {
    let Some(machine) = TwoUserMachine::new() else { return };
    let at = machine.daemon.directory();
    let own = machine.owner.directory(at.join("own"));
    let closed = machine.other.directory(at.join("closed"));
    let secret = at.join("secret");
    fs::write(&secret, "secret\n").expect("it can be written");
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).expect("it is ours");
    let text = |path: &Path| path.to_str().expect("it is UTF-8").to_owned();

    let log = own.join("log");
    let output = machine.output(&["--dir", &text(&own), "--output", &text(&log)], "pwd");
    assert_eq!(output, text(&own));
    assert_eq!(fs::metadata(&log).expect("it is there").uid(), machine.owner.uid);

    // A name that is known only when the task starts is not looked at before.
    let unknown = format!("{}{{gpu_count}}", text(&at.join("secret")));
    let unseen = at.join("secret1");
    fs::copy(&secret, &unseen).expect("it can be copied");
    for options in [["--dir", &text(&closed)], ["--output", &unknown]] {
        let id = machine.submit(&options, "echo overwritten");
        assert_eq!(machine.ask(&machine.owner, &["wait", &id]).status, 1, "{options:?}");
        let failure = machine.daemon.show(&id)["failure"].take();
        assert_eq!(failure["class"], "launch", "{failure}");
        assert!(failure["evidence"].as_str().is_some_and(|it| it.contains("Permission denied")));
        assert_eq!(machine.ask(&machine.owner, &["logs", &id]).stdout, "");
    }
    let said = machine.ask(&machine.owner, &["submit", "--output", &text(&secret), "--", "true"]);
    assert!(said.status == 64 && said.stderr.contains("permission denied"), "{said:?}");
    assert_eq!(fs::read_to_string(&secret).expect("it is there"), "secret\n");

    // The server reads logs as root, and must not be made to read anything else.
    let id = machine.submit(&["--output", &text(&log)], "echo more");
    assert_eq!(machine.ask(&machine.owner, &["wait", &id]).status, 0);
    fs::remove_file(&log).expect("it is there");
    symlink(&secret, &log).expect("a link in its place");
    let said = machine.ask(&machine.owner, &["logs", &id]);
    assert_eq!((said.status, said.stdout.as_str()), (77, ""), "{said:?}");
}

#[test]
fn a_server_without_root_serves_its_own_user_only() {
    let (Some(owner), Some(other)) = (OsUser::new(), OsUser::new()) else { return };
    let directory = tempfile::tempdir().expect("a temporary directory");
    let danlu = open_to_all(directory.path());
    let home = owner.directory(directory.path().join("home"));
    fs::set_permissions(&home, fs::Permissions::from_mode(0o755)).expect("root may");
    let mut up = owner.command(&danlu);
    up.args(["up", "--sim-gpus", "1", "--listen", "127.0.0.1:0", "--data"]);
    up.arg(home.join("data")).env("HOME", &home);
    let server = daemon::Foreground::start(up);
    let ask = |who: &OsUser, arguments: &[&str]| who.ask(&danlu, &server.socket, arguments);
    assert_eq!(ask(&owner, &["submit", "-q", "-g", "0", "--", "id", "-u"]).stdout, "1\n");
    assert_eq!(ask(&owner, &["wait", "1"]).status, 0);
    assert_eq!(ask(&owner, &["logs", "1"]).stdout, format!("{}\n", owner.uid));
    let said = ask(&other, &["ls"]);
    assert_eq!((said.status, said.stdout.as_str()), (77, ""), "{said:?}");
    assert!(said.stderr.contains("permission denied: socket"), "{said:?}");
    assert_eq!(danlu::client(&server.socket, &["ls"]).status, 0, "root may");
}
