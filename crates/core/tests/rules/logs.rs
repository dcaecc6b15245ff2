//! Logs of removed tasks are deleted on every node that had a part of them.

use crate::lab::{ANN, Lab, healthy, lab, wants};
use danlu_core::run::Exit;
use danlu_core::{Actor, Input, NodeId, NodeMessage, TaskId};

/// A task that has run on two nodes, of which the second is away now.
fn ended_on_two() -> Lab {
    let mut lab = lab(&[1, 1]);
    let mut gang = wants(2);
    gang.request.nodes = 2;
    lab.submit(gang);
    lab.schedule();
    lab.ended(1, Exit::Code(0));
    lab.hear(2, NodeMessage::Lost);
    lab.effects();
    lab
}

fn remove(lab: &mut Lab) {
    lab.act(Input::Remove { by: Actor::User(ANN), task: TaskId(1) });
}

#[test]
fn a_log_is_deleted_where_its_node_can_be_reached_and_elsewhere_when_it_is_back() {
    let mut lab = ended_on_two();
    let run = lab.run_of(1);
    let order = |node: u32| [format!("drop the log of {run} on n{node}")];
    remove(&mut lab);
    assert_eq!(lab.effects(), order(1));
    // Not confirmed: it is told again.
    lab.report(1, healthy(1, 1), vec![]);
    assert_eq!(lab.effects(), order(1));
    lab.hear(1, NodeMessage::LogDropped { run });
    lab.report(1, healthy(1, 1), vec![]);
    assert_eq!(lab.effects(), [""; 0]);
    lab.reconnect(2, vec![]);
    assert_eq!(lab.effects(), order(2));
    lab.hear(2, NodeMessage::LogDropped { run });
    assert!(lab.state.log_removals.is_empty());
    lab.hear(2, NodeMessage::LogDropped { run });
}

#[test]
fn a_removed_node_is_asked_for_nothing() {
    let mut lab = ended_on_two();
    remove(&mut lab);
    for node in [1, 2] {
        lab.act(Input::RemoveNode { by: Actor::Daemon, node: NodeId(node) });
    }
    assert!(lab.state.log_removals.is_empty());
}
