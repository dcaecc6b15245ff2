//! How a command ended, or why it could not begin.

use crate::world::World;
use danlu_core::Span;
use danlu_core::run::Exit;
use danlu_wire::LaunchOrder;
use danlu_wire::launch::{Command, Sink};
use danlu_wire::rundir::{ExitRecord, LaunchStage, RunFile};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

pub(crate) fn exit_codes() {
    let mut world = World::new();
    for code in [0, 1, 3, 127, 255] {
        let run = world.launch_shell(&format!("exit {code}"));
        let ending = world.ended(run);
        assert_eq!(ending.exit, Exit::Code(code));
        assert!(!ending.stopped && world.is_started(run));
        let started_at = ending.started_at.unwrap();
        assert!(
            started_at <= ending.ended_at
                && ending.ended_at.since(started_at) < Span::from_secs(20)
        );
    }
}

pub(crate) fn signals() {
    let mut world = World::new();
    for signal in [9, 15, 11, 6, 34, 64] {
        let run = world.launch_shell(&format!("kill -{signal} $$"));
        assert_eq!(world.exit(run), Exit::Signal(signal));
    }
}

pub(crate) fn time_limit_ends_the_tree() {
    let mut world = World::new();
    let mut order =
        world.shell("trap '' TERM; setsid sleep 1000 & sleep 1000 & while :; do wait; done");
    order.time_limit = Some(Span(300));
    order.grace = Span(100);
    let run = world.launch(&order);
    let ending = world.ended(run);
    assert_eq!(ending.exit, Exit::TimedOut);
    assert!(!ending.stopped);
    let took = ending.ended_at.since(ending.started_at.unwrap());
    assert!(took >= Span(295) && took < Span::from_secs(20), "{took:?}");
    world.check_nothing_left();
}

pub(crate) fn time_limit_is_told_whatever_the_command_says() {
    let mut world = World::new();
    let mut order = world.shell("trap 'exit 0' TERM; while :; do sleep 0.05; done");
    order.time_limit = Some(Span(200));
    assert_eq!(world.run(&order), Exit::TimedOut);
}

#[track_caller]
fn check_refused(
    world: &mut World,
    order: &LaunchOrder,
    stage: LaunchStage,
    errno: i32,
    words: &str,
) {
    let run = world.launch(order);
    let ending = world.ended(run);
    let Exit::Launch { message } = ending.exit else { panic!("{:?}", ending.exit) };
    assert!(message.contains(words), "{message}");
    assert_eq!((ending.started_at, world.is_started(run)), (None, false));
    let record = fs::read(world.run_path(run).join(ExitRecord::NAME)).unwrap();
    let failure = ExitRecord::parse(&record).unwrap().launch_failure.unwrap();
    assert_eq!((failure.stage, failure.errno), (stage, errno), "{message}");
}

pub(crate) fn missing_command() {
    let mut world = World::new();
    for word in ["no-such-command", "/no/such/command", "./no-such-command"] {
        let order = world.argv(&[word, "x"]);
        let words = format!("command not found: `{word}`");
        check_refused(&mut world, &order, LaunchStage::Command, nix::libc::ENOENT, &words);
    }
}

fn script(world: &World, name: &str, content: &str, mode: u32) -> String {
    let path = world.path(name);
    fs::write(&path, content).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
    path
}

pub(crate) fn missing_interpreter() {
    let mut world = World::new();
    let path = script(&world, "train.py", "#!/gone/venv/bin/python\n", 0o755);
    let order = world.argv(&[&path]);
    check_refused(&mut world, &order, LaunchStage::Interpreter, nix::libc::ENOENT, "first line");
}

pub(crate) fn command_that_may_not_be_executed() {
    let mut world = World::new();
    let path = script(&world, "notes.txt", "hello\n", 0o644);
    let order = world.argv(&[&path]);
    check_refused(&mut world, &order, LaunchStage::Command, nix::libc::EACCES, "Permission denied");
}

pub(crate) fn script_without_first_line() {
    let mut world = World::new();
    let path = script(&world, "plain", "echo \"script $1\"\n", 0o755);
    let order = world.argv(&[&path, "one"]);
    assert_eq!(world.output_of(&order), "script one\n");
}

pub(crate) fn missing_directory() {
    let mut world = World::new();
    let mut order = world.shell("echo never");
    order.directory = "/no/such/directory".to_owned();
    let words = "enter the directory `/no/such/directory`";
    check_refused(&mut world, &order, LaunchStage::Directory, nix::libc::ENOENT, words);
}

pub(crate) fn unwritable_output() {
    let mut world = World::new();
    let mut order = world.shell("echo never");
    let file = |path: &str| Sink::file(path, false);
    order.output.stdout = file("/no/such/directory/out");
    check_refused(
        &mut world,
        &order,
        LaunchStage::Stdout,
        nix::libc::ENOENT,
        "`/no/such/directory/out`",
    );
    let mut order = world.shell("echo never");
    let directory = world.directory.path().to_str().unwrap().to_owned();
    order.output.stderr = danlu_wire::launch::ErrorSink::Own(file(&directory));
    check_refused(&mut world, &order, LaunchStage::Stderr, nix::libc::EISDIR, &directory);
}

pub(crate) fn unknown_user() {
    let mut world = World::new();
    let mut order = world.shell("echo never");
    order.user = Some("no-such-user-of-danlu".to_owned());
    check_refused(&mut world, &order, LaunchStage::User, 0, "no user `no-such-user-of-danlu`");
}

pub(crate) fn bad_orders() {
    let mut world = World::new();
    for argv in [vec![], vec![String::new()], vec!["e\0cho".to_owned()]] {
        let order = world.order(Command::Argv(argv));
        check_refused(&mut world, &order, LaunchStage::Command, 0, "");
    }
}
