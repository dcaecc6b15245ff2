//! The order for labs where nobody says how long a task runs.

use crate::lab::{ANN, BOB, Lab, lab, wants};
use crate::predictions::{has_run, submit};
use danlu_core::run::Exit;
use danlu_core::settings::{Backfill, Order};
use danlu_core::task::{TaskSpec, TaskState};
use danlu_core::{Actor, Input, Span, TaskId, UserId, WaitReason};

/// Under `auto`, with Ann's tasks known to take long and Bob's to be short.
fn known(gpus: u32) -> Lab {
    let mut lab = lab(&[gpus]);
    lab.policy(Order::Auto, Backfill::None);
    has_run(&mut lab, ANN, 1, 10_000);
    has_run(&mut lab, BOB, 1, 100);
    lab
}

/// Everything is in use by one of Ann's.
fn busy(gpus: u32) -> (Lab, u64) {
    let mut lab = known(gpus);
    let task = submit(&mut lab, ANN, wants(gpus));
    lab.schedule();
    (lab, task)
}

fn end(lab: &mut Lab, task: u64) {
    lab.ended(task, Exit::Code(0));
    lab.schedule();
}

fn is_queued(lab: &Lab, task: u64) -> bool {
    matches!(lab.state.tasks[&TaskId(task)].state, TaskState::Queued { .. })
}

#[test]
fn auto_lets_the_tasks_of_a_user_go_first_whose_tasks_are_short() {
    let (mut lab, running) = busy(1);
    let long = submit(&mut lab, ANN, wants(1));
    lab.after_secs(100);
    let short = submit(&mut lab, BOB, wants(1));
    end(&mut lab, running);
    assert!(is_queued(&lab, long) && !is_queued(&lab, short));
}

#[test]
fn auto_starts_whatever_fits() {
    let mut lab = known(4);
    submit(&mut lab, ANN, wants(3));
    lab.schedule();
    let wide = submit(&mut lab, BOB, wants(4));
    let narrow = submit(&mut lab, ANN, wants(1));
    lab.schedule();
    assert!(is_queued(&lab, wide) && !is_queued(&lab, narrow));
}

#[test]
fn auto_learns_of_a_batch_from_the_first_that_end() {
    let (mut lab, running) = busy(1);
    // A new user's: nothing is known but what everybody's tell.
    let carl = UserId(3);
    let first = submit(&mut lab, carl, wants(1));
    let second = submit(&mut lab, carl, wants(1));
    let third = submit(&mut lab, carl, wants(1));
    end(&mut lab, running);
    assert!(!is_queued(&lab, first), "the first of a batch comes soon");
    lab.after_secs(2);
    end(&mut lab, first);
    assert!(!is_queued(&lab, second));
    let bobs = submit(&mut lab, BOB, wants(1));
    lab.after_secs(2);
    end(&mut lab, second);
    assert!(!is_queued(&lab, third), "they take two seconds, and Bob's a hundred");
    assert!(is_queued(&lab, bobs));
}

#[test]
fn auto_knows_nothing_of_tasks_that_are_open() {
    let told = |seconds: [u64; 4]| {
        let (mut lab, running) = busy(2);
        let mut seconds = seconds.into_iter().map(Span::from_secs);
        for (by, gpus) in [(ANN, 1), (BOB, 2), (ANN, 2), (BOB, 1)] {
            submit(&mut lab, by, TaskSpec { expected: seconds.next(), ..wants(gpus) });
            lab.after_secs(7);
        }
        end(&mut lab, running);
        lab.after_secs(60);
        lab.schedule();
        lab.tasks()
    };
    let plain = told([1, 1, 1, 1]);
    assert_eq!(plain, told([9, 90_000, 5, 77]));
    assert_eq!(plain, told([90_000, 1, 77, 5]));
}

/// Whoever comes a week later never goes first, however short.
#[test]
fn auto_nobody_is_overtaken_by_those_who_come_a_week_later() {
    let (mut lab, running) = busy(1);
    lab.ended(running, Exit::Code(0));
    has_run(&mut lab, ANN, 1, 30 * 86_400);
    has_run(&mut lab, ANN, 1, 30 * 86_400);
    let running = submit(&mut lab, BOB, wants(1));
    lab.schedule();
    let long = submit(&mut lab, ANN, wants(1));
    lab.after_secs(7 * 86_400 + 1);
    let short = submit(&mut lab, BOB, wants(1));
    end(&mut lab, running);
    assert!(!is_queued(&lab, long) && is_queued(&lab, short));
}

