//! What tasks that have ended tell about the next ones.

use crate::lab::{ANN, BOB, Lab, lab, lasting, wants};
use danlu_core::run::Exit;
use danlu_core::settings::{Backfill, Order};
use danlu_core::task::TaskSpec;
use danlu_core::{Accuracy, Actor, Input, Reply, Span, TaskId, UserId, expected_start};

pub(crate) fn submit(lab: &mut Lab, by: UserId, spec: TaskSpec) -> u64 {
    match lab.act(Input::Submit { by, spec, key: None }) {
        Reply::Task(id) => id.0,
        other => panic!("submit answered {other:?}"),
    }
}

/// A task that ran for so many seconds and is over.
pub(crate) fn has_run(lab: &mut Lab, by: UserId, gpus: u32, seconds: u64) -> u64 {
    let task = submit(lab, by, wants(gpus));
    lab.schedule();
    lab.after_secs(seconds);
    lab.ended(task, Exit::Code(0));
    task
}

fn predicted(lab: &Lab, task: u64) -> Option<u64> {
    let span = lab.state.tasks[&TaskId(task)].predicted?;
    Some((span.0 + 500) / 1_000)
}

fn new(lab: &mut Lab, by: UserId, spec: TaskSpec) -> Option<u64> {
    let task = submit(lab, by, spec);
    predicted(lab, task)
}

#[test]
fn the_middle_of_the_last_six_is_expected_and_outliers_weigh_little() {
    let mut lab = lab(&[4]);
    assert_eq!(new(&mut lab, ANN, TaskSpec { hold: true, ..wants(1) }), None);
    assert_eq!(new(&mut lab, ANN, wants(1)), None, "nothing has ended");
    lab.schedule();
    lab.after_secs(100_000);
    lab.ended(2, Exit::Code(0));
    for _ in 0..6 {
        has_run(&mut lab, ANN, 1, 128);
    }
    assert_eq!(new(&mut lab, ANN, wants(1)), Some(128), "the first is long ago");
    lab.cancel(9);
    has_run(&mut lab, ANN, 1, 128 * 64);
    assert_eq!(new(&mut lab, ANN, wants(1)), Some(256), "the sixth root of 64 times as much");
}

#[test]
fn ones_own_tasks_of_the_same_kind_and_size_tell_most() {
    let mut lab = lab(&[4]);
    has_run(&mut lab, BOB, 2, 900);
    assert_eq!(new(&mut lab, ANN, wants(1)), Some(900), "somebody else's, of another size");
    lab.cancel(2);
    has_run(&mut lab, BOB, 1, 700);
    assert_eq!(new(&mut lab, ANN, wants(1)), Some(700), "of the same size");
    lab.cancel(4);
    has_run(&mut lab, ANN, 2, 500);
    assert_eq!(new(&mut lab, ANN, wants(1)), Some(500), "her own, of another size");
    lab.cancel(6);
    has_run(&mut lab, ANN, 1, 300);
    assert_eq!(new(&mut lab, ANN, TaskSpec { name: "probe".into(), ..wants(1) }), Some(300));
    lab.cancel(8);
    let probe = submit(&mut lab, ANN, TaskSpec { name: "probe".into(), ..wants(1) });
    lab.schedule();
    lab.after_secs(20);
    lab.ended(probe, Exit::Code(1));
    assert_eq!(new(&mut lab, ANN, TaskSpec { name: "probe".into(), ..wants(1) }), Some(20));
    assert_eq!(new(&mut lab, ANN, wants(1)), Some(300), "other work of hers");
}

#[test]
fn what_is_believed_does_not_change_while_a_task_waits() {
    let mut lab = lab(&[1]);
    has_run(&mut lab, ANN, 1, 100);
    submit(&mut lab, ANN, wants(1));
    lab.schedule();
    let waiting = submit(&mut lab, ANN, wants(1));
    lab.after_secs(9_000);
    lab.ended(2, Exit::Code(0));
    assert_eq!(predicted(&lab, waiting), Some(100));
    assert_ne!(new(&mut lab, ANN, wants(1)), Some(100));
}

