//! Users in turn: who has little running for their priority goes first.

use crate::lab::{ADMIN, ANN, BOB, Lab, lab, lasting, wants};
use danlu_core::refusal::Share;
use danlu_core::run::Exit;
use danlu_core::settings::{Backfill, Order};
use danlu_core::task::TaskSpec;
use danlu_core::user::UserChange;
use danlu_core::*;

fn balanced(gpus: &[u32]) -> Lab {
    let mut lab = lab(gpus);
    lab.policy(Order::Balance, Backfill::None);
    lab
}

fn submit(lab: &mut Lab, by: UserId, spec: TaskSpec) -> u64 {
    match lab.act(Input::Submit { by, spec, key: None }) {
        Reply::Task(id) => id.0,
        other => panic!("{other:?}"),
    }
}

fn prioritise(lab: &mut Lab, user: UserId, priority: i64) {
    let change = UserChange { priority: Some(Thousandths(priority)), ..UserChange::default() };
    lab.act(Input::SetUser { by: Actor::Daemon, user, change });
}

/// The tasks that run, in the order of their starts.
fn started(lab: &Lab) -> Vec<u64> {
    lab.state.runs.values().map(|run| run.task.0).collect()
}

#[test]
fn users_take_turns_by_the_gpus_they_have() {
    let mut lab = balanced(&[4]);
    for _ in 0..4 {
        submit(&mut lab, ANN, wants(1));
    }
    for _ in 0..2 {
        submit(&mut lab, BOB, wants(1));
    }
    lab.schedule();
    // Ann is first as the oldest task is hers, then whoever has less; at a tie the oldest task decides.
    assert_eq!(started(&lab), [1, 5, 2, 6]);
}

#[test]
fn a_higher_priority_is_a_larger_share() {
    let mut lab = balanced(&[6]);
    prioritise(&mut lab, BOB, 2_000);
    for user in [ANN, BOB] {
        for _ in 0..6 {
            submit(&mut lab, user, wants(1));
        }
    }
    lab.schedule();
    // Bob may have two for each of Ann's: 0/1 0/2, then 1/1 0/2, 1/1 1/2, 1/1 2/2 is a tie …
    assert_eq!(started(&lab), [1, 7, 8, 2, 9, 10]);
}

#[test]
fn what_counts_is_gpus_not_tasks() {
    let mut lab = balanced(&[8]);
    submit(&mut lab, ANN, wants(4));
    submit(&mut lab, ANN, wants(1));
    for _ in 0..4 {
        submit(&mut lab, BOB, wants(1));
    }
    lab.schedule();
    assert_eq!(started(&lab), [1, 3, 4, 5, 6]);
}

#[test]
fn classes_are_strict_below_zero_then_zero_then_shares() {
    let mut lab = balanced(&[1]);
    submit(&mut lab, ANN, wants(1));
    submit(&mut lab, BOB, wants(1));
    submit(&mut lab, ADMIN, wants(1));
    let first = |lab: &Lab| {
        let mut copy = lab.state.clone();
        step(&mut copy, Input::Schedule, lab.now);
        copy.runs.values().next().unwrap().task.0
    };
    assert_eq!(first(&lab), 1, "all alike: the oldest task");
    prioritise(&mut lab, BOB, 0);
    assert_eq!(first(&lab), 2, "zero goes before an idle user above zero");
    prioritise(&mut lab, ADMIN, -1);
    assert_eq!(first(&lab), 3, "below zero goes before zero");
    prioritise(&mut lab, ANN, -2);
    assert_eq!(first(&lab), 1, "and the lower the earlier");
}

#[test]
fn users_of_priority_zero_are_served_by_age_whatever_they_have() {
    let mut lab = balanced(&[3]);
    prioritise(&mut lab, ANN, 0);
    prioritise(&mut lab, BOB, 0);
    for user in [ANN, ANN, BOB, ANN] {
        submit(&mut lab, user, wants(1));
    }
    lab.schedule();
    assert_eq!(started(&lab), [1, 2, 3]);
}

#[test]
fn a_tie_goes_to_whose_oldest_task_is_earliest_not_to_whose_first_is() {
    let mut lab = balanced(&[2]);
    submit(&mut lab, ANN, wants(1));
    submit(&mut lab, BOB, wants(1));
    let second = submit(&mut lab, ANN, wants(1));
    lab.act(Input::Move { by: Actor::User(ANN), task: TaskId(second), position: 0 });
    lab.schedule();
    // Ann's turn is first because task 1 is; in it she prefers task 3.
    assert_eq!(started(&lab), [3, 2]);
}

#[test]
fn inside_a_user_urgent_comes_first_then_priority_then_place() {
    let mut lab = balanced(&[1]);
    let bobs = submit(&mut lab, BOB, wants(1));
    submit(&mut lab, ANN, wants(1));
    submit(&mut lab, ANN, TaskSpec { priority: 3, ..wants(1) });
    submit(&mut lab, ANN, TaskSpec { urgent: true, priority: 9, ..wants(1) });
    let mut order = Vec::new();
    for _ in 0..4 {
        lab.schedule();
        let task = *started(&lab).last().unwrap();
        order.push(task);
        lab.ended(task, Exit::Code(0));
    }
    // Nobody's urgency passes anybody else.
    assert_eq!(order, [bobs, 4, 3, 2]);
}

