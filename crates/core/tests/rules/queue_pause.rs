//! The whole queue is paused, and running tasks are put back into it.

use crate::lab::{ADMIN, ANN, BOB, ending, lab, wants};
use danlu_core::run::Exit;
use danlu_core::{Actor, Input, Refusal, TaskId, WaitReason};

#[test]
fn nothing_starts_while_the_queue_is_paused_and_what_runs_goes_on() {
    let mut lab = lab(&[2]);
    lab.submit(wants(1));
    lab.schedule();
    lab.started(1);
    lab.configure(|settings| settings.queue_paused = true);
    lab.submit(wants(1));
    lab.schedule();
    assert_eq!(lab.tasks(), ["running n1[0]", "queued"]);
    assert_eq!(lab.why(2), WaitReason::QueuePaused);
    lab.configure(|settings| settings.queue_paused = false);
    lab.schedule();
    assert_eq!(lab.task(2), "starting n1[1]");
}

#[test]
fn an_admin_starts_a_task_by_hand_although_the_queue_is_paused() {
    let mut lab = lab(&[1]);
    lab.configure(|settings| settings.queue_paused = true);
    lab.submit(wants(1));
    lab.act(Input::Start { by: Actor::User(ADMIN), task: TaskId(1) });
    assert_eq!(lab.task(1), "starting n1[0]");
}

#[test]
fn a_running_task_goes_back_to_its_place_with_the_next_attempt() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.submit(wants(1));
    lab.schedule();
    lab.started(1);
    let requeue = |by| Input::Requeue { by: Actor::User(by), task: TaskId(1) };
    assert_eq!(lab.try_act(requeue(BOB)), Err(Refusal::NotPermitted));
    lab.act(requeue(ANN));
    assert_eq!(lab.task(1), "stopping n1[0]");
    lab.ended_with(1, ending(Exit::Signal(15), true));
    assert_eq!(lab.task(1), "queued");
    lab.schedule();
    assert_eq!(lab.tasks(), ["starting n1[0]", "queued"]);
    assert_eq!(lab.state.tasks[&TaskId(1)].trail().attempts, 2);
}

#[test]
fn a_task_that_ends_by_itself_while_it_is_put_back_has_ended() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.schedule();
    lab.started(1);
    lab.act(Input::Requeue { by: Actor::User(ANN), task: TaskId(1) });
    lab.ended(1, Exit::Code(0));
    assert_eq!(lab.task(1), "succeeded");
    let again = Input::Requeue { by: Actor::User(ANN), task: TaskId(1) };
    assert!(matches!(lab.try_act(again), Err(Refusal::WrongState { .. })));
}
