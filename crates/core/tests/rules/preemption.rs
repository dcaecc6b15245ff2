//! Orders that stop what runs.

use crate::lab::{Lab, ending, lab, lasting, wants};
use crate::sharing::sharing;
use danlu_core::run::Exit;
use danlu_core::settings::{Backfill, Order};
use danlu_core::task::TaskSpec;
use danlu_core::{Span, TaskId, Time};

fn preemptible(spec: TaskSpec) -> TaskSpec {
    TaskSpec { preemptible: true, ..spec }
}

fn stopped(lab: &mut Lab, task: u64) {
    lab.ended_with(task, ending(Exit::Signal(15), true));
}

#[test]
fn srtf_stops_the_longer_for_the_shorter() {
    let mut lab = lab(&[1]);
    lab.policy(Order::Srtf, Backfill::None);
    lab.submit(preemptible(lasting(1, 100)));
    lab.schedule();
    lab.after_secs(10);
    lab.submit(preemptible(lasting(1, 89)));
    lab.schedule();
    assert_eq!(lab.tasks(), ["stopping n1[0]", "queued"]);
    stopped(&mut lab, 1);
    lab.schedule();
    assert_eq!(lab.tasks(), ["queued", "starting n1[0]"]);
    let rest = lab.state.tasks[&TaskId(1)].expected_remaining();
    assert_eq!(rest, Some(Span::from_secs(100 - 10 + 40)), "with the cost of starting again");
}

#[test]
fn srtf_leaves_alone_what_is_shorter_by_now() {
    let mut lab = lab(&[1]);
    lab.policy(Order::Srtf, Backfill::None);
    lab.submit(preemptible(lasting(1, 100)));
    lab.schedule();
    lab.after_secs(50);
    lab.submit(preemptible(lasting(1, 60)));
    lab.schedule();
    assert_eq!(lab.tasks(), ["starting n1[0]", "queued"]);
}

#[test]
fn only_those_who_agreed_are_preempted() {
    let mut lab = lab(&[1]);
    lab.policy(Order::Srtf, Backfill::None);
    lab.submit(lasting(1, 100));
    lab.schedule();
    lab.submit(preemptible(lasting(1, 1)));
    lab.schedule();
    assert_eq!(lab.tasks(), ["starting n1[0]", "queued"]);
}

#[test]
fn those_who_share_a_gpu_leave_it_together_if_all_have_agreed() {
    let long = |preemptible: bool| TaskSpec {
        expected: Some(Span::from_secs(1_000)),
        preemptible,
        ..sharing(10)
    };
    for (agreed, other) in [(true, "stopping n1[0]"), (false, "starting n1[0]")] {
        let mut lab = lab(&[1]);
        lab.policy(Order::Srtf, Backfill::None);
        for spec in [long(true), long(agreed)] {
            lab.submit(spec);
            lab.schedule();
            lab.after_secs(60);
        }
        lab.submit(lasting(1, 5));
        lab.schedule();
        assert_eq!(lab.tasks(), [other, other, "queued"]);
        // Nobody else is stopped while they leave.
        lab.schedule();
        assert_eq!(lab.tasks(), [other, other, "queued"]);
        if agreed {
            stopped(&mut lab, 1);
            stopped(&mut lab, 2);
            lab.schedule();
            assert_eq!(lab.tasks(), ["queued", "queued", "starting n1[0]"]);
        }
    }
}

#[test]
fn who_wants_to_share_stops_nobody() {
    let mut lab = lab(&[1]);
    lab.policy(Order::Srtf, Backfill::None);
    lab.submit(preemptible(lasting(1, 1_000)));
    lab.schedule();
    lab.submit(TaskSpec { expected: Some(Span::from_secs(1)), ..sharing(10) });
    lab.schedule();
    assert_eq!(lab.tasks(), ["starting n1[0]", "queued"]);
}

