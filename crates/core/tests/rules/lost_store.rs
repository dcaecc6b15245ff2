//! The store was lost or restored: nothing runs twice, nothing is ended, and no id comes again unasked.

use crate::lab::{ANN, Lab, ending, healthy, lab, wants};
use danlu_core::run::{Exit, ReportedState, RunReport};
use danlu_core::task::{DependencyKind, Doubt};
use danlu_core::*;

/// The state as it was, in a new life of the store.
fn restore(lab: &mut Lab, backup: Vec<Row>) {
    lab.state = State::from_rows(backup).unwrap();
    let epoch = Epoch(lab.state.ledger.epoch.0 + 1);
    lab.act(Input::Boot { epoch, restored: true, ids_from: 0 });
    lab.effects.clear();
}

fn alive(run: RunId, task: Option<u64>, gpus: &[&str]) -> RunReport {
    let state = ReportedState::Alive { since: Time(5), paused: false, limit: None };
    let gpus = gpus.iter().map(|gpu| GpuId::from(*gpu)).collect();
    RunReport { task: task.map(TaskId), gpus, ..RunReport::new(run, state) }
}

fn old_run(number: u64) -> RunId {
    RunId { epoch: Epoch(1), number }
}

fn release(lab: &mut Lab, task: u64) -> Result<Reply, Refusal> {
    lab.try_act(Input::Release { by: Actor::User(ANN), task: TaskId(task) })
}

#[test]
fn what_had_not_ended_is_held_until_somebody_releases_it() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.submit(crate::lab::after(DependencyKind::AfterAny, &[1]));
    let backup: Vec<Row> = lab.state.rows().collect();
    // Both run to their ends after the backup.
    lab.schedule();
    lab.ended(1, Exit::Code(0));
    restore(&mut lab, backup);
    lab.connect(1);
    lab.report(1, healthy(1, 1), vec![]);
    lab.schedule();
    assert_eq!(lab.tasks(), ["held", "held"]);
    assert_eq!(lab.why(1), WaitReason::InDoubt { why: Doubt::Restored });
    release(&mut lab, 2).unwrap();
    assert_eq!(lab.task(2), "blocked on [1]");
    release(&mut lab, 1).unwrap();
    lab.schedule();
    assert_eq!(lab.task(1), "starting n1[0]");
}

#[test]
fn what_runs_goes_on_and_what_the_machine_no_longer_has_is_held() {
    let mut lab = lab(&[3]);
    for _ in 0..3 {
        lab.submit(wants(1));
    }
    lab.schedule();
    lab.started(1);
    lab.started(2);
    let backup: Vec<Row> = lab.state.rows().collect();
    restore(&mut lab, backup);
    lab.connect(1);
    // The second has ended and was forgotten since; the third was only being launched then.
    let first = lab.alive(1);
    lab.report(1, healthy(1, 3), vec![first]);
    lab.schedule();
    assert_eq!(lab.tasks(), ["running n1[0]", "held", "held"]);
    lab.ended(1, Exit::Code(0));
    assert_eq!(lab.task(1), "succeeded");
}

#[test]
fn one_that_would_be_queued_again_may_have_been_since() {
    let mut lab = lab(&[1]);
    lab.submit(danlu_core::task::TaskSpec { retries: 5, ..wants(1) });
    lab.schedule();
    lab.started(1);
    let backup: Vec<Row> = lab.state.rows().collect();
    restore(&mut lab, backup);
    lab.connect(1);
    let over = lab.over(1, Exit::Code(1));
    lab.report(1, healthy(1, 1), vec![over]);
    lab.schedule();
    assert_eq!(lab.task(1), "held");
}

#[test]
fn unknown_runs_go_on_their_gpus_are_taken_and_the_rest_of_the_machine_works() {
    let mut lab = lab(&[2]);
    let backup: Vec<Row> = lab.state.rows().collect();
    restore(&mut lab, backup);
    lab.connect(1);
    lab.report(1, healthy(1, 2), vec![alive(old_run(7), Some(40), &["GPU-1-0"])]);
    assert!(lab.state.nodes[&NodeId(1)].is_ready());
    assert_eq!(lab.effects(), [""; 0], "nobody is stopped");
    lab.submit(wants(1));
    lab.submit(wants(1));
    lab.schedule();
    let first = lab.state.tasks.keys().next().unwrap().0;
    assert_eq!(lab.tasks(), ["starting n1[1]", "queued"]);
    assert!(first > 40, "the ids of what is met on a machine are not given out again");
    // It ends by itself.
    lab.hear(1, NodeMessage::Ended { run: old_run(7), ending: ending(Exit::Code(0), false) });
    lab.schedule();
    assert_eq!(lab.task(first + 1), "starting n1[0]");
    assert!(lab.state.nodes[&NodeId(1)].unknown_runs.is_empty());
}

