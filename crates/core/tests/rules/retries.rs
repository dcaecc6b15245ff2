//! What a run's end means for its task.

use crate::lab::{ANN, lab, wants};
use danlu_core::run::Exit;
use danlu_core::task::TaskSpec;
use danlu_core::{Actor, Input, Refusal, TaskId};

fn after_exits(spec: TaskSpec, exits: &[Exit]) -> String {
    let mut lab = lab(&[1]);
    lab.submit(spec);
    for exit in exits {
        lab.schedule();
        lab.ended(1, exit.clone());
    }
    format!("{} after {}", lab.task(1), lab.state.tasks[&TaskId(1)].trail().attempts)
}

#[test]
fn an_exit_code_is_the_outcome() {
    assert_eq!(after_exits(wants(1), &[Exit::Code(0)]), "succeeded after 1");
    assert_eq!(after_exits(wants(1), &[Exit::Code(7)]), "failed Code(7) after 1");
    assert_eq!(after_exits(wants(1), &[Exit::Signal(9)]), "failed Signal(9) after 1");
    assert_eq!(after_exits(wants(1), &[Exit::TimedOut]), "timedout after 1");
}

#[test]
fn a_failure_is_retried_as_often_as_asked() {
    let spec = || TaskSpec { retries: 2, ..wants(1) };
    let fail = Exit::Code(1);
    assert_eq!(after_exits(spec(), &[fail.clone(), Exit::Code(0)]), "succeeded after 2");
    assert_eq!(after_exits(spec(), &[fail.clone(), fail.clone()]), "queued after 2");
    assert_eq!(
        after_exits(spec(), &[fail.clone(), fail.clone(), fail.clone()]),
        "failed Code(1) after 3"
    );
}

#[test]
fn a_success_and_a_time_out_are_never_retried() {
    let spec = || TaskSpec { retries: 5, ..wants(1) };
    assert_eq!(after_exits(spec(), &[Exit::Code(0)]), "succeeded after 1");
    assert_eq!(after_exits(spec(), &[Exit::TimedOut]), "timedout after 1");
}

#[test]
fn what_could_not_be_launched_says_so() {
    let launch = Exit::Launch { message: "no such file".into() };
    let expected = "launcherror { message: \"no such file\" } after 1";
    assert_eq!(after_exits(wants(1), &[launch]), expected);
}

#[test]
fn a_task_that_lost_its_machine_is_queued_again_but_not_for_ever() {
    let gone = Exit::Vanished { rebooted: true };
    assert_eq!(after_exits(wants(1), std::slice::from_ref(&gone)), "queued after 1");
    assert_eq!(after_exits(wants(1), &vec![gone; 11]), "gaveup { attempts: 11 } after 11");
}

#[test]
fn a_lost_machine_can_be_made_a_failure() {
    let mut lab = lab(&[1]);
    lab.configure(|settings| settings.requeue_lost = false);
    lab.submit(wants(1));
    lab.schedule();
    lab.ended(1, Exit::Vanished { rebooted: true });
    assert_eq!(lab.task(1), "failed Vanished { rebooted: true }");
}

#[test]
fn a_finished_task_can_be_run_again_with_its_old_id() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    let retry = Input::Retry { by: Actor::User(ANN), task: TaskId(1) };
    assert!(matches!(lab.try_act(retry.clone()), Err(Refusal::WrongState { .. })));
    lab.schedule();
    lab.ended(1, Exit::Code(1));
    lab.act(retry);
    lab.schedule();
    assert_eq!(lab.task(1), "starting n1[0]");
    assert_eq!(lab.run_of(1).number, 2);
    assert_eq!(lab.state.runs_of(TaskId(1)).count(), 2);
}

#[test]
fn a_requeued_task_keeps_its_place() {
    let mut lab = lab(&[1]);
    lab.submit(TaskSpec { retries: 1, ..wants(1) });
    lab.submit(wants(1));
    lab.schedule();
    lab.ended(1, Exit::Code(1));
    lab.schedule();
    assert_eq!(lab.tasks(), ["starting n1[0]", "queued"]);
}

#[test]
fn hold_takes_a_task_out_of_the_queue_and_release_puts_it_back() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.act(Input::Hold { by: Actor::User(ANN), task: TaskId(1) });
    lab.schedule();
    assert_eq!(lab.task(1), "held");
    lab.act(Input::Release { by: Actor::User(ANN), task: TaskId(1) });
    lab.schedule();
    assert_eq!(lab.task(1), "starting n1[0]");
}

#[test]
fn one_bad_part_ends_the_others() {
    let mut lab = lab(&[2, 2]);
    let mut wide = wants(4);
    wide.request.span_nodes = true;
    lab.submit(wide);
    lab.schedule();
    lab.started(1);
    lab.effects();
    let run = lab.run_of(1);
    let bad = crate::lab::ending(Exit::Code(3), false);
    lab.hear(1, danlu_core::NodeMessage::Ended { run, ending: bad });
    assert_eq!(lab.task(1), "stopping n2[0,1]");
    assert_eq!(lab.effects(), ["forget 1-1 on n1", "stop 1-1 on n2"]);
    let stopped = crate::lab::ending(Exit::Signal(15), true);
    lab.hear(2, danlu_core::NodeMessage::Ended { run, ending: stopped });
    assert_eq!(lab.task(1), "failed Code(3)");
}

#[test]
fn a_part_may_end_well_before_the_others() {
    let mut lab = lab(&[2, 2]);
    let mut wide = wants(4);
    wide.request.span_nodes = true;
    lab.submit(wide);
    lab.schedule();
    lab.started(1);
    let run = lab.run_of(1);
    for node in [1, 2] {
        assert!(!lab.state.runs[&run].is_ended());
        let well = crate::lab::ending(Exit::Code(0), false);
        lab.hear(node, danlu_core::NodeMessage::Ended { run, ending: well });
    }
    assert_eq!(lab.task(1), "succeeded");
}