/// Found by chaos seed 92600016996: two sharing tasks took turns on the GPUs that were released for a third one.
#[test]
fn sharing_tasks_do_not_take_gpus_that_were_released_for_a_task_before_them() {
    let mut lab = lab(&[2, 2]);
    lab.policy(Order::Srtf, Backfill::None);
    lab.configure(|settings| settings.min_run_before_preemption = Span::from_secs(100));
    let on_both_nodes = || {
        let expected = Some(Span::from_secs(10_000));
        let mut spec = preemptible(TaskSpec { expected, ..sharing(60) });
        (spec.request.gpus, spec.request.nodes) = (2, 2);
        spec
    };
    lab.submit(on_both_nodes());
    lab.schedule();
    lab.after_secs(60);
    lab.submit(on_both_nodes());
    lab.schedule();
    lab.after_secs(60);
    // One node must be free for it, and the second run cannot be stopped yet.
    lab.submit(lasting(2, 5));
    lab.schedule();
    let second = lab.task(2);
    assert_eq!(lab.tasks(), ["stopping n1[0] n2[0]", second.as_str(), "queued"]);
    stopped(&mut lab, 1);
    lab.schedule();
    assert_eq!(lab.tasks(), ["queued", second.as_str(), "queued"]);
}

#[test]
fn nobody_is_preempted_before_the_minimum_run_time() {
    let mut lab = lab(&[1]);
    lab.policy(Order::Srtf, Backfill::None);
    lab.configure(|settings| settings.min_run_before_preemption = Span::from_secs(60));
    lab.submit(preemptible(lasting(1, 1_000)));
    lab.schedule();
    lab.after_secs(10);
    lab.submit(preemptible(lasting(1, 1)));
    lab.schedule();
    assert_eq!(lab.task(1), "starting n1[0]");
    assert_eq!(lab.state.wake_at(lab.now), Some(Time::from_secs(1_060)));
    lab.after_secs(50);
    lab.schedule();
    assert_eq!(lab.task(1), "stopping n1[0]");
}

#[test]
fn las_prefers_who_has_had_little_and_knows_when_that_changes() {
    let mut lab = lab(&[2]);
    lab.policy(Order::Las, Backfill::None);
    lab.submit(preemptible(wants(2)));
    lab.schedule();
    lab.submit(preemptible(wants(1)));
    lab.schedule();
    assert_eq!(lab.tasks(), ["starting n1[0,1]", "queued"], "first come, first served at first");
    let full_share = Time::from_secs(1_000 + 9_000) + Span(1);
    assert_eq!(lab.state.wake_at(lab.now), Some(full_share));
    lab.now = full_share;
    lab.schedule();
    assert_eq!(lab.task(1), "stopping n1[0,1]");
    stopped(&mut lab, 1);
    lab.schedule();
    assert_eq!(lab.tasks(), ["queued", "starting n1[1]"]);
}

#[test]
fn a_preempted_task_that_finished_by_itself_is_finished() {
    let mut lab = lab(&[1]);
    lab.policy(Order::Srtf, Backfill::None);
    lab.submit(preemptible(lasting(1, 100)));
    lab.schedule();
    lab.submit(preemptible(lasting(1, 1)));
    lab.schedule();
    lab.ended_with(1, ending(Exit::Code(0), false));
    assert_eq!(lab.task(1), "succeeded");
}

#[test]
fn a_preempted_task_that_saved_itself_and_left_well_goes_on_later() {
    let mut lab = lab(&[1]);
    lab.policy(Order::Srtf, Backfill::None);
    lab.submit(preemptible(lasting(1, 100)));
    lab.schedule();
    lab.submit(preemptible(lasting(1, 1)));
    lab.schedule();
    lab.ended_with(1, ending(Exit::Code(0), true));
    assert_eq!(lab.task(1), "queued");
}

#[test]
fn a_preempted_task_can_still_be_cancelled() {
    let mut lab = lab(&[1]);
    lab.policy(Order::Srtf, Backfill::None);
    lab.submit(preemptible(lasting(1, 100)));
    lab.schedule();
    lab.submit(preemptible(lasting(1, 1)));
    lab.schedule();
    lab.cancel(1);
    stopped(&mut lab, 1);
    assert_eq!(lab.task(1), "cancelled");
}
