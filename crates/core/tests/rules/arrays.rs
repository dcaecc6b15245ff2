//! Many tasks from one submit.

use crate::lab::{ANN, Lab, lab, wants};
use danlu_core::run::Exit;
use danlu_core::task::{ArraySpec, Axis, TaskSpec};
use danlu_core::{Actor, Event, Input, Refusal, TaskId, WaitReason};

fn array(indices: &[u32], at_once: Option<u32>) -> TaskSpec {
    TaskSpec {
        array: Some(ArraySpec { indices: indices.to_vec(), at_once, grid: Vec::new() }),
        ..wants(1)
    }
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
        let input = Input::Submit { by: ANN, spec: bad, key: None };
        assert_eq!(lab(&[1]).try_act(input), Err(Refusal::BadArray));
    }
}

#[test]
fn a_repeated_key_makes_no_second_array() {
    let mut lab = lab(&[1]);
    let submit = || Input::Submit { by: ANN, spec: array(&[1, 2], None), key: Some("k".into()) };
    let first = lab.act(submit());
    assert_eq!(lab.act(submit()), first);
    assert_eq!(lab.state.tasks.len(), 2);
}

fn axis(name: &str, values: &[&str]) -> Axis {
    Axis { name: name.into(), values: values.iter().map(ToString::to_string).collect() }
}

fn sweep(grid: Vec<Axis>) -> TaskSpec {
    let count = ArraySpec::combinations(&grid).unwrap();
    let indices = (0..u32::try_from(count).unwrap()).collect();
    TaskSpec { array: Some(ArraySpec { indices, at_once: None, grid }), ..wants(1) }
}

#[test]
fn a_sweep_has_a_task_for_each_combination_of_values() {
    let mut lab = lab(&[8]);
    lab.submit(sweep(vec![axis("lr", &["1e-3", "1e-4"]), axis("seed", &["0", "1", "2"])]));
    let values = |id: u64| lab.state.tasks[&TaskId(id)].values();
    assert_eq!(lab.state.tasks.len(), 6);
    assert_eq!(values(1), [("lr", "1e-3"), ("seed", "0")]);
    assert_eq!(values(2), [("lr", "1e-3"), ("seed", "1")]);
    assert_eq!(values(6), [("lr", "1e-4"), ("seed", "2")]);
    let all: std::collections::BTreeSet<_> = (1..=6).map(values).collect();
    assert_eq!(all.len(), 6);
}

#[test]
fn a_sweep_that_makes_no_sense_is_refused() {
    let mut lab = lab(&[8]);
    for grid in [
        vec![axis("", &["1"])],
        vec![axis("a b", &["1"])],
        vec![axis("task_id", &["1"])],
        vec![axis("a", &["1"]), axis("a", &["2"])],
        vec![axis("a", &["line\nbreak"])],
        (0..17).map(|at| axis(&format!("a{at}"), &["1"])).collect(),
    ] {
        let input = Input::Submit { by: ANN, spec: sweep(grid.clone()), key: None };
        assert!(lab.try_act(input).is_err(), "{grid:?}");
    }
    let mut short = sweep(vec![axis("a", &["1", "2"])]);
    short.array.as_mut().unwrap().indices.pop();
    let input = Input::Submit { by: ANN, spec: short, key: None };
    assert_eq!(lab.try_act(input), Err(Refusal::BadArray));
}

/// The element asks for so many GPUs from now on.
fn edit(lab: &mut Lab, task: u64, gpus: u32) {
    let mut spec = TaskSpec::clone(&lab.state.tasks[&TaskId(task)].spec);
    spec.request.gpus = gpus;
    lab.act(Input::Edit { by: Actor::User(ANN), task: TaskId(task), spec });
}

#[test]
fn an_element_that_cannot_run_does_not_keep_the_others() {
    let mut lab = lab(&[2, 4]);
    lab.submit(array(&[0, 1, 2], Some(1)));
    edit(&mut lab, 1, 4);
    lab.act(Input::Drain { by: Actor::Daemon, node: danlu_core::NodeId(2) });
    lab.schedule();
    assert_eq!(running(&lab), [2]);
    assert!(matches!(lab.why(1), WaitReason::NodesUnavailable { .. }));
}

#[test]
fn elements_that_ask_for_different_things_keep_their_limit_together() {
    let mut lab = lab(&[8]);
    lab.submit(array(&[0, 1, 2], Some(1)));
    edit(&mut lab, 2, 2);
    lab.schedule();
    assert_eq!(running(&lab), [1]);
    lab.ended(1, Exit::Code(0));
    lab.schedule();
    assert_eq!(running(&lab).len(), 1);
    assert!(!lab.events.iter().any(|it| matches!(it, Event::DecisionRejected { .. })));
}
