//! Ended tasks leave the state when they are no longer recent, and come back when they are named.

use crate::lab::{ANN, BOB, Lab, after, ending, healthy, lab, wants};
use crate::predictions::{has_run, submit};
use danlu_core::gpu::RunMemory;
use danlu_core::resources::Sharing;
use danlu_core::run::{Ending, Exit, ReportedState, RunReport, RunUsage};
use danlu_core::settings::{Backfill, Order};
use danlu_core::task::{ArraySpec, DependencyKind::*, TaskSpec, TaskState};
use danlu_core::*;

/// A lab that keeps so many ended tasks.
fn lab_with(recent: u64) -> Lab {
    let mut lab = lab(&[4]);
    lab.configure(|settings| settings.history.recent = recent);
    lab
}

fn here(lab: &Lab) -> Vec<u64> {
    lab.state.tasks.keys().map(|id| id.0).collect()
}

fn gone(lab: &Lab) -> Vec<u64> {
    lab.history.keys().map(|id| id.0).collect()
}

fn retry(task: u64) -> Input {
    Input::Retry { by: Actor::User(ANN), task: TaskId(task) }
}

fn remove(task: u64) -> Input {
    Input::Remove { by: Actor::User(ANN), task: TaskId(task) }
}

fn array(count: u32) -> TaskSpec {
    let (indices, at_once) = ((0..count).collect(), None);
    TaskSpec { array: Some(ArraySpec { indices, at_once, grid: vec![] }), ..wants(1) }
}

#[test]
fn those_that_ended_first_leave_first() {
    let mut lab = lab_with(2);
    for _ in 0..4 {
        submit(&mut lab, ANN, wants(1));
    }
    for task in [3, 1, 4, 2] {
        lab.after_secs(1);
        lab.cancel(task);
    }
    assert_eq!(here(&lab), [1, 2, 3, 4], "until the end of the batch");
    lab.schedule();
    assert_eq!((here(&lab), gone(&lab)), (vec![2, 4], vec![1, 3]));
    assert_eq!(lab.state.wake_at(lab.now), None);
    lab.schedule();
    assert_eq!(here(&lab), [2, 4], "the recent ones stay");
}

#[test]
fn a_backlog_leaves_in_slices_and_nobody_has_to_ask() {
    let mut lab = lab_with(0);
    lab.submit(array(200));
    for task in 1..=200 {
        lab.cancel(task);
    }
    for left in [136, 72, 8, 0] {
        assert_eq!(lab.state.wake_at(lab.now), Some(lab.now));
        lab.schedule();
        assert_eq!(lab.state.tasks.len(), left);
    }
    assert_eq!(lab.state.wake_at(lab.now), None);
    assert_eq!(lab.history.len(), 200);
    let rows = |key: &RowKey| matches!(key, RowKey::Spec(_) | RowKey::Task(_) | RowKey::Run(_));
    assert!(!lab.state.rows().any(|row| rows(&row.key())), "nothing is left of them");
}

#[test]
fn many_recent_ones_leave_together() {
    let mut lab = lab_with(80);
    lab.configure(|settings| settings.queue_paused = true);
    lab.submit(array(91));
    for task in 1..=90 {
        lab.cancel(task);
    }
    lab.schedule();
    assert_eq!(lab.history.len(), 0, "ten more than needed are not worth the while");
    lab.cancel(91);
    lab.schedule();
    assert_eq!((lab.history.len(), lab.state.tasks.len()), (11, 80));
}

#[test]
fn what_an_unfinished_task_depends_on_stays_until_that_has_ended() {
    let mut lab = lab_with(0);
    lab.submit(wants(1));
    lab.submit(TaskSpec { hold: true, ..after(AfterOk, &[1]) });
    lab.submit(wants(1));
    lab.cancel(1);
    lab.cancel(3);
    lab.schedule();
    assert_eq!((here(&lab), gone(&lab)), (vec![1, 2], vec![3]));
    assert_eq!(lab.state.wake_at(lab.now), None, "it may stay for long");
    lab.cancel(2);
    lab.schedule();
    assert_eq!(gone(&lab), [1, 2, 3]);
}

#[test]
fn what_the_rest_of_an_array_depends_on_stays_until_all_of_it_is_there() {
    let mut lab = lab_with(0);
    lab.state.set_slice(2);
    lab.submit(wants(1));
    lab.cancel(1);
    lab.submit(TaskSpec { after: after(AfterOk, &[1]).after, ..array(5) });
    lab.schedule();
    lab.schedule();
    lab.schedule();
    assert_eq!(gone(&lab), [1, 2, 3, 4, 5, 6]);
    let failed =
        |task: &Task| matches!(task.outcome(), Some(task::Outcome::DependencyFailed { .. }));
    assert!(lab.history.values().skip(1).all(|retired| failed(&retired.task)));
}

