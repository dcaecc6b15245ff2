//! Named things that a node has so many of, such as licences.

use crate::lab::{ADMIN, ANN, Lab, lab, wants};
use danlu_core::run::Exit;
use danlu_core::settings::{Backfill, Order};
use danlu_core::task::TaskSpec;
use danlu_core::{Actor, Input, NodeId, Refusal, WaitReason};
use std::collections::BTreeMap;

fn licences(count: u32) -> BTreeMap<String, u32> {
    BTreeMap::from([("licence".to_owned(), count)])
}

fn needing(count: u32) -> TaskSpec {
    let mut spec = wants(1);
    spec.request.resources = licences(count);
    spec
}

fn give(lab: &mut Lab, node: u32, count: u32) {
    let (by, node) = (Actor::User(ADMIN), NodeId(node));
    lab.act(Input::SetResources { by, node, resources: licences(count) });
}

#[test]
fn no_more_are_taken_than_there_are() {
    let mut lab = lab(&[8]);
    give(&mut lab, 1, 3);
    for count in [2, 2, 1] {
        lab.submit(needing(count));
    }
    lab.policy(Order::Fifo, Backfill::Skip);
    lab.schedule();
    assert_eq!(lab.tasks(), ["starting n1[0]", "queued", "starting n1[1]"]);
    let held_by = vec![lab.run_of(1), lab.run_of(3)];
    assert_eq!(lab.why(2), WaitReason::NamedResources { wanted: licences(2), held_by });
    lab.ended(1, Exit::Code(0));
    lab.schedule();
    assert_eq!(lab.task(2), "starting n1[2]");
}

#[test]
fn a_task_goes_where_there_are_some() {
    let mut lab = lab(&[1, 8]);
    give(&mut lab, 2, 1);
    lab.submit(needing(1));
    lab.schedule();
    assert_eq!(lab.task(1), "starting n2[0]");
}

#[test]
fn more_than_any_node_has_is_refused() {
    let mut lab = lab(&[8, 8]);
    give(&mut lab, 1, 1);
    give(&mut lab, 2, 2);
    let submit = |spec| Input::Submit { by: ANN, spec, key: None };
    let refused = lab.try_act(submit(needing(3))).expect_err("nobody has three");
    let Refusal::Impossible { wanted, most, .. } = refused else { panic!("{refused:?}") };
    assert_eq!(wanted.resources, BTreeMap::from([("licence".to_owned(), 3)]));
    assert_eq!(most.resources, BTreeMap::from([("licence".to_owned(), 2)]));
    lab.submit(needing(2));
    // Taken away later, it waits and is told why.
    give(&mut lab, 2, 0);
    lab.schedule();
    let waits = WaitReason::NamedResources { wanted: licences(2), held_by: vec![] };
    assert_eq!(lab.why(1), waits);
}

#[test]
fn what_a_node_has_is_for_admins_to_say() {
    let mut lab = lab(&[1]);
    let (by, node) = (Actor::User(ANN), NodeId(1));
    let input = Input::SetResources { by, node, resources: licences(1) };
    assert_eq!(lab.try_act(input), Err(Refusal::AdminOnly));
}
