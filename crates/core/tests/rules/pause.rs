//! Freezing a running task.

use crate::lab::{ANN, Lab, ending, healthy, lab, wants};
use danlu_core::run::{Exit, ReportedState, RunReport};
use danlu_core::{Actor, Input, NodeMessage, Refusal, TaskId};

fn pause(lab: &mut Lab) -> Result<danlu_core::Reply, Refusal> {
    lab.try_act(Input::Pause { by: Actor::User(ANN), task: TaskId(1) })
}

fn resume(lab: &mut Lab) -> Result<danlu_core::Reply, Refusal> {
    lab.try_act(Input::Resume { by: Actor::User(ANN), task: TaskId(1) })
}

fn running_lab() -> Lab {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.schedule();
    lab.started(1);
    lab.effects();
    lab
}

#[test]
fn a_paused_task_keeps_its_gpus() {
    let mut lab = running_lab();
    lab.submit(wants(1));
    pause(&mut lab).unwrap();
    lab.schedule();
    assert_eq!(lab.effects(), ["pause 1-1 on n1"]);
    assert_eq!(lab.tasks(), ["paused n1[0]", "queued"]);
    resume(&mut lab).unwrap();
    assert_eq!(lab.effects(), ["resume 1-1 on n1"]);
    assert_eq!(lab.task(1), "running n1[0]");
}

#[test]
fn only_what_runs_is_paused_and_only_what_is_paused_resumed() {
    let mut waiting = lab(&[1]);
    waiting.submit(wants(1));
    assert!(matches!(pause(&mut waiting), Err(Refusal::WrongState { .. })));
    waiting.schedule();
    assert!(matches!(pause(&mut waiting), Err(Refusal::WrongState { .. })));
    let mut lab = running_lab();
    resume(&mut lab).unwrap();
    assert_eq!(lab.effects(), [] as [&str; 0]);
}

#[test]
fn pausing_while_the_node_is_away_is_not_forgotten() {
    let mut lab = running_lab();
    lab.hear(1, NodeMessage::Lost);
    pause(&mut lab).unwrap();
    assert_eq!(lab.effects(), [] as [&str; 0]);
    let reports = |paused, lab: &Lab| {
        let state = ReportedState::Alive { since: lab.now, paused, limit: None };
        RunReport::new(lab.run_of(1), state)
    };
    lab.connect(1);
    let running = reports(false, &lab);
    lab.report(1, healthy(1, 1), vec![running]);
    assert_eq!(lab.effects(), ["pause 1-1 on n1"]);
    lab.hear(1, NodeMessage::Lost);
    resume(&mut lab).unwrap();
    lab.connect(1);
    let paused = reports(true, &lab);
    lab.report(1, healthy(1, 1), vec![paused]);
    assert_eq!(lab.effects(), ["resume 1-1 on n1"]);
}

#[test]
fn a_paused_task_can_be_cancelled() {
    let mut lab = running_lab();
    pause(&mut lab).unwrap();
    lab.cancel(1);
    assert_eq!(lab.task(1), "stopping n1[0]");
    lab.ended_with(1, ending(Exit::Signal(15), true));
    assert_eq!(lab.task(1), "cancelled");
}
