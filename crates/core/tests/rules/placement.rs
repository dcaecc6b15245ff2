//! Where a task goes.

use crate::lab::{ANN, Lab, healthy, lab, wants};
use danlu_core::refusal::Counted;
use danlu_core::resources::NodeSelector;
use danlu_core::run::Exit;
use danlu_core::settings::{Backfill, Order, PlacementRule};
use danlu_core::task::TaskSpec;
use danlu_core::{Input, Refusal, TaskId, WaitReason};

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

fn pinned(gpus: u32, ids: &[u32]) -> TaskSpec {
    let mut spec = wants(gpus);
    spec.request.gpu_ids = ids.to_vec();
    spec
}

#[test]
fn named_gpus_are_given_and_others_fill_up() {
    let mut lab = lab(&[4]);
    lab.submit(pinned(1, &[2]));
    lab.submit(pinned(2, &[3]));
    lab.schedule();
    assert_eq!(lab.tasks(), ["starting n1[2]", "starting n1[0,3]"]);
}

#[test]
fn who_waits_for_named_gpus_holds_up_nobody() {
    for backfill in [Backfill::None, Backfill::Skip, Backfill::Easy] {
        let mut lab = lab(&[3]);
        lab.policy(Order::Fifo, backfill);
        lab.submit(pinned(1, &[0]));
        lab.submit(pinned(2, &[0, 1]));
        lab.submit(wants(1));
        lab.schedule();
        // What it has named is kept for it, except under a policy that keeps nothing for anybody.
        let other = if backfill == Backfill::Skip { "starting n1[1]" } else { "starting n1[2]" };
        assert_eq!(lab.tasks(), ["starting n1[0]", "queued", other], "{backfill:?}");
        let why = danlu_core::explain(&lab.state, TaskId(2), lab.now).unwrap();
        assert!(matches!(why, WaitReason::Resources { .. }), "{why:?}");
    }
}

#[test]
fn who_has_named_some_gpus_waits_for_those_alone_until_they_are_free() {
    let mut lab = lab(&[4]);
    lab.submit(pinned(1, &[0]));
    lab.submit(pinned(3, &[0]));
    lab.submit(wants(2));
    lab.schedule();
    assert_eq!(lab.tasks(), ["starting n1[0]", "queued", "starting n1[1,2]"]);
    // Now it waits for any two others, like everybody: in strict order nobody passes.
    lab.ended(1, danlu_core::run::Exit::Code(0));
    lab.submit(wants(1));
    lab.schedule();
    assert_eq!(lab.tasks()[1..], ["queued", "starting n1[1,2]", "queued"]);
}

#[test]
fn named_gpus_are_of_one_node_that_has_them_all() {
    let mut lab = lab(&[2, 4]);
    lab.submit(pinned(2, &[1, 3]));
    lab.schedule();
    assert_eq!(lab.tasks(), ["starting n2[1,3]"]);
    let refused = lab.try_act(Input::Submit { by: ANN, spec: pinned(1, &[4]), key: None });
    assert!(matches!(refused, Err(Refusal::Impossible { .. })));
    let refused = lab.try_act(Input::Submit { by: ANN, spec: pinned(1, &[0, 1]), key: None });
    assert!(matches!(refused, Err(Refusal::TooMany { what: Counted::GpuNumbers, .. })));
}

#[test]
fn frag_leaves_whole_gpus_to_those_who_want_them() {
    let mut lab = lab(&[1, 1]);
    lab.configure(|settings| settings.placement = PlacementRule::Frag);
    lab.submit(crate::sharing::sharing(40));
    lab.schedule();
    lab.after_secs(60);
    lab.submit(crate::sharing::sharing(40));
    lab.submit(wants(1));
    lab.schedule();
    assert_eq!(lab.tasks(), ["starting n1[0]", "starting n1[0]", "starting n2[0]"]);
}

#[test]
fn frag_takes_the_gpu_that_the_usual_tasks_lose_least_of_and_best_fit_the_tightest() {
    for (rule, place) in [(PlacementRule::Frag, "n2"), (PlacementRule::Consolidate, "n1")] {
        let mut lab = lab(&[1, 1]);
        lab.configure(|settings| settings.placement = rule);
        for (node, gigabytes) in [("n1", 30), ("n2", 20)] {
            let mut spec = crate::sharing::sharing(gigabytes);
            spec.request.node = Some(NodeSelector::Name(node.into()));
            lab.submit(spec);
        }
        lab.schedule();
        lab.after_secs(60);
        // Most want half a GPU: the second one has room for one of them and for this, the first one has not.
        for _ in 0..5 {
            lab.submit(TaskSpec { hold: true, ..crate::sharing::sharing(40) });
        }
        let task = lab.submit(crate::sharing::sharing(20)).0;
        lab.schedule();
        assert_eq!(lab.task(task), format!("starting {place}[0]"), "{rule:?}");
    }
}

