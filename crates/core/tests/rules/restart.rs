//! The daemon dies and comes back; the store is restored.

use crate::lab::{lab, wants};
use danlu_core::{Epoch, Input, Refusal, State, TaskId};

#[test]
fn after_a_restart_no_node_is_trusted() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.state = State::from_rows(lab.state.rows()).unwrap();
    lab.act(Input::Boot { epoch: Epoch(1), restored: false, ids_from: 0 });
    lab.schedule();
    assert_eq!(lab.task(1), "queued");
}

#[test]
fn a_launch_lost_in_a_crash_is_made_again_under_a_new_name() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.schedule();
    lab.act(Input::Boot { epoch: Epoch(1), restored: false, ids_from: 0 });
    lab.connect(1);
    lab.report(1, crate::lab::healthy(1, 1), vec![]);
    lab.schedule();
    assert_eq!(lab.run_of(1).to_string(), "1-2");
}

#[test]
fn a_restored_store_begins_a_new_epoch_and_leaves_ids_out() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.act(Input::Boot { epoch: Epoch(4), restored: false, ids_from: 0 });
    assert_eq!(lab.submit(wants(1)), TaskId(1_002));
    lab.connect(1);
    lab.report(1, crate::lab::healthy(1, 1), vec![]);
    lab.schedule();
    assert_eq!(lab.run_of(1).to_string(), "4-1");
    assert_eq!(
        lab.try_act(Input::Boot { epoch: Epoch(3), restored: false, ids_from: 0 }),
        Err(Refusal::EpochGoesBack)
    );
}

#[test]
fn a_run_stopped_by_an_order_from_after_the_backup_runs_again() {
    let mut lab = lab(&[1]);
    lab.submit(wants(1));
    lab.schedule();
    lab.started(1);
    let backup: Vec<_> = lab.state.rows().collect();
    lab.cancel(1);
    lab.state = State::from_rows(backup).unwrap();
    lab.act(Input::Boot { epoch: Epoch(2), restored: false, ids_from: 0 });
    lab.connect(1);
    let run = lab.run_of(1);
    let ending = crate::lab::ending(danlu_core::run::Exit::Signal(15), true);
    let state = danlu_core::run::ReportedState::Ended(ending);
    let over = danlu_core::run::RunReport::new(run, state);
    lab.report(1, crate::lab::healthy(1, 1), vec![over]);
    assert_eq!(lab.task(1), "queued", "nobody here has asked it to stop");
}
