//! Tasks that wait for tasks.

use crate::lab::{ANN, after, lab, wants};
use danlu_core::run::Exit;
use danlu_core::task::{DependencyKind::*, TaskSpec};
use danlu_core::{Actor, Input, Refusal, TaskId};

/// A task ends with this code; what has become of one that waits for it in each way?
fn waiting_for(exit: i32) -> Vec<String> {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    for kind in [AfterOk, AfterAny, AfterNotOk] {
        lab.submit(after(kind, &[1]));
    }
    assert_eq!(lab.tasks()[1..], ["blocked on [1]", "blocked on [1]", "blocked on [1]"]);
    lab.schedule();
    lab.ended(1, Exit::Code(exit));
    lab.tasks()[1..].to_vec()
}

#[test]
fn each_kind_waits_for_its_outcome() {
    assert_eq!(waiting_for(0), ["queued", "queued", "dependency 1 failed"]);
    assert_eq!(waiting_for(3), ["dependency 1 failed", "queued", "queued"]);
}

#[test]
fn all_predecessors_must_have_ended() {
    let mut lab = lab(&[2]);
    lab.submit(wants(1));
    lab.submit(wants(1));
    lab.submit(after(AfterOk, &[1, 2]));
    lab.schedule();
    lab.ended(2, Exit::Code(0));
    assert_eq!(lab.task(3), "blocked on [1]");
    lab.ended(1, Exit::Code(0));
    assert_eq!(lab.task(3), "queued");
}

#[test]
fn a_failure_ends_the_whole_chain_behind_it() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.submit(after(AfterOk, &[1]));
    lab.submit(after(AfterOk, &[2]));
    lab.submit(after(AfterNotOk, &[3]));
    lab.cancel(1);
    let expected = ["cancelled", "dependency 1 failed", "dependency 2 failed", "queued"];
    assert_eq!(lab.tasks(), expected);
}

#[test]
fn a_predecessor_that_has_ended_already_counts() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.schedule();
    lab.ended(1, Exit::Code(0));
    lab.submit(after(AfterOk, &[1]));
    lab.submit(after(AfterNotOk, &[1]));
    assert_eq!(lab.tasks()[1..], ["queued", "dependency 1 failed"]);
}

#[test]
fn a_held_task_looks_at_its_predecessors_when_released() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.submit(TaskSpec { hold: true, ..after(AfterOk, &[1]) });
    lab.cancel(1);
    assert_eq!(lab.task(2), "held");
    lab.act(Input::Release { by: Actor::User(ANN), task: TaskId(2) });
    assert_eq!(lab.task(2), "dependency 1 failed");
}

#[test]
fn a_predecessor_that_is_still_needed_is_not_removed() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.submit(TaskSpec { hold: true, ..after(AfterAny, &[1]) });
    lab.cancel(1);
    let remove = Input::Remove { by: Actor::User(ANN), task: TaskId(1) };
    let needed = Refusal::StillNeeded { task: TaskId(1), by: TaskId(2) };
    assert_eq!(lab.try_act(remove.clone()), Err(needed));
    lab.cancel(2);
    lab.act(remove);
    assert!(!lab.state.tasks.contains_key(&TaskId(1)));
}

#[test]
fn a_task_that_waited_for_two_that_fail_together_ends_once() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.submit(after(AfterOk, &[1]));
    lab.submit(after(AfterOk, &[1, 2]));
    lab.cancel(1);
    let ends = lab
        .events
        .iter()
        .filter(|event| matches!(event, danlu_core::Event::TaskFinished { task: TaskId(3), .. }));
    assert_eq!(ends.count(), 1);
}

#[test]
fn all_that_wait_for_a_task_are_told_each_before_what_it_waits_for() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.submit(after(AfterAny, &[1]));
    lab.submit(after(AfterAny, &[1, 2]));
    lab.submit(after(AfterOk, &[3]));
    lab.submit(wants(1));
    let waiting: Vec<u64> = lab.state.waiting_for(&[TaskId(1)]).iter().map(|id| id.0).collect();
    assert_eq!(waiting, [4, 3, 2]);
    // Cancelled in this order, none of them is let go in between.
    for id in waiting {
        lab.cancel(id);
        assert!(!lab.tasks()[1..4].contains(&"queued".to_owned()), "{:?}", lab.tasks());
    }
    assert!(lab.state.waiting_for(&[TaskId(1)]).is_empty());
}
