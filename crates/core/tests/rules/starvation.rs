//! Under small tasks without end, one that needs all GPUs starts in bounded time.

use crate::lab::{ANN, BOB, Lab, lab, wants};
use danlu_core::run::Exit;
use danlu_core::settings::{Backfill, Order};
use danlu_core::task::TaskSpec;
use danlu_core::*;

const GPUS: u32 = 4;
/// How long a small task runs at most, in seconds.
const SMALL: u64 = 20;
/// How long the large one waits before GPUs are kept for it, in seconds.
const PATIENCE: u64 = 60;
/// Then every small task that runs ends once, and none takes its place.
const BOUND: u64 = PATIENCE + SMALL;

/// Two users keep two small tasks waiting each; one of them also wants all GPUs for one task. Answers how long that one
/// waits, in seconds.
fn wait_of_the_large_one(order: Order, backfill: Backfill, limit: Option<u64>) -> u64 {
    let mut lab = lab(&[GPUS]);
    lab.policy(order, backfill);
    lab.configure(|settings| settings.reserve_after = Span::from_secs(PATIENCE));
    let small = || TaskSpec { time_limit: limit.map(Span::from_secs), ..wants(1) };
    // It is behind its owner's small ones under every order: they are urgent.
    let urgent = || TaskSpec { urgent: true, ..small() };
    let mut ends: Vec<(Time, u64)> = Vec::new();
    let mut large = None;
    for seconds in 0_u64.. {
        lab.now = Time::from_secs(1_000) + Span::from_secs(seconds);
        let (due, rest) = ends.into_iter().partition(|(at, _)| *at <= lab.now);
        ends = rest;
        let due: Vec<(Time, u64)> = due;
        due.iter().for_each(|(_, task)| lab.ended(*task, Exit::Code(0)));
        for (user, spec) in [(ANN, urgent()), (BOB, small())] {
            while lab.state.waiting_of(user).tasks < 2 + u64::from(user == ANN && large.is_some()) {
                submit(&mut lab, user, spec.clone());
            }
        }
        if seconds == 2 * SMALL {
            large = Some(submit(
                &mut lab,
                ANN,
                TaskSpec { time_limit: limit.map(Span::from_secs), ..wants(GPUS) },
            ));
        }
        let before: Vec<RunId> = lab.state.runs.keys().copied().collect();
        lab.schedule();
        for run in lab.state.runs.values().filter(|run| !before.contains(&run.id)) {
            if Some(run.task.0) == large {
                return seconds - 2 * SMALL;
            }
            // Some run shorter, so that they do not all end at once.
            let ran = SMALL - run.task.0 % 4 * 3;
            ends.push((lab.now + Span::from_secs(ran), run.task.0));
        }
        assert!(seconds < 10 * BOUND, "{order:?}+{backfill:?} lets it starve");
    }
    unreachable!("it starts or it starves")
}

