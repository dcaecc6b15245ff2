//! Several tasks on one GPU: by count, or by its memory.

use crate::lab::{ADMIN, ANN, BOB, Lab, foreign, gpu, healthy, lab, wants};
use danlu_core::gpu::GpuCondition::Idle;
use danlu_core::gpu::{GpuReport, GpuUsage, RunMemory};
use danlu_core::input::{GpuChange, NodeReport};
use danlu_core::node::Capacity;
use danlu_core::resources::Sharing;
use danlu_core::run::Exit;
use danlu_core::settings::Backfill;
use danlu_core::task::TaskSpec;
use danlu_core::*;
use std::collections::BTreeMap;

const GB: u64 = 1 << 30;

/// On GPUs of 80 GB.
pub(crate) fn sharing(gigabytes: u64) -> TaskSpec {
    let mut spec = wants(1);
    spec.request.sharing = Sharing::Shared { idle_utilization: 0 };
    spec.request.gpu_memory = gigabytes * GB;
    spec
}

fn exclusive() -> TaskSpec {
    let mut spec = wants(1);
    spec.request.sharing = Sharing::Exclusive;
    spec
}

fn manage(lab: &mut Lab, change: GpuChange) {
    lab.act(Input::ManageGpus { by: Actor::User(ADMIN), node: NodeId(1), change });
}

fn slots(lab: &mut Lab, slots: &[(u32, u16)]) {
    manage(lab, GpuChange::Slots(slots.iter().copied().collect()));
}

fn submit(lab: &mut Lab, count: usize, spec: TaskSpec) {
    for _ in 0..count {
        lab.submit(spec.clone());
    }
}

/// GPU `index` of node 1, with what these tasks use of it by now.
fn seen(lab: &Lab, index: u32, used: &[(u64, u64)]) -> GpuReport {
    let runs = used
        .iter()
        .map(|(task, gigabytes)| RunMemory { run: lab.run_of(*task), peak: gigabytes * GB });
    GpuReport { runs: runs.collect(), ..gpu(1, index, Idle) }
}

fn see(lab: &mut Lab, gpus: Vec<GpuReport>) {
    lab.hear(1, NodeMessage::Gpus(gpus));
    lab.schedule();
}

#[test]
fn a_gpu_with_slots_takes_as_many_tasks() {
    let mut lab = lab(&[2]);
    slots(&mut lab, &[(0, 2)]);
    submit(&mut lab, 4, wants(1));
    lab.schedule();
    assert_eq!(lab.tasks(), ["starting n1[0]", "starting n1[0]", "starting n1[1]", "queued"]);
    lab.ended(1, Exit::Code(0));
    lab.schedule();
    assert_eq!(lab.task(4), "starting n1[0]");
}

#[test]
fn a_task_of_two_gpus_takes_a_slot_of_each() {
    let mut lab = lab(&[2]);
    slots(&mut lab, &[(0, 2), (1, 2)]);
    lab.submit(wants(2));
    lab.submit(wants(2));
    lab.schedule();
    assert_eq!(lab.tasks(), ["starting n1[0,1]", "starting n1[0,1]"]);
}

#[test]
fn an_exclusive_task_shares_with_nobody() {
    let mut lab = lab(&[1]);
    slots(&mut lab, &[(0, 2)]);
    lab.submit(wants(1));
    lab.submit(exclusive());
    lab.submit(wants(1));
    lab.schedule();
    assert_eq!(
        lab.tasks(),
        ["starting n1[0]", "queued", "queued"],
        "a slot is free, the GPU is not"
    );
    lab.ended(1, Exit::Code(0));
    lab.schedule();
    assert_eq!(lab.tasks(), ["succeeded", "starting n1[0]", "queued"]);
}

#[test]
fn fewer_slots_end_nobody_and_let_nobody_in() {
    let mut lab = lab(&[1]);
    slots(&mut lab, &[(0, 3)]);
    submit(&mut lab, 3, wants(1));
    lab.schedule();
    slots(&mut lab, &[(0, 1)]);
    lab.submit(wants(1));
    lab.ended(1, Exit::Code(0));
    lab.ended(2, Exit::Code(0));
    lab.schedule();
    assert_eq!(lab.task(4), "queued");
    lab.ended(3, Exit::Code(0));
    lab.schedule();
    assert_eq!(lab.task(4), "starting n1[0]");
}

#[test]
fn a_shared_task_waits_until_the_last_one_has_its_memory() {
    let mut lab = lab(&[1]);
    submit(&mut lab, 3, sharing(20));
    lab.schedule();
    assert_eq!(lab.tasks(), ["starting n1[0]", "queued", "queued"]);
    assert_eq!(lab.why(2), WaitReason::Settling);
    let half = seen(&lab, 0, &[(1, 10)]);
    see(&mut lab, vec![half]);
    assert_eq!(lab.task(2), "queued", "it still grows");
    let whole = seen(&lab, 0, &[(1, 20)]);
    see(&mut lab, vec![whole]);
    assert_eq!(lab.tasks(), ["starting n1[0]", "starting n1[0]", "queued"]);
}

