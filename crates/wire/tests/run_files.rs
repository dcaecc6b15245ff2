//! Files of a run directory as version 1 writes them, and what becomes of damaged ones.

use danlu_core::run::Exit;
use danlu_core::run::RunUsage;
use danlu_core::{Span, Time};
use danlu_wire::rundir::{
    CgroupPaths, Control, ExitRecord, ProcessMark, RunFile, ShimState, StopRequest, V1,
};
use std::fmt::Debug;

fn state() -> ShimState {
    ShimState {
        v: V1,
        shim: ProcessMark { pid: 4711, start: 123_456 },
        boot_id: "b0".into(),
        leader: 4712,
        started_at: Time(1_700_000_000_123),
        cgroups: CgroupPaths { unified: Some("/sys/fs/cgroup/danlu/1-17".into()), memory: None },
        task: None,
        gpus: Vec::new(),
    }
}

fn exit() -> ExitRecord {
    ExitRecord {
        v: V1,
        boot_id: "b0".into(),
        exit: Exit::Signal(15),
        launch_failure: None,
        failure: None,
        stopped: false,
        interrupted: true,
        started_at: Some(Time(1)),
        ended_at: Time(2),
        used: RunUsage::default(),
    }
}

fn control() -> Control {
    let stop = StopRequest { grace: Span::from_secs(10), preempted: false };
    Control { v: V1, stop: Some(stop), paused: true, limit: None }
}

/// What a release has written must be read by every later one: these files are not to be changed.
fn check<T: RunFile + PartialEq + Debug>(expected: &T) {
    let path = format!("{}/tests/v1/{}", env!("CARGO_MANIFEST_DIR"), T::NAME);
    let stored = std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    assert_eq!(T::parse(&stored).as_ref(), Some(expected), "{path}");
    assert_eq!(T::parse(&expected.to_bytes()).as_ref(), Some(expected));

    assert_eq!(T::parse(b""), None);
    for end in 0..stored.trim_ascii_end().len() {
        assert_eq!(T::parse(&stored[..end]), None, "cut at {end}");
    }
    let newer =
        String::from_utf8(stored).expect("the fixtures are text").replacen("\"v\":1", "\"v\":2", 1);
    assert_eq!(T::parse(newer.as_bytes()), None, "another version");
    assert_eq!(T::parse(&vec![0; 4096]), None, "zeros, as after a power cut");
    let mut large = expected.to_bytes();
    large.resize(T::BYTES + 1, b' ');
    assert_eq!(T::parse(&large), None, "too large");
}

#[test]
fn state_is_read() {
    check(&state());
}

#[test]
fn control_is_read() {
    check(&control());
}

#[test]
fn exit_is_read() {
    check(&exit());
}

#[test]
fn end_by_shutdown_is_a_reboot() {
    assert_eq!(exit().ending("b0").exit, Exit::Signal(15));
    assert_eq!(exit().ending("b1").exit, Exit::Vanished { rebooted: true });
    let finished = ExitRecord { exit: Exit::Code(0), ..exit() };
    assert_eq!(finished.ending("b1").exit, Exit::Code(0));
    let earlier = ExitRecord { interrupted: false, ..exit() };
    assert_eq!(earlier.ending("b1").exit, Exit::Signal(15));
}
