//! Large arrays are added in slices: whatever happens in between, all of them come, once.

use crate::lab::{ADMIN, ANN, BOB, Lab, after, lab, wants};
use danlu_core::quota::{Excess, Limit, Party, Quota};
use danlu_core::run::Exit;
use danlu_core::task::{ArraySpec, DependencyKind, TaskSpec};
use danlu_core::*;

/// So many elements are added at once.
fn lab_of_twos(gpus: &[u32]) -> Lab {
    let mut lab = lab(gpus);
    lab.state.set_slice(2);
    lab
}

fn array(count: u32, spec: TaskSpec) -> TaskSpec {
    let indices = (0..count).collect();
    TaskSpec { array: Some(ArraySpec { indices, at_once: None, grid: Vec::new() }), ..spec }
}

fn ids(lab: &Lab) -> Vec<u64> {
    lab.state.tasks.keys().map(|id| id.0).collect()
}

fn boot(lab: &mut Lab, restored: bool) {
    let rows: Vec<String> =
        lab.state.rows().map(|row| serde_json::to_string(&row).unwrap()).collect();
    let rows = rows.iter().map(|row| serde_json::from_str(row).unwrap());
    lab.state = State::from_rows(rows.collect::<Vec<Row>>()).unwrap();
    lab.state.set_slice(2);
    lab.act(Input::Boot { epoch: Epoch(1), restored, ids_from: 0 });
}

#[test]
fn an_array_grows_with_every_pass_and_others_get_in_between() {
    let mut lab = lab_of_twos(&[1]);
    assert_eq!(lab.submit(array(5, wants(0))), TaskId(1));
    assert_eq!(ids(&lab), [1, 2]);
    assert_eq!(lab.state.wake_at(lab.now), Some(lab.now), "the rest is due");
    assert_eq!(lab.submit(wants(0)), TaskId(6), "its ids are taken");
    lab.schedule();
    assert_eq!(ids(&lab), [1, 2, 3, 4, 6]);
    lab.schedule();
    assert_eq!(ids(&lab), [1, 2, 3, 4, 5, 6]);
    assert!(lab.state.ledger.growing.is_empty());
    let last = lab.state.tasks[&TaskId(5)].array.unwrap();
    assert_eq!((last.first, last.index), (TaskId(1), 4));
    let added: Vec<(u64, u32)> = lab
        .events
        .iter()
        .filter_map(|event| match event {
            Event::TasksSubmitted { first, count, .. } => Some((first.0, *count)),
            _ => None,
        })
        .collect();
    assert_eq!(added, [(1, 2), (3, 2), (5, 1)]);
}

#[test]
fn elements_to_come_wait_for_what_their_array_names() {
    let mut lab = lab_of_twos(&[1]);
    lab.submit(TaskSpec { hold: true, ..wants(0) });
    lab.submit(array(4, after(DependencyKind::AfterAny, &[1])));
    assert_eq!(ids(&lab), [1, 2, 3]);
    let mut waiting = lab.state.waiting_for(&[TaskId(1)]);
    waiting.sort_unstable();
    assert_eq!(waiting, [2, 3, 4, 5].map(TaskId));
}

#[test]
fn an_array_grows_while_the_queue_is_paused() {
    let mut lab = lab_of_twos(&[1]);
    lab.configure(|settings| settings.queue_paused = true);
    lab.submit(array(3, wants(1)));
    lab.schedule();
    assert_eq!(lab.tasks(), ["queued", "queued", "queued"]);
}