#[test]
fn what_is_removed_is_forgotten_and_what_never_ran_tells_nothing() {
    let mut lab = lab(&[1]);
    let first = has_run(&mut lab, ANN, 1, 100);
    submit(&mut lab, ANN, wants(1));
    lab.cancel(2);
    assert_eq!(new(&mut lab, ANN, wants(1)), Some(100));
    lab.act(Input::Remove { by: Actor::User(ANN), task: TaskId(first) });
    assert_eq!(new(&mut lab, ANN, wants(1)), None);
}

#[test]
fn predictions_can_be_switched_off() {
    let mut lab = lab(&[1]);
    has_run(&mut lab, ANN, 1, 100);
    lab.configure(|settings| settings.predictions = false);
    assert_eq!(new(&mut lab, ANN, wants(1)), None);
}

#[test]
fn easy_goes_by_predictions_where_there_is_no_limit() {
    let mut lab = lab(&[4]);
    has_run(&mut lab, ANN, 1, 1_000);
    has_run(&mut lab, BOB, 1, 10);
    lab.policy(Order::Fifo, Backfill::Easy);
    submit(&mut lab, ANN, lasting(3, 100));
    lab.schedule();
    let head = submit(&mut lab, ANN, wants(4));
    let long = submit(&mut lab, ANN, wants(1));
    let short = submit(&mut lab, BOB, wants(1));
    lab.schedule();
    assert_eq!((lab.task(head), lab.task(long)), ("queued".into(), "queued".into()));
    assert_eq!(lab.task(short), "starting n1[1]");
}

#[test]
fn a_limit_counts_more_than_a_prediction() {
    let mut lab = lab(&[4]);
    has_run(&mut lab, ANN, 1, 10);
    let limited = TaskSpec { time_limit: Some(Span::from_secs(500)), ..wants(1) };
    let task = submit(&mut lab, ANN, limited);
    let remaining = lab.state.tasks[&TaskId(task)].expected_remaining();
    assert_eq!((predicted(&lab, task), remaining), (Some(10), Some(Span::from_secs(500))));
}

#[test]
fn a_run_beyond_its_prediction_is_expected_to_take_as_long_again() {
    let mut lab = lab(&[1]);
    has_run(&mut lab, ANN, 1, 128);
    submit(&mut lab, ANN, wants(1));
    lab.schedule();
    let waiting = TaskId(submit(&mut lab, ANN, wants(1)));
    let seconds = |lab: &Lab| {
        let at = expected_start(&lab.state, waiting, lab.now);
        at.map(|at| (at.since(lab.now).0 + 500) / 1_000)
    };
    assert_eq!(seconds(&lab), Some(128));
    lab.after_secs(100);
    assert_eq!(seconds(&lab), Some(28));
    lab.after_secs(100);
    assert_eq!(seconds(&lab), Some(200));
}

#[test]
fn how_good_predictions_were_is_told_afterwards() {
    let mut lab = lab(&[1]);
    has_run(&mut lab, ANN, 1, 100);
    // One waits for the other, which takes twice as long as predicted.
    submit(&mut lab, ANN, wants(1));
    lab.schedule();
    submit(&mut lab, ANN, wants(1));
    lab.after_secs(200);
    lab.ended(2, Exit::Code(0));
    lab.schedule();
    lab.after_secs(100);
    lab.ended(3, Exit::Code(1));
    let cancelled = submit(&mut lab, ANN, wants(1));
    lab.cancel(cancelled);
    let (mut durations, mut starts) = (Accuracy::default(), Accuracy::default());
    for task in lab.state.tasks.values() {
        durations.add_duration(task);
        let mut runs = lab.state.runs_of(task.id);
        runs.next().into_iter().for_each(|run| starts.add_start(task, run));
    }
    assert_eq!((durations.compared, durations.within_quarter), (2, 1));
    assert!((durations.bias().unwrap() + 1.0 / 3.0).abs() < 0.01, "200 predicted, 300 came");
    assert_eq!((starts.compared, starts.within_quarter), (3, 2), "100 s predicted, 200 s came");
    assert_eq!(Accuracy::default().bias(), None);
}
