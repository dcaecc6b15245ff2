//! When a task may start.

use crate::cluster::{any_cluster, any_task};
use crate::lab::{ANN, Lab, after, lab, lasting, wants};
use danlu_core::settings::{Backfill, Order};
use danlu_core::task::{DependencyKind, TaskSpec};
use danlu_core::{
    Forecast, Input, NodeId, Refusal, Reply, Run, Span, TaskId, Time, dry_run, expected_start,
};
use proptest::prelude::*;

fn seconds_from_now(lab: &Lab, time: Option<Time>) -> Option<u64> {
    Some(time?.since(lab.now).0 / 1_000)
}

fn expected(lab: &Lab, task: u64) -> Option<u64> {
    seconds_from_now(lab, expected_start(&lab.state, TaskId(task), lab.now))
}

fn dry(lab: &Lab, spec: &TaskSpec) -> Result<Forecast, Refusal> {
    dry_run(&lab.state, ANN, spec, lab.now)
}

#[test]
fn the_queue_is_followed_in_order_from_end_to_end() {
    let mut lab = lab(&[4]);
    lab.submit(lasting(3, 100));
    lab.schedule();
    lab.submit(lasting(4, 50));
    lab.submit(lasting(2, 30));
    lab.submit(lasting(2, 10));
    lab.submit(lasting(4, 10));
    assert_eq!(expected(&lab, 1), None, "it runs");
    assert_eq!(expected(&lab, 2), Some(100));
    assert_eq!(expected(&lab, 3), Some(150));
    assert_eq!(expected(&lab, 4), Some(150));
    assert_eq!(expected(&lab, 5), Some(180));
    let new = dry(&lab, &wants(1)).unwrap();
    assert_eq!((seconds_from_now(&lab, new.starts_at), new.placement), (Some(190), None));
}

#[test]
fn what_nobody_knows_is_not_made_up() {
    let mut lab = lab(&[2]);
    lab.submit(wants(2));
    lab.schedule();
    lab.submit(wants(1));
    assert_eq!(expected(&lab, 2), None, "the first has no time limit");
    assert_eq!(dry(&lab, &wants(1)), Ok(Forecast::default()));
    lab.policy(Order::Srtf, Backfill::None);
    assert_eq!(expected(&lab, 2), None, "under preemption anything may happen");
}

#[test]
fn a_dry_run_tells_the_place_and_changes_nothing() {
    let mut lab = lab(&[2, 4]);
    let before = lab.state.clone();
    let now = dry(&lab, &wants(3)).unwrap();
    assert_eq!(now.starts_at, Some(lab.now));
    assert_eq!(now.placement.unwrap().parts[0].node, danlu_core::NodeId(2));
    assert_eq!(lab.state, before);
    assert!(matches!(dry(&lab, &wants(5)), Err(Refusal::Impossible { .. })));
    let held = TaskSpec { hold: true, ..wants(1) };
    assert_eq!(dry(&lab, &held), Ok(Forecast::default()));
    let first = lab.submit(wants(1));
    let next = after(DependencyKind::AfterOk, &[first.0]);
    assert_eq!(dry(&lab, &next), Ok(Forecast::default()));
}

#[test]
fn a_task_without_gpus_does_not_wait_for_those_that_need_some() {
    for backfill in [Backfill::None, Backfill::Skip, Backfill::Easy] {
        let mut lab = lab(&[2]);
        lab.policy(Order::Balance, backfill);
        lab.submit(lasting(2, 100_000));
        lab.schedule();
        lab.submit(lasting(2, 100));
        let mut small = lasting(0, 10);
        small.request.cpus = 1;
        let said = dry(&lab, &small).unwrap();
        assert_eq!((said.starts_at, said.placement.is_some()), (Some(lab.now), true));
        let id = lab.submit(small);
        assert_eq!(expected(&lab, id.0), Some(0));
        lab.schedule();
        assert!(lab.task(id.0).starts_with("starting"), "{backfill:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_a_dry_run_says_of_now_is_what_happens(cluster in any_cluster(), (user, spec) in any_task()) {
        let mut lab = cluster.build();
        let said = dry_run(&lab.state, user, &spec, lab.now);
        let submitted = lab.try_act(Input::Submit { by: user, spec, key: None });
        prop_assert_eq!(said.is_ok(), submitted.is_ok());
        let (Ok(said), Ok(Reply::Task(id))) = (said, submitted) else { return Ok(()) };
        lab.schedule();
        let runs: Vec<&Run> = lab.state.runs_of(id).collect();
        let places = runs.iter().flat_map(|run| run.parts.iter().map(|part| part.node));
        let places: Vec<NodeId> = places.collect();
        let told = said.placement.iter().flat_map(|it| it.parts.iter().map(|part| part.node));
        prop_assert_eq!(told.collect::<Vec<_>>(), places);
        prop_assert_eq!(said.starts_at == Some(lab.now), !runs.is_empty());
    }
}

#[test]
fn what_cannot_run_now_is_waited_for_by_nobody() {
    let mut lab = lab(&[2, 4]);
    lab.submit(lasting(4, 60));
    lab.hear(2, danlu_core::NodeMessage::Lost);
    assert_eq!(expected(&lab, 1), None);
    assert_eq!(dry(&lab, &wants(2)).unwrap().starts_at, Some(lab.now));
}

#[test]
fn overdue_runs_end_at_any_moment() {
    let mut lab = lab(&[1]);
    lab.submit(lasting(1, 10));
    lab.schedule();
    lab.after_secs(60);
    lab.submit(wants(1));
    let at = expected_start(&lab.state, TaskId(2), lab.now);
    assert_eq!(at, Some(lab.now + Span(1)));
}
