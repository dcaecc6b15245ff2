//! What a failure's class decides: whether it is tried again, when, and where.

use crate::lab::{ANN, Lab, ending, healthy, lab, lasting, wants};
use danlu_core::failure::{Failure, FailureClass};
use danlu_core::resources::Sharing;
use danlu_core::run::{Ending, Exit, RunState};
use danlu_core::settings::{Backfill, Order};
use danlu_core::task::TaskSpec;
use danlu_core::{Actor, Input, Span, TaskId, WaitReason};

fn failed(class: FailureClass) -> Ending {
    let failure = Some(Failure::new(class, "a line of the log"));
    Ending { failure, ..ending(Exit::Code(1), false) }
}

fn retrying(retries: u32, on: &[FailureClass]) -> TaskSpec {
    TaskSpec { retries, retry_on: on.iter().copied().collect(), ..wants(1) }
}

fn failure_of(lab: &Lab, task: u64) -> Option<Failure> {
    match &lab.state.runs[&lab.run_of(task)].state {
        RunState::Ended { failure, .. } => failure.clone(),
        _ => None,
    }
}

/// What becomes of the task when its only run fails like this.
fn after_failure(spec: TaskSpec, ending: Ending) -> String {
    let mut lab = lab(&[1]);
    lab.submit(spec);
    lab.schedule();
    lab.ended_with(1, ending);
    lab.task(1)
}

#[test]
fn a_run_keeps_the_class_and_the_evidence_that_its_node_tells() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.schedule();
    lab.ended_with(1, failed(FailureClass::Nccl));
    let expected = Failure { class: FailureClass::Nccl, evidence: "a line of the log".into() };
    assert_eq!(failure_of(&lab, 1), Some(expected));
}

#[test]
fn an_exit_has_a_class_even_if_its_node_tells_none() {
    for (exit, class) in [
        (Exit::Code(127), FailureClass::CommandNotFound),
        (Exit::Signal(11), FailureClass::Killed),
        (Exit::TimedOut, FailureClass::Timeout),
        (Exit::Launch { message: "no".into() }, FailureClass::Launch),
        (Exit::Code(4), FailureClass::Other),
    ] {
        let mut lab = lab(&[1]);
        lab.submit(wants(1));
        lab.schedule();
        lab.ended(1, exit);
        assert_eq!(failure_of(&lab, 1).map(|failure| failure.class), Some(class));
    }
}

#[test]
fn evidence_from_a_node_is_held_to_one_short_line() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.schedule();
    let evidence = format!("a\nb\u{1b}[2J{}", "x".repeat(100_000));
    let failure = Some(Failure { class: FailureClass::Other, evidence });
    lab.ended_with(1, Ending { failure, ..ending(Exit::Code(1), false) });
    let kept = failure_of(&lab, 1).unwrap().evidence;
    assert!(kept.len() <= 300 && kept.starts_with("a b [2Jx"), "{kept}");
}

#[test]
fn a_task_is_tried_again_only_after_the_classes_it_names() {
    let spec = || retrying(2, &[FailureClass::CudaOom, FailureClass::Timeout]);
    assert_eq!(after_failure(spec(), failed(FailureClass::CudaOom)), "queued");
    assert_eq!(after_failure(spec(), failed(FailureClass::Nccl)), "failed Code(1)");
    assert_eq!(after_failure(spec(), ending(Exit::TimedOut, false)), "queued");
    assert_eq!(after_failure(retrying(2, &[]), failed(FailureClass::Nccl)), "queued");
    assert_eq!(after_failure(retrying(2, &[]), ending(Exit::TimedOut, false)), "timedout");
    assert_eq!(
        after_failure(retrying(0, &[FailureClass::Nccl]), failed(FailureClass::Nccl)),
        "failed Code(1)"
    );
}

#[test]
fn settings_name_the_classes_for_tasks_that_name_none() {
    let mut lab = lab(&[1]);
    lab.configure(|settings| settings.retry_on = [FailureClass::Nccl].into());
    for (spec, expected) in
        [(retrying(1, &[]), "failed Code(1)"), (retrying(1, &[FailureClass::CudaOom]), "queued")]
    {
        let id = lab.submit(spec).0;
        lab.schedule();
        lab.ended_with(id, failed(FailureClass::CudaOom));
        assert_eq!(lab.task(id), expected);
    }
}

#[test]
fn the_wait_before_a_retry_doubles_up_to_its_limit() {
    let mut lab = lab(&[1]);
    lab.configure(|settings| {
        settings.retry_backoff = Span::from_secs(10);
        settings.retry_backoff_max = Span::from_secs(35);
    });
    lab.submit(retrying(9, &[]));
    for wait in [10, 20, 35, 35] {
        lab.schedule();
        assert_eq!(lab.task(1), "starting n1[0]");
        lab.ended_with(1, failed(FailureClass::Other));
        let at = lab.now + Span::from_secs(wait);
        assert_eq!(lab.why(1), WaitReason::RetryAt { at });
        assert_eq!(lab.state.wake_at(lab.now), Some(at));
        lab.after_secs(wait - 1);
        lab.schedule();
        assert_eq!(lab.task(1), "queued");
        lab.after_secs(1);
    }
}

