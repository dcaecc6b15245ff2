//! A command runs as its user, with the user's rights and nothing of the daemon's.

use crate::world::{DEADLINE, World, is_root};
use danlu_core::Span;
use danlu_core::run::Exit;
use danlu_wire::launch::Sink;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::process::Command;
use std::time::Instant;

/// A user for one test, with a second group.
struct Guest {
    name: String,
    group: String,
}

impl Guest {
    /// `None`, and it says so, where users cannot be made.
    fn new() -> Option<Guest> {
        if !is_root() {
            println!("skipped: only root can make a user and run as it");
            return None;
        }
        let guest = Guest {
            name: format!("danlut{}", std::process::id()),
            group: format!("danlug{}", std::process::id()),
        };
        let made = sure(Command::new("groupadd").arg(&guest.group))
            && sure(Command::new("useradd").args([
                "-M",
                "-d",
                "/nonexistent",
                "-G",
                &guest.group,
                &guest.name,
            ]));
        if !made {
            println!("skipped: there is no useradd here");
            return None;
        }
        Some(guest)
    }

    fn id(&self, option: &str) -> u32 {
        let output = Command::new("id").args([option, &self.name]).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        sure(Command::new("userdel").arg(&self.name));
        sure(Command::new("groupdel").arg(&self.group));
    }
}

fn sure(command: &mut Command) -> bool {
    command.status().is_ok_and(|status| status.success())
}

pub(crate) fn runs_as_the_user_and_nobody_else() {
    let Some(guest) = Guest::new() else { return };
    // A daemon with a group that is not the user's, as one that was started from a root shell may have.
    let extra = [nix::unistd::Gid::from_raw(0), nix::unistd::Gid::from_raw(4)];
    nix::unistd::setgroups(&extra).unwrap();
    let mut world = World::new();
    let mut order = world.shell("grep -E '^(Uid|Gid|Groups|Cap|Sig[BIC]|Umask|NoNewPrivs)' /proc/self/status; env; ls -l /proc/self/fd/; umask; cat /proc/self/oom_score_adj");
    order.user = Some(guest.name.clone());
    order.umask = 0o027;
    let output = world.output_of(&order);
    let field = |name: &str| {
        let line = output
            .lines()
            .find_map(|line| line.strip_prefix(name))
            .unwrap_or_else(|| panic!("{output}"));
        line.split_ascii_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    let (uid, gid) = (guest.id("-u").to_string(), guest.id("-g").to_string());
    assert_eq!(field("Uid:"), vec![uid; 4]);
    assert_eq!(field("Gid:"), vec![gid.clone(); 4]);
    let second = fs::read_to_string("/etc/group").unwrap();
    let second =
        second.lines().find(|line| line.starts_with(&format!("{}:", guest.group))).unwrap();
    let mut expected = vec![gid, second.split(':').nth(2).unwrap().to_owned()];
    expected.sort_by_key(|id| id.parse::<u32>().unwrap());
    assert_eq!(field("Groups:"), expected);
    for set in ["CapInh:", "CapPrm:", "CapEff:", "CapAmb:"] {
        assert_eq!(field(set), ["0000000000000000"], "{set}");
    }
    assert!(
        output.contains(&format!("USER={}\n", guest.name))
            && output.contains("HOME=/nonexistent\n"),
        "{output}"
    );
    assert!(!output.contains("CARGO"), "{output}");
    assert!(output.contains("\n0027\n"), "{output}");
    assert!(output.ends_with("\n0\n"), "{output}");
    let descriptors = output.lines().filter(|line| line.contains(" -> ")).count();
    assert_eq!(descriptors, 4, "{output}");
    world.check_nothing_left();
}

pub(crate) fn output_is_opened_as_the_user() {
    let Some(guest) = Guest::new() else { return };
    let mut world = World::new();
    let secret = world.path("secret");
    fs::write(&secret, "untouched\n").unwrap();
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o644)).unwrap();
    for path in [secret.clone(), world.path("not-there-yet")] {
        let mut order = world.shell("echo overwritten");
        order.user = Some(guest.name.clone());
        order.output.stdout = Sink::file(path, false);
        let exit = world.run(&order);
        let Exit::Launch { message } = exit else { panic!("{exit:?}") };
        assert!(message.contains("Permission denied"), "{message}");
    }
    assert_eq!(fs::read_to_string(&secret).unwrap(), "untouched\n");

    let open = world.path("open");
    fs::create_dir(&open).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
    let mut order = world.shell("echo mine");
    order.user = Some(guest.name.clone());
    order.directory = open.clone();
    order.output.stdout = Sink::file("out", false);
    assert_eq!(world.run(&order), Exit::Code(0));
    let made = fs::metadata(format!("{open}/out")).unwrap();
    assert_eq!(
        (made.uid(), made.gid(), made.mode() & 0o777),
        (guest.id("-u"), guest.id("-g"), 0o644)
    );
}

