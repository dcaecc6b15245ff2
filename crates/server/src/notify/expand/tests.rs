//! Who is told of which event.

use super::*;
use crate::read_model::Publisher;
use crate::store::history::counts::PastCounts;
use danlu_core::run::{Exit, PartState, RunPart, RunState};
use danlu_core::task::TaskSpec;
use danlu_core::{Actor, Epoch, Event, Input, Span, State, step};
use std::collections::BTreeMap;
use std::sync::Arc;

const ANN: UserId = UserId(1);
const BOB: UserId = UserId(2);
const RUN: RunId = RunId { epoch: Epoch(1), number: 1 };
const NODE: NodeId = NodeId(1);

/// A task of Ann's that runs on a machine; Bob is an administrator.
fn model(change: impl FnOnce(&mut ReadModel)) -> ReadModel {
    let mut state = State::new();
    let add = |name: &str, admin| Input::AddUser { by: Actor::Daemon, name: name.into(), admin };
    let spec = TaskSpec { command: vec!["train".into()], ..TaskSpec::default() };
    for input in [
        Input::Boot { epoch: Epoch(1), restored: false, ids_from: 0 },
        add("ann", false),
        add("bob", true),
        Input::AddNode { by: Actor::Daemon, name: "gpu1".into(), labels: BTreeMap::new() },
        Input::Submit { by: ANN, spec, key: None },
    ] {
        step(&mut state, input, Time(1)).reply.expect("it is taken");
    }
    let (mut publisher, reader) = Publisher::new();
    publisher.publish_all(&state, PastCounts::default());
    let mut model = ReadModel::clone(&reader.model());
    let part = RunPart {
        node: NODE,
        gpus: vec![GpuId("uuid-0".into())],
        state: PartState::Alive { since: Time(5) },
        started_at: Some(Time(5)),
    };
    let run = Run {
        id: RUN,
        task: TaskId(1),
        attempt: 1,
        launched_at: Time(4),
        expected_end_at: None,
        parts: vec![part],
        state: RunState::Running { since: Time(5) },
        peak_gpu_memory: None,
        used: danlu_core::run::RunUsage::default(),
        idle: danlu_core::idle::IdleTrail::default(),
    };
    model.runs.insert(RUN, Arc::new(run));
    model.active.insert(RUN);
    change(&mut model);
    model
}

/// `kind>target` of each message.
fn told(model: &ReadModel, event: Event, announced: &str) -> Vec<String> {
    let all = Notify {
        start: true,
        success: true,
        failure: true,
        warning: true,
        trouble: true,
        announcement: true,
        ..Notify::default()
    };
    let names = ["ann".to_owned(), "bob".to_owned(), "both".to_owned()].into();
    let known = KnownChannels { email: false, names, admins: Vec::new() };
    let wanted = |user: UserId| {
        let own = if user == ANN { "ann" } else { "bob" };
        Notify { channels: vec![own.to_owned(), "both".to_owned()], ..all.clone() }
    };
    let around = Surroundings { model, wanted: &wanted, known: &known, announced };
    let stored = StoredEvent { number: 42, at: Time(3_600_000), event };
    let each = expand(&stored, &around);
    each.iter().map(|it| format!("{}>{}", it.letter.kind(), it.to.target)).collect()
}

