//! Which GPUs are given out: administrators, hardware errors and those who came before decide.

use crate::lab::{ADMIN, ANN, BOB, Lab, foreign, gpu, healthy, lab, wants};
use danlu_core::gpu::GpuCondition::Idle;
use danlu_core::gpu::{GpuConfig, GpuReport};
use danlu_core::input::GpuChange;
use danlu_core::run::Exit;
use danlu_core::task::TaskSpec;
use danlu_core::*;
use std::collections::BTreeMap;

fn try_manage(lab: &mut Lab, by: UserId, change: GpuChange) -> Result<Reply, Refusal> {
    lab.try_act(Input::ManageGpus { by: Actor::User(by), node: NodeId(1), change })
}

fn manage(lab: &mut Lab, change: GpuChange) {
    try_manage(lab, ADMIN, change).unwrap();
}

fn pinned(ids: &[u32]) -> TaskSpec {
    let mut spec = wants(u32::try_from(ids.len()).unwrap());
    spec.request.gpu_ids = ids.to_vec();
    spec
}

#[test]
fn a_disabled_gpu_is_given_to_nobody_and_who_runs_there_goes_on() {
    let mut lab = lab(&[2]);
    lab.submit(wants(1));
    lab.schedule();
    manage(&mut lab, GpuChange::Disable([0].into()));
    assert_eq!(lab.task(1), "starting n1[0]");
    lab.ended(1, Exit::Code(0));
    lab.submit(wants(1));
    lab.submit(wants(1));
    lab.schedule();
    assert_eq!(lab.tasks(), ["succeeded", "starting n1[1]", "queued"]);
    manage(&mut lab, GpuChange::Enable([0].into()));
    lab.schedule();
    assert_eq!(lab.task(3), "starting n1[0]");
}

#[test]
fn who_waits_for_a_gpu_that_was_taken_out_is_told() {
    let mut lab = lab(&[2]);
    lab.submit(wants(2));
    lab.schedule();
    lab.submit(pinned(&[1]));
    manage(&mut lab, GpuChange::Disable([1].into()));
    assert_eq!(lab.why(2), WaitReason::GpusDisabled { gpu_ids: vec![1] });
    lab.ended(1, Exit::Code(0));
    lab.schedule();
    assert_eq!(lab.task(2), "queued");
    assert_eq!(lab.why(2), WaitReason::GpusDisabled { gpu_ids: vec![1] });
    lab.submit(wants(1));
    lab.schedule();
    assert_eq!(lab.task(3), "starting n1[0]", "and holds up nobody");
}

#[test]
fn a_task_for_more_gpus_than_are_enabled_is_refused_and_an_earlier_one_is_told() {
    let mut lab = lab(&[2]);
    lab.submit(wants(2));
    manage(&mut lab, GpuChange::Disable([0].into()));
    assert_eq!(lab.why(1), WaitReason::GpusDisabled { gpu_ids: vec![0] });
    for spec in [wants(2), pinned(&[0])] {
        let refusal = lab.try_act(Input::Submit { by: ANN, spec, key: None });
        assert!(matches!(refusal, Err(Refusal::Impossible { .. })), "{refusal:?}");
    }
}

#[test]
fn only_admins_manage_gpus_and_only_those_that_are_there() {
    let mut lab = lab(&[1]);
    let refusal = try_manage(&mut lab, ANN, GpuChange::Disable([0].into()));
    assert_eq!(refusal, Err(Refusal::AdminOnly));
    let refusal = try_manage(&mut lab, ADMIN, GpuChange::Enable([7].into()));
    assert_eq!(refusal, Err(Refusal::NoSuchGpu { index: 7 }));
    let refusal = try_manage(&mut lab, ADMIN, GpuChange::Slots([(0, 0)].into()));
    assert!(matches!(refusal, Err(Refusal::BadSlots { .. })));
}

#[test]
fn the_configuration_says_which_gpus_are_used_until_somebody_decides_otherwise() {
    let mut lab = lab(&[3]);
    let in_use = Some([0, 1].into());
    let slots = BTreeMap::from([(0, 2)]);
    manage(&mut lab, GpuChange::Config(GpuConfig { in_use, slots }));
    for _ in 0..4 {
        lab.submit(wants(1));
    }
    lab.schedule();
    assert_eq!(lab.tasks(), ["starting n1[0]", "starting n1[0]", "starting n1[1]", "queued"]);
    manage(&mut lab, GpuChange::Enable([2].into()));
    lab.schedule();
    assert_eq!(lab.task(4), "starting n1[2]");
}

#[test]
fn a_rule_stays_with_its_gpu() {
    let mut lab = lab(&[2]);
    manage(&mut lab, GpuChange::Disable([0].into()));
    lab.hear(1, NodeMessage::Gpus(vec![gpu(1, 1, Idle)]));
    let mut swapped = healthy(1, 2);
    (swapped[0].index, swapped[1].index) = (1, 0);
    lab.hear(1, NodeMessage::Gpus(swapped));
    lab.state = State::from_rows(lab.state.rows()).unwrap();
    lab.submit(wants(1));
    lab.submit(wants(1));
    lab.schedule();
    assert_eq!(lab.tasks(), ["starting n1[0]", "queued"], "the one that was 1 is 0 now");
}