#[test]
fn a_paused_queue_keeps_none() {
    let mut lab = lab_with(0);
    lab.submit(wants(1));
    lab.configure(|settings| settings.queue_paused = true);
    lab.cancel(1);
    lab.schedule();
    assert_eq!(gone(&lab), [1]);
}

#[test]
fn it_is_run_again_with_its_id_and_its_runs() {
    let mut lab = lab_with(0);
    has_run(&mut lab, ANN, 1, 60);
    let first = lab.run_of(1);
    lab.schedule();
    assert_eq!(gone(&lab), [1]);
    assert_eq!(
        lab.ask(Input::Retry { by: Actor::User(BOB), task: TaskId(1) }),
        Err(Refusal::NotPermitted)
    );
    assert_eq!(lab.ask(retry(1)), Ok(Reply::Done));
    lab.schedule();
    assert_eq!(lab.task(1), "starting n1[1]");
    let runs: Vec<RunId> = lab.state.runs_of(TaskId(1)).map(|run| run.id).collect();
    assert_eq!(runs, [first, lab.run_of(1)]);
    assert!(gone(&lab).is_empty());
    lab.ended(1, Exit::Code(0));
    lab.schedule();
    assert_eq!(lab.history[&TaskId(1)].runs.len(), 2);
}

#[test]
fn it_is_removed_with_its_logs() {
    let mut lab = lab_with(0);
    has_run(&mut lab, ANN, 1, 60);
    let run = lab.run_of(1);
    lab.schedule();
    lab.effects();
    assert_eq!(lab.ask(remove(1)), Ok(Reply::Done));
    assert_eq!(lab.effects(), [format!("drop the log of {run} on n1")]);
    assert!(here(&lab).is_empty() && gone(&lab).is_empty());
    assert_eq!(lab.ask(remove(1)), Err(Refusal::NoSuchTask(TaskId(1))));
}

#[test]
fn other_acts_are_refused_as_for_any_ended_task() {
    let mut lab = lab_with(0);
    lab.submit(wants(1));
    lab.cancel(1);
    lab.schedule();
    let hold = Input::Hold { by: Actor::User(ANN), task: TaskId(1) };
    assert!(matches!(lab.ask(hold), Err(Refusal::WrongState { .. })));
    let hold = Input::Hold { by: Actor::User(ANN), task: TaskId(99) };
    assert_eq!(lab.ask(hold), Err(Refusal::NoSuchTask(TaskId(99))));
}

#[test]
fn others_may_depend_on_it() {
    let mut lab = lab_with(0);
    has_run(&mut lab, ANN, 1, 60);
    lab.schedule();
    let submit = |kind| Input::Submit { by: ANN, spec: after(kind, &[1]), key: None };
    assert_eq!(lab.ask(submit(AfterOk)), Ok(Reply::Task(TaskId(2))));
    assert_eq!(lab.ask(submit(AfterNotOk)), Ok(Reply::Task(TaskId(3))));
    assert_eq!((lab.task(2), lab.task(3)), ("queued".into(), "dependency 1 failed".into()));
    let unknown = Input::Submit { by: ANN, spec: after(AfterOk, &[77]), key: None };
    assert_eq!(lab.ask(unknown), Err(Refusal::NoSuchTask(TaskId(77))));
    lab.schedule();
    assert_eq!(gone(&lab), [3], "the first is needed by the second, which runs");
    let edit = Input::Edit { by: Actor::User(ANN), task: TaskId(2), spec: after(AfterOk, &[3]) };
    assert!(matches!(lab.ask(edit), Err(Refusal::WrongState { .. })));
}

#[test]
fn what_it_depends_on_counts_when_it_is_run_again() {
    let mut lab = lab_with(0);
    lab.submit(wants(1));
    lab.submit(after(AfterOk, &[1]));
    lab.cancel(1);
    lab.schedule();
    assert_eq!(gone(&lab), [1, 2]);
    assert_eq!(lab.ask(retry(2)), Ok(Reply::Done));
    assert_eq!(lab.task(2), "dependency 1 failed");
    lab.schedule();
    lab.ask(retry(1)).unwrap();
    lab.ask(retry(2)).unwrap();
    assert_eq!(lab.task(2), "blocked on [1]");
}

#[test]
fn a_repeated_key_answers_with_the_same_task() {
    let mut lab = lab_with(0);
    let ask = |spec| Input::Submit { by: ANN, spec, key: Some("once".into()) };
    assert_eq!(lab.ask(ask(wants(1))), Ok(Reply::Task(TaskId(1))));
    lab.cancel(1);
    lab.schedule();
    assert_eq!(gone(&lab), [1]);
    assert_eq!(lab.ask(ask(wants(1))), Ok(Reply::Task(TaskId(1))));
    lab.schedule();
    assert_eq!(lab.ask(ask(wants(2))), Err(Refusal::KeyReused));
    lab.ask(remove(1)).unwrap();
    assert_eq!(lab.ask(ask(wants(2))), Ok(Reply::Task(TaskId(2))));
}

