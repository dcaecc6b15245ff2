//! GPUs that are held and not used: told, asked, kept, stopped.

use crate::lab::{ADMIN, ANN, BOB, Lab, ending, lab, wants};
use danlu_core::event::RequeueReason;
use danlu_core::idle::{IdleAct, IdleKind, IdleRung, IdleSettings};
use danlu_core::run::{Exit, RunState, StopReason};
use danlu_core::task::{Canceller, Outcome, TaskState};
use danlu_core::{
    Actor, Event, FailureClass, Input, NodeMessage, Refusal, Reply, RunId, Span, TaskId, Time,
};

const MINUTE: i64 = 60;
const HOUR: Span = Span::from_secs(3_600);

/// A run of one GPU that begins now, under a rule with 30 minutes, one hour and two.
fn rule(act: IdleAct) -> (Lab, RunId, Time) {
    let mut lab = lab(&[1]);
    lab.configure(|settings| settings.idle.act = act);
    lab.submit(wants(1));
    lab.schedule();
    lab.started(1);
    lab.effects();
    let (run, now) = (lab.run_of(1), lab.now);
    (lab, run, now)
}

fn note(lab: &mut Lab, run: RunId, since: Time, rung: IdleRung) -> Result<Reply, Refusal> {
    lab.try_act(Input::NoteIdle { run, since, kind: IdleKind::NoProcess, rung })
}

fn stop(lab: &mut Lab, run: RunId, since: Time) -> Result<Reply, Refusal> {
    lab.try_act(Input::StopIdle { run, since, kind: IdleKind::NoProcess })
}

fn keep(lab: &mut Lab, by: danlu_core::UserId, time: Span) -> Result<Reply, Refusal> {
    lab.try_act(Input::Keep { by: Actor::User(by), task: TaskId(1), time })
}

fn after(lab: &mut Lab, minutes: i64) {
    lab.now = Time(lab.now.0 + minutes * MINUTE * 1_000);
}

/// Told after half an hour, asked after an hour; two hours have passed.
fn asked(act: IdleAct) -> (Lab, RunId, Time) {
    let (mut lab, run, since) = rule(act);
    after(&mut lab, 30);
    note(&mut lab, run, since, IdleRung::Told).unwrap();
    after(&mut lab, 30);
    note(&mut lab, run, since, IdleRung::Asked).unwrap();
    after(&mut lab, 60);
    (lab, run, since)
}

fn stopped(lab: &mut Lab, run: RunId) {
    lab.hear(1, NodeMessage::Ended { run, ending: ending(Exit::Signal(15), true) });
}

#[test]
fn nothing_is_done_without_a_rule() {
    let (mut lab, run, since) = rule(IdleAct::None);
    after(&mut lab, 600);
    assert_eq!(note(&mut lab, run, since, IdleRung::Told), Err(Refusal::NotIdle(run)));
    assert_eq!(stop(&mut lab, run, since), Err(Refusal::NotIdle(run)));
    let (mut lab, run, since) = rule(IdleAct::Ask);
    after(&mut lab, 600);
    note(&mut lab, run, since, IdleRung::Asked).unwrap();
    after(&mut lab, 600);
    assert_eq!(stop(&mut lab, run, since), Err(Refusal::NotIdle(run)));
}

#[test]
fn each_rung_is_told_once_and_in_its_time() {
    let (mut lab, run, since) = rule(IdleAct::Release);
    after(&mut lab, 29);
    assert_eq!(note(&mut lab, run, since, IdleRung::Told), Err(Refusal::NotIdle(run)));
    after(&mut lab, 1);
    lab.events.clear();
    note(&mut lab, run, since, IdleRung::Told).unwrap();
    note(&mut lab, run, since, IdleRung::Told).unwrap();
    let told = |rung| Event::RunIdle { run, rung, kind: IdleKind::NoProcess, since };
    assert_eq!(lab.events, [told(IdleRung::Told)]);
    assert_eq!(note(&mut lab, run, since, IdleRung::Asked), Err(Refusal::NotIdle(run)));
    after(&mut lab, 30);
    note(&mut lab, run, since, IdleRung::Asked).unwrap();
    note(&mut lab, run, since, IdleRung::Told).unwrap();
    assert_eq!(lab.events, [told(IdleRung::Told), told(IdleRung::Asked)]);
}