#[test]
fn frag_keeps_cpus_for_gpus_that_will_need_them() {
    let mut lab = lab(&[1, 1]);
    lab.configure(|settings| settings.placement = PlacementRule::Frag);
    let mut needy = wants(1);
    needy.request.cpus = 16;
    let mut plain = wants(0);
    plain.request.cpus = 16;
    lab.submit(plain);
    lab.submit(needy.clone());
    lab.schedule();
    assert_eq!(lab.tasks(), ["starting n1[]", "starting n2[0]"]);
}

#[test]
fn neighbours_by_a_fast_link_are_given_out_together() {
    let mut lab = lab(&[4]);
    let mut gpus = healthy(1, 4);
    for (one, other) in [(0, 3), (1, 2)] {
        let (first, second) = (gpus[one].id.clone(), gpus[other].id.clone());
        gpus[one].neighbours = vec![second];
        gpus[other].neighbours = vec![first];
    }
    lab.hear(1, danlu_core::NodeMessage::Gpus(gpus));
    lab.submit(wants(2));
    lab.submit(wants(2));
    lab.schedule();
    assert_eq!(lab.tasks(), ["starting n1[0,3]", "starting n1[1,2]"]);
    lab.ended(1, Exit::Code(0));
    lab.ended(2, Exit::Code(0));
    let mut pinned = wants(2);
    pinned.request.gpu_ids = vec![2];
    lab.submit(pinned);
    lab.schedule();
    assert_eq!(lab.task(3), "starting n1[1,2]");
}

#[test]
fn gpus_as_good_as_each_other_take_turns_unless_the_lowest_is_wanted() {
    let one_after_the_other = |lab: &mut Lab| {
        let places = (0..5).map(|_| {
            let task = lab.submit(wants(1)).0;
            lab.schedule();
            let place = lab.task(task);
            lab.ended(task, Exit::Code(0));
            place
        });
        places.collect::<Vec<_>>()
    };
    let mut lab = lab(&[3]);
    let [zero, one, two] = [0, 1, 2].map(|gpu| format!("starting n1[{gpu}]"));
    let turns = [&zero, &one, &two, &zero, &one];
    assert_eq!(one_after_the_other(&mut lab).iter().collect::<Vec<_>>(), turns);
    lab.configure(|settings| settings.placement = PlacementRule::Lowest);
    assert_eq!(one_after_the_other(&mut lab), vec![zero; 5]);
}

#[test]
fn lowest_takes_the_first_node_and_the_lowest_numbers() {
    let placed = |placement: PlacementRule| {
        let mut lab = lab(&[4, 2]);
        lab.configure(|settings| settings.placement = placement);
        let mut gpus = healthy(1, 4);
        let (first, last) = (gpus[0].id.clone(), gpus[3].id.clone());
        (gpus[0].neighbours, gpus[3].neighbours) = (vec![last], vec![first]);
        lab.hear(1, danlu_core::NodeMessage::Gpus(gpus));
        lab.submit(wants(2));
        lab.submit(crate::sharing::sharing(40));
        lab.schedule();
        lab.tasks()
    };
    assert_eq!(placed(PlacementRule::Lowest), ["starting n1[0,1]", "starting n1[2]"]);
    assert_eq!(placed(PlacementRule::Consolidate), ["starting n2[0,1]", "starting n1[0]"]);
}

#[test]
fn lowest_shares_the_lowest_gpu_that_has_room() {
    let mut lab = lab(&[2]);
    lab.configure(|settings| settings.placement = PlacementRule::Lowest);
    let mut pinned = crate::sharing::sharing(40);
    pinned.request.gpu_ids = vec![1];
    lab.submit(pinned);
    lab.schedule();
    lab.after_secs(60);
    lab.submit(crate::sharing::sharing(30));
    lab.schedule();
    assert_eq!(lab.task(2), "starting n1[0]");
}

fn on_node(gpus: u32, name: &str) -> TaskSpec {
    let mut spec = wants(gpus);
    spec.request.node = Some(NodeSelector::Name(name.into()));
    spec
}

#[test]
fn who_waits_for_its_node_alone_holds_up_nobody_elsewhere() {
    let mut lab = lab(&[2, 2]);
    lab.submit(on_node(1, "n1"));
    lab.submit(on_node(2, "n1"));
    lab.submit(wants(2));
    lab.submit(wants(1));
    lab.schedule();
    // What is free on its node is kept for it.
    assert_eq!(lab.tasks(), ["starting n1[0]", "queued", "starting n2[0,1]", "queued"]);
    lab.ended(3, Exit::Code(0));
    lab.schedule();
    assert_eq!(lab.task(4), "starting n2[0]");
    lab.ended(1, Exit::Code(0));
    lab.schedule();
    assert_eq!(lab.task(2), "starting n1[0,1]");
}