#[test]
fn a_circle_over_tasks_that_were_away_is_refused_when_it_would_close() {
    let mut lab = lab_with(0);
    lab.submit(TaskSpec { hold: true, ..wants(1) });
    lab.submit(after(AfterAny, &[1]));
    lab.submit(after(AfterAny, &[2]));
    lab.cancel(3);
    lab.cancel(2);
    lab.schedule();
    assert_eq!(gone(&lab), [2, 3]);
    // The third comes back for that, the second does not: nobody sees the circle.
    let edit = Input::Edit { by: Actor::User(ANN), task: TaskId(1), spec: after(AfterAny, &[3]) };
    assert_eq!(lab.ask(edit), Ok(Reply::Done));
    assert_eq!(lab.ask(retry(3)), Ok(Reply::Done), "the second has ended");
    assert_eq!(lab.ask(retry(2)), Err(Refusal::Circle(TaskId(2))));
    assert_eq!((lab.task(1), lab.task(3)), ("held".into(), "queued".into()));
    lab.schedule();
    lab.ended(3, Exit::Code(0));
    assert_eq!(lab.ask(retry(2)), Ok(Reply::Done));
    assert_eq!(lab.task(2), "blocked on [1]");
}

#[test]
fn the_elements_of_an_array_share_what_they_do_again() {
    let mut lab = lab_with(0);
    lab.submit(array(3));
    lab.cancel(1);
    lab.cancel(2);
    lab.schedule();
    assert_eq!((here(&lab), gone(&lab)), (vec![3], vec![1, 2]));
    lab.ask(retry(1)).unwrap();
    let spec = |id: u64| &lab.state.tasks[&TaskId(id)].spec;
    assert!(std::sync::Arc::ptr_eq(spec(1), spec(3)));
}

#[test]
fn run_times_are_predicted_as_if_they_had_never_left() {
    let mut kept = lab_with(1_000);
    let mut short = lab_with(0);
    for lab in [&mut kept, &mut short] {
        lab.policy(Order::Sjf, Backfill::Easy);
        for (task, (by, gpus)) in
            [(ANN, 1), (BOB, 2), (ANN, 2)].into_iter().cycle().take(30).enumerate()
        {
            has_run(lab, by, gpus, 10 + 7 * task as u64);
            lab.schedule();
        }
    }
    assert!(short.state.tasks.is_empty() && kept.history.is_empty());
    for (by, gpus) in [(ANN, 1), (ANN, 2), (ANN, 4), (BOB, 1), (BOB, 2), (BOB, 4)] {
        for name in ["", "something else"] {
            let spec = TaskSpec { name: name.into(), ..wants(gpus) };
            let predicted = |lab: &mut Lab| {
                let task = submit(lab, by, spec.clone());
                lab.state.tasks[&TaskId(task)].predicted
            };
            let (is, was) = (predicted(&mut short), predicted(&mut kept));
            assert!(is.is_some());
            assert_eq!(is, was, "{by} {gpus} {name}");
        }
    }
}

#[test]
fn logs_count_for_the_quota_until_the_task_is_removed() {
    let mut lab = lab_with(0);
    lab.submit(wants(1));
    lab.schedule();
    let used = RunUsage { log_bytes: 5_000, ..RunUsage::default() };
    lab.ended_with(1, Ending { used, ..ending(Exit::Code(0), false) });
    lab.schedule();
    assert_eq!(gone(&lab), [1]);
    assert_eq!(lab.state.log_bytes_of(ANN), 5_000);
    lab.configure(|settings| settings.limits.log_bytes_per_user = Some(5_000));
    let ask = Input::Submit { by: ANN, spec: wants(1), key: None };
    assert!(matches!(lab.ask(ask.clone()), Err(Refusal::LogsFull { kept: 5_000, .. })));
    lab.ask(remove(1)).unwrap();
    assert_eq!(lab.state.log_bytes_of(ANN), 0);
    lab.act(ask);
}

#[test]
fn the_memory_that_a_program_needs_stays_known() {
    let mut lab = lab_with(0);
    let mut spec = wants(1);
    spec.request.sharing = Sharing::Shared { idle_utilization: 0 };
    spec.request.gpu_memory = 8 << 30;
    lab.submit(spec);
    lab.schedule();
    lab.started(1);
    let mut gpus = healthy(1, 4);
    gpus[0].runs = vec![RunMemory { run: lab.run_of(1), peak: 6 << 30 }];
    lab.hear(1, NodeMessage::Gpus(gpus));
    lab.ended(1, Exit::Code(0));
    let learnt = |lab: &Lab| learnt_gpu_memory(&lab.state, ANN, &["train".into(), "--lr=1".into()]);
    assert_eq!(learnt(&lab), Some(6 << 30));
    lab.schedule();
    assert_eq!(gone(&lab), [1]);
    assert_eq!(learnt(&lab), Some(6 << 30));
    assert_eq!(learnt_gpu_memory(&lab.state, BOB, &["train".into()]), None);
}