#[test]
fn after_a_crash_the_rest_is_added() {
    let mut lab = lab_of_twos(&[1]);
    lab.submit(array(7, wants(1)));
    lab.schedule();
    assert_eq!(ids(&lab), [1, 2, 3, 4]);
    boot(&mut lab, false);
    assert_eq!(ids(&lab), [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(lab.submit(wants(1)), TaskId(8));
}

#[test]
fn what_a_restored_store_adds_may_have_run_already() {
    let mut lab = lab_of_twos(&[1]);
    lab.submit(array(4, wants(1)));
    boot(&mut lab, true);
    assert_eq!(lab.tasks(), ["held", "held", "held", "held"]);
    let doubts = lab.state.tasks.values().filter(|task| task.trail().doubt.is_some());
    assert_eq!(doubts.count(), 4);
}

#[test]
fn elements_that_are_not_there_yet_count_for_quotas() {
    let mut lab = lab_of_twos(&[1]);
    let open_tasks = Some(6);
    lab.configure(|settings| settings.quota.user = Quota { open_tasks, ..Quota::default() });
    lab.submit(array(5, wants(1)));
    let two = Input::Submit { by: ANN, spec: array(2, wants(1)), key: None };
    let whose = Party::User("ann".into());
    let excess = Excess { whose, limit: Limit::OpenTasks, in_use: 5, most: 6 };
    assert_eq!(lab.try_act(two.clone()), Err(Refusal::OverQuota(excess.clone())));
    lab.schedule();
    lab.schedule();
    assert_eq!(lab.try_act(two), Err(Refusal::OverQuota(excess)), "as when all are there");
    lab.submit(wants(1));
    lab.act(Input::Submit { by: BOB, spec: array(6, wants(1)), key: None });
}

#[test]
fn who_names_an_element_finds_it() {
    let mut lab = lab_of_twos(&[1]);
    lab.submit(array(9, wants(1)));
    lab.cancel(4);
    assert_eq!(lab.tasks(), ["queued", "queued", "queued", "cancelled"]);
    let waiting = lab.submit(after(DependencyKind::AfterOk, &[6]));
    assert_eq!((lab.task(6), lab.task(waiting.0)), ("queued".into(), "blocked on [6]".into()));
    let foreign = Input::Cancel { by: Actor::User(BOB), task: TaskId(7) };
    assert_eq!(lab.try_act(foreign), Err(Refusal::NotPermitted));
    lab.schedule();
    assert_eq!(ids(&lab), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    assert_eq!(lab.task(4), "cancelled");
    let beyond = Input::Cancel { by: Actor::User(ANN), task: TaskId(11) };
    assert_eq!(lab.try_act(beyond), Err(Refusal::NoSuchTask(TaskId(11))));
}

#[test]
fn a_predecessor_stays_until_all_have_asked_it() {
    let mut lab = lab_of_twos(&[1]);
    lab.submit(wants(1));
    lab.schedule();
    lab.submit(array(6, after(DependencyKind::AfterOk, &[1])));
    lab.ended(1, Exit::Code(1));
    for element in [2, 3] {
        assert_eq!(lab.task(element), "dependency 1 failed");
        lab.act(Input::Remove { by: Actor::User(ANN), task: TaskId(element) });
    }
    let remove = Input::Remove { by: Actor::User(ANN), task: TaskId(1) };
    let needed = Refusal::StillNeeded { task: TaskId(1), by: TaskId(2) };
    assert_eq!(lab.try_act(remove.clone()), Err(needed));
    lab.schedule();
    lab.schedule();
    assert_eq!((lab.task(4), lab.task(7)), (lab.task(6), "dependency 1 failed".into()));
    lab.act(remove);
}

#[test]
fn a_predecessor_does_not_leave_the_state_before_all_have_asked_it() {
    let mut lab = lab_of_twos(&[1]);
    lab.submit(wants(1));
    lab.schedule();
    lab.submit(array(7, after(DependencyKind::AfterOk, &[1])));
    lab.ended(1, Exit::Code(1));
    lab.configure(|settings| settings.history.recent = 0);
    for _ in 0..4 {
        lab.schedule();
    }
    assert_eq!(ids(&lab), [0_u64; 0], "all have left");
    let failed = lab.events.iter().filter(|event| match event {
        Event::TaskFinished { outcome, .. } => {
            *outcome == task::Outcome::DependencyFailed { on: TaskId(1) }
        }
        _ => false,
    });
    assert_eq!(failed.count(), 7);
}

#[test]
fn what_is_to_come_of_a_removed_user_is_cancelled() {
    let mut lab = lab_of_twos(&[1]);
    lab.submit(array(5, wants(1)));
    lab.act(Input::RemoveUser { by: Actor::User(ADMIN), user: ANN });
    assert_eq!(lab.tasks(), vec!["cancelled"; 5]);
}

#[test]
fn a_repeated_submit_is_answered_with_the_same_array() {
    let mut lab = lab_of_twos(&[1]);
    let submit = Input::Submit { by: ANN, spec: array(5, wants(1)), key: Some("k".into()) };
    assert_eq!(lab.act(submit.clone()), Reply::Task(TaskId(1)));
    assert_eq!(lab.act(submit.clone()), Reply::Task(TaskId(1)));
    boot(&mut lab, false);
    assert_eq!(lab.act(submit), Reply::Task(TaskId(1)));
    assert_eq!(ids(&lab), [1, 2, 3, 4, 5]);
}

#[test]
fn no_more_run_at_once_than_asked_however_they_come() {
    let mut lab = lab_of_twos(&[8]);
    let mut spec = array(5, wants(1));
    spec.array.as_mut().unwrap().at_once = Some(3);
    lab.submit(spec);
    for _ in 0..3 {
        lab.schedule();
        assert!(lab.state.active_runs().count() <= 3);
    }
    assert_eq!(lab.state.active_runs().count(), 3);
}
