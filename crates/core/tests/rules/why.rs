//! Every waiting task has a reason.

use crate::lab::{after, foreign, gpu, healthy, lab, lasting, wants};
use danlu_core::run::Exit;
use danlu_core::settings::{Backfill, Order};
use danlu_core::task::{DependencyKind, TaskSpec};
use danlu_core::{Actor, Input, NodeId, NodeMessage, TaskId, Time, WaitReason, explain};

#[test]
fn held_and_blocked_tasks_say_so() {
    let mut lab = lab(&[1]);
    lab.submit(TaskSpec { hold: true, ..wants(1) });
    lab.submit(after(DependencyKind::AfterOk, &[1]));
    assert_eq!(lab.why(1), WaitReason::Held);
    assert_eq!(lab.why(2), WaitReason::Dependencies { on: vec![TaskId(1)] });
}

#[test]
fn what_runs_or_has_ended_waits_for_nothing() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.schedule();
    assert_eq!(explain(&lab.state, TaskId(1), lab.now), None);
    lab.ended(1, Exit::Code(0));
    assert_eq!(explain(&lab.state, TaskId(1), lab.now), None);
    assert_eq!(explain(&lab.state, TaskId(2), lab.now), None);
}

#[test]
fn a_full_lab_names_the_runs_that_hold_it_soonest_to_end_first() {
    let mut lab = lab(&[2]);
    lab.submit(lasting(1, 900));
    lab.submit(lasting(1, 90));
    lab.schedule();
    lab.submit(wants(1));
    let held_by = vec![lab.run_of(2), lab.run_of(1)];
    assert_eq!(lab.why(3), WaitReason::Resources { held_by });
}

#[test]
fn a_strict_order_names_who_is_first() {
    let mut lab = lab(&[2]);
    lab.submit(wants(1));
    lab.submit(wants(2));
    lab.submit(wants(1));
    lab.schedule();
    assert_eq!(lab.why(3), WaitReason::Behind { first: TaskId(2) });
}

#[test]
fn backfill_says_whom_it_would_delay_and_when_that_one_starts() {
    let mut lab = lab(&[2]);
    lab.policy(Order::Fifo, Backfill::Easy);
    lab.submit(lasting(1, 100));
    lab.submit(lasting(2, 100));
    lab.submit(lasting(1, 101));
    lab.schedule();
    let starts_at = Some(Time::from_secs(1_100));
    assert_eq!(lab.why(3), WaitReason::WouldDelay { first: TaskId(2), starts_at });
}

#[test]
fn no_node_and_nothing_large_enough() {
    let mut empty = lab(&[]);
    empty.submit(wants(1));
    assert_eq!(empty.why(1), WaitReason::NoNodes);
    let mut lab = lab(&[4]);
    lab.submit(wants(4));
    lab.hear(1, NodeMessage::Gpus(healthy(1, 2)));
    assert_eq!(lab.why(1), WaitReason::NeverFits);
}

#[test]
fn nodes_that_are_away_or_drain_are_named() {
    let mut lab = lab(&[1, 1]);
    lab.submit(wants(1));
    lab.hear(1, NodeMessage::Lost);
    lab.act(Input::Drain { by: Actor::Daemon, node: NodeId(2) });
    assert_eq!(lab.why(1), WaitReason::NodesUnavailable { nodes: vec![NodeId(1), NodeId(2)] });
}

#[test]
fn foreign_processes_are_told_apart_from_own_runs() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.hear(1, NodeMessage::Gpus(vec![gpu(1, 0, foreign())]));
    assert_eq!(
        lab.why(1),
        WaitReason::GpusUnavailable {
            foreign: 1,
            unknown: 0,
            dirty: 0,
            just_left: 0,
            quarantined: 0,
            unknown_runs: 0,
        }
    );
}

#[test]
fn preemptive_orders_say_who_waits_for_its_turn() {
    let mut lab = lab(&[2]);
    lab.policy(Order::Srtf, Backfill::None);
    lab.submit(lasting(2, 10));
    lab.submit(lasting(1, 100));
    assert_eq!(lab.why(2), WaitReason::Outranked);
    assert_eq!(lab.why(1), WaitReason::AboutToStart);
}