/// A run that was given up while its machine was away, and whose task has left the state.
fn given_up() -> (Lab, RunReport) {
    let mut lab = lab_with(0);
    lab.submit(wants(1));
    lab.schedule();
    lab.started(1);
    let alive = RunReport { task: Some(TaskId(1)), ..lab.alive(1) };
    lab.hear(1, NodeMessage::Lost);
    lab.cancel(1);
    lab.act(Input::Abandon { by: Actor::User(ANN), run: alive.run });
    lab.schedule();
    assert_eq!(gone(&lab), [1]);
    lab.effects();
    (lab, alive)
}

#[test]
fn what_still_runs_of_it_is_stopped() {
    for epoch in [1, 2] {
        let (mut lab, alive) = given_up();
        lab.act(Input::Boot { epoch: Epoch(epoch), restored: false, ids_from: 0 });
        lab.connect(1);
        let (node, session) = (NodeId(1), lab.state.nodes[&NodeId(1)].session);
        let capacity = lab.state.nodes[&node].capacity.unwrap();
        let report = |runs| {
            let (gpus, free_memory, trouble) = (healthy(1, 4), None, None);
            let report = input::NodeReport { capacity, free_memory, gpus, runs, trouble };
            Input::Node { node, session, message: NodeMessage::Report(report) }
        };
        let run = alive.run;
        lab.ask(report(vec![alive])).unwrap();
        assert_eq!(lab.effects(), [format!("stop {run} on n1")], "epoch {epoch}");
        assert!(!lab.state.nodes[&node].is_ready());
        lab.hear(1, NodeMessage::Ended { run, ending: ending(Exit::Signal(15), true) });
        assert_eq!(lab.effects(), [format!("forget {run} on n1"), "ask n1".into()]);
        lab.ask(report(vec![])).unwrap();
        assert!(lab.state.nodes[&node].is_ready());
    }
}

#[test]
fn what_a_machine_does_not_name_goes_on_until_its_task_is_named() {
    let (mut lab, alive) = given_up();
    lab.act(Input::Boot { epoch: Epoch(2), restored: false, ids_from: 0 });
    let alive = RunReport { task: None, ..alive };
    lab.connect(1);
    lab.report(1, healthy(1, 4), vec![alive.clone()]);
    assert_eq!(lab.state.nodes[&NodeId(1)].unknown_runs.len(), 1);
    lab.effects();
    lab.ask(retry(1)).unwrap();
    assert_eq!(lab.effects(), [format!("stop {} on n1", alive.run)]);
    lab.schedule();
    assert_eq!(lab.task(1), "queued", "not twice at the same time");
}

#[test]
fn a_record_of_it_is_forgotten() {
    let (mut lab, alive) = given_up();
    let over = RunReport::new(alive.run, ReportedState::Ended(ending(Exit::Code(0), false)));
    lab.connect(1);
    lab.report(1, healthy(1, 4), vec![over]);
    assert_eq!(lab.effects(), [format!("forget {} on n1", alive.run)]);
    assert!(lab.state.nodes[&NodeId(1)].is_ready());
}

#[test]
fn what_does_not_fit_is_not_recalled() {
    let mut lab = lab_with(0);
    lab.submit(wants(1));
    lab.cancel(1);
    lab.schedule();
    let good = lab.history[&TaskId(1)].clone();
    let refused = |lab: &mut Lab, change: fn(&mut Task)| {
        let mut retired = good.clone();
        change(std::sync::Arc::make_mut(&mut retired.task));
        let id = retired.task.id;
        let recall = Input::Recall(Box::new(retired));
        assert_eq!(lab.try_act(recall), Err(Refusal::NoSuchTask(id)));
    };
    refused(&mut lab, |task| task.id = TaskId(7));
    refused(&mut lab, |task| task.owner = UserId(9));
    refused(&mut lab, |task| task.state = TaskState::Held);
    lab.act(Input::Recall(Box::new(good.clone())));
    assert_eq!(lab.try_act(Input::Recall(Box::new(good))), Err(Refusal::NoSuchTask(TaskId(1))));
    // Its number was something else here.
    lab.schedule();
    let mut other = lab.history.remove(&TaskId(1)).unwrap();
    lab.submit(wants(2));
    std::sync::Arc::make_mut(&mut other.task).spec_id = SpecId(2);
    lab.act(Input::Recall(Box::new(other)));
    assert_eq!(lab.state.tasks[&TaskId(1)].spec.request.gpus, 1);
}
