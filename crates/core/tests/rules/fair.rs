//! Users in turn by what they have used of late.

use crate::lab::{ADMIN, ANN, BOB, Lab, lab, wants};
use danlu_core::refusal::{Share, TextField};
use danlu_core::run::Exit;
use danlu_core::settings::{Backfill, Order};
use danlu_core::user::UserChange;
use danlu_core::*;

const HOUR: u64 = 3_600;

fn fair(gpus: &[u32]) -> Lab {
    let mut lab = lab(gpus);
    lab.policy(Order::Fair, Backfill::None);
    lab
}

fn submit(lab: &mut Lab, by: UserId, gpus: u32) -> u64 {
    match lab.act(Input::Submit { by, spec: wants(gpus), key: None }) {
        Reply::Task(id) => id.0,
        other => panic!("{other:?}"),
    }
}

fn set(lab: &mut Lab, user: UserId, change: UserChange) {
    lab.act(Input::SetUser { by: Actor::Daemon, user, change });
}

fn in_group(lab: &mut Lab, user: UserId, group: &str) {
    set(lab, user, UserChange { group: Some(group.into()), ..UserChange::default() });
}

/// Let a user use all of one node of one GPU for so long.
fn use_gpu(lab: &mut Lab, user: UserId, seconds: u64) {
    let task = submit(lab, user, 1);
    lab.schedule();
    lab.after_secs(seconds);
    lab.ended(task, Exit::Code(0));
}

/// Who gets the one GPU when everybody here asks for it.
fn first_of(lab: &Lab, users: &[UserId]) -> UserId {
    let mut state = lab.state.clone();
    for by in users {
        step(&mut state, Input::Submit { by: *by, spec: wants(1), key: None }, lab.now);
    }
    step(&mut state, Input::Schedule, lab.now);
    let run = state.runs.values().find(|run| !run.is_ended()).unwrap();
    state.tasks[&run.task].owner
}

#[test]
fn who_has_used_less_goes_first() {
    let mut lab = fair(&[1]);
    use_gpu(&mut lab, ANN, HOUR);
    assert_eq!(first_of(&lab, &[ANN, BOB]), BOB);
    use_gpu(&mut lab, BOB, 2 * HOUR);
    assert_eq!(first_of(&lab, &[ANN, BOB]), ANN);
}

#[test]
fn what_runs_is_charged_while_it_runs() {
    let mut lab = fair(&[3]);
    submit(&mut lab, ANN, 2);
    lab.schedule();
    lab.after_secs(HOUR);
    let used = |lab: &Lab, user| lab.state.used_by(user, lab.now).micros / 1_000_000;
    assert!((7_180..=7_200).contains(&used(&lab, ANN)), "{}", used(&lab, ANN));
    submit(&mut lab, ANN, 1);
    submit(&mut lab, BOB, 1);
    lab.schedule();
    assert_eq!(lab.tasks(), ["starting n1[0,1]", "queued", "starting n1[2]"]);
}

#[test]
fn what_is_long_ago_counts_less() {
    let mut lab = fair(&[1]);
    use_gpu(&mut lab, ANN, 10 * HOUR);
    lab.after_secs(4 * 7 * 24 * HOUR);
    use_gpu(&mut lab, BOB, HOUR);
    // Ten hours four half-lives ago are less than one hour now.
    assert_eq!(first_of(&lab, &[BOB, ANN]), ANN);
    lab.configure(|settings| settings.fair.half_life = Span::from_secs(100 * 24 * HOUR));
    use_gpu(&mut lab, ANN, 10 * HOUR);
    assert_eq!(first_of(&lab, &[ANN, BOB]), BOB);
}

#[test]
fn a_higher_weight_is_a_larger_share() {
    let mut lab = fair(&[1]);
    use_gpu(&mut lab, ANN, 3 * HOUR);
    use_gpu(&mut lab, BOB, HOUR);
    assert_eq!(first_of(&lab, &[ANN, BOB]), BOB);
    let weight = Some(Thousandths(4_000));
    set(&mut lab, ANN, UserChange { weight, ..UserChange::default() });
    assert_eq!(first_of(&lab, &[BOB, ANN]), ANN);
}

#[test]
fn the_group_goes_first_then_the_user_in_it() {
    let mut lab = fair(&[1]);
    in_group(&mut lab, ANN, "vision");
    in_group(&mut lab, BOB, "vision");
    use_gpu(&mut lab, ANN, 2 * HOUR);
    use_gpu(&mut lab, ADMIN, HOUR);
    // Bob has used nothing, but his group has.
    assert_eq!(first_of(&lab, &[ANN, BOB, ADMIN]), ADMIN);
    let weigh = |weight: i64| {
        move |settings: &mut Settings| {
            settings.fair.groups.insert("vision".into(), Thousandths(weight));
        }
    };
    lab.configure(weigh(3_000));
    assert_eq!(first_of(&lab, &[ANN, BOB, ADMIN]), BOB);
    in_group(&mut lab, BOB, "");
    assert_eq!(first_of(&lab, &[ANN, BOB, ADMIN]), BOB);
    assert_eq!(first_of(&lab, &[ANN, ADMIN]), ANN);
}

#[test]
fn one_pass_does_not_give_all_to_one_user() {
    let mut lab = fair(&[4]);
    for user in [ANN, ANN, ANN, ANN, BOB, BOB] {
        submit(&mut lab, user, 1);
    }
    lab.schedule();
    let started: Vec<u64> = lab.state.runs.values().map(|run| run.task.0).collect();
    assert_eq!(started, [1, 5, 2, 6]);
}

#[test]
fn use_under_any_order_counts_when_fair_is_switched_on() {
    let mut lab = lab(&[1]);
    use_gpu(&mut lab, ANN, HOUR);
    lab.policy(Order::Fair, Backfill::Easy);
    assert_eq!(first_of(&lab, &[ANN, BOB]), BOB);
}

#[test]
fn weights_are_above_zero_and_groups_have_plain_names() {
    let mut lab = fair(&[1]);
    let weight = Some(Thousandths(0));
    let change = UserChange { weight, ..UserChange::default() };
    let refused = lab.try_act(Input::SetUser { by: Actor::Daemon, user: ANN, change });
    assert!(matches!(refused, Err(Refusal::OutOfRange { what: Share::Weight, .. })));
    let change = UserChange { group: Some("a\nb".into()), ..UserChange::default() };
    let refused = lab.try_act(Input::SetUser { by: Actor::Daemon, user: ANN, change });
    assert_eq!(refused, Err(Refusal::ControlCharacter { what: TextField::Group }));
    let mut settings = Settings::default();
    settings.fair.groups.insert("vision".into(), Thousandths(-1));
    let refused = lab.try_act(Input::Configure { by: Actor::Daemon, settings });
    assert!(matches!(refused, Err(Refusal::OutOfRange { what: Share::Weight, .. })));
}