#[test]
fn an_agent_that_does_not_tell_which_gpus_keeps_them_all() {
    let mut lab = lab(&[2]);
    let backup: Vec<Row> = lab.state.rows().collect();
    restore(&mut lab, backup);
    lab.connect(1);
    lab.report(1, healthy(1, 2), vec![alive(old_run(7), None, &[])]);
    lab.submit(wants(1));
    lab.submit(wants(0));
    lab.schedule();
    assert_eq!(lab.tasks(), ["queued", "starting n1[]"]);
    let first = lab.state.tasks.keys().next().unwrap().0;
    let WaitReason::GpusUnavailable { unknown_runs, .. } = lab.why(first) else {
        panic!("{:?}", lab.why(first))
    };
    assert_eq!(unknown_runs, 2);
}

#[test]
fn an_administrator_ends_unknown_runs_and_each_report_repeats_the_order() {
    let mut lab = lab(&[1]);
    let backup: Vec<Row> = lab.state.rows().collect();
    restore(&mut lab, backup);
    let end = |by| Input::EndUnknownRuns { by, node: NodeId(1) };
    let nothing = Refusal::NoUnknownRuns { name: "n1".into() };
    assert_eq!(lab.try_act(end(Actor::Daemon)), Err(nothing));
    lab.connect(1);
    let unknown = || vec![alive(old_run(7), Some(40), &["GPU-1-0"])];
    lab.report(1, healthy(1, 1), unknown());
    assert_eq!(lab.try_act(end(Actor::User(ANN))), Err(Refusal::AdminOnly));
    lab.act(end(Actor::Daemon));
    assert_eq!(lab.effects(), ["stop 1-7 on n1"]);
    lab.connect(1);
    lab.report(1, healthy(1, 1), unknown());
    assert_eq!(lab.effects(), ["stop 1-7 on n1"]);
    lab.report(1, healthy(1, 1), vec![]);
    assert!(lab.state.nodes[&NodeId(1)].unknown_runs.is_empty());
}

#[test]
fn a_task_is_not_started_while_a_run_of_it_goes_on_that_the_store_has_forgotten() {
    let mut lab = lab(&[2]);
    lab.submit(wants(1));
    let backup: Vec<Row> = lab.state.rows().collect();
    restore(&mut lab, backup);
    lab.connect(1);
    lab.report(1, healthy(1, 2), vec![alive(old_run(1), Some(1), &["GPU-1-0"])]);
    let going = Refusal::RunsUnknown { task: TaskId(1), run: old_run(1), node: "n1".into() };
    assert_eq!(release(&mut lab, 1), Err(going));
    lab.hear(1, NodeMessage::Ended { run: old_run(1), ending: ending(Exit::Code(0), false) });
    release(&mut lab, 1).unwrap();
    lab.schedule();
    assert_eq!(lab.task(1), "starting n1[0]");
}

#[test]
fn runs_of_this_life_that_were_given_up_are_strays_as_ever() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.schedule();
    lab.started(1);
    let run = lab.alive(1);
    lab.hear(1, NodeMessage::Lost);
    lab.act(Input::DeclareLost { by: Actor::Daemon, node: NodeId(1), force: true });
    lab.connect(1);
    lab.effects.clear();
    lab.report(1, healthy(1, 1), vec![run]);
    assert_eq!(lab.effects(), ["stop 1-1 on n1"]);
    assert!(!lab.state.nodes[&NodeId(1)].is_ready());
}

#[test]
fn a_lost_store_gives_no_id_out_again() {
    let mut lab = lab(&[1]);
    lab.act(Input::Boot { epoch: Epoch(2), restored: true, ids_from: 5_000 });
    assert_eq!(lab.submit(wants(1)), TaskId(5_000));
    lab.act(Input::Boot { epoch: Epoch(3), restored: true, ids_from: 0 });
    assert_eq!(lab.submit(wants(1)), TaskId(6_001));
}

#[test]
fn runs_beyond_those_that_were_given_out_are_met_and_their_numbers_left_out() {
    let mut lab = lab(&[2]);
    lab.connect(1);
    lab.report(1, healthy(1, 2), vec![alive(old_run(9), Some(3), &["GPU-1-1"])]);
    assert!(lab.state.nodes[&NodeId(1)].is_ready());
    lab.submit(wants(1));
    lab.schedule();
    assert_eq!(lab.run_of(4), RunId { epoch: Epoch(1), number: 10 });
}
