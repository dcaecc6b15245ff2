//! The environment of a task: which programs it finds first, and the variables that name its GPUs.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::Path,
};

use crate::support::daemon::{Daemon, Setup};
use crate::support::danlu;
use crate::support::http::Connection;
use crate::support::os_user::{OsUser, open_to_all};

/// A `python` that says whose it is.
fn make(prefix: &Path, whose: &str) {
    fs::create_dir_all(prefix.join("bin")).expect("it can be made");
    fs::create_dir_all(prefix.join("conda-meta")).expect("it can be made");
    let program = prefix.join("bin/python");
    fs::write(&program, format!("#!/bin/sh\necho {whose}\n")).expect("it can be written");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("it is ours");
}

#[track_caller]
fn printed(daemon: &Daemon, arguments: &[&str]) -> String {
    let home = daemon.directory().to_str().expect("it is UTF-8");
    let mut command = daemon.command(&[&["submit", "-q"], arguments].concat());
    for name in ["CONDA_EXE", "CONDA_PREFIX", "MAMBA_ROOT_PREFIX", "VIRTUAL_ENV"] {
        command.env_remove(name);
    }
    let said = danlu::said(command.env("HOME", home));
    assert_eq!(said.status, 0, "{said:?}");
    let id = said.stdout.trim().to_owned();
    daemon.ask(&["wait", &id]);
    match daemon.state(&id).as_str() {
        "succeeded" => daemon.say(&["logs", &id]),
        _ => daemon.show(&id)["failure"].to_string(),
    }
}

#[test]
fn a_task_runs_in_the_environment_it_names() {
    let daemon = Daemon::start();
    make(&daemon.directory().join("miniconda3/envs/torch"), "of-torch");
    make(&daemon.directory().join("venv"), "of-venv");
    let venv = daemon.directory().join("venv");
    let venv = venv.to_str().expect("it is UTF-8");
    assert_eq!(printed(&daemon, &["--conda", "torch", "--", "python"]), "of-torch\n");
    assert_eq!(printed(&daemon, &["--venv", venv, "--", "python"]), "of-venv\n");
    let line = ["--venv", venv, "--shell", "--", "echo $VIRTUAL_ENV; python"];
    assert_eq!(printed(&daemon, &line), format!("{venv}\nof-venv\n"));
    let missing = printed(&daemon, &["--conda", "no-such", "--", "python"]);
    assert!(missing.contains("env_missing") && missing.contains("conda env list"), "{missing}");
    let missing = printed(&daemon, &["--venv", "/no/such", "--", "python"]);
    assert!(missing.contains("env_missing") && missing.contains("/no/such"), "{missing}");
}

/// A command must not run without the variables that its owner had.
#[test]
fn a_task_whose_stored_environment_is_gone_fails_with_the_reason_and_runs_nothing() {
    let mut daemon = Daemon::start();
    let ran = daemon.directory().join("ran");
    let id = daemon.submit("--hold", &format!("touch {}", ran.display()));
    daemon.terminate();
    let database = rusqlite::Connection::open(daemon.data().join("danlu.db")).expect("it is there");
    assert!(database.execute("DELETE FROM environments", []).expect("it is ours") > 0);
    drop(database);
    daemon.start_again();
    daemon.say(&["release", &id]);
    assert_ne!(daemon.ask(&["wait", &id]).status, 0);
    let task = daemon.show(&id);
    assert_eq!(task["state"], "failed", "{task}");
    let reason = "the environment it was submitted with is missing from the database";
    assert!(task["runs"][0]["exit"].as_str().is_some_and(|it| it.contains(reason)), "{task}");
    assert!(!ran.exists(), "it has run");
    // Others go on.
    let id = daemon.submit("", "true");
    assert_eq!(daemon.ask(&["wait", &id]).status, 0);
}

/// The files of AMD's driver for one card, as they are under `/sys`.
fn amd_card(sysfs: &Path, number: u8, serial: &str) {
    let bus = format!("0000:{:02x}:00.0", 0x80 + number);
    let device = sysfs.join("devices").join(&bus);
    let card = sysfs.join(format!("class/drm/card{number}"));
    for directory in [&device, &card, &sysfs.join("class/kfd/kfd/proc")] {
        fs::create_dir_all(directory).expect("it can be made");
    }
    for (file, text) in [
        ("vendor", "0x1002"),
        ("device", "0x740c"),
        ("uevent", &format!("DRIVER=amdgpu\nPCI_SLOT_NAME={bus}")),
        ("mem_info_vram_total", "68719476736"),
        ("mem_info_vram_used", "0"),
        ("unique_id", serial),
    ] {
        fs::write(device.join(file), format!("{text}\n")).expect("it can be written");
    }
    symlink(&device, card.join("device")).expect("it can be linked");
}

