//! Tasks on several nodes at once: on all of them or on none.

use crate::lab::{ANN, Lab, ending, healthy, lab, lasting, wants};
use danlu_core::plan::{Decision, Plan, apply_plan};
use danlu_core::quota::Quota;
use danlu_core::refusal::Counted;
use danlu_core::resources::{GpuMask, NodeSelector, Part, Placement, Request, Sharing};
use danlu_core::run::Exit;
use danlu_core::settings::{Backfill, Order, PlacementRule};
use danlu_core::task::TaskSpec;
use danlu_core::{
    Actor, Event, Input, NodeId, NodeMessage, Refusal, Span, TaskId, WaitReason, expected_start,
};

/// So many nodes with so many GPUs on each.
fn gang(nodes: u32, each: u32) -> TaskSpec {
    let mut spec = wants(nodes * each);
    spec.request.nodes = nodes;
    spec
}

fn refused(lab: &mut Lab, spec: TaskSpec) -> Refusal {
    lab.try_act(Input::Submit { by: ANN, spec, key: None }).unwrap_err()
}

#[test]
fn a_gang_has_as_many_gpus_on_each_of_its_nodes_and_starts_at_once() {
    let mut lab = lab(&[2, 4, 2]);
    lab.submit(gang(3, 2));
    lab.schedule();
    assert_eq!(lab.task(1), "starting n1[0,1] n3[0,1] n2[0,1]");
    assert_eq!(lab.effects(), ["launch 1 on n1", "launch 1 on n3", "launch 1 on n2"]);
}

#[test]
fn a_gang_waits_for_all_of_its_nodes_and_takes_none_meanwhile() {
    let mut lab = lab(&[2, 2, 2]);
    lab.policy(Order::Fifo, Backfill::Skip);
    lab.submit(wants(1));
    lab.submit(gang(3, 2));
    lab.submit(wants(2));
    lab.schedule();
    assert_eq!(lab.tasks(), ["starting n1[0]", "queued", "starting n2[0,1]"]);
    let held_by = vec![lab.run_of(1), lab.run_of(3)];
    assert_eq!(lab.why(2), WaitReason::TooFewNodes { wanted: 3, with_room: 1, held_by });
    lab.ended(3, Exit::Code(0));
    lab.schedule();
    assert_eq!(lab.task(2), "queued");
    lab.ended(1, Exit::Code(0));
    lab.schedule();
    assert_eq!(lab.task(2), "starting n1[0,1] n2[0,1] n3[0,1]");
}

#[test]
fn enough_gpus_on_fewer_nodes_are_not_enough() {
    let mut lab = lab(&[8, 8]);
    let too_few = |spec: &TaskSpec, nodes| {
        let wanted = Box::new(Request::clone(&spec.request));
        Refusal::TooFewNodes { wanted, nodes }
    };
    assert_eq!(refused(&mut lab, gang(3, 2)), too_few(&gang(3, 2), 2));
    assert_eq!(refused(&mut lab, gang(2, 9)), too_few(&gang(2, 9), 0));
    let mut unequal = wants(5);
    unequal.request.nodes = 2;
    assert!(matches!(refused(&mut lab, unequal), Refusal::UnequalNodes { nodes: 2, gpus: 5 }));
}

#[test]
fn a_gang_names_no_single_node_and_no_gpus_by_number() {
    let mut lab = lab(&[2, 2]);
    let mut there = gang(2, 1);
    there.request.node = Some(NodeSelector::Name("n1".into()));
    assert!(matches!(refused(&mut lab, there), Refusal::GangNamesOne { .. }));
    let mut pinned = gang(2, 1);
    pinned.request.gpu_ids = vec![0];
    assert!(matches!(refused(&mut lab, pinned), Refusal::GangNamesOne { .. }));
    assert!(matches!(
        refused(&mut lab, gang(5_000, 0)),
        Refusal::TooMany { what: Counted::NodesOfTask, .. }
    ));
}

