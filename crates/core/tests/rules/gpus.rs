//! Which GPU is free.

use crate::lab::{foreign, gpu, healthy, lab, wants};
use danlu_core::NodeMessage;
use danlu_core::gpu::GpuCondition::{Idle, Unknown};
use danlu_core::run::Exit;

#[test]
fn a_foreign_process_keeps_a_gpu_from_being_given_out() {
    let mut lab = lab(&[2]);
    lab.hear(1, NodeMessage::Gpus(vec![gpu(1, 0, foreign()), gpu(1, 1, Idle)]));
    lab.submit(wants(1));
    lab.submit(wants(1));
    lab.schedule();
    assert_eq!(lab.tasks(), ["starting n1[1]", "queued"]);
    lab.hear(1, NodeMessage::Gpus(healthy(1, 2)));
    lab.schedule();
    assert_eq!(lab.task(2), "starting n1[0]");
}

#[test]
fn unknown_is_not_free() {
    let mut lab = lab(&[1]);
    lab.hear(1, NodeMessage::Gpus(vec![gpu(1, 0, Unknown)]));
    lab.submit(wants(1));
    lab.schedule();
    assert_eq!(lab.task(1), "queued");
}

#[test]
fn a_held_gpu_that_vanishes_stays_held() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.submit(wants(1));
    lab.schedule();
    lab.hear(1, NodeMessage::Gpus(vec![]));
    lab.hear(1, NodeMessage::Gpus(healthy(1, 1)));
    lab.schedule();
    assert_eq!(lab.tasks(), ["starting n1[0]", "queued"]);
    lab.hear(1, NodeMessage::Gpus(vec![]));
    lab.ended(1, Exit::Code(0));
    lab.schedule();
    assert_eq!(lab.task(2), "queued", "a GPU that is not there is not free");
    assert_eq!(lab.state.nodes[&danlu_core::NodeId(1)].gpus, [], "and nobody waits for it");
}

#[test]
fn a_renumbered_gpu_is_still_the_same() {
    let mut lab = lab(&[2]);
    lab.submit(wants(1));
    lab.schedule();
    let mut swapped = healthy(1, 2);
    (swapped[0].index, swapped[1].index) = (1, 0);
    lab.hear(1, NodeMessage::Gpus(swapped));
    lab.submit(wants(1));
    lab.schedule();
    assert_eq!(lab.tasks(), ["starting n1[1]", "starting n1[0]"]);
}

#[test]
fn a_foreign_process_on_a_held_gpu_changes_nothing_for_its_run() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.schedule();
    lab.hear(1, NodeMessage::Gpus(vec![gpu(1, 0, foreign())]));
    lab.submit(wants(1));
    lab.ended(1, Exit::Code(0));
    lab.schedule();
    assert_eq!(lab.tasks(), ["succeeded", "queued"]);
}

#[test]
fn a_node_with_more_gpus_than_the_limit_shows_the_first() {
    let mut lab = lab(&[200]);
    lab.submit(wants(128));
    lab.schedule();
    assert!(lab.task(1).starts_with("starting n1[0,1,2"));
    lab.hear(1, NodeMessage::Gpus((200..400).map(|index| gpu(1, index, Idle)).collect()));
    assert_eq!(lab.state.nodes[&danlu_core::NodeId(1)].gpus.len(), 128);
}