#[test]
fn a_run_that_is_not_answered_for_is_ended() {
    let (mut lab, run, since) = asked(IdleAct::Release);
    stop(&mut lab, run, since).unwrap();
    assert_eq!(lab.effects(), ["stop 1-1 on n1"]);
    stopped(&mut lab, run);
    let ended = Outcome::Cancelled { by: Canceller::IdleRule };
    assert!(lab.events.contains(&Event::TaskFinished { task: TaskId(1), outcome: ended }));
    let RunState::Ended { failure, .. } = &lab.state.runs[&run].state else { panic!() };
    assert_eq!(failure.as_ref().map(|failure| failure.class), Some(FailureClass::Idle));
}

#[test]
fn or_queued_again() {
    let (mut lab, run, since) = asked(IdleAct::Requeue);
    stop(&mut lab, run, since).unwrap();
    stopped(&mut lab, run);
    let why = RequeueReason::Idle;
    assert!(lab.events.contains(&Event::TaskRequeued { task: TaskId(1), why }));
    assert!(matches!(lab.state.tasks[&TaskId(1)].state, TaskState::Queued { .. }));
}

#[test]
fn its_own_end_counts_if_it_comes_first() {
    let (mut lab, run, since) = asked(IdleAct::Release);
    stop(&mut lab, run, since).unwrap();
    lab.hear(1, NodeMessage::Ended { run, ending: ending(Exit::Code(0), false) });
    let outcome = Outcome::Succeeded;
    assert!(lab.events.contains(&Event::TaskFinished { task: TaskId(1), outcome }));
}

#[test]
fn nobody_is_stopped_who_was_not_asked_and_given_time() {
    let (mut lab, run, since) = rule(IdleAct::Release);
    after(&mut lab, 600);
    assert_eq!(stop(&mut lab, run, since), Err(Refusal::NotIdle(run)));
    note(&mut lab, run, since, IdleRung::Told).unwrap();
    assert_eq!(stop(&mut lab, run, since), Err(Refusal::NotIdle(run)));
    note(&mut lab, run, since, IdleRung::Asked).unwrap();
    after(&mut lab, 59);
    assert_eq!(stop(&mut lab, run, since), Err(Refusal::NotIdle(run)));
    after(&mut lab, 1);
    stop(&mut lab, run, since).unwrap();
}

#[test]
fn whoever_keeps_it_keeps_it() {
    let (mut lab, run, since) = asked(IdleAct::Release);
    keep(&mut lab, ANN, HOUR + HOUR).unwrap();
    assert_eq!(stop(&mut lab, run, since), Err(Refusal::NotIdle(run)));
    assert_eq!(note(&mut lab, run, since, IdleRung::Told), Err(Refusal::NotIdle(run)));
    // The ladder begins anew after that.
    after(&mut lab, 120 + 29);
    assert_eq!(note(&mut lab, run, since, IdleRung::Told), Err(Refusal::NotIdle(run)));
    assert_eq!(stop(&mut lab, run, since), Err(Refusal::NotIdle(run)));
    after(&mut lab, 1);
    note(&mut lab, run, since, IdleRung::Told).unwrap();
    let trail = lab.state.runs[&run].idle;
    assert_eq!((trail.keeps, trail.note.map(|note| note.rung)), (1, Some(IdleRung::Told)));
}

#[test]
fn owners_keep_for_a_while_and_admins_for_any_time() {
    let (mut lab, run, _) = rule(IdleAct::Release);
    lab.configure(|settings| settings.idle.longest_keep = HOUR);
    assert_eq!(keep(&mut lab, ANN, HOUR + HOUR), Err(Refusal::KeptTooLong(HOUR)));
    assert_eq!(keep(&mut lab, ANN, Span::ZERO), Err(Refusal::KeptTooLong(HOUR)));
    assert_eq!(keep(&mut lab, BOB, HOUR), Err(Refusal::NotPermitted));
    keep(&mut lab, ADMIN, HOUR + HOUR).unwrap();
    keep(&mut lab, ANN, HOUR).unwrap();
    // The later end counts.
    assert_eq!(lab.state.runs[&run].idle.kept_until, Some(lab.now + HOUR + HOUR));
}

#[test]
fn use_begins_the_ladder_anew() {
    let (mut lab, run, since) = asked(IdleAct::Release);
    lab.act(Input::NoteUsed { run });
    assert_eq!(stop(&mut lab, run, since), Err(Refusal::NotIdle(run)));
    lab.events.clear();
    lab.act(Input::NoteUsed { run });
    assert!(lab.events.is_empty());
}

