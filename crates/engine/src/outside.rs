//! The interfaces that the engine needs: a store, a fleet of machines, a clock, callers and readers.

use crate::batch::{Batch, Extras};
use crate::panics::Panic;
use danlu_core::state::Retired;
use danlu_core::{Effect, Input, NodeId, Refusal, Reply, Row, State, Step, TaskId, Time, UserId};
use std::fmt;
use std::time::Duration;

/// Where everything is durable.
pub trait Store {
    type Error: fmt::Display;
    type Extras: Extras;

    /// Every row, as it was committed last.
    fn rows(&mut self) -> Result<Vec<Row>, Self::Error>;

    /// All of the batch becomes durable, or nothing of it does.
    fn commit(&mut self, batch: &Batch<Self::Extras>) -> Result<(), Self::Error>;

    /// An ended task that has left the rows; `None` if there is no such task.
    fn retired(&mut self, task: TaskId) -> Result<Option<Retired>, Self::Error>;

    /// The ended task that has left the rows and that this user submitted with this key.
    fn retired_with_key(&mut self, user: UserId, key: &str) -> Result<Option<TaskId>, Self::Error>;

    /// Its rows contradict each other, or the core cannot work with them.
    fn damaged(&mut self, what: String) -> Self::Error;
}

/// The machines that can be reached.
pub trait Fleet {
    /// Called after the commit, once for each effect, in the order in which they were decided. An effect names the
    /// connection that it was decided for and is dropped when that is gone. A launch order is built here, from the
    /// state as it was committed.
    fn carry_out(&mut self, state: &State, effect: Effect);

    /// New connections to all machines, as after a start of the process.
    fn reconnect(&mut self, state: &State);

    /// A new connection to this one: it reports again what it has.
    fn reconnect_one(&mut self, state: &State, node: NodeId);
}

pub trait Clock {
    /// The time of day, which people may set.
    fn now(&self) -> Time;

    /// Since some moment in the past; never goes back.
    fn elapsed(&self) -> Duration;
}

/// Callers who wait for answers, and readers of the committed state.
pub trait People: Store {
    /// Waits for one answer.
    type Caller;
    /// Asks about the state or the store, and changes nothing.
    type Question;
    /// What the audit log says of an input.
    type Deed;

    /// Called once for each caller.
    fn answer(&mut self, caller: Self::Caller, answer: Answer<'_, Self::Error>);

    /// There is no state while the store cannot be used, but there always is an answer.
    fn consider(&mut self, question: Self::Question, state: Result<&State, &Self::Error>);

    /// A batch has been committed: from now on readers see it.
    fn publish(&mut self, batch: &Batch<Self::Extras>);

    /// The engine has booted and this has been committed: readers see this state and nothing else.
    fn publish_all(&mut self, state: &State, batch: &Batch<Self::Extras>);

    /// Asked before the input is decided, as what it names may be gone afterwards.
    fn deed(&self, state: &State, caller: &Self::Caller, input: &Input) -> Option<Self::Deed>;

    /// The input was accepted.
    fn log(&self, deed: Self::Deed, reply: Reply) -> Self::Extras;
}

/// Told about our own bugs, and about every step.
pub trait Watch: People {
    /// Keeps a report of a panic; answers where it is.
    fn report(&mut self, panic: &Panic, input: Option<&Input>) -> String;

    /// As it is stored; `None` if there is one already.
    fn notice(&self, notice: Notice<'_>) -> Option<Self::Extras>;

    /// Whether the notice is still there. Scheduling resumes when it is acknowledged.
    fn scheduling_is_paused(&self) -> bool;

    /// Whether it wants to see every step after it was decided.
    const WATCHES: bool = false;

    fn before_step(&mut self, _state: &State, _input: &Input) {}

    fn after_step(
        &mut self,
        _state: &State,
        _caller: Option<&Self::Caller>,
        _input: &Input,
        _step: &Step,
    ) {
    }

    fn before_wake(&mut self) {}
}

/// Everything together.
pub trait Outside: Watch + Fleet + Clock {}

impl<T: Watch + Fleet + Clock> Outside for T {}

/// The answer to a caller.
#[derive(Debug)]
pub enum Answer<'a, E> {
    /// By the core, and durable.
    Decided(Result<Reply, Refusal>),
    /// It makes us panic. Nothing has changed.
    InternalError { report: &'a str },
    /// The store cannot be written. Nothing has changed.
    Unavailable(&'a E),
}

/// Notices for administrators about the engine.
#[derive(Debug, Clone, Copy)]
pub enum Notice<'a> {
    /// The scheduler panics.
    SchedulingPaused { report: &'a str },
    /// A message of this machine makes us panic.
    MachineDistrusted { node: NodeId, report: &'a str },
}
