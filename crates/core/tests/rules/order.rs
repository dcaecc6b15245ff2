//! Who starts first, and who may overtake.

use crate::lab::{ADMIN, lab, lasting, wants};
use danlu_core::run::Exit;
use danlu_core::settings::{Backfill, Order};
use danlu_core::task::TaskSpec;
use danlu_core::{Input, TaskId};

#[test]
fn fifo_starts_in_order_of_submission() {
    let mut lab = lab(&[4]);
    for gpus in [2, 1, 3, 1] {
        lab.submit(wants(gpus));
    }
    lab.schedule();
    assert_eq!(lab.tasks(), ["starting n1[0,1]", "starting n1[2]", "queued", "queued"]);
}

#[test]
fn strict_order_lets_nobody_overtake_the_head() {
    let mut lab = lab(&[4]);
    for gpus in [3, 4, 1] {
        lab.submit(wants(gpus));
    }
    lab.schedule();
    assert_eq!(lab.tasks(), ["starting n1[0,1,2]", "queued", "queued"]);
    lab.ended(1, Exit::Code(0));
    lab.schedule();
    assert_eq!(lab.task(2), "starting n1[0,1,2,3]");
    assert_eq!(lab.task(3), "queued");
}

#[test]
fn a_head_that_cannot_run_holds_up_nobody() {
    let mut lab = lab(&[4, 2]);
    lab.submit(wants(4));
    lab.submit(wants(1));
    lab.act(danlu_core::Input::Drain {
        by: danlu_core::Actor::Daemon,
        node: danlu_core::NodeId(1),
    });
    lab.schedule();
    assert_eq!(lab.tasks(), ["queued", "starting n2[0]"]);
}

#[test]
fn urgent_comes_first_then_priority_then_submission() {
    let mut lab = lab(&[1]);
    let mut submit = |spec| lab.act(Input::Submit { by: ADMIN, spec, key: None });
    submit(wants(1));
    submit(TaskSpec { priority: 4, ..wants(1) });
    submit(TaskSpec { urgent: true, priority: 9, ..wants(1) });
    submit(TaskSpec { priority: 4, ..wants(1) });
    let order: Vec<u64> = lab.state.queue().iter().map(|rank| rank.task.0).collect();
    assert_eq!(order, [3, 2, 4, 1]);
}

#[test]
fn skip_starts_whatever_fits_in_order() {
    let mut lab = lab(&[4]);
    lab.policy(Order::Fifo, Backfill::Skip);
    for gpus in [3, 4, 2, 1, 1] {
        lab.submit(wants(gpus));
    }
    lab.schedule();
    let expected = ["starting n1[0,1,2]", "queued", "queued", "starting n1[3]", "queued"];
    assert_eq!(lab.tasks(), expected);
}

#[test]
fn sjf_starts_the_shortest_and_the_unknown_last() {
    let mut lab = lab(&[2]);
    lab.policy(Order::Sjf, Backfill::None);
    lab.submit(wants(1));
    lab.submit(lasting(1, 500));
    lab.submit(lasting(1, 50));
    lab.schedule();
    assert_eq!(lab.tasks(), ["queued", "starting n1[1]", "starting n1[0]"]);
}

#[test]
fn a_switch_of_the_order_reorders_and_loses_nothing() {
    let mut lab = lab(&[1]);
    for seconds in [30, 20, 10] {
        lab.submit(lasting(1, seconds));
    }
    let order = |lab: &crate::lab::Lab| -> Vec<TaskId> {
        lab.state.queue().iter().map(|rank| rank.task).collect()
    };
    lab.policy(Order::Sjf, Backfill::None);
    assert_eq!(order(&lab), [3, 2, 1].map(TaskId));
    lab.policy(Order::Fifo, Backfill::None);
    assert_eq!(order(&lab), [1, 2, 3].map(TaskId));
}