#[test]
fn a_task_on_amd_gpus_gets_the_variables_of_rocm_and_not_those_of_cuda() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let sysfs = directory.path().join("sys");
    (0..3).for_each(|number| amd_card(&sysfs, number, &format!("d2a17c1f2e45b60{number}")));
    // Neither NVML nor nvidia-smi is found, whatever this machine has.
    let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let sysfs = sysfs.to_str().expect("it is UTF-8");
    let variables = vec![
        variable("DANLU_SYSFS_PATH", sysfs),
        variable("DANLU_NVML_PATH", "/nonexistent"),
        variable("PATH", "/nonexistent"),
    ];
    let setup = Setup { arguments: Vec::new(), variables, ..Setup::simulated(3) };
    let daemon = Daemon::start_in(directory, setup);
    let names = "echo $ROCR_VISIBLE_DEVICES/$HIP_VISIBLE_DEVICES/${CUDA_VISIBLE_DEVICES-unset}";
    let shown = |options: &str| {
        let id = daemon.submit(options, names);
        assert_eq!(daemon.ask(&["wait", &id]).status, 0);
        daemon.say(&["logs", &id])
    };
    assert_eq!(shown("--gpu-ids 1,2"), "1,2/0,1/unset\n");
    assert_eq!(shown("-g 0"), "//\n", "it sees no GPU of any vendor");
}

/// Fails in dash, where `source` is no command.
const SOURCES: &str = "source ./activate && echo \"$ACTIVATED\"";

#[test]
fn a_shell_line_can_source_a_file_from_the_command_line_and_from_the_form() {
    let daemon = Daemon::start();
    fs::write(daemon.directory().join("activate"), "ACTIVATED=yes\n").expect("it can be written");
    let here = daemon.directory().to_str().expect("it is UTF-8");
    assert_eq!(printed(&daemon, &["-g", "0", "--dir", here, "--shell", "--", SOURCES]), "yes\n");

    let token = daemon.say(&["token", "new", "form", "-q"]);
    let headers = format!(
        "authorization: Bearer {}\r\ncontent-type: application/x-www-form-urlencoded\r\n",
        token.trim()
    );
    let line = "source+./activate+%26%26+echo+%22of+the+form%3A+$ACTIVATED%22";
    let form = format!("action=submit&gpus=0&directory={here}&command={line}");
    assert_eq!(Connection::to(daemon.address()).form("POST /new", &headers, &form), 303);
    daemon.ask(&["wait", "2"]);
    assert_eq!(daemon.say(&["logs", "2"]), "of the form: yes\n");
}

#[test]
fn a_shell_line_runs_in_the_shell_that_was_chosen_and_copies_keep_it() {
    let daemon = Daemon::start();
    let shell = daemon.directory().join("my-shell");
    fs::write(&shell, "#!/bin/sh\necho \"mine: $*\"\n").expect("it can be written");
    fs::set_permissions(&shell, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let chosen = format!("--shell={}", shell.display());
    assert_eq!(printed(&daemon, &["-g", "0", &chosen, "--", "a && b"]), "mine: -c a && b\n");
    assert_eq!(daemon.show("1")["shell_program"], shell.to_str().expect("it is UTF-8"));
    daemon.say(&["clone", "1"]);
    daemon.ask(&["wait", "2"]);
    assert_eq!(daemon.say(&["logs", "2"]), "mine: -c a && b\n");
    let line = "echo ${BASH_VERSION:-none}";
    assert_eq!(printed(&daemon, &["-g", "0", "--shell=/bin/dash", "--", line]), "none\n");
    let refused = daemon.ask(&["submit", "--shell=a\nb", "--", "true"]);
    assert_eq!((refused.status, refused.stderr.contains("shell")), (64, true), "{refused:?}");
}

#[test]
fn a_shell_line_runs_in_the_owners_login_shell_only_if_that_is_bash_or_zsh() {
    let daemon = Daemon::start();
    let danlu = open_to_all(daemon.directory());
    let zsh = daemon.directory().join("zsh");
    fs::write(&zsh, "#!/bin/sh\necho \"zsh $*\"\n").expect("it can be written");
    fs::set_permissions(&zsh, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let logins = [
        Path::new("/bin/bash"),
        "/bin/sh".as_ref(),
        "/usr/sbin/nologin".as_ref(),
        "/nonexistent/zsh".as_ref(),
        &zsh,
    ];
    // One owner for each, all at once: the number of one who is gone would be given to the next.
    let Some(owners) = logins.iter().map(|_| OsUser::new()).collect::<Option<Vec<_>>>() else {
        return;
    };
    let ran_in = |(login, owner): (&&Path, &OsUser)| {
        owner.set_login_shell(login);
        let line = "echo ${BASH_VERSION:+bash} $0 $(shopt -q login_shell || echo not-login)";
        let words = ["submit", "-q", "-g", "0", "--shell", "--dir", "/", "--", line];
        let said = owner.ask(&danlu, daemon.socket(), &words);
        assert_eq!(said.status, 0, "{said:?}");
        let id = said.stdout.trim();
        daemon.ask(&["wait", id]);
        owner.ask(&danlu, daemon.socket(), &["logs", id]).stdout
    };
    let said: Vec<String> = logins.iter().zip(&owners).map(ran_in).collect();
    assert_eq!(said[0], "bash /bin/bash not-login\n");
    for (login, other) in logins[1..4].iter().zip(&said[1..4]) {
        let bash = other.starts_with("bash /") && other.ends_with("/bash not-login\n");
        assert!(bash, "{login:?}: {other}");
    }
    assert!(said[4].starts_with("zsh -c echo"), "{}", said[4]);
}
