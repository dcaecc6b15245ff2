//! Where a task goes.

use crate::lab::{lab, wants};
use danlu_core::resources::NodeSelector;
use danlu_core::settings::{Backfill, Order, PlacementRule};
use danlu_core::task::TaskSpec;

fn spanning(gpus: u32) -> TaskSpec {
    let mut spec = wants(gpus);
    spec.request.span_nodes = true;
    spec
}

#[test]
fn the_fullest_node_that_fits_is_taken_and_the_first_of_equals() {
    let mut lab = lab(&[8, 8, 8]);
    for gpus in [4, 6, 1, 2, 3, 8] {
        lab.submit(wants(gpus));
    }
    lab.schedule();
    let expected = [
        "starting n1[0,1,2,3]",
        "starting n2[0,1,2,3,4,5]",
        "starting n2[6]",
        "starting n1[4,5]",
        "starting n3[0,1,2]",
        "queued",
    ];
    assert_eq!(lab.tasks(), expected);
}

#[test]
fn a_task_larger_than_a_node_takes_whole_nodes_and_the_emptiest_for_the_rest() {
    let mut lab = lab(&[4, 4, 4, 4]);
    lab.submit(wants(1));
    lab.submit(spanning(10));
    lab.schedule();
    assert_eq!(lab.task(1), "starting n1[0]");
    assert_eq!(lab.task(2), "starting n2[0,1,2,3] n3[0,1,2,3] n4[0,1]");
}

#[test]
fn enough_gpus_on_too_many_nodes_do_not_fit() {
    let mut lab = lab(&[4, 4]);
    lab.policy(Order::Fifo, Backfill::Skip);
    lab.submit(wants(3));
    lab.submit(wants(3));
    lab.submit(wants(2));
    lab.schedule();
    assert_eq!(lab.task(3), "queued");
}

#[test]
fn count_takes_free_gpus_wherever_they_are() {
    let mut lab = lab(&[4, 4]);
    lab.configure(|settings| settings.placement = PlacementRule::Count);
    lab.submit(wants(3));
    lab.submit(spanning(4));
    lab.schedule();
    assert_eq!(lab.tasks(), ["starting n1[0,1,2]", "starting n1[3] n2[0,1,2]"]);
}

#[test]
fn a_task_stays_on_one_node_unless_it_may_span() {
    let mut lab = lab(&[4, 4]);
    lab.configure(|settings| settings.placement = PlacementRule::Count);
    lab.submit(wants(3));
    lab.submit(wants(3));
    lab.submit(wants(2));
    lab.schedule();
    assert_eq!(lab.tasks(), ["starting n1[0,1,2]", "starting n2[0,1,2]", "queued"]);
}

#[test]
fn a_named_node_and_a_model_are_respected() {
    let mut lab = lab(&[2, 2]);
    let mut there = wants(1);
    there.request.node = Some(NodeSelector::Name("n2".into()));
    there.request.gpu_model = Some("a100".into());
    lab.submit(there);
    lab.schedule();
    assert_eq!(lab.task(1), "starting n2[0]");
}
