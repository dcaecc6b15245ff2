//! Files and locks of the server: other users can neither read, replace nor hold them.

use std::{
    fs,
    io::Write as _,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink},
    path::{Path, PathBuf},
    process::Stdio,
};

use crate::support::daemon::{Daemon, Setup};
use crate::support::danlu;
use crate::support::danlu::{BUILT, said};
use crate::support::os_user::{OsUser, open_to_all};

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).expect("it is there").mode() & 0o777
}

#[test]
fn nobody_else_can_lock_the_server_out() {
    let Some(user) = OsUser::new() else { return };
    let directory = tempfile::tempdir().expect("a directory");
    open_to_all(directory.path());
    // As an older version left it.
    let data = directory.path().join("data");
    fs::create_dir(&data).expect("it can be made");
    fs::set_permissions(&data, fs::Permissions::from_mode(0o711)).expect("it is ours");
    let lock = data.join("danlu.lock");
    fs::write(&lock, "").expect("it can be made");
    fs::set_permissions(&lock, fs::Permissions::from_mode(0o644)).expect("it is ours");
    let mut daemon = Daemon::start_in(directory, Setup::simulated(1));
    assert_eq!(mode(&lock), 0o600);
    daemon.terminate();
    let mut flock = user.command(Path::new("/usr/bin/flock"));
    let taken = said(flock.args(["-n"]).arg(&lock).args(["-c", "echo locked"]));
    assert!(taken.status != 0 && taken.stdout.is_empty(), "{taken:?}");
    daemon.start_again();
}

/// Removed also when the test fails.
struct Prepared(PathBuf);

impl Drop for Prepared {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_directory_that_somebody_else_has_prepared_is_refused() {
    let (Some(victim), Some(other)) = (OsUser::new(), OsUser::new()) else { return };
    let directory = tempfile::tempdir().expect("a directory");
    let danlu = open_to_all(directory.path());
    let up = |data: &str| {
        let mut command = victim.command(Path::new("timeout"));
        command.args(["20"]).arg(&danlu).args(["up", "--listen", "127.0.0.1:0", "--sim-gpus", "1"]);
        if !data.is_empty() {
            command.args(["--data", data]);
        }
        said(&mut command)
    };
    let refused = |data: &str, why: &str| {
        let said = up(data);
        assert_eq!(said.status, 64, "{said:?}");
        assert!(said.stderr.contains(why) && said.stderr.contains("hint: "), "{said:?}");
        assert!(!said.stdout.contains("socket"), "{said:?}");
    };
    // Without a home this is where the data of that user would be.
    let usual = Prepared(PathBuf::from(format!("/var/tmp/danlu-{}", victim.uid)));
    fs::create_dir(&usual.0).expect("it can be made");
    fs::set_permissions(&usual.0, fs::Permissions::from_mode(0o777)).expect("it is ours");
    chown(&usual.0, Some(other.uid), Some(other.gid)).expect("root may");
    fs::write(usual.0.join("danlu.db"), "prepared").expect("it can be written");
    refused("", "belongs to user");
    fs::set_permissions(&usual.0, fs::Permissions::from_mode(0o700)).expect("it is ours");
    refused("", "belongs to user");
    fs::remove_dir_all(&usual.0).expect("it can be removed");

    // One's own, but open to other writers.
    let open = victim.directory(directory.path().join("open"));
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).expect("it is ours");
    refused(open.to_str().expect("text"), "others may write to it");

    // A link of somebody else's to a directory of one's own.
    let own = victim.directory(directory.path().join("own"));
    let link = directory.path().join("link");
    symlink(&own, &link).expect("it can be made");
    std::os::unix::fs::lchown(&link, Some(other.uid), Some(other.gid)).expect("root may");
    refused(link.to_str().expect("text"), "it is not a directory");
    assert_eq!(fs::read_dir(&own).expect("it is there").count(), 0, "nothing was put there");
}

#[test]
fn the_data_directory_shows_others_nothing_but_the_socket() {
    let Some(user) = OsUser::new() else { return };
    let directory = tempfile::tempdir().expect("a directory");
    open_to_all(directory.path());
    let mut setup = Setup::simulated(2);
    // A certificate and its key are made, too.
    setup.arguments.extend(["--listen".into(), "0.0.0.0:0".into()]);
    let daemon = Daemon::start_in(directory, setup);
    let task = daemon.submit("-g 1", "echo secret");
    assert_eq!(daemon.ask(&["wait", &task]).status, 0);
    let running = daemon.submit("-g 1", "exec sleep 600");
    daemon.wait_until(&running, "running");
    daemon.say(&["archive", &task]);
    let mut find = user.command(Path::new("find"));
    let listed = said(find.arg(daemon.data()));
    let shown = daemon.data().display().to_string();
    assert_eq!(listed.stdout.trim(), shown, "a listing shows nothing: {listed:?}");

    // Names can be guessed: of all that is there, what may they read, write or list?
    let mut names = Vec::new();
    walk(&daemon.data(), &mut names);
    assert!(names.iter().any(|name| name.ends_with("danlu.db")), "{names:?}");
    assert!(names.iter().any(|name| name.ends_with("archive.jsonl")), "{names:?}");
    assert!(names.iter().any(|name| name.ends_with("tls-key.pem")), "{names:?}");
    let test = r#"while IFS= read -r name; do
        [ -r "$name" ] && echo "reads $name"; [ -w "$name" ] && echo "writes $name"; done; true"#;
    let mut shell = user.command(Path::new("sh"));
    let mut shell = shell
        .args(["-c", test])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("a shell");
    let list = names.iter().map(|name| format!("{}\n", name.display())).collect::<String>();
    shell.stdin.take().expect("a pipe").write_all(list.as_bytes()).expect("it reads");
    let open = shell.wait_with_output().expect("it ends").stdout;
    let socket = daemon.socket().display();
    let open = String::from_utf8_lossy(&open).into_owned();
    let open: Vec<&str> = open.lines().collect();
    assert_eq!(open, [format!("reads {socket}"), format!("writes {socket}")]);
}