#[test]
fn paused_lost_stopping_and_other_runs_are_left_alone() {
    let (mut lab, run, since) = asked(IdleAct::Release);
    lab.act(Input::Pause { by: Actor::User(ANN), task: TaskId(1) });
    assert_eq!(stop(&mut lab, run, since), Err(Refusal::NotIdle(run)));
    lab.act(Input::Resume { by: Actor::User(ANN), task: TaskId(1) });
    let earlier = RunId { number: run.number + 1, ..run };
    assert_eq!(stop(&mut lab, earlier, since), Err(Refusal::NoSuchRun(earlier)));
    // Before it was there.
    let before = Time(since.0 - 1);
    let launched = lab.state.runs[&run].launched_at;
    assert_eq!(stop(&mut lab, run, Time(launched.0 - 1).min(before)), Err(Refusal::NotIdle(run)));
    lab.hear(1, NodeMessage::Lost);
    assert_eq!(stop(&mut lab, run, since), Err(Refusal::NotIdle(run)));
    let (mut lab, run, since) = asked(IdleAct::Release);
    lab.act(Input::Cancel { by: Actor::User(ANN), task: TaskId(1) });
    assert_eq!(stop(&mut lab, run, since), Err(Refusal::NotIdle(run)));
    let why = StopReason::Cancelled { by: Canceller::User(ANN) };
    assert!(matches!(lab.state.runs[&run].state, RunState::Stopping { why: it, .. } if it == why));
    stopped(&mut lab, run);
    assert_eq!(stop(&mut lab, run, since), Err(Refusal::RunEnded(run)));
    let keep = keep(&mut lab, ANN, HOUR);
    assert!(matches!(keep, Err(Refusal::WrongState { .. })), "{keep:?}");
}

#[test]
fn some_are_exempt() {
    for exempt in ["ann", "vision", "kind=server", "kind"] {
        let mut lab = lab(&[1]);
        lab.configure(|settings| {
            settings.idle.act = IdleAct::Release;
            settings.idle.exempt_users.extend((exempt == "ann").then(|| exempt.into()));
            settings.idle.exempt_projects.extend((exempt == "vision").then(|| exempt.into()));
            settings.idle.exempt_labels.extend(exempt.starts_with("kind").then(|| exempt.into()));
        });
        let mut spec = wants(1);
        spec.project = Some("vision".into());
        spec.labels.insert("kind".into(), "server".into());
        lab.submit(spec);
        lab.schedule();
        lab.started(1);
        let (run, since) = (lab.run_of(1), lab.now);
        after(&mut lab, 600);
        let told = note(&mut lab, run, since, IdleRung::Told);
        assert_eq!(told, Err(Refusal::NotIdle(run)), "{exempt}");
    }
}

#[test]
fn the_rungs_have_an_order() {
    let mut lab = lab(&[]);
    let mut set = |change: fn(&mut IdleSettings)| {
        let mut settings = lab.state.settings().clone();
        change(&mut settings.idle);
        lab.try_act(Input::Configure { by: Actor::Daemon, settings })
    };
    assert_eq!(set(|idle| idle.ask_after = Span::from_secs(60)), Err(Refusal::IdleOrder));
    assert_eq!(set(|idle| idle.release_after = Span::from_secs(60)), Err(Refusal::IdleOrder));
    assert_eq!(set(|idle| idle.tell_after = Span::ZERO), Err(Refusal::IdleOrder));
    assert_eq!(set(|idle| idle.longest_keep = Span::ZERO), Err(Refusal::IdleOrder));
    assert!(set(|idle| idle.release_after = Span::from_secs(90_000)).is_ok());
}

#[test]
fn a_part_that_has_ended_needs_no_machine() {
    let mut lab = lab(&[1, 1]);
    lab.configure(|settings| settings.idle.act = IdleAct::Tell);
    let mut spec = wants(2);
    let mut request = danlu_core::Request::clone(&spec.request);
    request.span_nodes = true;
    spec.request = request.into();
    lab.submit(spec);
    lab.schedule();
    lab.started(1);
    let (run, since) = (lab.run_of(1), lab.now);
    lab.hear(2, NodeMessage::Ended { run, ending: ending(Exit::Code(0), false) });
    lab.act(Input::RemoveNode { by: Actor::Daemon, node: danlu_core::NodeId(2) });
    after(&mut lab, 30);
    note(&mut lab, run, since, IdleRung::Told).unwrap();
}