/// Under a continuous load of small tasks a task for all GPUs, of which the likes ran 300 s, has GPUs kept for it
/// after twenty times that, and starts when those have ended that run then: 100 s later.
#[test]
fn auto_nobody_starves() {
    const BOUND: u64 = 20 * 300 + 100;
    let mut lab = known(4);
    has_run(&mut lab, ANN, 4, 300);
    // Two of four GPUs are free at any time, and never the other two: small ones of 100 s, one every 25 s.
    let mut running = std::collections::VecDeque::new();
    for _ in 0..4 {
        running.push_back(submit(&mut lab, BOB, wants(1)));
        lab.after_secs(25);
        lab.schedule();
    }
    let wide = submit(&mut lab, ANN, wants(4));
    let begun = lab.now;
    while is_queued(&lab, wide) {
        assert!(lab.now.since(begun) <= Span::from_secs(BOUND), "starved: {:?}", lab.why(wide));
        running.push_back(submit(&mut lab, BOB, wants(1)));
        let oldest = running.pop_front().unwrap();
        if is_queued(&lab, oldest) {
            running.push_front(oldest);
        } else {
            lab.ended(oldest, Exit::Code(0));
        }
        lab.schedule();
        lab.after_secs(25);
    }
    assert!(lab.now.since(begun) >= Span::from_secs(20 * 300 - 300), "it waits its time first");
}

#[test]
fn auto_lets_pass_what_ends_before_the_kept_gpus_are_needed() {
    let mut lab = known(4);
    has_run(&mut lab, BOB, 4, 100);
    let running = submit(&mut lab, ANN, wants(3));
    lab.schedule();
    let wide = submit(&mut lab, BOB, wants(4));
    lab.after_secs(100 * 20);
    let long = submit(&mut lab, ANN, wants(1));
    let short = submit(&mut lab, BOB, wants(1));
    lab.schedule();
    assert!(!is_queued(&lab, short), "a hundred seconds");
    lab.ended(short, Exit::Code(0));
    lab.schedule();
    assert!(is_queued(&lab, long));
    assert!(matches!(lab.why(long), WaitReason::WouldDelay { first, .. } if first.0 == wide));
    lab.ended(running, Exit::Code(0));
    lab.schedule();
    assert!(!is_queued(&lab, wide) && is_queued(&lab, long));
}

#[test]
fn auto_urgent_tasks_and_priorities_go_before() {
    let (mut lab, running) = busy(1);
    let short = submit(&mut lab, BOB, wants(1));
    let urgent = TaskSpec { urgent: true, ..wants(1) };
    let urgent = submit(&mut lab, crate::lab::ADMIN, urgent);
    let later = submit(&mut lab, BOB, TaskSpec { priority: 9, ..wants(1) });
    for expected in [urgent, short, later] {
        assert!(is_queued(&lab, expected));
        let done = if expected == urgent { running } else { lab.running() };
        end(&mut lab, done);
        assert!(!is_queued(&lab, expected));
    }
}

#[test]
fn auto_can_be_switched_on_and_off_under_a_queue() {
    let (mut lab, running) = busy(1);
    let long = submit(&mut lab, ANN, wants(1));
    let short = submit(&mut lab, BOB, wants(1));
    lab.policy(Order::Fifo, Backfill::None);
    lab.policy(Order::Auto, Backfill::None);
    lab.policy(Order::Fifo, Backfill::None);
    end(&mut lab, running);
    assert!(!is_queued(&lab, long) && is_queued(&lab, short), "first in, first out");
    lab.policy(Order::Auto, Backfill::None);
    lab.act(Input::Cancel { by: Actor::User(BOB), task: TaskId(short) });
}

#[test]
fn auto_inside_orders_the_tasks_of_one_user_where_users_take_turns() {
    let after = |inside: bool| {
        let mut lab = lab(&[1]);
        lab.policy(Order::Balance, Backfill::None);
        lab.configure(|settings| settings.auto_inside = inside);
        let named = |name: &str| TaskSpec { name: name.into(), ..wants(1) };
        for (name, seconds) in [("train", 10_000), ("test", 10)] {
            let task = submit(&mut lab, ANN, named(name));
            lab.schedule();
            lab.after_secs(seconds);
            lab.ended(task, Exit::Code(0));
        }
        let running = submit(&mut lab, BOB, wants(1));
        lab.schedule();
        let (long, short) =
            (submit(&mut lab, ANN, named("train")), submit(&mut lab, ANN, named("test")));
        end(&mut lab, running);
        (is_queued(&lab, long), is_queued(&lab, short))
    };
    assert_eq!(after(false), (false, true), "in the order of submission");
    assert_eq!(after(true), (true, false), "the short one first");
}

#[test]
fn gpus_are_not_kept_for_who_has_had_their_share() {
    let mut lab = lab(&[2]);
    lab.policy(Order::Auto, Backfill::None);
    lab.submit(wants(1));
    lab.schedule();
    lab.submit(wants(2));
    lab.configure(|settings| settings.quota.user.running_tasks = Some(1));
    // By now GPUs would be kept for it, if it could have them.
    lab.after_secs(5 * 86_400);
    lab.act(Input::Submit { by: crate::lab::BOB, spec: wants(1), key: None });
    lab.schedule();
    assert_eq!(lab.tasks(), ["starting n1[0]", "queued", "starting n1[1]"]);
}
