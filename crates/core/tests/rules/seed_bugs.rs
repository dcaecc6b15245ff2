//! One test for each bug of the systems that Danlu follows, named after the rule that holds here.

use crate::lab::{ADMIN, ANN, BOB, after, ending, gpu, healthy, lab, lasting, wants};
use danlu_core::gpu::GpuCondition;
use danlu_core::run::Exit;
use danlu_core::settings::{Backfill, Order};
use danlu_core::task::{DependencyKind, TaskSpec};
use danlu_core::{Actor, Epoch, Input, NodeMessage, Refusal, State, TaskId, WaitReason};

// gpuman: said "created" and dropped it.
#[test]
fn a_task_larger_than_every_node_is_refused() {
    let mut lab = lab(&[2, 4]);
    let input = Input::Submit { by: ANN, spec: wants(5), key: None };
    assert!(matches!(lab.try_act(input), Err(Refusal::Impossible { .. })));
    let mut pinned = wants(1);
    pinned.request.gpu_ids = vec![7];
    let input = Input::Submit { by: ANN, spec: pinned, key: None };
    assert!(matches!(lab.try_act(input), Err(Refusal::Impossible { .. })));
    assert_eq!(lab.state.tasks.len(), 0);
}

// distributed manager: waited for ever and said nothing, when the machines shrank.
#[test]
fn a_task_that_no_longer_fits_says_so() {
    let mut lab = lab(&[4]);
    lab.submit(wants(3));
    lab.report(1, healthy(1, 2), vec![]);
    lab.schedule();
    assert_eq!(lab.why(1), WaitReason::NeverFits);
}

// gpuman: `move` raised an exception with the task in its hands.
#[test]
fn a_move_in_fifo_loses_no_task() {
    let mut lab = lab(&[1]);
    lab.policy(Order::Fifo, Backfill::None);
    for _ in 0..3 {
        lab.submit(wants(1));
    }
    lab.act(Input::Move { by: Actor::User(ANN), task: TaskId(3), position: 0 });
    let order: Vec<u64> = lab.state.queue().iter().map(|rank| rank.task.0).collect();
    assert_eq!(order, [3, 1, 2]);
}

// gpuman: what ran was stored as waiting, and ran a second time after a restart.
#[test]
fn a_restart_runs_no_task_twice() {
    let mut lab = lab(&[2]);
    lab.submit(wants(1));
    lab.schedule();
    lab.started(1);
    let stored = State::from_rows(lab.state.rows()).unwrap();
    lab.state = stored;
    lab.act(Input::Boot { epoch: Epoch(1), restored: false, ids_from: 0 });
    lab.schedule();
    let run = lab.alive(1);
    lab.connect(1);
    lab.report(1, healthy(1, 2), vec![run]);
    lab.effects();
    lab.schedule();
    assert_eq!((lab.task(1).as_str(), lab.effects().len()), ("running n1[0]", 0));
}

// gputasker: tasks stayed "running" and their GPUs taken, for ever, when the scheduler was restarted.
#[test]
fn a_restart_frees_the_gpus_of_runs_that_have_ended() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.submit(wants(1));
    lab.schedule();
    lab.act(Input::Boot { epoch: Epoch(1), restored: false, ids_from: 0 });
    let run = lab.over(1, Exit::Code(0));
    lab.connect(1);
    lab.report(1, healthy(1, 1), vec![run]);
    lab.schedule();
    assert_eq!(lab.tasks(), ["succeeded", "starting n1[0]"]);
}

// distributed manager: whatever ran at a restart was an error; gputasker never noticed a node that was gone.
#[test]
fn a_lost_node_is_not_a_failure() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.schedule();
    lab.started(1);
    lab.hear(1, NodeMessage::Lost);
    assert_eq!(lab.task(1), "running n1[0]");
}

// distributed manager: a node that came back had all its GPUs free again.
#[test]
fn a_reconnect_keeps_the_holders_of_gpus() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.submit(wants(1));
    lab.schedule();
    lab.started(1);
    let run = lab.alive(1);
    lab.reconnect(1, vec![run]);
    lab.schedule();
    assert_eq!(lab.tasks(), ["running n1[0]", "queued"]);
}

// gpuman: an edited task went to the end of its class.
#[test]
fn an_edit_keeps_the_place_in_the_queue() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.submit(wants(1));
    let spec = TaskSpec { name: "renamed".into(), ..wants(1) };
    lab.act(Input::Edit { by: Actor::User(ANN), task: TaskId(1), spec });
    lab.schedule();
    assert_eq!(lab.tasks(), ["starting n1[0]", "queued"]);
}