fn walk(directory: &Path, names: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("root may").flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            walk(&path, names);
        }
        names.push(path);
    }
}

/// The parts of an ELF file that tell how it is protected.
#[test]
fn the_program_is_loaded_anywhere_and_its_tables_are_read_only() {
    let bytes = fs::read(BUILT).expect("it is built");
    let number = |at: usize, length: usize| {
        let part = &bytes[at..at + length];
        part.iter().rev().fold(0_usize, |sum, byte| sum << 8 | usize::from(*byte))
    };
    assert_eq!(bytes[..6], *b"\x7fELF\x02\x01", "64 bits, little endian");
    assert_eq!(number(16, 2), 3, "ET_DYN: position independent");
    let (headers, size, count) = (number(32, 8), number(54, 2), number(56, 2));
    let header = |kind: usize| {
        (0..count).map(|index| headers + index * size).find(|at| number(*at, 4) == kind)
    };
    assert!(header(0x6474_e552).is_some(), "GNU_RELRO");
    let stack = header(0x6474_e551).expect("GNU_STACK");
    assert_eq!(number(stack + 4, 4) & 1, 0, "the stack is not executable");
    let dynamic = header(2).expect("PT_DYNAMIC");
    let (offset, length) = (number(dynamic + 8, 8), number(dynamic + 32, 8));
    let entries =
        (offset..offset + length).step_by(16).map(|at| (number(at, 8), number(at + 8, 8)));
    let now = entries.into_iter().any(|(tag, value)| match tag {
        24 => true,
        30 => value & 8 != 0,
        0x6fff_fffb => value & 1 != 0,
        _ => false,
    });
    assert!(now, "BIND_NOW: full RELRO");
}

/// Tasks are children of the service: what confines it would confine them.
const CONFINING: [&str; 22] = [
    "NoNewPrivileges",
    "SystemCallFilter",
    "SystemCallArchitectures",
    "RestrictNamespaces",
    "RestrictRealtime",
    "RestrictSUIDSGID",
    "RestrictAddressFamilies",
    "LockPersonality",
    "MemoryDenyWriteExecute",
    "DevicePolicy",
    "DeviceAllow",
    "PrivateDevices",
    "PrivateTmp",
    "PrivateNetwork",
    "PrivateUsers",
    "ProtectSystem",
    "ProtectHome",
    "ProtectKernel",
    "ProtectHostname",
    "ProtectClock",
    "CapabilityBoundingSet",
    "IPAddress",
];

#[test]
fn a_unit_is_written_that_confines_no_task() {
    let root = tempfile::tempdir().expect("a directory");
    let below = root.path().display().to_string();
    let ask = |arguments: &[&str]| said(danlu::command("en").args(["service"]).args(arguments));
    let printed = ask(&["install", "--print", "--nice", "5", "--io-class", "idle"]);
    assert_eq!(printed.status, 0, "{printed:?}");
    for line in
        ["Nice=5", "IOSchedulingClass=idle", "KillMode=process", "Delegate=yes", "Type=notify"]
    {
        assert!(printed.stdout.lines().any(|it| it == line), "{line}: {}", printed.stdout);
    }
    for word in CONFINING {
        assert!(!printed.stdout.contains(word), "{word}: {}", printed.stdout);
    }
    let said = ask(&["install", "--root", &below, "--data", "/data/a b%"]);
    assert_eq!(said.status, 0, "{said:?}");
    let unit = root.path().join("etc/systemd/system/danlu.service");
    let text = fs::read_to_string(&unit).expect("it is written");
    assert!(text.contains(" up --data \"/data/a b%%\"\n"), "{text}");
    assert_eq!(mode(&unit), 0o644);
    let said = ask(&["uninstall", "--root", &below]);
    assert!(said.status == 0 && !unit.exists(), "{said:?}");
    let said = ask(&["install", "--nice", "50", "--root", &below]);
    assert_eq!(said.status, 2, "{said:?}");
}
