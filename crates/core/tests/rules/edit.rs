//! Changing, moving and starting tasks that wait.

use crate::lab::{ADMIN, ANN, BOB, Lab, after, lab, wants};
use danlu_core::run::Exit;
use danlu_core::task::{DependencyKind::AfterOk, TaskSpec};
use danlu_core::{Actor, Input, Refusal, TaskId};

fn edit(lab: &mut Lab, task: u64, spec: TaskSpec) -> Result<danlu_core::Reply, Refusal> {
    lab.try_act(Input::Edit { by: Actor::User(ANN), task: TaskId(task), spec })
}

fn queue(lab: &Lab) -> Vec<u64> {
    lab.state.queue().iter().map(|rank| rank.task.0).collect()
}

#[test]
fn an_edited_task_keeps_its_place() {
    let mut lab = lab(&[4]);
    for _ in 0..3 {
        lab.submit(wants(4));
    }
    edit(&mut lab, 2, wants(3)).unwrap();
    assert_eq!(queue(&lab), [1, 2, 3]);
    assert_eq!(lab.state.tasks[&TaskId(2)].spec.request.gpus, 3);
}

#[test]
fn an_edit_is_checked_like_a_submit_and_only_for_waiting_tasks() {
    let mut lab = lab(&[4]);
    lab.submit(wants(1));
    assert!(matches!(edit(&mut lab, 1, wants(5)), Err(Refusal::Impossible { .. })));
    lab.schedule();
    assert!(matches!(edit(&mut lab, 1, wants(2)), Err(Refusal::WrongState { .. })));
    lab.ended(1, Exit::Code(0));
    assert!(matches!(edit(&mut lab, 1, wants(2)), Err(Refusal::WrongState { .. })));
}

#[test]
fn an_edit_may_block_and_unblock_but_not_in_a_circle() {
    let mut lab = lab(&[4]);
    lab.submit(wants(4));
    lab.submit(after(AfterOk, &[1]));
    lab.submit(after(AfterOk, &[2]));
    assert_eq!(edit(&mut lab, 1, after(AfterOk, &[3])), Err(Refusal::Circle(TaskId(1))));
    assert_eq!(edit(&mut lab, 1, after(AfterOk, &[1])), Err(Refusal::Circle(TaskId(1))));
    edit(&mut lab, 3, wants(1)).unwrap();
    edit(&mut lab, 1, after(AfterOk, &[3])).unwrap();
    assert_eq!(lab.tasks(), ["blocked on [3]", "blocked on [1]", "queued"]);
}

#[test]
fn a_move_changes_the_order_of_the_owner_only() {
    let mut lab = lab(&[1]);
    for owner in [ANN, BOB, ANN, ANN, BOB] {
        lab.act(Input::Submit { by: owner, spec: wants(1), key: None });
    }
    let by = Actor::User(ANN);
    lab.act(Input::Move { by, task: TaskId(4), position: 0 });
    assert_eq!(queue(&lab), [4, 2, 1, 3, 5]);
    lab.act(Input::Move { by, task: TaskId(4), position: 99 });
    assert_eq!(queue(&lab), [1, 2, 3, 4, 5]);
    let other = Input::Move { by: Actor::User(BOB), task: TaskId(1), position: 0 };
    assert_eq!(lab.try_act(other), Err(Refusal::NotPermitted));
}

#[test]
fn an_admin_starts_a_task_before_its_turn_where_there_is_room() {
    let mut lab = lab(&[2]);
    lab.submit(wants(1));
    lab.schedule();
    lab.submit(wants(2));
    lab.submit(wants(1));
    let start = |user, task| Input::Start { by: Actor::User(user), task: TaskId(task) };
    assert_eq!(lab.try_act(start(ANN, 3)), Err(Refusal::AdminOnly));
    assert_eq!(lab.try_act(start(ADMIN, 2)), Err(Refusal::NoRoom(TaskId(2))));
    lab.act(start(ADMIN, 3));
    assert_eq!(lab.task(3), "starting n1[1]");
}

#[test]
fn a_repeated_submit_finds_its_task_also_after_an_edit() {
    let mut lab = lab(&[4]);
    let submit = || Input::Submit { by: ANN, spec: wants(1), key: Some("k".into()) };
    let first = lab.act(submit());
    edit(&mut lab, 1, wants(2)).unwrap();
    assert_eq!(lab.act(submit()), first);
}

#[test]
fn a_circle_through_a_finished_task_is_refused_too() {
    let mut lab = lab(&[4]);
    lab.submit(wants(1));
    lab.submit(after(AfterOk, &[1]));
    lab.cancel(2);
    assert_eq!(edit(&mut lab, 1, after(AfterOk, &[2])), Err(Refusal::Circle(TaskId(1))));
}
