//! No policy is trusted: wrong plans change nothing.

use crate::lab::{assert_changes_are_named, foreign, gpu, lab, wants};
use danlu_core::gpu::GpuCondition::Idle;
use danlu_core::plan::{Decision, Plan, apply_plan};
use danlu_core::resources::{GpuMask, NodeSelector, Part, Placement, Request};
use danlu_core::view::View;
use danlu_core::*;
use proptest::prelude::*;

fn part(node: u32, gpus: u128) -> Part {
    Part { node: NodeId(node), gpus: GpuMask(gpus) }
}

fn start(task: u64, parts: Vec<Part>) -> Plan {
    let decisions = vec![Decision::Start { task: TaskId(task), placement: Placement { parts } }];
    Plan { decisions, ..Plan::default() }
}

/// Two nodes of two GPUs; task 1 runs on n1[0], n1[1] is foreign, n3 drains; tasks 2 to 4 wait.
fn busy_lab() -> crate::lab::Lab {
    let mut lab = lab(&[2, 2, 2]);
    lab.submit(wants(1));
    lab.schedule();
    lab.submit(wants(1));
    let mut there = wants(1);
    there.request.node = Some(NodeSelector::Name("n1".into()));
    lab.submit(there);
    let mut wide = wants(2);
    wide.request.span_nodes = true;
    lab.submit(wide);
    lab.hear(1, NodeMessage::Gpus(vec![gpu(1, 0, Idle), gpu(1, 1, foreign())]));
    lab.act(Input::Drain { by: Actor::Daemon, node: NodeId(3) });
    lab
}

#[test]
fn wrong_decisions_are_rejected() {
    let wrong = [
        ("held GPU", start(2, vec![part(1, 0b01)])),
        ("foreign GPU", start(2, vec![part(1, 0b10)])),
        ("no such GPU", start(2, vec![part(2, 0b100)])),
        ("draining node", start(2, vec![part(3, 0b01)])),
        ("no such node", start(2, vec![part(9, 0b01)])),
        ("no such task", start(99, vec![part(2, 0b01)])),
        ("running task", start(1, vec![part(2, 0b01)])),
        ("too many GPUs", start(2, vec![part(2, 0b11)])),
        ("too few GPUs", start(4, vec![part(2, 0b01)])),
        ("another node than asked", start(3, vec![part(2, 0b01)])),
        ("nowhere", start(2, vec![])),
        ("a node twice", start(4, vec![part(2, 0b01), part(2, 0b10)])),
        (
            "may not be preempted",
            Plan {
                decisions: vec![Decision::Preempt { run: RunId { epoch: Epoch(1), number: 1 } }],
                ..Plan::default()
            },
        ),
    ];
    for (what, plan) in wrong {
        let mut lab = busy_lab();
        let before = lab.state.clone();
        let step = apply_plan(&mut lab.state, plan, lab.now);
        assert_eq!(lab.state, before, "{what}");
        assert!(step.effects.is_empty(), "{what}");
        assert!(matches!(step.events[..], [Event::DecisionRejected { .. }]), "{what}");
    }
}

fn any_decision() -> impl Strategy<Value = Decision> {
    let part = (0u32..5, 0u128..16).prop_map(|(node, gpus)| part(node, gpus));
    let parts = prop::collection::vec(part, 0..3);
    prop_oneof![
        4 => (0u64..8, parts).prop_map(|(task, parts)| Decision::Start {
            task: TaskId(task),
            placement: Placement { parts },
        }),
        1 => (0u64..4).prop_map(|number| Decision::Preempt {
            run: RunId { epoch: Epoch(1), number },
        }),
    ]
}

proptest! {
    #[test]
    fn no_plan_can_break_an_invariant(decisions in prop::collection::vec(any_decision(), 0..12)) {
        let mut lab = busy_lab();
        let before = lab.state.clone();
        let step = apply_plan(&mut lab.state, Plan { decisions, ..Plan::default() }, lab.now);
        prop_assert_eq!(lab.state.check(), Ok(()));
        assert_changes_are_named(&before, &lab.state, &step.events);
    }

    #[test]
    fn undo_takes_back_exactly_what_was_assumed(gpus in prop::collection::vec(0u32..6, 1..8)) {
        let lab = busy_lab();
        let mut view = View::new(&lab.state, lab.now);
        let placements = |view: &View<'_>| -> Vec<_> {
            (0..6).map(|gpus| view.place(&Request { span_nodes: true, ..Request::gpus(gpus) })).collect()
        };
        let before = placements(&view);
        let mut assumed = 0;
        for gpus in gpus {
            let request = Request { span_nodes: true, ..Request::gpus(gpus) };
            if let Some(placement) = view.place(&request) {
                view.assume_start(&request, &placement);
                assumed += 1;
            }
        }
        view.assume_end(lab.run_of(1));
        for _ in 0..=assumed {
            view.undo();
        }
        prop_assert_eq!(placements(&view), before);
    }
}