#[test]
fn cpus_and_memory_count_on_each_node() {
    let mut lab = lab(&[0, 0, 0]);
    let mut busy = wants(0);
    busy.request.cpus = 10;
    lab.submit(busy);
    let mut spec = gang(2, 0);
    spec.request.cpus = 8;
    lab.submit(spec.clone());
    lab.schedule();
    // A node has 16.
    assert_eq!(lab.tasks(), ["starting n1[]", "starting n2[] n3[]"]);
    spec.request.cpus = 17;
    assert!(matches!(refused(&mut lab, spec), Refusal::TooFewNodes { nodes: 0, .. }));
}

#[test]
fn models_and_labels_are_respected_on_each_node() {
    let mut lab = lab(&[]);
    for (number, hall) in [(1, "east"), (2, "west"), (3, "east")] {
        let labels = [("hall".to_owned(), hall.to_owned())].into();
        lab.act(Input::AddNode { by: Actor::Daemon, name: format!("n{number}"), labels });
        lab.connect(number);
        lab.report(number, healthy(number, 2), vec![]);
    }
    let mut east = gang(2, 1);
    let label = NodeSelector::Label { key: "hall".into(), value: "east".into() };
    east.request.node = Some(label);
    east.request.gpu_model = Some("a100".into());
    lab.submit(east.clone());
    lab.schedule();
    assert_eq!(lab.task(1), "starting n1[0] n3[0]");
    east.request.nodes = 3;
    east.request.gpus = 3;
    assert!(matches!(refused(&mut lab, east), Refusal::TooFewNodes { nodes: 2, .. }));
}

#[test]
fn every_placement_rule_has_its_order_of_nodes() {
    use PlacementRule::{Consolidate, Count, Frag, Lowest, Spread};
    let places = [
        (Consolidate, "starting n3[0] n2[0]"),
        (Spread, "starting n1[0] n2[0]"),
        (Count, "starting n1[0] n2[0]"),
        (Lowest, "starting n1[0] n2[0]"),
    ];
    for (rule, place) in places {
        let mut lab = lab(&[8, 4, 2]);
        lab.configure(|settings| settings.placement = rule);
        lab.submit(gang(2, 1));
        lab.schedule();
        assert_eq!(lab.task(1), place, "{rule:?}");
    }
    // Those who usually come want whole nodes of four.
    let mut lab = lab(&[4, 1, 1]);
    lab.configure(|settings| settings.placement = Frag);
    for _ in 0..5 {
        lab.submit(TaskSpec { hold: true, ..wants(4) });
    }
    let task = lab.submit(gang(2, 1)).0;
    lab.schedule();
    assert_eq!(lab.task(task), "starting n2[0] n3[0]");
}

#[test]
fn shared_and_exclusive_gpus_are_judged_on_each_node() {
    let mut lab = lab(&[1, 1, 1]);
    lab.submit(crate::sharing::sharing(60));
    lab.schedule();
    lab.after_secs(60);
    lab.schedule();
    let mut shares = gang(2, 1);
    shares.request.sharing = Sharing::Shared { idle_utilization: 0 };
    shares.request.gpu_memory = 30 << 30;
    lab.submit(shares.clone());
    lab.schedule();
    // The first GPU has only 20 left.
    assert_eq!(lab.task(2), "starting n2[0] n3[0]");
    let mut alone = gang(2, 1);
    alone.request.sharing = Sharing::Exclusive;
    lab.submit(alone);
    lab.schedule();
    assert_eq!(lab.task(3), "queued");
}

#[test]
fn a_gang_in_front_has_a_reservation_on_all_its_nodes() {
    let mut lab = lab(&[2, 2]);
    lab.policy(Order::Fifo, Backfill::Easy);
    lab.submit(lasting(1, 100));
    let mut head = gang(2, 2);
    head.expected = Some(Span::from_secs(50));
    lab.submit(head);
    lab.submit(lasting(1, 500));
    lab.submit(lasting(1, 60));
    lab.schedule();
    // The long one would be in the way, the short one is not.
    assert_eq!(lab.tasks(), ["starting n1[0]", "queued", "queued", "starting n1[1]"]);
    let start = lab.now + Span::from_secs(100);
    assert_eq!(expected_start(&lab.state, TaskId(2), lab.now), Some(start));
    let why = lab.why(3);
    assert_eq!(why, WaitReason::WouldDelay { first: TaskId(2), starts_at: Some(start) });
}