/// One run of 100 s on 3 of 4 GPUs, a head that needs all 4, and a candidate behind it.
fn easy_with(candidate: TaskSpec) -> String {
    let mut lab = lab(&[4]);
    lab.policy(Order::Fifo, Backfill::Easy);
    lab.submit(lasting(3, 100));
    lab.schedule();
    lab.submit(lasting(4, 10));
    lab.submit(candidate);
    lab.schedule();
    assert_eq!(lab.task(2), "queued");
    lab.task(3)
}

#[test]
fn easy_starts_what_ends_before_the_reservation() {
    assert_eq!(easy_with(lasting(1, 100)), "starting n1[3]");
    assert_eq!(easy_with(lasting(1, 101)), "queued");
    assert_eq!(easy_with(wants(1)), "queued");
}

#[test]
fn easy_starts_what_leaves_room_for_the_reservation() {
    let mut lab = lab(&[4, 4]);
    lab.policy(Order::Fifo, Backfill::Easy);
    lab.submit(lasting(3, 100));
    lab.submit(lasting(3, 500));
    lab.schedule();
    lab.submit(lasting(4, 10));
    lab.submit(lasting(1, 9_999));
    lab.submit(lasting(1, 9_999));
    lab.schedule();
    // The head will get n1: only the GPU of n2 can be given away for long.
    assert_eq!(lab.task(3), "queued");
    assert_eq!([lab.task(4), lab.task(5)], ["queued", "queued"]);
    lab.submit(lasting(1, 50));
    lab.schedule();
    assert_eq!(lab.task(6), "starting n1[3]");
    // Now the only free GPU is on n2, where the head does not go.
    lab.schedule();
    assert_eq!([lab.task(4), lab.task(5)], ["starting n2[3]", "queued"]);
}

#[test]
fn an_overdue_run_is_expected_to_end_soon_not_never() {
    let mut lab = lab(&[4]);
    lab.policy(Order::Fifo, Backfill::Easy);
    lab.submit(lasting(3, 100));
    lab.schedule();
    lab.after_secs(1_000);
    lab.submit(lasting(4, 10));
    lab.submit(lasting(1, 2));
    lab.submit(lasting(1, 1));
    lab.schedule();
    assert_eq!([lab.task(3), lab.task(4)], ["queued", "starting n1[3]"]);
}

#[test]
fn a_cpu_task_is_placed_by_its_slots() {
    let mut lab = lab(&[1]);
    let cpu = |cpus| {
        let mut spec = wants(0);
        spec.request.cpus = cpus;
        spec
    };
    lab.policy(Order::Fifo, Backfill::Skip);
    for cpus in [10, 10, 6] {
        lab.submit(cpu(cpus));
    }
    lab.schedule();
    assert_eq!(lab.tasks(), ["starting n1[]", "queued", "starting n1[]"]);
}

#[test]
fn a_task_without_gpus_never_waits_behind_one_that_waits_for_gpus() {
    for backfill in [Backfill::None, Backfill::Skip, Backfill::Easy] {
        let mut lab = lab(&[2]);
        lab.policy(Order::Fifo, backfill);
        lab.submit(wants(1));
        lab.submit(wants(2));
        lab.submit(wants(1));
        let mut cpu = wants(0);
        cpu.request.cpus = 1;
        lab.submit(cpu);
        lab.schedule();
        assert_eq!([lab.task(2), lab.task(4)], ["queued", "starting n1[]"], "{backfill:?}");
        assert_eq!(lab.task(3) == "queued", backfill == Backfill::None, "{backfill:?}");
    }
}

#[test]
fn a_head_that_waits_for_cpus_too_is_not_starved_of_them() {
    let mut lab = lab(&[2]);
    lab.submit(wants(1));
    let mut both = wants(2);
    both.request.cpus = 16;
    lab.submit(both);
    let mut cpu = wants(0);
    cpu.request.cpus = 1;
    lab.submit(cpu);
    lab.schedule();
    assert_eq!([lab.task(2), lab.task(3)], ["queued", "queued"]);
}
