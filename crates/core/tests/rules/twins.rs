//! One GPU that two nodes report is given out by neither.

use crate::lab::{Lab, healthy, lab, wants};
use danlu_core::explain::SharedGpu;
use danlu_core::input::GpuChange;
use danlu_core::run::Exit;
use danlu_core::*;
use std::collections::BTreeMap;

const TWIN: NodeId = NodeId(2);

/// A second name for the first node.
fn add_twin(lab: &mut Lab, gpus: u32) {
    let (by, name) = (Actor::Daemon, "twin".to_owned());
    lab.act(Input::AddNode { by, name, labels: BTreeMap::new() });
    lab.connect(TWIN.0);
    lab.report(TWIN.0, healthy(1, gpus), vec![]);
}

fn manage(lab: &mut Lab, node: NodeId, change: GpuChange) {
    lab.act(Input::ManageGpus { by: Actor::Daemon, node, change });
}

#[test]
fn neither_gives_it_out_until_an_administrator_disables_it_on_one() {
    let mut lab = lab(&[1]);
    add_twin(&mut lab, 1);
    lab.submit(wants(1));
    lab.schedule();
    assert_eq!(lab.task(1), "queued");
    let names = vec!["n1".to_owned(), "twin".to_owned()];
    let shared = SharedGpu { gpu: "GPU-1-0".into(), nodes: vec![NodeId(1), TWIN], names };
    assert_eq!(lab.why(1), WaitReason::GpusOnSeveralNodes { gpus: vec![shared] });
    assert_eq!(lab.state.nodes[&TWIN].gpus[0].also_on, [NodeId(1)]);
    manage(&mut lab, NodeId(1), GpuChange::Disable([0].into()));
    lab.schedule();
    assert_eq!(lab.task(1), "starting twin[0]");
}

#[test]
fn removing_one_of_them_gives_it_to_the_other() {
    let mut lab = lab(&[1]);
    add_twin(&mut lab, 1);
    lab.submit(wants(1));
    lab.act(Input::RemoveNode { by: Actor::Daemon, node: TWIN });
    lab.schedule();
    assert_eq!(lab.task(1), "starting n1[0]");
}

#[test]
fn one_that_is_away_keeps_its_claim() {
    let mut lab = lab(&[1]);
    add_twin(&mut lab, 1);
    lab.hear(TWIN.0, NodeMessage::Lost);
    lab.submit(wants(1));
    lab.schedule();
    assert_eq!(lab.task(1), "queued");
}

#[test]
fn who_is_on_it_goes_on_and_the_other_waits_for_its_end_even_where_it_is_disabled() {
    let mut lab = lab(&[2]);
    lab.submit(wants(2));
    lab.schedule();
    lab.started(1);
    add_twin(&mut lab, 2);
    assert_eq!(lab.task(1), "running n1[0,1]");
    manage(&mut lab, NodeId(1), GpuChange::Disable([0, 1].into()));
    lab.submit(wants(1));
    lab.schedule();
    assert_eq!(lab.task(2), "queued");
    lab.ended(1, Exit::Code(0));
    lab.schedule();
    assert!(lab.task(2).starts_with("starting twin"));
}

#[test]
fn a_gpu_that_is_no_longer_reported_is_no_longer_claimed() {
    let mut lab = lab(&[1]);
    add_twin(&mut lab, 1);
    lab.hear(TWIN.0, NodeMessage::Gpus(vec![]));
    lab.submit(wants(1));
    lab.schedule();
    assert_eq!(lab.task(1), "starting n1[0]");
}
