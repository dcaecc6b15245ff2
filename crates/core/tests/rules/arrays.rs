//! Many tasks from one submit.

use crate::lab::{Lab, lab, wants};
use danlu_core::run::Exit;
use danlu_core::task::{ArraySpec, TaskSpec};
use danlu_core::{Input, Refusal, TaskId, WaitReason};

fn array(indices: &[u32], at_once: Option<u32>) -> TaskSpec {
    TaskSpec { array: Some(ArraySpec { indices: indices.to_vec(), at_once }), ..wants(1) }
}

fn running(lab: &Lab) -> Vec<u64> {
    let mut ids: Vec<u64> = lab.state.active_runs().map(|run| run.task.0).collect();
    ids.sort_unstable();
    ids
}

#[test]
fn elements_are_tasks_with_consecutive_ids() {
    let mut lab = lab(&[8]);
    assert_eq!(lab.submit(array(&[5, 7, 9], None)), TaskId(1));
    lab.schedule();
    assert_eq!(running(&lab), [1, 2, 3]);
    let element = lab.state.tasks[&TaskId(3)].array.unwrap();
    assert_eq!((element.first, element.index), (TaskId(1), 9));
}

#[test]
fn no_more_run_at_once_than_asked_and_the_next_follows_whoever_ends() {
    let mut lab = lab(&[8]);
    lab.submit(array(&[0, 1, 2, 3, 4], Some(2)));
    lab.schedule();
    assert_eq!(running(&lab), [1, 2]);
    assert_eq!(lab.why(3), WaitReason::ArrayLimit { at_once: 2 });
    lab.ended(2, Exit::Code(0));
    lab.schedule();
    assert_eq!(running(&lab), [1, 3]);
    lab.cancel(4);
    lab.ended(1, Exit::Code(1));
    lab.ended(3, Exit::Code(0));
    lab.schedule();
    assert_eq!(running(&lab), [5]);
}

#[test]
fn a_limited_array_holds_up_nobody_else() {
    let mut lab = lab(&[8]);
    lab.submit(array(&[0, 1, 2], Some(1)));
    lab.submit(wants(1));
    lab.schedule();
    assert_eq!(running(&lab), [1, 4]);
}

#[test]
fn a_bad_array_is_refused() {
    for bad in [array(&[], None), array(&[1, 1], None), array(&[1], Some(0))] {
        let input = Input::Submit { by: crate::lab::ANN, spec: bad, key: None };
        assert_eq!(lab(&[1]).try_act(input), Err(Refusal::BadArray));
    }
}

#[test]
fn a_repeated_key_makes_no_second_array() {
    let mut lab = lab(&[1]);
    let submit =
        || Input::Submit { by: crate::lab::ANN, spec: array(&[1, 2], None), key: Some("k".into()) };
    let first = lab.act(submit());
    assert_eq!(lab.act(submit()), first);
    assert_eq!(lab.state.tasks.len(), 2);
}
