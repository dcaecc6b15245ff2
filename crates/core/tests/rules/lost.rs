//! Lost is not failed, unless somebody says so or a rule does.

use crate::lab::{ANN, ending, healthy, lab, wants};
use danlu_core::run::Exit;
use danlu_core::task::TaskSpec;
use danlu_core::{
    Actor, Epoch, Event, FailureClass, Input, NodeId, NodeMessage, Refusal, Span, State, TaskId,
};

const MINUTE: u64 = 60;

fn declare(force: bool) -> Input {
    Input::DeclareLost { by: Actor::Daemon, node: NodeId(1), force }
}

fn class_of(state: &State, task: u64) -> Option<FailureClass> {
    let run = &state.runs[&state.tasks[&TaskId(task)].trail().last_run.unwrap()];
    match &run.state {
        danlu_core::run::RunState::Ended { failure, .. } => failure.as_ref().map(|it| it.class),
        _ => None,
    }
}

#[test]
fn nobody_is_declared_lost_unless_it_is_asked_for() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.schedule();
    lab.started(1);
    lab.hear(1, NodeMessage::Lost);
    lab.after_secs(30 * 24 * 60 * MINUTE);
    lab.schedule();
    assert_eq!(lab.task(1), "running n1[0]");
    assert_eq!(lab.state.wake_at(lab.now), None);
}

#[test]
fn after_lost_after_a_run_has_failed_and_its_task_waits_again() {
    let mut lab = lab(&[1, 1]);
    lab.configure(|settings| settings.lost_after = Span::from_secs(10 * MINUTE));
    lab.submit(wants(1));
    lab.submit(wants(1));
    lab.schedule();
    lab.started(1);
    lab.started(2);
    lab.hear(1, NodeMessage::Lost);
    let lost_at = lab.now + Span::from_secs(10 * MINUTE);
    assert_eq!(lab.state.wake_at(lab.now), Some(lost_at));
    lab.after_secs(10 * MINUTE - 1);
    lab.schedule();
    assert_eq!(lab.task(1), "running n1[0]");
    lab.after_secs(1);
    let alive = lab.alive(1);
    lab.events.clear();
    lab.schedule();
    assert_eq!(lab.tasks(), ["queued", "running n2[0]"]);
    assert_eq!(class_of(&lab.state, 1), Some(FailureClass::NodeLost));
    assert!(matches!(lab.events[0], Event::RunsDeclaredLost { node: NodeId(1), .. }));
    // It still runs there: it is ended before the node gets anything, and its end counts for nothing.
    lab.connect(1);
    lab.effects();
    lab.report(1, healthy(1, 1), vec![alive.clone()]);
    lab.schedule();
    assert_eq!(lab.effects(), ["stop 1-1 on n1"]);
    assert_eq!(lab.task(1), "queued");
    lab.hear(1, NodeMessage::Ended { run: alive.run, ending: ending(Exit::Code(0), true) });
    assert_eq!(lab.task(1), "queued");
    lab.report(1, healthy(1, 1), vec![]);
    lab.schedule();
    assert_eq!(lab.task(1), "starting n1[0]");
    assert_eq!(lab.state.tasks[&TaskId(1)].trail().attempts, 2);
}

#[test]
fn without_requeue_it_fails_or_is_retried_by_its_class() {
    for (retries, end) in [(0, "failed Abandoned"), (1, "queued")] {
        let mut lab = lab(&[1]);
        lab.configure(|settings| {
            settings.lost_after = Span::from_secs(MINUTE);
            settings.requeue_lost = false;
        });
        let retry_on = [FailureClass::NodeLost].into();
        lab.submit(TaskSpec { retries, retry_on, ..wants(1) });
        lab.schedule();
        lab.started(1);
        lab.hear(1, NodeMessage::Lost);
        lab.after_secs(MINUTE);
        lab.schedule();
        assert_eq!(lab.task(1), end);
    }
}

#[test]
fn only_time_counts_in_which_the_daemon_listened() {
    let mut lab = lab(&[1]);
    lab.configure(|settings| settings.lost_after = Span::from_secs(10 * MINUTE));
    lab.submit(wants(1));
    lab.schedule();
    lab.started(1);
    lab.hear(1, NodeMessage::Lost);
    lab.after_secs(9 * MINUTE);
    // The daemon was not there for hours; the node may have come back in a moment.
    lab.after_secs(300 * MINUTE);
    lab.act(Input::Boot { epoch: Epoch(1), restored: false, ids_from: 0 });
    lab.schedule();
    assert_eq!(lab.task(1), "running n1[0]");
    lab.after_secs(10 * MINUTE);
    lab.schedule();
    assert_eq!(lab.task(1), "queued");
}

#[test]
fn an_admin_needs_force_while_it_may_still_run() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.schedule();
    lab.started(1);
    assert_eq!(lab.try_act(declare(true)), Err(Refusal::NodeHeard { name: "n1".into() }));
    lab.hear(1, NodeMessage::Lost);
    lab.after_secs(MINUTE);
    let away = Span::from_secs(MINUTE);
    let may_run = Refusal::MayStillRun { name: "n1".into(), away };
    assert_eq!(lab.try_act(declare(false)), Err(may_run));
    let by = Actor::User(ANN);
    let not_admin = Input::DeclareLost { by, node: NodeId(1), force: true };
    assert_eq!(lab.try_act(not_admin), Err(Refusal::AdminOnly));
    lab.act(declare(true));
    assert_eq!(lab.task(1), "queued");
}

#[test]
fn without_force_it_must_have_been_away_for_long_enough() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.schedule();
    lab.started(1);
    lab.hear(1, NodeMessage::Lost);
    lab.after_secs(10 * MINUTE);
    // Set a moment ago, and nothing has been scheduled since.
    lab.configure(|settings| settings.lost_after = Span::from_secs(5 * MINUTE));
    lab.act(declare(false));
    assert_eq!(lab.task(1), "queued");
}

#[test]
fn a_gang_that_has_lost_a_node_ends_elsewhere_and_waits_again() {
    let mut lab = lab(&[1, 1]);
    let mut spec = wants(2);
    spec.request.nodes = 2;
    lab.submit(spec);
    lab.schedule();
    lab.started(1);
    lab.hear(1, NodeMessage::Lost);
    lab.effects();
    lab.act(declare(true));
    assert_eq!(lab.task(1), "stopping n2[0]");
    assert_eq!(lab.effects(), ["stop 1-1 on n2"]);
    let run = lab.run_of(1);
    lab.hear(2, NodeMessage::Ended { run, ending: ending(Exit::Signal(15), true) });
    assert_eq!(lab.task(1), "queued");
    lab.schedule();
    assert_eq!(lab.task(1), "queued");
}