#[test]
fn a_switch_to_fifo_and_back_loses_nothing_and_lets_nobody_pass() {
    let mut lab = balanced(&[1]);
    submit(&mut lab, ANN, wants(1));
    submit(&mut lab, BOB, TaskSpec { urgent: true, ..wants(1) });
    submit(&mut lab, BOB, TaskSpec { priority: 1, ..wants(1) });
    submit(&mut lab, ADMIN, TaskSpec { priority: 4, ..wants(1) });
    let order = |lab: &Lab| lab.state.queue().iter().map(|it| it.task.0).collect::<Vec<_>>();
    let before = lab.state.clone();
    lab.policy(Order::Fifo, Backfill::None);
    assert_eq!(order(&lab), [4, 1, 2, 3], "only what an admin has given passes everybody");
    let urgent = TaskSpec { urgent: true, ..wants(1) };
    let refused = lab.try_act(Input::Submit { by: BOB, spec: urgent, key: None });
    assert_eq!(refused, Err(Refusal::PassesEverybody));
    lab.policy(Order::Balance, Backfill::None);
    assert_eq!(before, lab.state);
}

#[test]
fn a_place_claimed_by_the_owner_counts_for_all_once_an_admin_gives_it() {
    let mut lab = balanced(&[1]);
    submit(&mut lab, ANN, wants(1));
    submit(&mut lab, BOB, TaskSpec { priority: 3, ..wants(1) });
    lab.policy(Order::Fifo, Backfill::None);
    let order = |lab: &Lab| lab.state.queue().iter().map(|it| it.task.0).collect::<Vec<_>>();
    let edit = |user, priority| {
        let spec = TaskSpec { priority, ..wants(1) };
        Input::Edit { by: Actor::User(user), task: TaskId(2), spec }
    };
    lab.act(edit(BOB, 3));
    assert_eq!(order(&lab), [1, 2]);
    lab.act(edit(ADMIN, 2));
    assert_eq!(order(&lab), [2, 1]);
}

#[test]
fn a_changed_priority_takes_effect_at_the_next_start() {
    let mut lab = balanced(&[2]);
    for user in [ANN, BOB, BOB] {
        submit(&mut lab, user, wants(1));
    }
    lab.schedule();
    assert_eq!(started(&lab), [1, 2]);
    submit(&mut lab, ANN, wants(1));
    prioritise(&mut lab, ANN, 2_000);
    lab.ended(1, Exit::Code(0));
    lab.ended(2, Exit::Code(0));
    lab.schedule();
    assert_eq!(started(&lab), [1, 2, 3, 4]);
}

#[test]
fn only_admins_set_priorities_and_only_sensible_ones() {
    let mut lab = balanced(&[1]);
    let set = |by, user, priority| {
        let change = UserChange { priority: Some(Thousandths(priority)), ..UserChange::default() };
        Input::SetUser { by: Actor::User(by), user, change }
    };
    assert_eq!(lab.try_act(set(ANN, ANN, 5)), Err(Refusal::AdminOnly));
    assert_eq!(lab.try_act(set(ADMIN, UserId(99), 5)), Err(Refusal::NoSuchUser));
    let absurd = lab.try_act(set(ADMIN, ANN, i64::MIN));
    assert!(matches!(absurd, Err(Refusal::OutOfRange { what: Share::Priority, .. })));
    lab.act(set(ADMIN, ANN, 1));
    assert_eq!(lab.state.users[&ANN].priority.to_string(), "0.001");
}

#[test]
fn easy_keeps_the_place_of_whose_turn_it_is_and_lets_the_others_fill() {
    let mut lab = balanced(&[4]);
    lab.policy(Order::Balance, Backfill::Easy);
    submit(&mut lab, ANN, lasting(3, 100));
    lab.schedule();
    let bobs = submit(&mut lab, BOB, lasting(4, 10));
    submit(&mut lab, ANN, lasting(1, 101));
    let short = submit(&mut lab, ANN, lasting(1, 100));
    lab.schedule();
    assert_eq!(lab.task(short), "starting n1[3]");
    assert!(matches!(lab.why(bobs), WaitReason::Resources { .. }));
    assert_eq!(lab.task(3), "queued", "it would delay Bob's");
}

#[test]
fn skip_gives_what_fits_to_whose_turn_it_is() {
    let mut lab = balanced(&[3]);
    lab.policy(Order::Balance, Backfill::Skip);
    for (user, gpus) in [(ANN, 2), (ANN, 1), (BOB, 4), (BOB, 2), (BOB, 1)] {
        if gpus < 4 {
            submit(&mut lab, user, wants(gpus));
        }
    }
    lab.schedule();
    assert_eq!(started(&lab), [1, 4], "Bob's first does not fit, his second does");
}

#[test]
fn a_forecast_follows_the_turns() {
    let mut lab = balanced(&[1]);
    submit(&mut lab, ANN, lasting(1, 100));
    lab.schedule();
    for _ in 0..3 {
        submit(&mut lab, ANN, lasting(1, 100));
    }
    let bobs = submit(&mut lab, BOB, lasting(1, 10));
    let expected = |lab: &Lab, task| {
        expected_start(&lab.state, TaskId(task), lab.now).unwrap().since(lab.now).0 / 1_000
    };
    // When the first ends nobody has anything: Ann's oldest is earlier. Then it is Ann again, until Bob is older.
    assert_eq!(expected(&lab, 2), 100);
    assert_eq!(expected(&lab, bobs), 400);
    prioritise(&mut lab, BOB, 0);
    assert_eq!(expected(&lab, bobs), 100);
    assert_eq!(expected(&lab, 2), 110);
    let dry = dry_run(&lab.state, BOB, &lasting(1, 10), lab.now).unwrap();
    assert_eq!(dry.starts_at.unwrap().since(lab.now), Span::from_secs(110));
}
