//! What the main verbs print, as a whole, in English and Chinese: recorded in `snapshots/`, and recorded anew with
//! `INSTA_UPDATE=always cargo nextest run --workspace --test e2e -E 'test(/^screens::/)'`.

use std::{fs, path::Path};

use insta::{Settings, assert_snapshot};
use nix::unistd::geteuid;

use crate::support::{
    daemon::{Daemon, Setup, until},
    danlu::{client_command, command, said, skip},
};

/// What differs from run to run, and what stands for it: as wide, where it is in a table.
const VARYING: [(&str, &str); 5] = [
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \([^)]+ ago\)", "DATE TIME (AGE)"),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d（[^）]+）", "DATE TIME（AGE）"),
    (r"\b0:\d\d:\d\d\b", "0:MM:SS"),
    // With its date when that is another day.
    (r"\b(\d{4}-)?(\d\d-\d\d )?\d\d:\d\d\b", "HH:MM"),
    (r"\b0\.\d+\.\d+\b", "VERSION"),
];

/// What differs from machine to machine, in tables whose columns are then no longer aligned.
const OF_THE_MACHINE: [(&str, &str); 3] = [
    (r" {2,}", "  "),
    (r"(\d+(\.\d)?[GM]? / )?\b\d+(\.\d)?[GM]\b", "MEMORY"),
    (r"(1/4  )\d+(  MEMORY)", "${1}CPUS${2}"),
];

/// Both languages of one command line, one after the other, within 80 columns.
fn transcript(socket: &Path, words: &str) -> String {
    let mut out = String::new();
    for language in ["en", "zh"] {
        let words: Vec<&str> = words.split(' ').collect();
        let mut command = client_command(socket, &words);
        command.env("DANLU_LANG", language).env("COLUMNS", "80").env("TZ", "UTC");
        let said = said(command.current_dir("/"));
        out += &format!("$ DANLU_LANG={language} danlu {}\n", words.join(" "));
        out += &said.stdout;
        out += &said.stderr;
        if said.status != 0 {
            out += &format!("exit status {}\n", said.status);
        }
        out += "\n";
    }
    out
}

#[track_caller]
fn check(name: &str, transcript: &str, filters: &[(&str, &str)]) {
    let mut settings = Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for (varying, fixed) in VARYING.iter().chain(filters) {
        settings.add_filter(varying, *fixed);
    }
    settings.bind(|| assert_snapshot!(name, transcript));
}

#[test]
fn the_main_verbs_print_what_is_recorded() {
    if !geteuid().is_root() {
        skip("the recorded screens have tasks of root");
        return;
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    let config = directory.path().join("danlu.toml");
    fs::write(&config, "node_name = \"gpu1\"\n[sampling]\ninterval = \"0\"\n")
        .expect("it can be written");
    let mut setup = Setup::simulated(4);
    setup.arguments.extend(["--config".to_owned(), config.display().to_string()]);
    let daemon = Daemon::start_in(directory, setup);
    let done = daemon.submit("-J prepare -g 0 --dir /", "exit 3");
    daemon.ask(&["wait", &done]);
    let big = daemon.submit("-J train -g 3 -t 2h --dir /", "exec sleep 600");
    daemon.wait_until(&big, "running");
    daemon.submit("-J eval -g 2 --dir /", "true");
    daemon.submit("-J sweep -g 4 --array 0-3%2 --dir /", "true");
    daemon.submit("-J later --hold --dir /", "true");
    until("the GPUs have been looked at", || {
        let gpus = daemon.json(&["gpus", "--json"]);
        gpus["gpus"][0]["utilization"].is_number()
    });
    for (name, words) in [
        ("ls", "ls"),
        ("show", "show 2"),
        ("show_failed", "show 1"),
        ("why", "why 3"),
        ("why_held", "why 8"),
        ("gpus", "gpus"),
        ("nodes", "nodes"),
        ("status", "status"),
        ("submit_refused", "submit -g 9 -- true"),
        ("set_refused", "set limits.log_bytes_per_user lots"),
        ("not_found", "show 99"),
    ] {
        let of_the_machine = ["show_failed", "nodes"].contains(&name);
        let filters = if of_the_machine { &OF_THE_MACHINE[..] } else { &[] };
        check(name, &transcript(daemon.socket(), words), filters);
    }
}

#[test]
fn help_is_what_is_recorded() {
    for group in ["", "agent", "config", "db", "gpu", "node", "policy", "service", "token", "user"]
    {
        let mut out = String::new();
        for language in ["en", "zh"] {
            let mut command = command(language);
            command.args(group.split_whitespace()).arg("--help").env("COLUMNS", "100");
            let said = said(&mut command);
            assert_eq!(said.status, 0, "{said:?}");
            out += &format!("$ DANLU_LANG={language} danlu {group} --help\n{}\n", said.stdout);
        }
        let name = if group.is_empty() { "danlu" } else { group };
        check(&format!("help_{name}"), &out, &[]);
    }
}
