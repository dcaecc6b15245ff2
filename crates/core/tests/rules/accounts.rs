//! Accounts: who is locked, limited or gone.

use crate::lab::*;
use danlu_core::task::{Outcome, TaskState};
use danlu_core::user::UserChange;
use danlu_core::*;

fn set(by: Actor, user: UserId, change: UserChange) -> Input {
    Input::SetUser { by, user, change }
}

fn queue(lab: &mut Lab, by: UserId, gpus: u32) -> TaskId {
    match lab.act(Input::Submit { by, spec: wants(gpus), key: None }) {
        Reply::Task(id) => id,
        other => panic!("{other:?}"),
    }
}

fn locked(locked: bool) -> UserChange {
    UserChange { locked: Some(locked), ..UserChange::default() }
}

#[test]
fn a_locked_user_does_nothing_and_what_runs_goes_on() {
    let mut lab = lab(&[2]);
    let running = queue(&mut lab, ANN, 1);
    let waiting = queue(&mut lab, ANN, 2);
    lab.schedule();
    lab.act(set(Actor::User(ADMIN), ANN, locked(true)));
    let cancel = Input::Cancel { by: Actor::User(ANN), task: running };
    assert_eq!(lab.try_act(cancel), Err(Refusal::NotPermitted));
    let submit = Input::Submit { by: ANN, spec: wants(1), key: None };
    assert_eq!(lab.try_act(submit), Err(Refusal::Locked));
    assert!(matches!(lab.state.tasks[&running].state, TaskState::Active { .. }));
    assert!(!lab.state.tasks[&waiting].is_finished());
    lab.act(set(Actor::User(ADMIN), ANN, locked(false)));
    queue(&mut lab, ANN, 1);
}

#[test]
fn a_locked_admin_is_no_admin() {
    let mut lab = lab(&[1]);
    lab.act(set(Actor::Daemon, ADMIN, locked(true)));
    let refused = lab.try_act(set(Actor::User(ADMIN), BOB, locked(true)));
    assert_eq!(refused, Err(Refusal::Locked));
}

#[test]
fn a_token_that_was_given_less_has_no_admins_powers() {
    let mut lab = lab(&[2]);
    let anns = queue(&mut lab, ANN, 1);
    let own = queue(&mut lab, ADMIN, 1);
    let cancel = |task| Input::Cancel { by: Actor::Limited(ADMIN), task };
    assert_eq!(lab.try_act(cancel(anns)), Err(Refusal::NotPermitted));
    lab.act(cancel(own));
    let refused = lab.try_act(set(Actor::Limited(ADMIN), BOB, locked(true)));
    assert_eq!(refused, Err(Refusal::AdminOnly));
}

#[test]
fn people_say_something_about_themselves_and_nothing_about_their_rank() {
    let mut lab = lab(&[1]);
    let change = UserChange { email: Some("ann@lab.example".into()), ..UserChange::default() };
    lab.act(set(Actor::User(ANN), ANN, change.clone()));
    assert_eq!(lab.state.users[&ANN].profile.email.as_deref(), Some("ann@lab.example"));
    assert_eq!(lab.try_act(set(Actor::User(BOB), ANN, change)), Err(Refusal::AdminOnly));
    for change in [
        UserChange { admin: Some(true), ..UserChange::default() },
        UserChange { priority: Some(Thousandths(-1)), ..UserChange::default() },
        UserChange { os_user: Some("root".into()), ..UserChange::default() },
        locked(false),
    ] {
        assert_eq!(lab.try_act(set(Actor::User(ANN), ANN, change)), Err(Refusal::AdminOnly));
    }
    let nowhere = UserChange { email: Some("ann".into()), ..UserChange::default() };
    let refused = lab.try_act(set(Actor::User(ANN), ANN, nowhere));
    assert_eq!(refused, Err(Refusal::BadEmail));
}

#[test]
fn admins_do_not_shut_themselves_out() {
    let mut lab = lab(&[1]);
    let by = Actor::User(ADMIN);
    let demoted = UserChange { admin: Some(false), ..UserChange::default() };
    assert_eq!(lab.try_act(set(by, ADMIN, locked(true))), Err(Refusal::Oneself));
    assert_eq!(lab.try_act(set(by, ADMIN, demoted)), Err(Refusal::Oneself));
    assert_eq!(lab.try_act(Input::RemoveUser { by, user: ADMIN }), Err(Refusal::Oneself));
}

#[test]
fn the_tasks_of_a_removed_user_are_cancelled_and_the_history_stays() {
    let mut lab = lab(&[2]);
    let running = queue(&mut lab, ANN, 2);
    let waiting = queue(&mut lab, ANN, 2);
    let bobs = queue(&mut lab, BOB, 1);
    lab.schedule();
    lab.act(Input::RemoveUser { by: Actor::User(ADMIN), user: ANN });
    let outcome = |task: &Task| match &task.state {
        TaskState::Finished { outcome, .. } => Some((**outcome).clone()),
        _ => None,
    };
    assert!(matches!(outcome(&lab.state.tasks[&waiting]), Some(Outcome::Cancelled { .. })));
    let run = lab.state.runs.values().find(|run| run.task == running).expect("it ran");
    assert!(run.is_stopping());
    assert!(!lab.state.tasks[&bobs].is_finished());
    assert_eq!(lab.state.users[&ANN].name, "ann");
    let submit = Input::Submit { by: ANN, spec: wants(1), key: None };
    assert_eq!(lab.try_act(submit), Err(Refusal::Locked));
    // Somebody new may have the name, and nothing of the old one's.
    let added = Input::AddUser { by: Actor::User(ADMIN), name: "ann".into(), admin: false };
    let Ok(Reply::User(other)) = lab.try_act(added) else { panic!("the name is free") };
    assert_ne!(other, ANN);
    let cancel = Input::Cancel { by: Actor::User(other), task: running };
    assert_eq!(lab.try_act(cancel), Err(Refusal::NotPermitted));
}
