//! Trouble of a machine is no failure of a task, and what nobody knows is not run again unasked.

use crate::lab::{ANN, BOB, Lab, ending, healthy, lab, wants};
use danlu_core::input::NodeReport;
use danlu_core::node::Capacity;
use danlu_core::run::Exit;
use danlu_core::task::{Doubt, TaskSpec};
use danlu_core::*;

fn full() -> Trouble {
    Trouble::new(TroubleKind::DiskFull, "no space left on device")
}

fn cannot_start(lab: &mut Lab, task: u64) {
    lab.ended(task, Exit::Trouble(full()));
}

#[test]
fn a_task_that_its_machine_could_not_start_stays_queued_and_the_machine_gets_nothing_new() {
    let mut lab = lab(&[1]);
    lab.submit(TaskSpec { retries: 1, ..wants(1) });
    lab.schedule();
    cannot_start(&mut lab, 1);
    lab.schedule();
    assert_eq!(lab.task(1), "queued");
    let task = &lab.state.tasks[&TaskId(1)];
    assert_eq!((task.trail().attempts, task.trail().failures, task.trail().losses), (0, 0, 0));
    assert_eq!(lab.why(1), WaitReason::NodesUnfit { nodes: vec![NodeId(1)], trouble: full() });
    assert!(lab.events.contains(&Event::NodeUnfit { node: NodeId(1), trouble: full() }));
    lab.hear(1, NodeMessage::Fitness { trouble: None });
    lab.schedule();
    assert_eq!(lab.task(1), "starting n1[0]");
    assert_eq!(lab.state.runs[&lab.run_of(1)].attempt, 1);
}

#[test]
fn another_machine_starts_it_at_once() {
    let mut lab = lab(&[1, 1]);
    lab.submit(wants(1));
    lab.schedule();
    assert_eq!(lab.task(1), "starting n1[0]");
    cannot_start(&mut lab, 1);
    lab.schedule();
    assert_eq!(lab.task(1), "starting n2[0]");
}

#[test]
fn an_unfit_machine_keeps_what_runs_and_a_report_tells_whether_it_is_well() {
    let mut lab = lab(&[2]);
    lab.submit(wants(1));
    lab.schedule();
    lab.started(1);
    lab.hear(1, NodeMessage::Fitness { trouble: Some(full()) });
    lab.submit(wants(1));
    lab.schedule();
    assert_eq!(lab.tasks(), ["running n1[0]", "queued"]);
    let since = lab.state.nodes[&NodeId(1)].unfit.as_ref().unwrap().since;
    lab.after_secs(60);
    let report = |lab: &Lab, trouble| {
        let capacity = Capacity { cpus: 16, memory: 256 << 30 };
        let (gpus, runs) = (healthy(1, 2), vec![lab.alive(1)]);
        NodeMessage::Report(NodeReport { capacity, free_memory: None, gpus, runs, trouble })
    };
    lab.connect(1);
    lab.hear(1, report(&lab, Some(full())));
    lab.schedule();
    assert_eq!(lab.task(2), "queued");
    assert_eq!(lab.state.nodes[&NodeId(1)].unfit.as_ref().unwrap().since, since);
    lab.hear(1, report(&lab, None));
    lab.schedule();
    assert_eq!(lab.task(2), "starting n1[1]");
}

#[test]
fn a_report_that_says_well_counts_more_than_the_trouble_of_a_run_in_it() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.schedule();
    lab.hear(1, NodeMessage::Lost);
    lab.connect(1);
    // The run could not be started while nobody listened; the machine is well by now.
    let over = lab.over(1, Exit::Trouble(full()));
    lab.report(1, healthy(1, 1), vec![over]);
    assert_eq!(lab.state.nodes[&NodeId(1)].unfit, None);
    lab.schedule();
    assert_eq!(lab.task(1), "starting n1[0]");
}

#[test]
fn what_a_machine_says_of_its_trouble_is_one_short_line() {
    let mut lab = lab(&[1]);
    let long = "x\n".repeat(100_000);
    let trouble = Trouble { kind: TroubleKind::Other, detail: long };
    lab.hear(1, NodeMessage::Fitness { trouble: Some(trouble) });
    let unfit = lab.state.nodes[&NodeId(1)].unfit.clone().unwrap();
    assert!(unfit.trouble.detail.len() <= 300 && !unfit.trouble.detail.contains('\n'));
}

#[test]
fn a_task_that_is_cancelled_where_it_could_not_be_started_is_cancelled() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.schedule();
    lab.cancel(1);
    cannot_start(&mut lab, 1);
    assert_eq!(lab.task(1), "cancelled");
}

#[test]
fn a_run_whose_record_is_gone_may_have_ended_and_is_not_run_again_unasked() {
    let mut lab = lab(&[1]);
    lab.submit(TaskSpec { retries: 3, ..wants(1) });
    lab.schedule();
    lab.started(1);
    lab.reconnect(1, vec![]);
    lab.schedule();
    assert_eq!(lab.task(1), "held");
    assert_eq!(lab.why(1), WaitReason::InDoubt { why: Doubt::NoRecord });
    let release = |by| Input::Release { by: Actor::User(by), task: TaskId(1) };
    assert_eq!(lab.try_act(release(BOB)), Err(Refusal::NotPermitted));
    lab.act(release(ANN));
    lab.schedule();
    assert_eq!(lab.task(1), "starting n1[0]");
    assert_eq!(lab.state.tasks[&TaskId(1)].trail().doubt, None);
}

#[test]
fn who_has_ended_by_itself_before_it_was_cancelled_keeps_its_own_end() {
    for (exit, expected) in [
        (Exit::Code(3), "failed Code(3)"),
        (Exit::Code(0), "succeeded"),
        (Exit::TimedOut, "timedout"),
        (Exit::Vanished { rebooted: true }, "cancelled"),
        (Exit::NeverStarted, "cancelled"),
    ] {
        let mut lab = lab(&[1]);
        lab.submit(TaskSpec { retries: 3, ..wants(1) });
        lab.schedule();
        lab.started(1);
        lab.hear(1, NodeMessage::Lost);
        lab.cancel(1);
        lab.connect(1);
        let over = lab.over(1, exit);
        lab.report(1, healthy(1, 1), vec![over]);
        assert_eq!(lab.task(1), expected);
    }
}

#[test]
fn no_end_is_before_its_start() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.schedule();
    lab.started(1);
    let earlier = Time(lab.now.0 - 500_000);
    let mut over = ending(Exit::Vanished { rebooted: true }, false);
    over.ended_at = earlier;
    lab.ended_with(1, over);
    let part = &lab.state.runs[&lab.run_of(1)].parts[0];
    let run::PartState::Ended { at, .. } = part.state else { panic!("{part:?}") };
    assert!(at >= part.started_at.unwrap());
}