#[test]
fn quotas_count_the_gpus_of_all_nodes() {
    let mut lab = lab(&[4, 4]);
    lab.configure(|settings| {
        settings.quota.user = Quota { running_gpus: Some(5), ..Quota::default() };
    });
    lab.submit(gang(2, 2));
    lab.submit(wants(2));
    lab.schedule();
    assert_eq!(lab.tasks(), ["starting n1[0,1] n2[0,1]", "queued"]);
    assert!(matches!(lab.why(2), WaitReason::Quota(_)));
    assert!(matches!(refused(&mut lab, gang(2, 3)), Refusal::OverQuota(_)));
}

#[test]
fn one_bad_part_ends_the_gang_and_it_is_retried_as_a_whole() {
    let mut lab = lab(&[1, 1, 1]);
    lab.submit(TaskSpec { retries: 1, ..gang(3, 1) });
    lab.schedule();
    lab.started(1);
    lab.effects();
    let run = lab.run_of(1);
    lab.hear(2, NodeMessage::Ended { run, ending: ending(Exit::Code(3), false) });
    assert_eq!(lab.task(1), "stopping n1[0] n3[0]");
    assert_eq!(lab.effects(), ["forget 1-1 on n2", "stop 1-1 on n1", "stop 1-1 on n3"]);
    for node in [1, 3] {
        lab.hear(node, NodeMessage::Ended { run, ending: ending(Exit::Signal(15), true) });
    }
    lab.schedule();
    assert_eq!(lab.task(1), "starting n1[0] n2[0] n3[0]");
    lab.started(1);
    lab.ended(1, Exit::Code(0));
    assert_eq!(lab.task(1), "succeeded");
}

#[test]
fn a_part_that_cannot_be_started_ends_the_gang() {
    let mut lab = lab(&[1, 1]);
    lab.submit(gang(2, 1));
    lab.schedule();
    let run = lab.run_of(1);
    lab.hear(1, NodeMessage::Started { run, at: lab.now });
    let exit = Exit::Launch { message: "no such directory".into() };
    lab.hear(2, NodeMessage::Ended { run, ending: ending(exit, false) });
    assert_eq!(lab.task(1), "stopping n1[0]");
    lab.hear(1, NodeMessage::Ended { run, ending: ending(Exit::Signal(15), true) });
    assert!(lab.task(1).starts_with("launcherror"), "{}", lab.task(1));
}

#[test]
fn a_launch_that_was_lost_ends_the_gang_and_it_waits_again() {
    let mut lab = lab(&[1, 1]);
    lab.submit(gang(2, 1));
    lab.schedule();
    let run = lab.run_of(1);
    lab.hear(1, NodeMessage::Started { run, at: lab.now });
    // The connection was cut before the launch got there.
    lab.reconnect(2, vec![]);
    assert_eq!(lab.task(1), "stopping n1[0]");
    lab.hear(1, NodeMessage::Ended { run, ending: ending(Exit::Signal(15), true) });
    assert_eq!(lab.task(1), "queued");
    lab.schedule();
    assert_eq!(lab.task(1), "starting n1[0] n2[0]");
}

#[test]
fn a_gang_with_a_node_that_is_away_keeps_all_its_gpus() {
    let mut lab = lab(&[1, 1]);
    lab.submit(gang(2, 1));
    lab.schedule();
    lab.started(1);
    lab.hear(2, NodeMessage::Lost);
    lab.submit(wants(1));
    lab.schedule();
    assert_eq!(lab.tasks(), ["running n1[0] n2[0]", "queued"]);
    let alive = lab.alive(1);
    lab.reconnect(2, vec![alive]);
    assert_eq!(lab.task(1), "running n1[0] n2[0]");
}