#[test]
fn what_no_longer_grows_has_settled() {
    let mut lab = lab(&[1]);
    lab.submit(sharing(20));
    lab.schedule();
    let some = seen(&lab, 0, &[(1, 10)]);
    lab.after_secs(20);
    see(&mut lab, vec![some]);
    lab.submit(sharing(20));
    lab.after_secs(29);
    lab.schedule();
    assert_eq!(lab.task(2), "queued");
    let at = lab.now + Span::from_secs(1);
    assert_eq!(lab.state.wake_at(lab.now), Some(at), "somebody must look again then");
    lab.after_secs(1);
    lab.schedule();
    assert_eq!(lab.task(2), "starting n1[0]");
}

#[test]
fn a_shared_task_counts_as_what_it_asked_for_or_uses() {
    let mut lab = lab(&[1]);
    lab.submit(sharing(30));
    lab.schedule();
    let more = seen(&lab, 0, &[(1, 50)]);
    see(&mut lab, vec![more]);
    lab.submit(sharing(31));
    lab.schedule();
    assert_eq!(lab.task(2), "queued", "50 of 80 GB are taken");
    lab.submit(sharing(30));
    lab.configure(|settings| settings.backfill = Backfill::Skip);
    lab.schedule();
    assert_eq!(lab.task(3), "starting n1[0]");
    lab.ended(1, Exit::Code(0));
    lab.after_secs(60);
    lab.schedule();
    assert_eq!(lab.task(2), "starting n1[0]", "30 of 80 GB are taken");
}

#[test]
fn unused_memory_is_reclaimed_where_that_is_wanted() {
    let check = |reclaim: bool, expect: &str| {
        let mut lab = lab(&[1]);
        lab.configure(|settings| settings.reclaim_unused_memory = reclaim);
        lab.submit(sharing(60));
        lab.schedule();
        let little = seen(&lab, 0, &[(1, 5)]);
        see(&mut lab, vec![little]);
        lab.after_secs(60);
        lab.submit(sharing(60));
        lab.schedule();
        assert_eq!(lab.task(2), expect);
    };
    check(false, "queued");
    check(true, "starting n1[0]");
}

#[test]
fn exclusive_and_shared_tasks_do_not_meet() {
    let mut lab = lab(&[2]);
    lab.configure(|settings| settings.backfill = Backfill::Skip);
    lab.submit(sharing(1));
    lab.submit(wants(1));
    lab.submit(wants(1));
    lab.schedule();
    assert_eq!(lab.tasks(), ["starting n1[0]", "starting n1[1]", "queued"]);
    lab.after_secs(60);
    lab.submit(sharing(1));
    lab.submit(sharing(80));
    lab.schedule();
    assert_eq!(lab.task(4), "starting n1[0]");
    assert_eq!(lab.task(5), "queued");
}

#[test]
fn shared_tasks_fill_gpus_that_are_shared_already() {
    let mut lab = lab(&[2, 2]);
    lab.submit(sharing(10));
    lab.schedule();
    lab.after_secs(60);
    lab.submit(sharing(10));
    lab.schedule();
    lab.after_secs(60);
    lab.submit(sharing(70));
    lab.schedule();
    assert_eq!(lab.tasks(), ["starting n1[0]", "starting n1[0]", "starting n1[1]"]);
    lab.after_secs(60);
    lab.submit(sharing(10));
    lab.schedule();
    assert_eq!(lab.task(4), "starting n1[1]", "the tightest fit");
}

#[test]
fn one_start_per_gpu_and_pass_however_many_wait() {
    let mut lab = lab(&[4]);
    submit(&mut lab, 9, sharing(1));
    lab.schedule();
    let started = lab.tasks().iter().filter(|task| task.starts_with("starting")).count();
    assert_eq!(started, 4);
}

#[test]
fn a_busy_gpu_is_not_shared_with_who_wants_it_idle() {
    let mut lab = lab(&[1]);
    let mut picky = sharing(10);
    picky.request.sharing = Sharing::Shared { idle_utilization: 50 };
    let busy = |percent| GpuReport {
        usage: GpuUsage { busy: percent, other_memory: Some(0) },
        ..gpu(1, 0, Idle)
    };
    lab.hear(1, NodeMessage::Gpus(vec![busy(55)]));
    lab.submit(picky);
    lab.schedule();
    assert_eq!(lab.task(1), "queued");
    assert_eq!(lab.why(1), WaitReason::GpusBusy);
    see(&mut lab, vec![busy(50)]);
    assert_eq!(lab.task(1), "starting n1[0]");
}