#[test]
fn each_event_is_told_to_whom_it_concerns() {
    let model = model(|_| ());
    let task = TaskId(1);
    let end = |outcome| Event::TaskFinished { task, outcome };
    let started = Event::PartStarted { run: RUN, node: NODE };
    assert_eq!(told(&model, started, ""), ["start>ann", "start>both"]);
    let other = Event::PartStarted { run: RUN, node: NodeId(9) };
    assert_eq!(told(&model, other, ""), [""; 0], "of a run on several machines, once");
    let failed = end(Outcome::Failed { exit: Exit::Code(1) });
    assert_eq!(told(&model, failed, ""), ["end>ann", "end>both"]);
    let own = end(Outcome::Cancelled { by: Canceller::User(ANN) });
    assert_eq!(told(&model, own, ""), [""; 0], "she knows");
    let others = end(Outcome::Cancelled { by: Canceller::User(BOB) });
    assert_eq!(told(&model, others, ""), ["end>ann", "end>both"]);
    let doubt = Event::TaskInDoubt { task, why: danlu_core::task::Doubt::Restored };
    assert_eq!(told(&model, doubt, ""), ["in_doubt>ann", "in_doubt>both"]);
    let why = RequeueReason::Preempted;
    let requeued = Event::TaskRequeued { task, why };
    assert_eq!(told(&model, requeued, ""), ["requeue>ann", "requeue>both"]);
    let never = Event::TaskRequeued { task, why: RequeueReason::NeverStarted };
    assert_eq!(told(&model, never, ""), [""; 0], "nothing has happened to it");
    let gone = Event::TaskFinished { task: TaskId(7), outcome: Outcome::Succeeded };
    assert_eq!(told(&model, gone, ""), [""; 0], "it was removed meanwhile");
}

#[test]
fn a_broken_gpu_is_told_once_to_a_channel_that_two_people_have() {
    let model = model(|_| ());
    let (gpu, why) = (GpuId("uuid-0".into()), "Xid 79".to_owned());
    let event = Event::GpuQuarantined { node: NODE, gpu, why, owners: vec![ANN] };
    let expect = ["ann", "bob", "both"].map(|to| format!("gpu_quarantined>{to}"));
    let mut found = told(&model, event, "");
    found.sort();
    assert_eq!(found, expect);
}

#[test]
fn those_who_may_not_come_in_are_told_nothing() {
    let model = model(|model| {
        let mut ann = User::clone(&model.users[&ANN]);
        ann.locked = true;
        model.users.insert(ANN, Arc::new(ann));
    });
    let end = Event::TaskFinished { task: TaskId(1), outcome: Outcome::TimedOut };
    assert_eq!(told(&model, end, ""), [""; 0]);
}

#[test]
fn an_announcement_is_told_when_it_is_another() {
    let model = model(|model| {
        Arc::make_mut(&mut model.ledger).settings.announcement = "tonight".into();
    });
    assert_eq!(told(&model, Event::SettingsChanged, "").len(), 3);
    assert_eq!(told(&model, Event::SettingsChanged, "tonight"), [""; 0]);
}

#[test]
fn a_quota_is_told_of_when_it_is_used_up_in_this_period() {
    let with = |hours: u64, at: Time| {
        model(|model| {
            let quota = &mut Arc::make_mut(&mut model.ledger).settings.quota;
            quota.user.gpu_hours = Some(2);
            quota.period = Span::from_secs(3_600);
            let mut ann = User::clone(&model.users[&ANN]);
            (ann.spent.micros, ann.spent.at) = (hours * 3_600_000_000, at);
            model.users.insert(ANN, Arc::new(ann));
        })
    };
    let ended = || Event::RunEnded { run: RUN, task: TaskId(1), owner: ANN, exit: Exit::Code(0) };
    let now = Time(3_600_000);
    assert_eq!(told(&with(2, now), ended(), ""), ["quota>ann", "quota>both"]);
    assert_eq!(told(&with(1, now), ended(), ""), [""; 0]);
    assert_eq!(told(&with(2, Time(3_599_999)), ended(), ""), [""; 0], "of the last period");
}

#[test]
fn a_machine_that_is_away_has_one_cause_each_time() {
    let model = model(|_| ());
    let node = &model.nodes[&NODE];
    let down = |since| Node { link: Link::Down { since: Time(since) }, ..Node::clone(node) };
    let absence = Absence::of(&down(7)).expect("it is away");
    assert_eq!(absence.cause(), "lost.1.7");
    assert_ne!(Absence::of(&down(8)), Some(absence));
    let back = Node { link: Link::Ready { since: Time(9) }, ..Node::clone(node) };
    assert_eq!(Absence::of(&back), None);
}
