//! `danlu top` and `danlu ls --watch` in a real terminal (tmux): what they show, what keys do, and how they leave it.

use std::{fs, path::PathBuf};

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use crate::support::{
    daemon::{Daemon, Setup, until},
    danlu::{BUILT, skip},
    tmux::Terminal,
};

fn daemon() -> Daemon {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let config = directory.path().join("danlu.toml");
    fs::write(&config, "node_name = \"gpu1\"\n").expect("it can be written");
    let mut setup = Setup::simulated(4);
    setup.arguments.extend(["--config".to_owned(), config.display().to_string()]);
    Daemon::start_in(directory, setup)
}

fn terminal(daemon: &Daemon, columns: u16, rows: u16, more: &[(&str, &str)]) -> Option<Terminal> {
    let socket = daemon.socket().display().to_string();
    let variables = [("DANLU_SERVER", socket.as_str()), ("DANLU_LANG", "en")];
    let opened = Terminal::open(columns, rows, &[&variables, more].concat());
    if opened.is_none() {
        skip("tmux is not installed");
    }
    opened
}

/// The process that a shell of the terminal has started by this line.
fn pid_of(daemon: &Daemon, line: &str) -> Pid {
    let marker = daemon.socket().display().to_string();
    let mut found = Vec::new();
    until("the program runs", || {
        found = processes_of(line, &marker);
        !found.is_empty()
    });
    assert_eq!(found.len(), 1, "{found:?}");
    Pid::from_raw(found[0])
}

/// By arguments, and by the server in their environment.
fn processes_of(line: &str, server: &str) -> Vec<i32> {
    let entries = fs::read_dir("/proc").expect("/proc is there");
    let is_meant = |path: &PathBuf| {
        let words = fs::read(path.join("cmdline")).unwrap_or_default();
        let words = String::from_utf8_lossy(&words).replace('\0', " ");
        let variables = fs::read(path.join("environ")).unwrap_or_default();
        words.trim() == format!("{BUILT} {line}")
            && String::from_utf8_lossy(&variables).contains(server)
    };
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_meant);
    paths.filter_map(|path| path.file_name()?.to_str()?.parse().ok()).collect()
}

#[test]
fn a_narrow_terminal_shows_one_pane_at_a_time_and_keys_act() {
    let daemon = daemon();
    let long = daemon.submit("-J train -g 3 --dir /", "echo epoch 1; echo epoch 2; exec sleep 600");
    daemon.wait_until(&long, "running");
    let waiting = daemon.submit("-J eval -g 2 --dir /", "true");
    let Some(terminal) = terminal(&daemon, 80, 24, &[]) else { return };
    terminal.enter("danlu top");
    // The first line is selected, and its output is below.
    terminal.until_shows("epoch 2");
    let screen = terminal.screen();
    assert!(screen.contains("GPUs 1/4 free"), "{screen}");
    assert!(screen.contains("gpu1:0-2"), "{screen}");
    assert!(screen.contains("queued") && screen.contains("q quit"), "{screen}");
    assert!(!screen.contains("gpu1  1 of 4 free"), "the GPUs are behind Tab: {screen}");

    terminal.press(&["Tab"]);
    terminal.until_shows("gpu1  1 of 4 free");
    terminal.until_shows("1 you train");
    terminal.press(&["Tab"]);

    terminal.press(&["Down", "w"]);
    terminal.until_shows("Why task 2 waits");
    terminal.until_shows("it needs 2 GPUs");
    terminal.press(&["Escape"]);
    terminal.press(&["h"]);
    daemon.wait_until(&waiting, "held");
    terminal.until_shows("held task 2");
    terminal.press(&["h"]);
    daemon.wait_until(&waiting, "queued");

    // The whole log, and back.
    terminal.press(&["Up", "l"]);
    terminal.until_shows("follows");
    terminal.press(&["q"]);

    terminal.press(&["c"]);
    terminal.until_shows("Cancel task 1 (train)?");
    terminal.press(&["n"]);
    terminal.until("the question is gone", |screen| !screen.contains("Cancel task"));
    assert_eq!(daemon.state(&long), "running");
    terminal.press(&["c"]);
    terminal.until_shows("Cancel task 1 (train)?");
    terminal.press(&["y"]);
    daemon.wait_until(&long, "cancelled");
    // The screen follows by itself: the other task has run.
    terminal.until("the list is up to date", |screen| {
        screen.contains("cancelled") && screen.contains("succeeded")
    });
    terminal.press(&["/"]);
    terminal.press(&["-l", "nothing-is-called-so"]);
    terminal.press(&["Enter"]);
    terminal.until_shows("nothing found");
}

#[test]
fn a_wide_terminal_shows_everything_in_both_languages() {
    let daemon = daemon();
    let long = daemon.submit("-J train -g 3 --dir /", "echo epoch 1; exec sleep 600");
    daemon.wait_until(&long, "running");
    for (language, words) in [
        ("en", ["gpu1  1 of 4 free", "1 you train", "epoch 1", "WHY / WHERE", "s sort"]),
        ("zh", ["gpu1  空闲 1/4", "1 我 train", "epoch 1", "原因 / 位置", "s 排序"]),
    ] {
        let more = [("DANLU_LANG", language)];
        let Some(terminal) = terminal(&daemon, 200, 50, &more) else { return };
        terminal.enter("danlu top");
        for words in words {
            terminal.until_shows(words);
        }
        terminal.resize(70, 8);
        terminal.until_shows("60×10");
        terminal.resize(80, 24);
        terminal.until_shows("epoch 1");
        terminal.press(&["q"]);
        terminal.until_shows("ready$ danlu top");
    }
}

