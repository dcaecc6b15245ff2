//! Labels of a node change while tasks run.

use crate::lab::{ANN, Lab, lab, wants};
use danlu_core::refusal::{Counted, TextField};
use danlu_core::resources::NodeSelector;
use danlu_core::task::TaskSpec;
use danlu_core::{Actor, Event, Input, NodeId, Refusal, WaitReason};

fn change(lab: &mut Lab, node: u32, key: &str, value: Option<&str>) {
    let change = [(key.to_owned(), value.map(str::to_owned))].into();
    lab.act(Input::SetLabels { by: Actor::Daemon, node: NodeId(node), change });
}

fn in_room(room: &str) -> TaskSpec {
    let mut spec = wants(1);
    spec.request.node = Some(NodeSelector::Label { key: "room".into(), value: room.into() });
    spec
}

#[test]
fn who_waits_is_judged_by_the_new_labels_and_who_runs_goes_on() {
    let mut lab = lab(&[2, 2]);
    change(&mut lab, 1, "room", Some("a"));
    lab.submit(in_room("a"));
    lab.schedule();
    lab.started(1);
    change(&mut lab, 1, "room", Some("b"));
    change(&mut lab, 2, "room", Some("a"));
    lab.submit(in_room("a"));
    lab.schedule();
    assert_eq!(lab.tasks(), ["running n1[0]", "starting n2[1]"]);
    lab.submit(in_room("b"));
    change(&mut lab, 1, "room", None);
    lab.schedule();
    assert_eq!(lab.task(3), "queued");
    assert_eq!(lab.why(3), WaitReason::NeverFits);
    change(&mut lab, 2, "room", Some("b"));
    lab.schedule();
    assert_eq!(lab.task(3), "starting n2[0]");
}

#[test]
fn labels_have_limits_and_only_admins_change_them() {
    let mut lab = lab(&[1]);
    let labels = |by, key: &str, value: &str| Input::SetLabels {
        by,
        node: NodeId(1),
        change: [(key.to_owned(), Some(value.to_owned()))].into(),
    };
    let refused = lab.try_act(labels(Actor::User(ANN), "room", "a"));
    assert_eq!(refused, Err(Refusal::AdminOnly));
    let refused = lab.try_act(labels(Actor::Daemon, "room", "a\nb"));
    assert_eq!(refused, Err(Refusal::ControlCharacter { what: TextField::Label }));
    for number in 0..danlu_core::limits::LABELS {
        change(&mut lab, 1, &format!("l{number}"), Some("x"));
    }
    let refused = lab.try_act(labels(Actor::Daemon, "room", "a"));
    assert!(matches!(refused, Err(Refusal::TooMany { what: Counted::Labels, .. })));
    // The same again is no news.
    lab.events.clear();
    change(&mut lab, 1, "l0", Some("x"));
    assert!(!lab.events.iter().any(|event| matches!(event, Event::NodeLabelsChanged { .. })));
}