#[test]
fn a_task_that_waits_to_be_tried_again_holds_up_nobody() {
    let mut lab = lab(&[1]);
    lab.configure(|settings| settings.retry_backoff = Span::from_secs(10));
    lab.submit(retrying(1, &[]));
    lab.submit(wants(1));
    lab.schedule();
    lab.ended_with(1, failed(FailureClass::Other));
    lab.schedule();
    assert_eq!(lab.tasks(), ["queued", "starting n1[0]"]);
}

#[test]
fn a_clock_that_is_set_back_does_not_keep_a_retry_waiting() {
    let mut lab = lab(&[1]);
    lab.configure(|settings| settings.retry_backoff = Span::from_secs(10));
    lab.submit(retrying(1, &[]));
    lab.schedule();
    lab.ended_with(1, failed(FailureClass::Other));
    lab.now = lab.now - Span::from_secs(900);
    assert_eq!(lab.state.wake_at(lab.now), Some(lab.now));
    lab.schedule();
    assert_eq!(lab.task(1), "starting n1[0]");
}

#[test]
fn a_retry_held_and_released_on_another_day_waits_for_its_back_off_at_most() {
    let mut lab = lab(&[1]);
    lab.configure(|settings| settings.retry_backoff = Span::from_secs(10));
    lab.submit(retrying(1, &[]));
    lab.schedule();
    lab.ended_with(1, failed(FailureClass::Other));
    lab.now = lab.now - Span::from_secs(900);
    lab.act(Input::Hold { by: Actor::User(ANN), task: TaskId(1) });
    lab.act(Input::Release { by: Actor::User(ANN), task: TaskId(1) });
    lab.schedule();
    assert_eq!(lab.task(1), "starting n1[0]");
}

#[test]
fn a_shorter_back_off_is_for_those_that_wait_too() {
    let mut lab = lab(&[1]);
    lab.configure(|settings| settings.retry_backoff = Span::from_secs(500));
    lab.submit(retrying(1, &[]));
    lab.schedule();
    lab.ended_with(1, failed(FailureClass::Other));
    lab.schedule();
    assert_eq!(lab.task(1), "queued");
    lab.configure(|settings| settings.retry_backoff_max = Span::from_secs(5));
    lab.schedule();
    assert_eq!(lab.task(1), "starting n1[0]");
}

#[test]
fn a_gpu_that_was_too_small_is_remembered() {
    let mut lab = lab(&[1]);
    lab.submit(retrying(1, &[]));
    lab.schedule();
    lab.ended_with(1, failed(FailureClass::Nccl));
    assert_eq!(lab.state.tasks[&TaskId(1)].trail().wants_more_memory_than, None);
    lab.schedule();
    lab.ended_with(1, failed(FailureClass::CudaOom));
    assert_eq!(lab.state.tasks[&TaskId(1)].trail().wants_more_memory_than, Some(80 << 30));
}

/// One node whose first GPU has half the memory of its second one.
fn unequal_gpus() -> Lab {
    let mut lab = lab(&[2]);
    let mut gpus = healthy(1, 2);
    gpus[0].memory = 40 << 30;
    lab.report(1, gpus, vec![]);
    lab
}

#[test]
fn after_a_lack_of_gpu_memory_a_larger_gpu_is_preferred() {
    let shared = |mut spec: TaskSpec| {
        (spec.request.sharing, spec.request.gpu_memory) =
            (Sharing::Shared { idle_utilization: 0 }, 1 << 30);
        spec
    };
    let orders = [Order::Fifo, Order::Auto, Order::Srtf];
    let backfills = [Backfill::None, Backfill::Skip, Backfill::Easy];
    for (order, backfill) in orders.iter().flat_map(|it| backfills.map(|backfill| (*it, backfill)))
    {
        for spec in [retrying(1, &[]), shared(retrying(1, &[]))] {
            let mut lab = unequal_gpus();
            lab.policy(order, backfill);
            lab.submit(spec);
            lab.schedule();
            assert_eq!(lab.task(1), "starting n1[0]");
            lab.ended_with(1, failed(FailureClass::CudaOom));
            lab.schedule();
            assert_eq!(lab.task(1), "starting n1[1]", "{order:?} {backfill:?}");
        }
    }
}

