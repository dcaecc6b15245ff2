//! `step`, the one function that changes the state, and one module for each input or group of inputs.

pub(crate) mod boot;
pub(crate) mod configure;
pub(crate) mod dependencies;
pub mod effect;
pub mod event;
pub(crate) mod extend;
pub(crate) mod feasibility;
pub(crate) mod gpus;
pub(crate) mod growth;
pub(crate) mod idle;
pub mod input;
pub(crate) mod logs;
pub(crate) mod lost;
pub(crate) mod nodes;
pub(crate) mod permission;
pub mod refusal;
pub(crate) mod report;
pub mod retire;
pub(crate) mod run_end;
pub(crate) mod runs;
pub(crate) mod schedule;
pub(crate) mod submit;
pub(crate) mod tasks;
pub(crate) mod unknown_runs;
pub(crate) mod users;
pub(crate) mod validate;

pub use validate::check_description;

use crate::model::ids::{NodeId, SessionId, TaskId, UserId};
use crate::model::time::Time;
use crate::state::{Retired, State};
use crate::step::effect::Effect;
use crate::step::event::Event;
use crate::step::input::{Input, NodeMessage};
use crate::step::refusal::Refusal;

/// What a step has done and what is to be done because of it.
#[derive(Debug, Clone)]
pub struct Step {
    pub events: Vec<Event>,
    pub effects: Vec<Effect>,
    /// Ended tasks that have left the state. The store keeps them with the rows of the same commit.
    pub retired: Vec<Retired>,
    /// The answer to the caller. A refusal has changed nothing, but what it names of an array may have been added.
    pub reply: Result<Reply, Refusal>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    Done,
    Task(TaskId),
    Node(NodeId),
    User(UserId),
}

/// Apply one input. The caller commits the rows that the events name, then answers, then carries
/// out the effects: in this order, and nothing of it before the commit.
pub fn step(state: &mut State, input: Input, now: Time) -> Step {
    let mut turn = Turn::new(state, now);
    growth::reach(&mut turn, &input);
    let reply = decide(&mut turn, input);
    turn.end(reply)
}

fn decide(turn: &mut Turn<'_>, input: Input) -> Answer {
    match input {
        Input::Boot { epoch, restored, ids_from } => boot::boot(turn, epoch, restored, ids_from),
        Input::SkipIds { by, below } => boot::skip_ids(turn, by, below),
        Input::AddUser { by, name, admin } => users::add_user(turn, by, name, admin),
        Input::SetUser { by, user, change } => users::set_user(turn, by, user, &change),
        Input::RemoveUser { by, user } => users::remove_user(turn, by, user),
        Input::Configure { by, settings } => configure::configure(turn, by, settings),
        Input::Submit { by, spec, key } => submit::submit(turn, by, spec, key),
        Input::Cancel { by, task } => tasks::cancel(turn, by, task),
        Input::Hold { by, task } => tasks::hold(turn, by, task),
        Input::Release { by, task } => tasks::release(turn, by, task),
        Input::Retry { by, task } => tasks::retry(turn, by, task),
        Input::Requeue { by, task } => tasks::requeue(turn, by, task),
        Input::Pause { by, task } => runs::set_paused(turn, by, task, true),
        Input::Resume { by, task } => runs::set_paused(turn, by, task, false),
        Input::Edit { by, task, spec } => submit::edit(turn, by, task, spec),
        Input::Extend { by, task, more } => extend::extend(turn, by, task, more),
        Input::Keep { by, task, time } => idle::keep(turn, by, task, time),
        Input::NoteIdle { run, since, kind, rung } => idle::note(turn, run, since, kind, rung),
        Input::NoteUsed { run } => idle::note_used(turn, run),
        Input::StopIdle { run, since, kind } => idle::stop(turn, run, since, kind),
        Input::Move { by, task, position } => tasks::move_to(turn, by, task, position),
        Input::Start { by, task } => schedule::start(turn, by, task),
        Input::Remove { by, task } => tasks::remove(turn, by, task),
        Input::Abandon { by, run } => runs::abandon(turn, by, run),
        Input::AddNode { by, name, labels } => nodes::add(turn, by, name, labels),
        Input::RemoveNode { by, node } => nodes::remove(turn, by, node),
        Input::SetLabels { by, node, change } => nodes::set_labels(turn, by, node, change),
        Input::DeclareLost { by, node, force } => lost::declare(turn, by, node, force),
        Input::SetResources { by, node, resources } => {
            nodes::set_resources(turn, by, node, resources)
        }
        Input::Drain { by, node } => nodes::set_draining(turn, by, node, true),
        Input::Undrain { by, node } => nodes::set_draining(turn, by, node, false),
        Input::ManageGpus { by, node, change } => gpus::manage(turn, by, node, change),
        Input::EndUnknownRuns { by, node } => unknown_runs::end(turn, by, node),
        Input::Node { node, session, message } => hear(turn, node, session, message),
        Input::Recall(retired) => retire::recall(turn, *retired),
        Input::Schedule => schedule::schedule(turn),
    }
}

/// A message from a node. Only its newest connection counts.
fn hear(turn: &mut Turn<'_>, node: NodeId, session: SessionId, message: NodeMessage) -> Answer {
    if let NodeMessage::Connected = message {
        return nodes::connected(turn, node, session);
    }
    if !nodes::is_current(turn.state, node, session) {
        return nodes::ignore_late(turn, node, None);
    }
    match message {
        NodeMessage::Connected => Ok(Reply::Done),
        NodeMessage::Report(report) => report::take(turn, node, session, report),
        NodeMessage::Started { run, at } => runs::part_started(turn, node, run, at),
        NodeMessage::Ended { run, ending } => runs::part_ended(turn, node, session, run, ending),
        NodeMessage::LogDropped { run } => logs::dropped(turn, node, session, run),
        NodeMessage::Gpus(gpus) => nodes::gpus_changed(turn, node, gpus),
        NodeMessage::Memory { free } => nodes::memory_changed(turn, node, free),
        NodeMessage::Fitness { trouble } => nodes::fitness_changed(turn, node, trouble),
        NodeMessage::Lost => nodes::lost(turn, node),
    }
}

/// A step in progress: the state, the time, and its events and effects so far.
pub(crate) struct Turn<'a> {
    pub(crate) state: &'a mut State,
    pub(crate) now: Time,
    events: Vec<Event>,
    effects: Vec<Effect>,
    retired: Vec<Retired>,
}

pub(crate) type Answer = Result<Reply, Refusal>;

impl<'a> Turn<'a> {
    pub(crate) fn new(state: &'a mut State, now: Time) -> Turn<'a> {
        Turn { state, now, events: Vec::new(), effects: Vec::new(), retired: Vec::new() }
    }

    pub(crate) fn event(&mut self, event: Event) {
        self.events.push(event);
    }

    /// A run of this task begins or ends.
    pub(crate) fn charge(&mut self, task: TaskId) {
        if let Some(project) = self.state.charge(task, self.now) {
            self.event(Event::ProjectCharged { project });
        }
    }

    pub(crate) fn effect(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    pub(crate) fn end(self, reply: Answer) -> Step {
        let Turn { events, effects, retired, .. } = self;
        Step { events, effects, retired, reply }
    }
}