pub(crate) fn directory_is_entered_as_the_user() {
    let Some(guest) = Guest::new() else { return };
    let mut world = World::new();
    let closed = world.path("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
    let mut order = world.shell("echo never");
    order.user = Some(guest.name.clone());
    order.directory = closed;
    let exit = world.run(&order);
    assert!(
        matches!(&exit, Exit::Launch { message } if message.contains("Permission denied")),
        "{exit:?}"
    );
}

pub(crate) fn log_belongs_to_the_user_and_the_record_does_not() {
    let Some(guest) = Guest::new() else { return };
    let mut world = World::new();
    // The user can neither read the state, nor take the lock, nor write a result.
    let line = r#"
        cd "$(dirname "$DANLU_PREEMPT_FILE")" || exit 1
        cat state.json > /dev/null 2>&1 && echo read
        flock -n . true 2> /dev/null && echo locked
        (echo '{}' > exit.json) 2> /dev/null && echo wrote
        (ls > /dev/null 2>&1) && echo listed
        [ -e "$DANLU_PREEMPT_FILE" ] && echo preempted
        echo end
    "#;
    let mut order = world.shell(line);
    order.user = Some(guest.name.clone());
    assert_eq!(world.output_of(&order), "end\n");
    let log = fs::metadata(world.run_path(order.run).join("output.log")).unwrap();
    assert_eq!((log.uid(), log.mode() & 0o777), (guest.id("-u"), 0o600));
    for name in ["state.json", "exit.json"] {
        let file = fs::metadata(world.run_path(order.run).join(name)).unwrap();
        assert_eq!((file.uid(), file.mode() & 0o777), (0, 0o600), "{name}");
    }
}

const WITHOUT_POWER: &str = "DANLU_TEST_WITHOUT_POWER";

/// As an agent in a container needs it, which has no power over the processes of others: this test once more, without it.
pub(crate) fn shim_is_open_to_its_own_user() {
    if std::env::var_os(WITHOUT_POWER).is_none() {
        let mut again = Command::new("setpriv");
        again.arg("--bounding-set=-sys_ptrace").arg(std::env::current_exe().unwrap());
        again.args(["--exact", "user::shim_is_open_to_its_own_user"]).env(WITHOUT_POWER, "1");
        assert!(!is_root() || sure(&mut again));
        return;
    }
    let mut world = World::new();
    let Some(guest) = Guest::new() else { return };
    let mut order = world.shell("sleep 1000");
    order.user = Some(guest.name.clone());
    let run = world.launch(&order);
    world.started(run);
    let shim = world.shim_of(run);
    let deadline = Instant::now() + DEADLINE;
    while let Err(error) = fs::read_link(format!("/proc/{shim}/fd/0")) {
        assert!(Instant::now() < deadline, "nobody can look into the shim: {error}");
    }
    world.stop(run, Span(100));
    world.ended(run);
}