// distributed manager: the successor of a task that was deleted from the history waited for ever.
#[test]
fn a_deleted_predecessor_blocks_nobody() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.schedule();
    lab.ended(1, Exit::Code(0));
    let held = TaskSpec { hold: true, ..after(DependencyKind::AfterOk, &[1]) };
    lab.submit(held);
    let by = Actor::User(ANN);
    let remove = Input::Remove { by, task: TaskId(1) };
    assert!(matches!(lab.try_act(remove.clone()), Err(Refusal::StillNeeded { .. })));
    lab.act(Input::Release { by, task: TaskId(2) });
    lab.schedule();
    lab.ended(2, Exit::Code(1));
    lab.act(remove);
    lab.act(Input::Retry { by, task: TaskId(2) });
    lab.schedule();
    assert_eq!(lab.task(2), "starting n1[0]");
}

// distributed manager: two tasks could wait for each other.
#[test]
fn a_circle_of_dependencies_is_refused() {
    let mut lab = lab(&[1]);
    lab.submit(TaskSpec { hold: true, ..wants(1) });
    lab.submit(after(DependencyKind::AfterAny, &[1]));
    let spec = after(DependencyKind::AfterAny, &[2]);
    let edit = Input::Edit { by: Actor::User(ANN), task: TaskId(1), spec };
    assert_eq!(lab.try_act(edit), Err(Refusal::Circle(TaskId(1))));
}

// distributed manager: the node a task had run on was written into its request.
#[test]
fn a_task_that_runs_again_may_go_to_another_node() {
    let mut lab = lab(&[1, 1]);
    lab.submit(wants(1));
    lab.schedule();
    assert_eq!(lab.task(1), "starting n1[0]");
    lab.ended(1, Exit::Code(1));
    lab.act(Input::Drain { by: Actor::Daemon, node: danlu_core::NodeId(1) });
    lab.act(Input::Retry { by: Actor::User(ANN), task: TaskId(1) });
    lab.schedule();
    assert_eq!(lab.task(1), "starting n2[0]");
}

// gputasker: a limit on GPU memory was a 16-bit number of megabytes.
#[test]
fn gpu_memory_may_be_above_32_gigabytes() {
    let mut lab = lab(&[1]);
    let mut large = wants(1);
    large.request.gpu_memory = 79 << 30;
    lab.submit(large.clone());
    lab.schedule();
    assert_eq!(lab.task(1), "starting n1[0]");
    large.request.gpu_memory = 81 << 30;
    let input = Input::Submit { by: ANN, spec: large, key: None };
    assert!(matches!(lab.try_act(input), Err(Refusal::Impossible { .. })));
}

// gputasker: "start again" on a running task started a second copy of it.
#[test]
fn a_running_task_cannot_be_retried() {
    let mut lab = lab(&[2]);
    lab.submit(wants(1));
    lab.schedule();
    let retry = Input::Retry { by: Actor::User(ANN), task: TaskId(1) };
    assert!(matches!(lab.try_act(retry), Err(Refusal::WrongState { .. })));
    let start = Input::Start { by: Actor::User(ADMIN), task: TaskId(1) };
    assert!(matches!(lab.try_act(start), Err(Refusal::WrongState { .. })));
}

// gputasker: large tasks starved behind small ones, without end.
#[test]
fn a_large_task_does_not_starve_behind_small_ones() {
    let mut lab = lab(&[4]);
    lab.policy(Order::Fifo, Backfill::Easy);
    for _ in 0..4 {
        lab.submit(lasting(1, 100));
    }
    lab.schedule();
    let large = lab.submit(lasting(4, 50)).0;
    // Somebody submits another small one whenever one ends; each is expected to last beyond the others.
    for ended in 1..=4 {
        lab.after_secs(30);
        lab.submit(lasting(1, 100));
        lab.ended(ended, Exit::Code(0));
        lab.schedule();
    }
    assert_eq!(lab.task(large), "starting n1[0,1,2,3]");
}

// gpulimit, gputasker and the distributed manager: at most one start in each turn of a loop of seconds.
#[test]
fn a_pass_starts_all_that_fits() {
    let mut lab = lab(&[4]);
    for _ in 0..4 {
        lab.submit(wants(1));
    }
    lab.schedule();
    assert_eq!(lab.effects().len(), 4);
}

// gpulimit: only the one GPU with most free memory was looked at.
#[test]
fn every_free_gpu_is_considered() {
    let mut lab = lab(&[2]);
    lab.report(1, vec![gpu(1, 0, crate::lab::foreign()), gpu(1, 1, GpuCondition::Idle)], vec![]);
    lab.submit(wants(1));
    lab.schedule();
    assert_eq!(lab.task(1), "starting n1[1]");
}

