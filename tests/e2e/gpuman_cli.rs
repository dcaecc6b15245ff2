//! gpuman's own command line, unchanged, as its users call it: every command that it has.
//!
//! It is not part of this project: `GPUMAN_CLI` says where its `cli.py` is.

use crate::support::daemon::{Daemon, Setup, until};
use std::{
    env, fs,
    io::Write as _,
    path::PathBuf,
    process::{Command, Stdio},
};

const PASSWORD: &str = "correct horse";

struct GpumanCli {
    daemon: Daemon,
    program: PathBuf,
}

/// `None`, with a line that says why, where it cannot be run.
fn gpuman() -> Option<GpumanCli> {
    let program = env::var_os("GPUMAN_CLI").map(PathBuf::from).filter(|file| file.is_file());
    let Some(program) = program else {
        crate::support::danlu::skip("GPUMAN_CLI names no cli.py of gpuman");
        return None;
    };
    let requests = Command::new("python3").args(["-c", "import requests"]).status();
    if !requests.is_ok_and(|status| status.success()) {
        crate::support::danlu::skip("there is no Python with requests");
        return None;
    }
    let directory = tempfile::tempdir().expect("a directory");
    let config = directory.path().join("danlu.toml");
    fs::write(&config, "[compat]\ngpuman = true\n").expect("it can be written");
    let mut setup = Setup::simulated(4);
    setup.arguments.extend(["--config".to_owned(), config.display().to_string()]);
    let daemon = Daemon::start_in(directory, setup);
    let me = daemon.json(&["user", "list", "--json"])["users"][0]["name"].clone();
    let me = me.as_str().expect("a name").to_owned();
    for (name, role) in [("ann", &[][..]), ("boss", &["--admin"][..])] {
        let words = [&["user", "add", name, "--password-stdin", "--os-user", &me], role].concat();
        let mut adding = daemon.command(&words).stdin(Stdio::piped()).spawn().expect("it starts");
        writeln!(adding.stdin.take().expect("piped"), "{PASSWORD}").expect("it reads");
        assert!(adding.wait().expect("it ends").success());
    }
    Some(GpumanCli { daemon, program })
}

impl GpumanCli {
    /// What it prints. It asks for each value in turn; without a terminal it reads passwords like the rest.
    ///
    /// It knows one address only. What stands there is said by the variable for proxies, so that nothing in it has to
    /// be changed.
    fn call(&self, command: &str, answers: &[&str]) -> String {
        let mut child = Command::new("setsid")
            .args(["-w", "python3"])
            .arg(&self.program)
            .arg(command)
            .env("http_proxy", format!("http://{}", self.daemon.address()))
            .env_remove("no_proxy")
            .env_remove("NO_PROXY")
            .env("PYTHONIOENCODING", "utf-8")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        let mut input = child.stdin.take().expect("piped");
        for answer in answers {
            writeln!(input, "{answer}").expect("it reads");
        }
        drop(input);
        let done = child.wait_with_output().expect("it ends");
        String::from_utf8(done.stdout).expect("text")
    }

    #[track_caller]
    fn check(&self, command: &str, answers: &[&str], words: &str) {
        let said = self.call(command, answers);
        assert!(said.contains(words), "{command}: {said}");
        assert!(!said.contains("Exception"), "{command}: {said}");
    }
}

#[test]
fn every_command_of_gpumans_own_program_works() {
    let Some(gpuman) = gpuman() else { return };
    let (ann, boss) = (["ann", PASSWORD], ["boss", PASSWORD]);
    let with = |who: [&'static str; 2], rest: &[&'static str]| [&who[..], rest].concat();
    let task =
        ["/tmp", "exit 3", "/dev/null", "/dev/null", "1", "None", "None", "None", "", "a try"];
    gpuman.check("create", &with(ann, &task), "创建成功,任务ID 1");
    until("it has failed", || gpuman.call("query", &ann).contains("failed(3)"));
    gpuman.check("query/ann", &boss, "failed(3)");
    gpuman.check("status", &boss, "'done_tasks'");

    gpuman.check("admin", &with(boss, &["stop"]), "完成");
    gpuman.check("create", &with(ann, &task), "创建成功,任务ID 2");
    let change = ["", "sleep 60", "", "", "2", "", "", "90", "", ""];
    gpuman.check("update", &[&["2"][..], &with(ann, &change)].concat(), "更新成功,任务ID 2");
    gpuman.check("query", &ann, "'sleep 60'");
    gpuman.check("cancel", &with(ann, &["2"]), "'ret'");
    gpuman.check("query", &ann, "cancelled");
    gpuman.check("dump", &with(ann, &["all"]), "完成");

    let template = ["", "bash task.sh", "", "", "1", "None", "None", "None", "", ""];
    let settings = [&["", "", "", ""][..], &template].concat();
    gpuman.check("setting", &with(ann, &settings), "成功");
    let settings = [&["", "", "", "2.5"][..], &template].concat();
    gpuman.check("setting/ann", &with(boss, &settings), "成功");
    let users = gpuman.daemon.json(&["user", "list", "--json"])["users"].clone();
    let ann_now = users.as_array().expect("a list").iter().find(|it| it["name"] == "ann").cloned();
    assert_eq!(ann_now.expect("she is there")["priority"], 2.5);
    gpuman.check("userinfo", &ann, "'admins'");
    gpuman.check("admin", &with(boss, &["start"]), "完成");

    let said = gpuman.call("status", &["ann", "a wrong guess"]);
    assert!(said.contains("查询失败"), "{said}");
}