#[test]
fn every_way_out_leaves_the_terminal_as_it_was() {
    let daemon = daemon();
    let variables = [("DANLU_TEST_PANIC", "1"), ("RUST_BACKTRACE", "0")];
    let Some(terminal) = terminal(&daemon, 80, 24, &variables) else { return };
    let server = daemon.socket().display().to_string();
    let signal = |signal: Signal| kill(pid_of(&daemon, "top"), signal).expect("it is ours");
    let ways: [(&str, &dyn Fn(), &str); 6] = [
        ("q", &|| terminal.press(&["q"]), "status 0"),
        ("Ctrl-C", &|| terminal.press(&["C-c"]), "status 0"),
        ("SIGTERM", &|| signal(Signal::SIGTERM), "status 143"),
        ("SIGHUP", &|| signal(Signal::SIGHUP), "status 129"),
        ("SIGINT", &|| signal(Signal::SIGINT), "status 130"),
        ("a panic", &|| terminal.press(&["P"]), "status 101"),
    ];
    for (way, leave, status) in ways {
        terminal.enter("clear");
        terminal.until("the screen is clear", |screen| screen.trim() == "ready$");
        let before = terminal.state();
        terminal.enter("danlu top; echo status $?");
        terminal.until_shows("q quit");
        let within = terminal.state();
        assert_ne!(before, within, "it has the terminal");
        leave();
        terminal.until_shows(status);
        until("it is gone", || processes_of("top", &server).is_empty());
        let screen = terminal.screen();
        assert!(screen.starts_with("ready$ danlu top; echo"), "{way}: {screen}");
        assert_eq!(screen.contains("DANLU_TEST_PANIC"), way == "a panic", "{way}: {screen}");
        terminal.enter("clear");
        terminal.until("the screen is clear", |screen| screen.trim() == "ready$");
        assert_eq!(terminal.state(), before, "{way}");
    }
}

#[test]
fn it_can_be_suspended_and_brought_back() {
    let daemon = daemon();
    let Some(terminal) = terminal(&daemon, 80, 24, &[]) else { return };
    let before = terminal.state();
    terminal.enter("danlu top");
    terminal.until_shows("q quit");
    terminal.press(&["C-z"]);
    terminal.until_shows("Stopped");
    terminal.enter("clear");
    terminal.until("the screen is clear", |screen| screen.trim() == "ready$");
    assert_eq!(terminal.state(), before);
    terminal.enter("fg");
    terminal.until_shows("q quit");
    // What has happened meanwhile is there.
    daemon.submit("-J later --hold --dir /", "true");
    terminal.until_shows("later");
    terminal.press(&["q"]);
    terminal.until("the shell is back", |screen| {
        screen.contains("ready$") && !screen.contains("q quit")
    });
}

#[test]
fn a_server_that_restarts_is_told_and_found_again() {
    let mut daemon = daemon();
    let long = daemon.submit("-J train -g 1 --dir /", "echo epoch 1; exec sleep 600");
    daemon.wait_until(&long, "running");
    let Some(terminal) = terminal(&daemon, 80, 24, &[]) else { return };
    terminal.enter("danlu top");
    terminal.until_shows("epoch 1");
    daemon.crash();
    terminal.until_shows("the server does not answer since");
    daemon.start_again();
    terminal.until("the server is back", |screen| !screen.contains("does not answer"));
    daemon.submit("-J later --hold --dir /", "true");
    terminal.until_shows("later");
    terminal.until_shows("epoch 1");
}

#[test]
fn pages_of_a_long_queue_are_turned() {
    let daemon = daemon();
    daemon.say(&["pause-queue"]);
    for number in 1..=130 {
        daemon.submit(&format!("-J t{number}- -g 1 --dir /"), "true");
    }
    let Some(terminal) = terminal(&daemon, 80, 24, &[]) else { return };
    terminal.enter("danlu top");
    terminal.until_shows("t1-");
    terminal.until_shows("30 more tasks");
    terminal.press(&["End"]);
    terminal.until_shows("t130-");
    terminal.until_shows("30 before these");
    terminal.press(&["Home"]);
    terminal.until_shows("t1-");
    // Page after page, also over the border between two of them.
    for _ in 0..20 {
        terminal.press(&["PageDown"]);
    }
    terminal.until_shows("t130-");
}

#[test]
fn ls_watch_is_the_list_kept_up_to_date() {
    let daemon = daemon();
    daemon.submit("-J first --hold --dir /", "true");
    let Some(terminal) = terminal(&daemon, 80, 24, &[]) else { return };
    let before = terminal.state();
    terminal.enter("danlu ls --watch");
    terminal.until_shows("first");
    let second = daemon.submit("-J second --hold --dir /", "true");
    terminal.until_shows("second");
    daemon.say(&["cancel", &second]);
    terminal.until_shows("cancelled");
    terminal.press(&["q"]);
    terminal.until_shows("ready$ danlu ls --watch");
    terminal.enter("clear");
    terminal.until("the screen is clear", |screen| screen.trim() == "ready$");
    assert_eq!(terminal.state(), before);
}

#[test]
fn without_a_terminal_it_says_what_to_use_instead() {
    let daemon = daemon();
    for (words, sentence) in [
        (&["top"][..], "danlu top needs a terminal"),
        (&["ls", "--watch"], "--watch needs a terminal"),
    ] {
        let said = daemon.ask(words);
        assert_eq!((said.status, said.stdout.as_str()), (2, ""), "{said:?}");
        assert!(said.stderr.contains(sentence), "{said:?}");
        assert!(said.stderr.contains("hint: danlu ls"), "{said:?}");
    }
    let both = daemon.ask(&["ls", "--watch", "--json"]);
    assert_eq!(both.status, 2, "{both:?}");
}