#[test]
fn a_larger_gpu_is_not_waited_for() {
    let mut lab = unequal_gpus();
    lab.submit(retrying(1, &[]));
    lab.submit(wants(1));
    lab.schedule();
    lab.ended_with(1, failed(FailureClass::CudaOom));
    lab.schedule();
    assert_eq!(lab.task(1), "starting n1[0]");
}

#[test]
fn a_larger_gpu_that_is_kept_for_the_head_is_not_taken() {
    let mut lab = lab(&[3]);
    let mut gpus = healthy(1, 3);
    gpus[0].memory = 40 << 30;
    lab.report(1, gpus, vec![]);
    lab.policy(Order::Fifo, Backfill::Easy);
    let mut head = TaskSpec { hold: true, ..lasting(2, 10) };
    head.request.gpu_memory = 60 << 30;
    lab.submit(head);
    let mut others = lasting(1, 1_000);
    others.request.gpu_ids = vec![2];
    lab.submit(others);
    lab.submit(TaskSpec { retries: 1, ..lasting(1, 5_000) });
    lab.schedule();
    lab.act(Input::Release { by: Actor::User(ANN), task: TaskId(1) });
    lab.ended_with(3, failed(FailureClass::CudaOom));
    lab.schedule();
    assert_eq!(lab.tasks(), ["queued", "starting n1[2]", "starting n1[0]"]);
}

#[test]
fn a_preempted_run_says_so_and_is_no_failure_of_its_task() {
    let mut lab = lab(&[1]);
    lab.policy(Order::Srtf, Backfill::None);
    lab.submit(TaskSpec { preemptible: true, ..lasting(1, 100) });
    lab.schedule();
    lab.started(1);
    lab.submit(lasting(1, 5));
    lab.after_secs(1);
    lab.schedule();
    lab.ended_with(1, ending(Exit::Signal(15), true));
    assert_eq!(failure_of(&lab, 1).map(|it| it.class), Some(FailureClass::Preempted));
    assert_eq!(lab.state.tasks[&TaskId(1)].trail().failures, 0);
}

#[test]
fn a_task_begins_at_its_time_and_not_before() {
    let mut lab = lab(&[2]);
    let at = lab.now + Span::from_secs(100);
    lab.submit(TaskSpec { begin: Some(at), ..wants(1) });
    lab.submit(wants(1));
    lab.schedule();
    assert_eq!(lab.tasks(), ["queued", "starting n1[0]"]);
    assert_eq!(lab.why(1), WaitReason::Begins { at });
    assert_eq!(lab.state.wake_at(lab.now), Some(at));
    lab.after_secs(100);
    lab.schedule();
    assert_eq!(lab.task(1), "starting n1[1]");
    // A time that has passed is none.
    lab.submit(TaskSpec { begin: Some(at), ..wants(1) });
    assert_eq!(lab.state.tasks[&TaskId(3)].trail().not_before, None);
}

#[test]
fn a_new_beginning_replaces_the_old_one() {
    let mut lab = lab(&[1]);
    let at = lab.now + Span::from_secs(100);
    let spec = TaskSpec { begin: Some(at), ..wants(1) };
    lab.submit(spec.clone());
    let by = Actor::User(ANN);
    lab.act(Input::Edit { by, task: TaskId(1), spec: TaskSpec { priority: 7, ..spec.clone() } });
    assert_eq!(lab.why(1), WaitReason::Begins { at });
    lab.act(Input::Edit { by, task: TaskId(1), spec: TaskSpec { begin: None, ..spec } });
    lab.schedule();
    assert_eq!(lab.task(1), "starting n1[0]");
}

#[test]
fn a_held_or_blocked_task_waits_for_its_time_too() {
    let mut lab = lab(&[2]);
    lab.submit(wants(1));
    let at = lab.now + Span::from_secs(100);
    let after = crate::lab::after(danlu_core::task::DependencyKind::AfterAny, &[1]);
    lab.submit(TaskSpec { begin: Some(at), hold: true, ..wants(1) });
    lab.submit(TaskSpec { begin: Some(at), ..after });
    lab.act(Input::Release { by: Actor::User(ANN), task: TaskId(2) });
    lab.schedule();
    lab.ended(1, Exit::Code(0));
    lab.schedule();
    assert_eq!(lab.tasks(), ["succeeded", "queued", "queued"]);
    lab.after_secs(100);
    lab.schedule();
    assert_eq!(lab.tasks(), ["succeeded", "starting n1[1]", "starting n1[0]"]);
}

#[test]
fn an_admin_starts_a_task_before_its_time() {
    let mut lab = lab(&[1]);
    lab.submit(TaskSpec { begin: Some(lab.now + Span::from_secs(100)), ..wants(1) });
    lab.act(Input::Start { by: Actor::User(crate::lab::ADMIN), task: TaskId(1) });
    assert_eq!(lab.task(1), "starting n1[0]");
}
