//! Where output goes.

use crate::world::World;
use danlu_core::run::Exit;
use danlu_wire::launch::{ErrorSink, Sink};
use std::fs;

const BOTH: &str = "echo out; echo err >&2; echo out again";

fn file(path: &str, append: bool) -> Sink {
    Sink::file(path, append)
}

pub(crate) fn both_streams_in_one_log() {
    let mut world = World::new();
    let order = world.shell(BOTH);
    assert_eq!(world.output_of(&order), "out\nerr\nout again\n");
}

pub(crate) fn separate_files() {
    let mut world = World::new();
    let mut order = world.shell(BOTH);
    // Relative to the working directory, and named by the task.
    order.output.stdout = file("out-{task_id}", false);
    order.output.stderr = ErrorSink::Own(file(&world.path("err"), false));
    assert_eq!(world.run(&order), Exit::Code(0));
    let read = |name: &str| fs::read_to_string(world.path(name)).unwrap();
    assert_eq!(read(&format!("out-{}", order.task)), "out\nout again\n");
    assert_eq!(read("err"), "err\n");
    assert_eq!(world.log(order.run), "");

    let mut order = world.shell(BOTH);
    order.output.stdout = Sink::Log;
    order.output.stderr = ErrorSink::Own(file("err", false));
    assert_eq!(world.output_of(&order), "out\nout again\n");
}

pub(crate) fn appended_and_truncated() {
    let mut world = World::new();
    let path = world.path("out");
    for (append, expected) in [(true, "a\nb\n"), (true, "a\nb\nb\n"), (false, "b\n")] {
        if expected == "a\nb\n" {
            fs::write(&path, "a\n").unwrap();
        }
        let mut order = world.shell("echo b");
        order.output.stdout = file(&path, append);
        assert_eq!(world.run(&order), Exit::Code(0));
        assert_eq!(fs::read_to_string(&path).unwrap(), expected);
    }
}

pub(crate) fn discarded() {
    let mut world = World::new();
    let mut order = world.shell(BOTH);
    order.output.stdout = Sink::Discard;
    assert_eq!(world.run(&order), Exit::Code(0));
    assert_eq!(world.log(order.run), "");

    let mut order = world.shell(BOTH);
    order.output.stderr = ErrorSink::Own(Sink::Discard);
    assert_eq!(world.output_of(&order), "out\nout again\n");
}

pub(crate) fn same_file_for_both() {
    let mut world = World::new();
    let mut order = world.shell(BOTH);
    order.output.stdout = file("both", false);
    order.output.stderr = ErrorSink::Own(file("both", false));
    assert_eq!(world.run(&order), Exit::Code(0));
    assert_eq!(fs::read_to_string(world.path("both")).unwrap(), "out\nerr\nout again\n");
}