// gpuman: `nvidia-smi` that failed counted as a free GPU.
#[test]
fn a_gpu_whose_probe_failed_is_not_free() {
    let mut lab = lab(&[1]);
    lab.report(1, vec![gpu(1, 0, GpuCondition::Unknown)], vec![]);
    lab.submit(wants(1));
    lab.schedule();
    assert_eq!(lab.task(1), "queued");
}

// gputasker: a card that was given another number, or taken out, was believed to be where it had been.
#[test]
fn a_renumbered_gpu_has_its_new_number() {
    let mut lab = lab(&[2]);
    lab.submit(wants(1));
    lab.schedule();
    lab.started(1);
    let mut swapped = healthy(1, 2);
    (swapped[0].index, swapped[1].index) = (1, 0);
    lab.hear(1, NodeMessage::Gpus(swapped));
    assert_eq!(lab.task(1), "running n1[1]");
    lab.submit(wants(1));
    lab.schedule();
    assert_eq!(lab.task(2), "starting n1[0]");
}

// gputasker: a priority that nobody looked at.
#[test]
fn a_task_of_higher_priority_starts_first() {
    let mut lab = lab(&[1]);
    lab.submit(TaskSpec { priority: 9, ..wants(1) });
    lab.submit(TaskSpec { priority: 6, ..wants(1) });
    lab.schedule();
    assert_eq!(lab.tasks(), ["queued", "starting n1[0]"]);
}

// distributed manager: ids were times, and two submits within ten milliseconds had the same.
// gpuman: ids began again at one.
#[test]
fn ids_are_unique_and_never_reused() {
    let mut lab = lab(&[1]);
    let first = lab.submit(wants(1));
    let second = lab.submit(wants(1));
    lab.cancel(second.0);
    lab.act(Input::Remove { by: Actor::User(ANN), task: second });
    let stored = State::from_rows(lab.state.rows()).unwrap();
    lab.state = stored;
    let third = lab.submit(wants(1));
    assert!(first < second && second < third);
}

// distributed manager: one CPU task for each machine at a time. gpuman: CPU tasks waited behind a GPU task.
#[test]
fn cpu_tasks_do_not_wait_behind_gpu_tasks() {
    let mut lab = lab(&[1]);
    lab.policy(Order::Fifo, Backfill::Easy);
    lab.submit(wants(1));
    lab.submit(wants(1));
    for _ in 0..2 {
        let mut cpu = wants(0);
        cpu.request.cpus = 1;
        lab.submit(cpu);
    }
    lab.schedule();
    assert_eq!(lab.tasks(), ["starting n1[0]", "queued", "starting n1[]", "starting n1[]"]);
}

// gpulimit: a paused task could never be resumed, since its process was forgotten.
#[test]
fn a_paused_task_can_be_resumed() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.schedule();
    lab.started(1);
    lab.act(Input::Pause { by: Actor::User(ANN), task: TaskId(1) });
    assert_eq!(lab.task(1), "paused n1[0]");
    lab.act(Input::Resume { by: Actor::User(ANN), task: TaskId(1) });
    lab.ended(1, Exit::Code(0));
    assert_eq!(lab.task(1), "succeeded");
}

// distributed manager, gpulimit: everybody could stop everybody's tasks.
#[test]
fn nobody_stops_the_task_of_another_user() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    for input in [
        Input::Cancel { by: Actor::User(BOB), task: TaskId(1) },
        Input::Edit { by: Actor::User(BOB), task: TaskId(1), spec: wants(1) },
        Input::Move { by: Actor::User(BOB), task: TaskId(1), position: 0 },
        Input::Hold { by: Actor::User(BOB), task: TaskId(1) },
    ] {
        assert_eq!(lab.try_act(input), Err(Refusal::NotPermitted));
    }
}

// gputasker: killing a task killed what watched over it, and its GPU was given out while it ran on.
#[test]
fn the_gpu_of_a_cancelled_task_is_held_until_it_has_ended() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.submit(wants(1));
    lab.schedule();
    lab.started(1);
    lab.cancel(1);
    lab.schedule();
    assert_eq!(lab.tasks(), ["stopping n1[0]", "queued"]);
    lab.ended_with(1, ending(Exit::Signal(9), true));
    lab.schedule();
    assert_eq!(lab.tasks(), ["cancelled", "starting n1[0]"]);
}

// resource manager: a pending request was not counted, so it was made again every two seconds: 3,677 of them.
#[test]
fn a_repeated_request_queues_one_task() {
    let mut lab = lab(&[1]);
    let submit = || Input::Submit { by: ANN, spec: wants(1), key: Some("nightly".into()) };
    let first = lab.act(submit());
    assert_eq!(lab.act(submit()), first);
    assert_eq!(lab.state.tasks.len(), 1);
}
