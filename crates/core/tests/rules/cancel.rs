//! The end that somebody asks for.

use crate::lab::{ANN, ending, lab, wants};
use danlu_core::run::Exit;
use danlu_core::{Actor, Input, Refusal, TaskId};

#[test]
fn a_waiting_task_ends_at_once() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.cancel(1);
    assert_eq!(lab.task(1), "cancelled");
    assert_eq!(lab.effects(), [] as [&str; 0]);
}

#[test]
fn a_running_task_keeps_its_gpus_until_it_has_stopped() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.submit(wants(1));
    lab.schedule();
    lab.started(1);
    lab.effects();
    lab.cancel(1);
    lab.schedule();
    assert_eq!(lab.effects(), ["stop 1-1 on n1"]);
    assert_eq!(lab.tasks(), ["stopping n1[0]", "queued"]);
    lab.ended_with(1, ending(Exit::Signal(15), true));
    lab.schedule();
    assert_eq!(lab.tasks(), ["cancelled", "starting n1[0]"]);
}

#[test]
fn a_task_that_succeeded_before_the_signal_reached_it_has_succeeded() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.schedule();
    lab.cancel(1);
    lab.ended_with(1, ending(Exit::Code(0), false));
    assert_eq!(lab.task(1), "succeeded");
}

#[test]
fn a_task_that_ends_well_because_it_was_stopped_is_cancelled() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.schedule();
    lab.cancel(1);
    lab.ended_with(1, ending(Exit::Code(0), true));
    assert_eq!(lab.task(1), "cancelled");
}

#[test]
fn cancelling_while_the_node_is_away_is_not_forgotten() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.schedule();
    lab.started(1);
    lab.hear(1, danlu_core::NodeMessage::Lost);
    lab.effects();
    lab.cancel(1);
    assert_eq!(lab.effects(), [] as [&str; 0]);
    lab.connect(1);
    let alive = lab.alive(1);
    lab.report(1, crate::lab::healthy(1, 1), vec![alive]);
    assert_eq!(lab.effects(), ["stop 1-1 on n1"]);
}

#[test]
fn cancelling_twice_is_fine_and_cancelling_what_has_ended_is_refused() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.schedule();
    lab.cancel(1);
    lab.cancel(1);
    lab.ended_with(1, ending(Exit::Signal(15), true));
    let again = lab.try_act(Input::Cancel { by: Actor::User(ANN), task: TaskId(1) });
    assert!(matches!(again, Err(Refusal::WrongState { .. })));
}

#[test]
fn cancelling_what_has_not_started_yet_waits_for_the_node() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.schedule();
    lab.cancel(1);
    lab.reconnect(1, vec![]);
    assert_eq!(lab.task(1), "cancelled");
}
