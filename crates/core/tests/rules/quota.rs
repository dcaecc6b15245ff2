//! How much users and projects may have at once.

use crate::lab::{ADMIN, ANN, BOB, Lab, lab, wants};
use danlu_core::quota::{Excess, Limit, OverQuota, Party, Quota};
use danlu_core::run::Exit;
use danlu_core::settings::{Backfill, Order};
use danlu_core::task::{ArraySpec, TaskSpec};
use danlu_core::*;

fn submit(lab: &mut Lab, by: UserId, spec: TaskSpec) -> Result<u64, Refusal> {
    match lab.try_act(Input::Submit { by, spec, key: None })? {
        Reply::Task(id) => Ok(id.0),
        other => panic!("{other:?}"),
    }
}

fn limited(gpus: u32, quota: Quota) -> Lab {
    let mut lab = lab(&[gpus]);
    lab.configure(|settings| settings.quota.user = quota);
    lab
}

const NONE: Quota = Quota {
    running_tasks: None,
    running_gpus: None,
    queued_tasks: None,
    open_tasks: None,
    gpu_hours: None,
};

fn of_ann(limit: Limit, in_use: u64, most: u64) -> Excess {
    Excess { whose: Party::User("ann".into()), limit, in_use, most }
}

#[test]
fn who_has_had_their_share_is_stepped_over_and_holds_up_nobody() {
    use Order::{Auto, Balance, Fair, Fifo, Sjf, Srtf};
    for order in [Fifo, Balance, Fair, Sjf, Srtf, Auto] {
        for backfill in [Backfill::None, Backfill::Skip, Backfill::Easy] {
            let mut lab = limited(4, Quota { running_gpus: Some(2), ..NONE });
            lab.policy(order, backfill);
            for _ in 0..3 {
                submit(&mut lab, ANN, wants(1)).unwrap();
            }
            submit(&mut lab, BOB, wants(1)).unwrap();
            lab.schedule();
            let waits = lab.tasks().iter().map(|task| task == "queued").collect::<Vec<_>>();
            assert_eq!(waits, [false, false, true, false], "{order:?}+{backfill:?}");
            assert_eq!(lab.why(3), WaitReason::Quota(of_ann(Limit::RunningGpus, 2, 2)));
            lab.ended(1, Exit::Code(0));
            lab.schedule();
            assert_ne!(lab.task(3), "queued", "{order:?}+{backfill:?}");
        }
    }
}

#[test]
fn a_smaller_task_does_not_pass_the_larger_one_of_its_owner_that_waits_for_the_quota() {
    for order in [Order::Fifo, Order::Balance, Order::Fair] {
        let mut lab = limited(8, Quota { running_gpus: Some(4), ..NONE });
        lab.policy(order, Backfill::Skip);
        for gpus in [3, 2, 1] {
            submit(&mut lab, ANN, wants(gpus)).unwrap();
        }
        lab.schedule();
        assert_eq!(lab.tasks()[1..], ["queued", "queued"], "{order:?}");
        lab.schedule();
        assert_eq!(lab.tasks()[1..], ["queued", "queued"], "{order:?}, again");
        lab.ended(1, Exit::Code(0));
        lab.schedule();
        assert_eq!(lab.tasks()[1..], ["starting n1[1,2]", "starting n1[3]"], "{order:?}");
    }
}

#[test]
fn under_auto_too_whoever_exceeds_a_quota_is_not_passed_by_those_of_its_owner_behind_it() {
    let mut lab = limited(8, Quota { running_gpus: Some(4), ..NONE });
    lab.policy(Order::Auto, Backfill::None);
    for gpus in [3, 0, 2] {
        submit(&mut lab, ANN, wants(gpus)).unwrap();
    }
    lab.schedule();
    // The narrow one comes first, then the others as far as they may.
    assert_eq!(lab.tasks(), ["queued", "starting n1[]", "starting n1[0,1]"]);
    lab.after_secs(400_000);
    submit(&mut lab, ANN, wants(1)).unwrap();
    submit(&mut lab, ANN, wants(0)).unwrap();
    submit(&mut lab, BOB, wants(1)).unwrap();
    lab.schedule();
    assert_eq!(lab.task(1), "queued");
    assert_eq!(lab.tasks()[3..], ["queued", "starting n1[]", "starting n1[2]"]);
    lab.ended(3, Exit::Code(0));
    lab.schedule();
    assert_eq!(lab.task(1), "starting n1[4,5,6]");
    assert_eq!(lab.task(4), "starting n1[7]");
}

