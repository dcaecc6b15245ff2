//! What client verbs say when there is no server.

use std::{os::unix::net::UnixListener, path::Path};

use crate::danlu::{answer, client, command};

const VERBS: [&[&str]; 31] = [
    &["submit", "--", "true"],
    &["run", "--", "true"],
    &["ls"],
    &["ls", "--json"],
    &["show", "1"],
    &["why", "1"],
    &["logs", "1"],
    &["logs", "server"],
    &["logs", "-f", "1"],
    &["wait", "1"],
    &["wait"],
    &["cancel", "1"],
    &["cancel", "@"],
    &["hold", "1"],
    &["release", "1"],
    &["pause", "1"],
    &["resume", "1"],
    &["retry", "1"],
    &["clone", "1"],
    &["edit", "1", "--gpus", "1"],
    &["start", "1"],
    &["move", "1"],
    &["rm", "1"],
    &["gpus"],
    &["nodes"],
    &["down"],
    &["reload"],
    &["policy"],
    &["set"],
    &["config", "show"],
    &["submit", "-d", "afterok:@", "--", "true"],
];

#[test]
fn every_verb_says_so_and_names_the_remedy() {
    for arguments in VERBS.iter().filter(|arguments| !patient(arguments)) {
        let said = client(Path::new("/nowhere/danlu.sock"), arguments);
        assert_eq!((said.status, said.stdout.as_str()), (75, ""), "{arguments:?}: {said:?}");
        let sentence = "error: could not reach the server at /nowhere/danlu.sock: no such socket\n";
        assert_eq!(
            said.stderr,
            format!("{sentence}hint: start one with danlu up, or choose another with --server\n")
        );
    }
}

/// Those that outlive a restart of the server go on for a while.
fn patient(arguments: &[&str]) -> bool {
    [&["wait", "1"][..], &["logs", "-f", "1"]].contains(&arguments)
}

#[test]
fn a_socket_that_was_left_behind_is_told() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let socket = directory.path().join("danlu.sock");
    drop(UnixListener::bind(&socket).expect("a socket"));
    let said = client(&socket, &["ls"]);
    assert_eq!(said.status, 75, "{said:?}");
    assert!(said.stderr.contains("connection refused"), "{said:?}");
    // A directory stands for the socket in it.
    assert_eq!(client(directory.path(), &["ls"]).stderr, said.stderr);
}

#[test]
fn the_server_is_found_by_flag_variable_and_data_directory() {
    let reached = |flag: &[&str], variables: &[(&str, &str)]| {
        let mut command = command("en");
        command.arg("ls").args(flag).envs(variables.iter().copied());
        let said = answer(command.output().expect("it starts"));
        assert_eq!(said.status, 75, "{said:?}");
        let (_, rest) = said.stderr.split_once("server at ").expect("it says where");
        rest.split_once(": ").expect("it says why").0.to_owned()
    };
    let server = ("DANLU_SERVER", "/b/danlu.sock");
    let data = ("DANLU_DATA", "/c");
    assert_eq!(reached(&["--server", "/a.sock"], &[server, data]), "/a.sock");
    assert_eq!(reached(&[], &[server, data]), "/b/danlu.sock");
    assert_eq!(reached(&[], &[data]), "/c/danlu.sock");
    assert_eq!(reached(&["--server", "http://127.0.0.1:1"], &[]), "http://127.0.0.1:1");
}

#[test]
fn chinese_people_are_told_in_chinese() {
    let mut command = command("zh");
    let said = answer(command.args(["ls", "--server", "/nowhere"]).output().expect("it starts"));
    assert_eq!(said.status, 75);
    assert_eq!(
        said.stderr,
        "错误：无法连接服务器 /nowhere：没有该套接字\n提示：请用 danlu up 启动服务器，或用 --server 指定另一个\n"
    );
}