fn submit(lab: &mut Lab, by: UserId, spec: TaskSpec) -> u64 {
    // Under one line for all, nobody but an admin may be urgent.
    let spec = match lab.state.settings().order.is_by_user() {
        true => spec,
        false => TaskSpec { urgent: false, ..spec },
    };
    match lab.act(Input::Submit { by, spec, key: None }) {
        Reply::Task(id) => id.0,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_task_for_all_gpus_starts_within_the_bound() {
    for order in [Order::Balance, Order::Fair, Order::Fifo, Order::Sjf] {
        for backfill in [Backfill::Easy, Backfill::Skip, Backfill::None] {
            for limit in [None, Some(SMALL)] {
                let waited = wait_of_the_large_one(order, backfill, limit);
                assert!(waited <= BOUND, "{order:?}+{backfill:?}, {limit:?}: {waited} s");
            }
        }
    }
}

#[test]
fn with_time_limits_the_first_in_line_waits_for_what_runs_and_no_longer() {
    let waited = wait_of_the_large_one(Order::Fifo, Backfill::Easy, Some(SMALL));
    assert!(waited <= 2 * SMALL, "{waited} s");
}

#[test]
fn who_has_waited_long_goes_before_those_of_others_and_says_who_waits_for_it() {
    let mut lab = lab(&[2]);
    lab.policy(Order::Balance, Backfill::Easy);
    lab.configure(|settings| settings.reserve_after = Span::from_secs(60));
    submit(&mut lab, ANN, wants(1));
    lab.schedule();
    let large = submit(&mut lab, ANN, wants(2));
    lab.after_secs(61);
    let small = submit(&mut lab, BOB, wants(1));
    lab.schedule();
    assert_eq!(lab.task(small), "queued");
    let first = TaskId(large);
    assert_eq!(lab.why(small), WaitReason::WouldDelay { first, starts_at: None });
    lab.ended(1, Exit::Code(0));
    lab.schedule();
    assert_eq!(lab.task(large), "starting n1[0,1]");
}

#[test]
fn who_has_waited_long_does_not_keep_the_others_of_its_owner_from_starting_with_it() {
    for (order, backfill) in [(Order::Balance, Backfill::Skip), (Order::Fair, Backfill::None)] {
        let mut lab = lab(&[2]);
        lab.policy(order, backfill);
        lab.configure(|settings| settings.reserve_after = Span::from_secs(60));
        let old = submit(&mut lab, ANN, wants(1));
        lab.after_secs(61);
        let new = submit(&mut lab, ANN, wants(1));
        lab.schedule();
        assert_eq!([lab.task(old), lab.task(new)], ["starting n1[0]", "starting n1[1]"]);
    }
}

#[test]
fn a_clock_that_is_set_back_makes_nobody_wait_for_longer() {
    let mut lab = lab(&[2]);
    lab.configure(|settings| settings.reserve_after = Span::from_secs(60));
    lab.policy(Order::Balance, Backfill::Skip);
    submit(&mut lab, ANN, wants(1));
    lab.schedule();
    let large = submit(&mut lab, ANN, wants(2));
    lab.now = Time(0);
    let small = submit(&mut lab, BOB, wants(1));
    lab.schedule();
    assert_eq!([lab.task(large), lab.task(small)], ["queued", "queued"]);
}

#[test]
fn who_was_queued_before_the_clock_was_set_back_has_waited_longest() {
    let mut lab = lab(&[2]);
    lab.policy(Order::Fifo, Backfill::Skip);
    lab.configure(|settings| settings.reserve_after = Span::from_secs(PATIENCE));
    lab.submit(wants(1));
    lab.submit(wants(1));
    lab.schedule();
    lab.after_secs(1_000);
    lab.submit(wants(2));
    lab.now = lab.now - Span::from_secs(1_000);
    for _ in 0..2 {
        lab.submit(wants(1));
    }
    lab.after_secs(2 * PATIENCE);
    lab.ended(1, Exit::Code(0));
    lab.schedule();
    assert_eq!(lab.tasks()[3..], ["queued", "queued"], "what comes free is kept for the first");
    lab.ended(2, Exit::Code(0));
    lab.schedule();
    assert_eq!(lab.task(3), "starting n1[0,1]");
}

/// Small tasks that say they may take long and do not: each is let pass, since it promises to be over in time.
#[test]
fn a_task_that_names_one_of_its_gpus_does_not_starve_behind_small_ones() {
    let mut lab = lab(&[GPUS]);
    lab.policy(Order::Fifo, Backfill::Easy);
    let mut large = wants(GPUS);
    large.request.gpu_ids = vec![2];
    let mut ends: Vec<(Time, u64)> = Vec::new();
    for seconds in 0_u64..600 {
        lab.now = Time::from_secs(1_000) + Span::from_secs(seconds);
        let (due, rest): (Vec<_>, Vec<_>) = ends.into_iter().partition(|(at, _)| *at <= lab.now);
        ends = rest;
        due.iter().for_each(|(_, task)| lab.ended(*task, Exit::Code(0)));
        while lab.state.waiting_of(BOB).tasks < 4 {
            let limit = Span::from_secs(9 + lab.state.ledger.next_task.0 * 7 % 50);
            let small = TaskSpec { time_limit: Some(limit), priority: 100, ..wants(1) };
            submit(&mut lab, BOB, small);
        }
        if seconds == 10 {
            submit(&mut lab, ANN, large.clone());
        }
        let before: Vec<RunId> = lab.state.runs.keys().copied().collect();
        lab.schedule();
        for run in lab.state.runs.values().filter(|run| !before.contains(&run.id)) {
            if lab.state.tasks[&run.task].owner == ANN {
                assert!(seconds < 10 + 2 * 60, "it waits for {seconds} s");
                return;
            }
            ends.push((lab.now + Span::from_secs(2 + run.task.0 % 5), run.task.0));
        }
    }
    panic!("it starves");
}