#[test]
fn a_quota_of_gpus_is_none_of_tasks_without_gpus() {
    let mut lab = limited(4, Quota { running_gpus: Some(1), ..NONE });
    for gpus in [1, 1, 0, 0] {
        submit(&mut lab, ANN, wants(gpus)).unwrap();
    }
    lab.schedule();
    assert_eq!(lab.tasks(), ["starting n1[0]", "queued", "starting n1[]", "starting n1[]"]);
}

#[test]
fn running_tasks_are_counted_whatever_they_use() {
    let mut lab = limited(4, Quota { running_tasks: Some(2), ..NONE });
    for gpus in [0, 1, 0] {
        submit(&mut lab, ANN, wants(gpus)).unwrap();
    }
    lab.schedule();
    assert_eq!(lab.why(3), WaitReason::Quota(of_ann(Limit::RunningTasks, 2, 2)));
}

#[test]
fn one_user_may_have_another_quota_than_the_others() {
    let mut lab = limited(4, Quota { running_gpus: Some(1), ..NONE });
    let more = Quota { running_gpus: Some(3), ..NONE };
    lab.configure(|settings| {
        settings.quota.users.insert("bob".into(), more);
    });
    for user in [ANN, ANN, BOB, BOB] {
        submit(&mut lab, user, wants(1)).unwrap();
    }
    lab.schedule();
    let waits = lab.tasks().iter().map(|task| task == "queued").collect::<Vec<_>>();
    assert_eq!(waits, [false, true, false, false]);
}

#[test]
fn a_project_shares_its_quota_between_users() {
    for order in [Order::Fifo, Order::Balance, Order::Fair, Order::Auto] {
        let mut lab = lab(&[4]);
        lab.policy(order, Backfill::Easy);
        let quota = Quota { running_gpus: Some(2), ..NONE };
        lab.configure(|settings| {
            settings.quota.project.insert("llm".into(), quota);
        });
        let llm = || TaskSpec { project: Some("llm".into()), ..wants(1) };
        for (user, spec) in [(ANN, llm()), (BOB, llm()), (ANN, llm()), (ANN, wants(1))] {
            submit(&mut lab, user, spec).unwrap();
        }
        lab.schedule();
        let waits = lab.tasks().iter().map(|task| task == "queued").collect::<Vec<_>>();
        assert_eq!(waits, [false, false, true, false], "{order:?}");
        let whose = Party::Project("llm".into());
        let excess = Excess { whose, limit: Limit::RunningGpus, in_use: 2, most: 2 };
        assert_eq!(lab.why(3), WaitReason::Quota(excess));
    }
}

#[test]
fn what_could_never_run_under_the_quota_is_refused() {
    let mut lab = limited(4, Quota { running_gpus: Some(2), ..NONE });
    let refused = submit(&mut lab, ANN, wants(3));
    assert_eq!(refused, Err(Refusal::OverQuota(of_ann(Limit::RunningGpus, 0, 2))));
}

#[test]
fn waiting_tasks_can_be_limited() {
    let mut lab = limited(1, Quota { queued_tasks: Some(2), ..NONE });
    submit(&mut lab, ANN, wants(1)).unwrap();
    submit(&mut lab, ANN, TaskSpec { hold: true, ..wants(1) }).unwrap();
    let third = submit(&mut lab, ANN, wants(1));
    assert_eq!(third, Err(Refusal::OverQuota(of_ann(Limit::QueuedTasks, 2, 2))));
    submit(&mut lab, BOB, wants(1)).unwrap();
    lab.schedule();
    let array = Some(ArraySpec { indices: vec![0, 1], at_once: None, grid: Vec::new() });
    let two = TaskSpec { array, ..wants(1) };
    assert!(matches!(submit(&mut lab, ANN, two), Err(Refusal::OverQuota(_))));
    submit(&mut lab, ANN, wants(1)).unwrap();
}