#[test]
fn who_shares_may_share_with_strangers_what_they_leave() {
    let mut lab = lab(&[1]);
    let used = |gigabytes: u64| GpuReport {
        usage: GpuUsage { busy: 0, other_memory: Some(gigabytes * GB) },
        ..gpu(1, 0, foreign())
    };
    lab.hear(1, NodeMessage::Gpus(vec![used(70)]));
    lab.submit(sharing(20));
    lab.schedule();
    assert_eq!(lab.task(1), "queued");
    see(&mut lab, vec![used(60)]);
    assert_eq!(lab.task(1), "starting n1[0]");
    lab.submit(wants(1));
    lab.schedule();
    assert_eq!(lab.task(2), "queued");
}

#[test]
fn strangers_whose_memory_is_not_known_share_with_nobody() {
    let mut lab = lab(&[1]);
    let usage = GpuUsage { busy: 0, other_memory: None };
    lab.hear(1, NodeMessage::Gpus(vec![GpuReport { usage, ..gpu(1, 0, foreign()) }]));
    lab.submit(sharing(1));
    lab.schedule();
    assert_eq!(lab.task(1), "queued");
}

#[test]
fn memory_is_kept_free_on_shared_gpus() {
    let mut lab = lab(&[1]);
    lab.configure(|settings| settings.keep_gpu_memory = Fraction::from_thousandths(500));
    let refusal = lab.try_act(Input::Submit { by: ANN, spec: sharing(41), key: None });
    assert!(matches!(refusal, Err(Refusal::Impossible { .. })), "{refusal:?}");
    lab.submit(sharing(30));
    lab.schedule();
    lab.after_secs(60);
    lab.submit(sharing(11));
    lab.schedule();
    assert_eq!(lab.tasks(), ["starting n1[0]", "queued"]);
    lab.configure(|settings| settings.keep_gpu_memory = Fraction::from_thousandths(400));
    lab.schedule();
    assert_eq!(lab.task(2), "starting n1[0]");
}

#[test]
fn a_gpu_is_shared_by_so_many_at_most() {
    let mut lab = lab(&[1]);
    lab.configure(|settings| settings.limits.max_tasks_per_gpu = Some(2));
    for _ in 0..3 {
        lab.submit(sharing(1));
        lab.schedule();
        lab.after_secs(60);
    }
    lab.schedule();
    assert_eq!(lab.tasks(), ["starting n1[0]", "starting n1[0]", "queued"]);
}

#[test]
fn a_node_short_of_memory_gets_nothing_new() {
    let mut lab = lab(&[1]);
    lab.hear(1, NodeMessage::Memory { free: 51 << 30 });
    lab.submit(wants(1));
    lab.schedule();
    assert_eq!(lab.task(1), "queued", "less than a fifth of 256 GB");
    assert_eq!(lab.why(1), WaitReason::NodesShortOfMemory { nodes: vec![NodeId(1)] });
    lab.hear(1, NodeMessage::Memory { free: 52 << 30 });
    lab.schedule();
    assert_eq!(lab.task(1), "starting n1[0]");
    let capacity = Capacity { cpus: 16, memory: 256 << 30 };
    let (gpus, runs) = (healthy(1, 1), vec![lab.alive(1)]);
    let report = NodeReport { capacity, free_memory: Some(0), gpus, runs, trouble: None };
    lab.hear(1, NodeMessage::Report(report));
    assert_eq!(lab.task(1), "running n1[0]", "who runs there goes on");
}

#[test]
fn an_admin_starts_a_shared_task_whatever_the_thresholds() {
    let mut lab = lab(&[1]);
    lab.submit(sharing(20));
    lab.schedule();
    lab.submit(sharing(20));
    lab.submit(sharing(50));
    let start = |task| Input::Start { by: Actor::User(ADMIN), task: TaskId(task) };
    lab.act(start(2));
    assert_eq!(lab.task(2), "starting n1[0]", "although the first has not settled");
    assert_eq!(lab.try_act(start(3)), Err(Refusal::NoRoom(TaskId(3))), "memory is memory");
}

#[test]
fn a_shared_task_says_how_much_it_needs() {
    let mut lab = lab(&[1]);
    let submit = |spec| Input::Submit { by: ANN, spec, key: None };
    assert_eq!(lab.try_act(submit(sharing(0))), Err(Refusal::ShareWithoutMemory));
    let refusal = lab.try_act(submit(sharing(81)));
    assert!(matches!(refusal, Err(Refusal::Impossible { .. })), "{refusal:?}");
    let mut spec = sharing(1);
    spec.request.sharing = Sharing::Shared { idle_utilization: 101 };
    assert_eq!(lab.try_act(submit(spec)), Err(Refusal::BadUtilization));
}

