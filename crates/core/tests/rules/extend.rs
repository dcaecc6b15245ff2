//! More time for a task with a limit.

use crate::lab::{ADMIN, ANN, BOB, Lab, ending, healthy, lab, wants};
use danlu_core::run::{Exit, ReportedState, RunReport};
use danlu_core::task::TaskSpec;
use danlu_core::{Actor, Input, NodeMessage, Refusal, Reply, Span, TaskId, UserId};

const HOUR: Span = Span::from_secs(3_600);

fn limited() -> TaskSpec {
    TaskSpec { time_limit: Some(HOUR), ..wants(1) }
}

fn extend(lab: &mut Lab, by: UserId, more: Span) -> Result<Reply, Refusal> {
    lab.try_act(Input::Extend { by: Actor::User(by), task: TaskId(1), more })
}

fn limit(lab: &Lab) -> Option<Span> {
    lab.state.tasks[&TaskId(1)].time_limit()
}

#[test]
fn a_running_task_is_told_its_new_limit() {
    let mut lab = lab(&[1]);
    lab.submit(limited());
    lab.schedule();
    lab.started(1);
    lab.effects();
    let end = lab.state.runs[&lab.run_of(1)].expected_end_at.unwrap();
    extend(&mut lab, ANN, HOUR).unwrap();
    assert_eq!(lab.effects(), ["limit 1-1 on n1 to 2h"]);
    assert_eq!(lab.state.runs[&lab.run_of(1)].expected_end_at, Some(end + HOUR));
}

#[test]
fn a_waiting_task_starts_with_its_new_limit() {
    let mut lab = lab(&[1]);
    lab.submit(limited());
    extend(&mut lab, ANN, HOUR).unwrap();
    lab.schedule();
    let danlu_core::Effect::Launch(launch) = &lab.effects[0] else { panic!("{:?}", lab.effects) };
    assert_eq!(launch.time_limit, Some(HOUR + HOUR));
    // The next run has it too.
    lab.ended(1, Exit::TimedOut);
    lab.act(Input::Retry { by: Actor::User(ANN), task: TaskId(1) });
    assert_eq!(limit(&lab), Some(HOUR + HOUR));
}

#[test]
fn a_node_that_has_not_heard_is_told_again() {
    let mut lab = lab(&[1]);
    lab.submit(limited());
    lab.schedule();
    lab.started(1);
    lab.hear(1, NodeMessage::Lost);
    extend(&mut lab, ANN, HOUR).unwrap();
    lab.effects();
    for (told, expected) in [(None, 1), (Some(HOUR + HOUR), 0)] {
        let state = ReportedState::Alive { since: lab.now, paused: false, limit: told };
        let run = RunReport::new(lab.run_of(1), state);
        lab.connect(1);
        lab.report(1, healthy(1, 1), vec![run]);
        assert_eq!(lab.effects().len(), expected, "{told:?}");
    }
}

#[test]
fn an_owner_adds_so_much_and_an_admin_any() {
    let mut lab = lab(&[1]);
    lab.configure(|settings| settings.max_extension = HOUR);
    lab.submit(limited());
    extend(&mut lab, ANN, Span::from_secs(1_800)).unwrap();
    assert_eq!(extend(&mut lab, ANN, HOUR), Err(Refusal::ExtendedTooFar(HOUR)));
    assert_eq!(extend(&mut lab, BOB, HOUR), Err(Refusal::NotPermitted));
    extend(&mut lab, ADMIN, HOUR.times(5)).unwrap();
    assert_eq!(limit(&lab), Some(Span::from_secs(1_800) + HOUR.times(6)));
}

#[test]
fn what_cannot_be_extended_says_why() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    assert_eq!(extend(&mut lab, ANN, HOUR), Err(Refusal::NoTimeLimit(TaskId(1))));
    lab.schedule();
    lab.ended_with(1, ending(Exit::Code(0), false));
    assert!(matches!(extend(&mut lab, ANN, HOUR), Err(Refusal::WrongState { .. })));
}

#[test]
fn another_limit_by_edit_is_a_new_one() {
    let mut lab = lab(&[1]);
    lab.submit(limited());
    extend(&mut lab, ANN, HOUR).unwrap();
    let by = Actor::User(ANN);
    let renamed = TaskSpec { name: "x".into(), ..limited() };
    lab.act(Input::Edit { by, task: TaskId(1), spec: renamed });
    assert_eq!(limit(&lab), Some(HOUR + HOUR));
    let shorter = TaskSpec { time_limit: Some(Span::from_secs(60)), ..wants(1) };
    lab.act(Input::Edit { by, task: TaskId(1), spec: shorter });
    assert_eq!(limit(&lab), Some(Span::from_secs(60)));
}