#[test]
fn one_that_is_retried_counts_as_waiting() {
    let mut lab = limited(1, Quota { queued_tasks: Some(1), ..NONE });
    submit(&mut lab, ANN, wants(1)).unwrap();
    lab.schedule();
    lab.ended(1, Exit::Code(1));
    submit(&mut lab, ANN, wants(1)).unwrap();
    let retry = Input::Retry { by: Actor::User(ANN), task: TaskId(1) };
    let refused = lab.try_act(retry.clone());
    assert_eq!(refused, Err(Refusal::OverQuota(of_ann(Limit::QueuedTasks, 1, 1))));
    lab.cancel(2);
    lab.act(retry);
}

#[test]
fn over_quota_can_mean_refused_and_then_what_waits_counts() {
    let mut lab = limited(1, Quota { running_gpus: Some(2), ..NONE });
    lab.configure(|settings| settings.quota.over = OverQuota::Refuse);
    submit(&mut lab, ANN, wants(1)).unwrap();
    submit(&mut lab, ANN, wants(1)).unwrap();
    let third = submit(&mut lab, ANN, wants(1));
    assert_eq!(third, Err(Refusal::OverQuota(of_ann(Limit::RunningGpus, 2, 2))));
    lab.schedule();
    lab.ended(1, Exit::Code(0));
    submit(&mut lab, ANN, wants(1)).unwrap();
}

#[test]
fn gpu_hours_are_used_up_and_come_back_with_the_next_period() {
    let mut lab = limited(2, Quota { gpu_hours: Some(2), ..NONE });
    lab.configure(|settings| settings.quota.period = Span::from_secs(86_400));
    lab.now = Time::from_secs(10 * 86_400);
    submit(&mut lab, ANN, wants(2)).unwrap();
    lab.schedule();
    lab.after_secs(3_600);
    submit(&mut lab, ANN, wants(1)).unwrap();
    lab.ended(1, Exit::Code(0));
    lab.schedule();
    assert_eq!(lab.why(2), WaitReason::Quota(of_ann(Limit::GpuHours, 2, 2)));
    assert_eq!(lab.state.wake_at(lab.now), Some(Time::from_secs(11 * 86_400)));
    lab.now = Time::from_secs(11 * 86_400);
    lab.schedule();
    assert_ne!(lab.task(2), "queued");
}

#[test]
fn gpu_hours_of_a_project_are_those_of_all_its_tasks() {
    let mut lab = lab(&[2]);
    let quota = Quota { gpu_hours: Some(1), ..NONE };
    lab.configure(|settings| {
        settings.quota.project.insert("llm".into(), quota);
    });
    let llm = || TaskSpec { project: Some("llm".into()), ..wants(1) };
    submit(&mut lab, ANN, llm()).unwrap();
    submit(&mut lab, BOB, llm()).unwrap();
    lab.schedule();
    lab.after_secs(1_800);
    submit(&mut lab, ANN, llm()).unwrap();
    lab.ended(1, Exit::Code(0));
    lab.schedule();
    let whose = Party::Project("llm".into());
    let excess = Excess { whose, limit: Limit::GpuHours, in_use: 1, most: 1 };
    assert_eq!(lab.why(3), WaitReason::Quota(excess));
}

#[test]
fn an_admin_starts_a_task_over_quota_and_a_quota_is_changed_live() {
    let mut lab = limited(4, Quota { running_gpus: Some(1), ..NONE });
    for _ in 0..4 {
        submit(&mut lab, ANN, wants(1)).unwrap();
    }
    lab.schedule();
    lab.act(Input::Start { by: Actor::User(ADMIN), task: TaskId(2) });
    lab.schedule();
    assert_eq!(lab.tasks()[2..], ["queued", "queued"]);
    lab.configure(|settings| settings.quota.user.running_gpus = Some(3));
    lab.schedule();
    assert_eq!(lab.tasks()[2..], ["starting n1[2]", "queued"]);
}