/// Which quarantines were told, and to whom besides administrators.
fn told(lab: &Lab) -> Vec<(&str, &[UserId])> {
    let told = lab.events.iter().filter_map(|event| match event {
        Event::GpuQuarantined { why, owners, .. } => Some((why.as_str(), owners.as_slice())),
        _ => None,
    });
    told.collect()
}

#[test]
fn who_has_a_run_on_a_gpu_is_told_of_its_quarantine() {
    let mut lab = lab(&[1]);
    manage(&mut lab, GpuChange::Slots([(0, 3)].into()));
    for by in [ANN, BOB, ANN] {
        lab.act(Input::Submit { by, spec: wants(1), key: None });
    }
    lab.schedule();
    let broken = Some("Xid 79".to_owned());
    lab.hear(1, NodeMessage::Gpus(vec![GpuReport { broken, ..gpu(1, 0, Idle) }]));
    assert_eq!(told(&lab), [("Xid 79", &[ANN, BOB][..])]);
}

#[test]
fn a_gpu_with_a_hardware_error_is_quarantined_until_an_admin_enables_it() {
    let mut lab = lab(&[1]);
    let broken = |why: &str| {
        let broken = Some(why.to_owned());
        NodeMessage::Gpus(vec![GpuReport { broken, ..gpu(1, 0, Idle) }])
    };
    lab.submit(wants(1));
    lab.hear(1, broken("Xid 79"));
    assert_eq!(told(&lab), [("Xid 79", &[][..])]);
    lab.schedule();
    assert_eq!(lab.task(1), "queued");
    let quarantined = |quarantined| WaitReason::GpusUnavailable {
        foreign: 0,
        unknown: 0,
        dirty: 0,
        just_left: 0,
        quarantined,
        unknown_runs: 0,
    };
    assert_eq!(lab.why(1), quarantined(1));
    lab.hear(1, NodeMessage::Gpus(vec![]));
    lab.hear(1, NodeMessage::Gpus(healthy(1, 1)));
    lab.schedule();
    assert_eq!(lab.task(1), "queued", "it does not heal by itself");
    manage(&mut lab, GpuChange::Enable([0].into()));
    lab.hear(1, broken("Xid 79"));
    lab.schedule();
    assert_eq!(lab.task(1), "starting n1[0]", "the admin knew of that");
    lab.ended(1, Exit::Code(0));
    lab.hear(1, broken("Xid 48"));
    lab.submit(wants(1));
    lab.schedule();
    assert_eq!(lab.task(2), "queued", "but not of this");
}

#[test]
fn a_gpu_that_others_have_left_is_given_out_after_a_while() {
    let mut lab = lab(&[1]);
    lab.configure(|settings| settings.idle_delay = Span::from_secs(60));
    lab.hear(1, NodeMessage::Gpus(vec![gpu(1, 0, foreign())]));
    lab.submit(wants(1));
    lab.hear(1, NodeMessage::Gpus(healthy(1, 1)));
    lab.schedule();
    assert_eq!(lab.task(1), "queued");
    let reason = WaitReason::GpusUnavailable {
        foreign: 0,
        unknown: 0,
        dirty: 0,
        just_left: 1,
        quarantined: 0,
        unknown_runs: 0,
    };
    assert_eq!(lab.why(1), reason);
    assert_eq!(lab.state.wake_at(lab.now), Some(lab.now + Span::from_secs(60)));
    lab.after_secs(59);
    lab.schedule();
    assert_eq!(lab.task(1), "queued");
    lab.after_secs(1);
    lab.schedule();
    assert_eq!(lab.task(1), "starting n1[0]");
    lab.ended(1, Exit::Code(0));
    lab.submit(wants(1));
    lab.schedule();
    assert_eq!(lab.task(2), "starting n1[0]", "Danlu's own tasks follow each other at once");
}

#[test]
fn a_number_means_the_gpu_that_has_it_now_not_one_that_is_gone() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.schedule();
    let other = GpuReport::new(GpuId::from("GPU-other"), 0, "NVIDIA A100", 80 << 30);
    lab.hear(1, NodeMessage::Gpus(vec![other]));
    manage(&mut lab, GpuChange::Slots([(0, 2)].into()));
    let rules = &lab.state.nodes[&NodeId(1)].gpu_rules;
    let named: Vec<&str> = rules.keys().map(|id| &*id.0).collect();
    assert_eq!(named, ["GPU-other"]);
    let mut pinned = wants(1);
    pinned.request.gpu_ids = vec![0];
    lab.submit(pinned.clone());
    lab.submit(pinned);
    lab.schedule();
    let given = lab.state.active_runs().map(|run| run.parts[0].gpus[0].0.to_string());
    assert_eq!(given.collect::<Vec<_>>(), ["GPU-1-0", "GPU-other", "GPU-other"]);
}