#[test]
fn what_waits_for_a_shared_gpu_to_settle_holds_up_nobody_else() {
    let mut lab = lab(&[2]);
    lab.submit(sharing(80));
    lab.submit(sharing(80));
    lab.schedule();
    lab.ended(1, Exit::Code(0));
    lab.submit(sharing(40));
    lab.schedule();
    lab.submit(sharing(30));
    lab.submit(sharing(30));
    lab.schedule();
    assert_eq!(lab.tasks()[2..], ["starting n1[0]", "queued", "queued"]);
    lab.after_secs(60);
    lab.schedule();
    assert_eq!(lab.tasks()[2..], ["starting n1[0]", "starting n1[0]", "queued"], "in order");
}

#[test]
fn observations_survive_a_restart() {
    let mut lab = lab(&[1]);
    lab.submit(sharing(30));
    lab.schedule();
    let more = seen(&lab, 0, &[(1, 60)]);
    see(&mut lab, vec![more]);
    lab.state = State::from_rows(lab.state.rows()).unwrap();
    lab.submit(sharing(30));
    lab.schedule();
    assert_eq!(lab.task(2), "queued");
}

#[test]
fn a_run_remembers_the_most_it_used() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.schedule();
    for gigabytes in [7, 30, 12] {
        let used = seen(&lab, 0, &[(1, gigabytes)]);
        see(&mut lab, vec![used]);
    }
    let run = lab.run_of(1);
    lab.ended(1, Exit::Code(0));
    assert_eq!(lab.state.runs[&run].peak_gpu_memory, Some(30 * GB));
    let learnt = |command: &[&str]| {
        let command: Vec<String> = command.iter().map(ToString::to_string).collect();
        learnt_gpu_memory(&lab.state, ANN, &command)
    };
    assert_eq!(learnt(&["train", "--lr", "1"]), Some(30 * GB));
    assert_eq!(learnt(&["eval"]), None);
    let of_others = learnt_gpu_memory(&lab.state, BOB, &["train".to_owned()]);
    assert_eq!(of_others, None, "what others run is none of one's business");
}

/// 100 tasks of 18 % of a GPU each at once on 16 GPUs; each takes 30 seconds to reach its memory.
#[test]
fn a_hundred_shared_tasks_at_once_overcommit_no_gpu() {
    let mut lab = lab(&[8, 8]);
    let total = 80 * GB;
    let share = total * 18 / 100;
    for _ in 0..100 {
        let mut spec = sharing(1);
        spec.request.gpu_memory = share;
        lab.submit(spec);
    }
    let began = lab.now;
    let mut packed_at = None;
    for second in 0..600 {
        lab.schedule();
        let used = ramp(&lab, share);
        for ((node, index), runs) in &used {
            let all: u64 = runs.values().sum();
            assert!(all <= total, "GPU {index} of node {node} is overcommitted at {second} s");
            assert!(runs.len() <= 5, "{} tasks of 18 % on one GPU", runs.len());
            let growing = runs.values().filter(|bytes| **bytes < share).count();
            assert!(growing <= 1, "{growing} tasks grow on one GPU at {second} s");
        }
        let running: usize = used.values().map(BTreeMap::len).sum();
        if running == 80 && packed_at.is_none() {
            packed_at = Some(lab.now.since(began));
        }
        for node in [1, 2] {
            let report = |index| {
                let runs = used.get(&(node, index)).into_iter().flatten();
                let runs = runs.map(|(run, peak)| RunMemory { run: *run, peak: *peak }).collect();
                GpuReport { runs, ..gpu(node, index, Idle) }
            };
            lab.hear(node, NodeMessage::Gpus((0..8).map(report).collect()));
        }
        lab.after_secs(1);
    }
    let packed_at = packed_at.expect("72 of the 80 that fit is the least; all 80 fit");
    assert!(packed_at < Span::from_secs(160), "five rounds of 30 seconds: {packed_at:?}");
}

/// What each run uses by now on each GPU: nothing at its launch, all of it 30 seconds later.
fn ramp(lab: &Lab, share: u64) -> BTreeMap<(u32, u32), BTreeMap<RunId, u64>> {
    let mut used: BTreeMap<_, BTreeMap<RunId, u64>> = BTreeMap::new();
    for run in lab.state.active_runs() {
        let seconds = lab.now.since(run.launched_at).0 / 1000;
        for part in &run.parts {
            for gpu in &lab.state.nodes[&part.node].gpus {
                if part.gpus.contains(&gpu.id) {
                    let on = used.entry((part.node.0, gpu.index)).or_default();
                    on.insert(run.id, share * seconds.min(30) / 30);
                }
            }
        }
    }
    used
}