#[test]
fn wrong_decisions_on_a_gang_are_rejected() {
    let part = |node, gpus| Part { node: NodeId(node), gpus: GpuMask(gpus) };
    let wrong = [
        ("a node too few", vec![part(1, 0b1111)]),
        ("a node too many", vec![part(1, 0b11), part(2, 0b1), part(3, 0b1)]),
        ("a node twice", vec![part(1, 0b11), part(1, 0b1100)]),
        ("unequal parts", vec![part(1, 0b111), part(2, 0b1)]),
        ("too few GPUs", vec![part(1, 0b1), part(2, 0b1)]),
    ];
    for (what, parts) in wrong {
        let mut lab = lab(&[4, 4, 4]);
        lab.submit(gang(2, 2));
        let before = lab.state.clone();
        let start = Decision::Start { task: TaskId(1), placement: Placement { parts } };
        let plan = Plan { decisions: vec![start], ..Plan::default() };
        let step = apply_plan(&mut lab.state, plan, lab.now);
        assert_eq!(lab.state, before, "{what}");
        assert!(matches!(step.events[..], [Event::DecisionRejected { .. }]), "{what}");
    }
}

#[test]
fn gangs_are_preempted_as_a_whole() {
    let mut lab = lab(&[1, 1]);
    lab.policy(Order::Srtf, Backfill::None);
    let mut long = gang(2, 1);
    (long.expected, long.preemptible) = (Some(Span::from_secs(1_000)), true);
    lab.submit(long);
    lab.schedule();
    lab.started(1);
    lab.submit(lasting(1, 10));
    lab.schedule();
    assert_eq!(lab.task(1), "stopping n1[0] n2[0]");
    lab.ended_with(1, ending(Exit::Signal(15), true));
    lab.schedule();
    assert_eq!(lab.tasks(), ["queued", "starting n1[0]"]);
}

#[test]
fn a_preferred_node_is_taken_if_it_has_room() {
    let mut lab = lab(&[2, 2, 2]);
    let preferring = |gpus: u32, name: &str| {
        let mut spec = wants(gpus);
        spec.request.prefer = Some(NodeSelector::Name(name.into()));
        spec
    };
    lab.submit(preferring(2, "n3"));
    lab.submit(preferring(1, "n3"));
    let mut both = gang(2, 1);
    both.request.prefer = Some(NodeSelector::Name("n2".into()));
    lab.submit(both);
    lab.submit(preferring(1, "nowhere"));
    lab.schedule();
    let expected = ["starting n3[0,1]", "starting n1[0]", "starting n2[0] n1[1]", "starting n2[1]"];
    assert_eq!(lab.tasks(), expected);
}

#[test]
fn spread_takes_the_emptiest_node_and_the_emptiest_gpu() {
    let mut lab = lab(&[2, 4]);
    lab.configure(|settings| settings.placement = PlacementRule::Spread);
    for _ in 0..3 {
        lab.submit(wants(1));
    }
    lab.schedule();
    assert_eq!(lab.tasks(), ["starting n2[0]", "starting n2[1]", "starting n1[0]"]);
    let mut cpu = wants(0);
    cpu.request.cpus = 4;
    lab.submit(cpu.clone());
    lab.submit(cpu);
    lab.schedule();
    assert_eq!((lab.task(4), lab.task(5)), ("starting n1[]".into(), "starting n2[]".into()));
    lab.submit(crate::sharing::sharing(20));
    lab.schedule();
    lab.after_secs(60);
    lab.submit(crate::sharing::sharing(20));
    lab.schedule();
    assert_ne!(lab.task(6), lab.task(7));
}

#[test]
fn a_node_is_removed_where_a_part_of_a_shared_gang_has_ended() {
    let mut lab = lab(&[1, 1]);
    let mut spec = gang(2, 1);
    spec.request.sharing = Sharing::Shared { idle_utilization: 0 };
    spec.request.gpu_memory = 8 << 30;
    lab.submit(spec);
    lab.schedule();
    lab.started(1);
    let run = lab.run_of(1);
    lab.hear(1, NodeMessage::Ended { run, ending: ending(Exit::Code(0), false) });
    // Every step is checked, and so is that the rows can be read again.
    lab.act(Input::RemoveNode { by: Actor::Daemon, node: NodeId(1) });
    lab.after_secs(60);
    lab.schedule();
    assert!(lab.state.wake_at(lab.now).is_none());
    lab.ended(1, Exit::Code(0));
    assert_eq!(lab.task(1), "succeeded");
}
