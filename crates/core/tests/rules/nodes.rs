//! Connections, reports, and what a node must show before it gets work.

use crate::lab::{ADMIN, ANN, healthy, lab, wants};
use danlu_core::run::{Exit, ReportedState, RunReport};
use danlu_core::{
    Actor, Epoch, Event, Input, NodeId, NodeMessage, Refusal, RunId, SessionId, Time,
};

fn stray(number: u64) -> RunReport {
    let run = RunId { epoch: Epoch(7), number };
    RunReport::new(run, ReportedState::Alive { since: Time(0), paused: false, limit: None })
}

#[test]
fn a_node_gets_no_work_before_it_has_reported() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.hear(1, NodeMessage::Lost);
    lab.schedule();
    assert_eq!(lab.task(1), "queued");
    lab.connect(1);
    lab.schedule();
    assert_eq!(lab.task(1), "queued");
    lab.report(1, healthy(1, 1), vec![]);
    lab.schedule();
    assert_eq!(lab.task(1), "starting n1[0]");
}

#[test]
fn a_stray_run_blocks_its_node_until_it_is_gone() {
    let mut lab = lab(&[1]);
    lab.reconnect(1, vec![stray(1)]);
    lab.submit(wants(1));
    lab.schedule();
    assert_eq!(lab.task(1), "queued");
    assert_eq!(lab.effects(), ["stop 7-1 on n1"]);
    let ending = crate::lab::ending(Exit::Signal(9), true);
    lab.hear(1, NodeMessage::Ended { run: stray(1).run, ending });
    assert_eq!(lab.effects(), ["forget 7-1 on n1", "ask n1"]);
    lab.schedule();
    assert_eq!(lab.task(1), "queued");
    lab.report(1, healthy(1, 1), vec![]);
    lab.schedule();
    assert_eq!(lab.task(1), "starting n1[0]");
}

#[test]
fn lost_is_not_failed() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.submit(wants(1));
    lab.schedule();
    lab.started(1);
    lab.hear(1, NodeMessage::Lost);
    lab.schedule();
    assert_eq!(lab.tasks(), ["running n1[0]", "queued"]);
    lab.connect(1);
    let alive = lab.alive(1);
    lab.report(1, healthy(1, 1), vec![alive]);
    assert_eq!(lab.tasks(), ["running n1[0]", "queued"]);
}

#[test]
fn what_ended_meanwhile_is_taken_over_from_the_report() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.schedule();
    lab.started(1);
    lab.effects();
    let over = lab.over(1, Exit::Code(5));
    lab.reconnect(1, vec![over]);
    assert_eq!(lab.task(1), "failed Code(5)");
    assert_eq!(lab.effects(), ["forget 1-1 on n1"]);
}

#[test]
fn a_launch_whose_connection_is_gone_never_happened() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.schedule();
    lab.reconnect(1, vec![]);
    assert_eq!(lab.task(1), "queued");
    lab.schedule();
    assert_eq!(lab.run_of(1).number, 2, "a new run, not the old one again");
    assert_eq!(lab.state.runs[&lab.run_of(1)].attempt, 1);
}

#[test]
fn a_report_that_crossed_a_launch_does_not_end_it() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.schedule();
    lab.report(1, healthy(1, 1), vec![]);
    assert_eq!(lab.task(1), "starting n1[0]");
}

#[test]
fn a_run_that_left_no_trace_has_no_record() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.schedule();
    lab.started(1);
    lab.reconnect(1, vec![]);
    assert_eq!(lab.task(1), "held", "it may have run to its end");
    let ended = |event: &Event| matches!(event, Event::RunEnded { exit: Exit::NoRecord, .. });
    assert!(lab.events.iter().any(ended));
}

#[test]
fn messages_of_an_earlier_connection_are_ignored() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.schedule();
    let (node, run) = (NodeId(1), lab.run_of(1));
    let old = lab.state.nodes[&node].session;
    lab.connect(1);
    let ending = crate::lab::ending(Exit::Code(0), false);
    let late = [
        NodeMessage::Ended { run, ending },
        NodeMessage::Started { run, at: Time(0) },
        NodeMessage::Connected,
        NodeMessage::Lost,
        NodeMessage::Gpus(vec![]),
    ];
    for message in late {
        let before = lab.state.clone();
        lab.act(Input::Node { node, session: old, message });
        assert_eq!(lab.state, before);
    }
    assert!(lab.state.nodes[&node].session > SessionId(1));
}

#[test]
fn an_end_told_twice_counts_once_and_is_forgotten_twice() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.schedule();
    lab.ended(1, Exit::Code(1));
    lab.effects();
    let (run, ending) = (lab.run_of(1), crate::lab::ending(Exit::Code(0), false));
    lab.hear(1, NodeMessage::Ended { run, ending });
    assert_eq!(lab.task(1), "failed Code(1)");
    assert_eq!(lab.effects(), ["forget 1-1 on n1"]);
}

#[test]
fn a_draining_node_finishes_and_gets_nothing_new() {
    let mut lab = lab(&[2]);
    lab.submit(wants(1));
    lab.schedule();
    let by = Actor::User(ADMIN);
    lab.act(Input::Drain { by, node: NodeId(1) });
    lab.submit(wants(1));
    lab.schedule();
    assert_eq!(lab.tasks(), ["starting n1[0]", "queued"]);
    lab.ended(1, Exit::Code(0));
    lab.schedule();
    assert_eq!(lab.tasks(), ["succeeded", "queued"]);
    lab.act(Input::Undrain { by, node: NodeId(1) });
    lab.schedule();
    assert_eq!(lab.task(2), "starting n1[1]");
}

#[test]
fn a_node_with_runs_is_not_removed() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.schedule();
    let remove = Input::RemoveNode { by: Actor::Daemon, node: NodeId(1) };
    let busy = Refusal::NodeBusy { node: NodeId(1), runs: 1 };
    assert_eq!(lab.try_act(remove.clone()), Err(busy));
    lab.ended(1, Exit::Code(0));
    lab.act(remove);
    assert!(lab.state.nodes.is_empty());
}

#[test]
fn an_abandoned_run_is_a_stray_when_its_node_comes_back() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.schedule();
    lab.started(1);
    let abandon = Input::Abandon { by: Actor::User(ANN), run: lab.run_of(1) };
    assert_eq!(lab.try_act(abandon.clone()), Err(Refusal::NodeReachable(lab.run_of(1))));
    lab.hear(1, NodeMessage::Lost);
    let alive = lab.alive(1);
    lab.act(abandon);
    assert_eq!(lab.task(1), "queued");
    lab.connect(1);
    lab.effects();
    lab.report(1, healthy(1, 1), vec![alive]);
    lab.schedule();
    assert_eq!(lab.task(1), "queued");
    assert_eq!(lab.effects(), ["stop 1-1 on n1"]);
}
