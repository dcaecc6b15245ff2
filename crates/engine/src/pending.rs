//! Inputs that are not committed yet, kept so that they can be decided again, and their replies and effects.

use crate::batch::{Batch, Extras as _};
use crate::outside::{Answer, Outside};
use danlu_core::state::Retired;
use danlu_core::{
    Effect, Event, Input, Mutant, NodeId, Refusal, Reply, RowKey, SessionId, State, Step, TaskId,
    Time, mutated, step,
};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Rows that may wait for a shared commit. With more of them that would take long, and others would wait for it.
const MOST_NEWS: usize = 128;

pub(crate) struct Pending<O: Outside> {
    jobs: Vec<Job<O>>,
    /// The first that has not been decided.
    next: usize,
    outcome: Outcome<O::Extras>,
    /// Since when there has been nothing but news.
    news_since: Option<Duration>,
    /// How often the state had to be loaded again because of these.
    pub(crate) reloads: u32,
}

/// Replies and effects of decided inputs, withheld until the commit.
#[derive(Default)]
pub(crate) struct Outcome<X> {
    pub(crate) changed: BTreeSet<RowKey>,
    events: Vec<(Time, Event)>,
    effects: Vec<Effect>,
    /// Ended tasks that have left the state since the last commit.
    pub(crate) retired: BTreeMap<TaskId, Retired>,
    extras: X,
}

pub(crate) enum Job<O: Outside> {
    Ask(Box<Asked<O>>),
    Keep {
        extras: O::Extras,
        caller: Option<O::Caller>,
    },
    /// Something that a node said.
    Node {
        input: Input,
        panics: u32,
    },
    /// Run a scheduling pass.
    Schedule {
        panics: u32,
    },
    /// The first step of a life.
    Boot(Input),
    /// Had to be given up.
    Nothing,
}

pub(crate) struct Asked<O: Outside> {
    input: Input,
    extras: O::Extras,
    /// Until it is answered.
    caller: Option<O::Caller>,
    answer: Option<Result<Reply, Refusal>>,
    panics: u32,
    /// Where the report of the panic is, once it is given up.
    given_up: Option<String>,
}

/// Why the batch cannot go on.
pub(crate) enum Halt<E> {
    /// The first step of a life was refused.
    Refused(Refusal),
    /// The store cannot be read.
    Store(E),
}

/// The input that has panicked.
pub(crate) enum Culprit {
    /// For the first time: it is tried again on a fresh state.
    New(Option<Box<Input>>),
    Person,
    Machine(NodeId, SessionId),
    Scheduler,
}

impl<O: Outside> Default for Pending<O> {
    fn default() -> Pending<O> {
        let (jobs, outcome) = (Vec::new(), Outcome::default());
        Pending { jobs, next: 0, outcome, news_since: None, reloads: 0 }
    }
}

impl<O: Outside> Job<O> {
    pub(crate) fn ask(input: Input, extras: O::Extras, caller: O::Caller) -> Job<O> {
        let caller = Some(caller);
        Job::Ask(Box::new(Asked { input, extras, caller, answer: None, panics: 0, given_up: None }))
    }
}

impl<O: Outside> Pending<O> {
    pub(crate) fn push(&mut self, job: Job<O>) {
        self.jobs.push(job);
    }

    pub(crate) fn has_more(&self) -> bool {
        self.next < self.jobs.len()
    }

    /// May panic, and the state is not to be used any more then.
    pub(crate) fn decide_next(
        &mut self,
        state: &mut State,
        outside: &mut O,
    ) -> Result<(), Halt<O::Error>> {
        let Pending { jobs, next, outcome, .. } = self;
        match jobs.get_mut(*next) {
            Some(Job::Ask(asked)) if asked.given_up.is_none() => {
                outcome.recall_for(&asked.input, state, outside).map_err(Halt::Store)?;
                let caller = asked.caller.as_ref();
                let deed = caller.and_then(|caller| outside.deed(state, caller, &asked.input));
                let answer = outcome.decide(state, outside, caller, asked.input.clone());
                if let (Some(deed), Ok(reply)) = (deed, &answer) {
                    outcome.extras.append(outside.log(deed, *reply));
                }
                asked.answer = Some(answer);
            }
            Some(Job::Node { input, .. }) => {
                outcome.recall_for(input, state, outside).map_err(Halt::Store)?;
                // The sender does not wait for an answer.
                let _ = outcome.decide(state, outside, None, input.clone());
            }
            Some(Job::Schedule { .. }) => {
                // A pass refuses nothing.
                let _ = outcome.decide(state, outside, None, Input::Schedule);
            }
            Some(Job::Boot(input)) => {
                if let Err(refusal) = outcome.decide(state, outside, None, input.clone()) {
                    return Err(Halt::Refused(refusal));
                }
            }
            Some(Job::Ask(_) | Job::Keep { .. } | Job::Nothing) | None => {}
        }
        *next += 1;
        Ok(())
    }

    /// The one that was being decided has panicked.
    pub(crate) fn blame(&mut self) -> Culprit {
        self.reloads += 1;
        match self.jobs.get_mut(self.next) {
            Some(Job::Ask(asked)) => {
                asked.panics += 1;
                if asked.panics > 1 { Culprit::Person } else { Culprit::of(&asked.input) }
            }
            Some(Job::Node { input, panics }) => {
                *panics += 1;
                match input {
                    Input::Node { node, session, .. } if *panics > 1 => {
                        Culprit::Machine(*node, *session)
                    }
                    input => Culprit::of(input),
                }
            }
            Some(Job::Schedule { panics }) => {
                *panics += 1;
                if *panics > 1 { Culprit::Scheduler } else { Culprit::of(&Input::Schedule) }
            }
            Some(Job::Boot(_) | Job::Keep { .. } | Job::Nothing) | None => Culprit::New(None),
        }
    }

    /// The one that was being decided is left out from now on.
    pub(crate) fn give_up(&mut self, report: String) {
        match self.jobs.get_mut(self.next) {
            Some(Job::Ask(asked)) => asked.given_up = Some(report),
            Some(job) => *job = Job::Nothing,
            None => {}
        }
    }

    /// No pass that was asked for takes place.
    pub(crate) fn give_up_passes(&mut self) {
        for job in self.jobs.iter_mut().filter(|job| matches!(job, Job::Schedule { .. })) {
            *job = Job::Nothing;
        }
    }

    /// The state is as it was before all of them: everything is decided again.
    pub(crate) fn begin_again(&mut self) {
        if mutated(Mutant::InputsLostByPanic) {
            self.jobs.truncate(self.next + 1);
            self.jobs.drain(..self.next);
        }
        self.next = 0;
        self.outcome = Outcome::default();
    }

    /// Only a few events without replies and effects are pending, such as the start of a task.
    pub(crate) fn is_only_news(&self) -> bool {
        let news = |job: &Job<O>| match job {
            Job::Node { .. } | Job::Schedule { .. } | Job::Nothing => true,
            Job::Ask(_) | Job::Keep { .. } | Job::Boot(_) => false,
        };
        !self.outcome.events.is_empty()
            && self.outcome.effects.is_empty()
            && self.outcome.changed.len() <= MOST_NEWS
            && self.jobs.iter().all(news)
    }

    /// How long events without replies and effects have waited for a shared commit.
    pub(crate) fn news_wait(&mut self, elapsed: Duration) -> Duration {
        elapsed.saturating_sub(*self.news_since.get_or_insert(elapsed))
    }

    /// The rows as they are now, after all inputs of the batch.
    pub(crate) fn take_batch(&mut self, state: &State) -> Batch<O::Extras> {
        if mutated(Mutant::NewsForgotten) && self.news_since.is_some() {
            self.outcome = Outcome::default();
        }
        let Outcome { changed, events, retired, extras, .. } = &mut self.outcome;
        let mut batch = Batch {
            rows: changed.iter().map(|key| (*key, state.row(*key))).collect(),
            events: std::mem::take(events),
            retired: std::mem::take(retired).into_values().collect(),
            extras: std::mem::take(extras),
        };
        for job in &mut self.jobs {
            match job {
                Job::Ask(asked) => batch.extras.append(std::mem::take(&mut asked.extras)),
                Job::Keep { extras, .. } => batch.extras.append(std::mem::take(extras)),
                Job::Node { .. } | Job::Schedule { .. } | Job::Boot(_) | Job::Nothing => {}
            }
        }
        batch
    }

    /// The effects to carry out after the commit.
    pub(crate) fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.outcome.effects)
    }

    /// It is durable.
    pub(crate) fn answer(&mut self, outside: &mut O) {
        for job in &mut self.jobs {
            match job {
                Job::Ask(asked) => {
                    let Some(caller) = asked.caller.take() else { continue };
                    match (&asked.given_up, asked.answer.take()) {
                        (Some(report), _) => {
                            outside.answer(caller, Answer::InternalError { report });
                        }
                        (None, Some(answer)) => outside.answer(caller, Answer::Decided(answer)),
                        (None, None) => {}
                    }
                }
                Job::Keep { caller, .. } => {
                    if let Some(caller) = caller.take() {
                        outside.answer(caller, Answer::Decided(Ok(Reply::Done)));
                    }
                }
                Job::Node { .. } | Job::Schedule { .. } | Job::Boot(_) | Job::Nothing => {}
            }
        }
    }

    /// It has not happened.
    pub(crate) fn refuse(&mut self, outside: &mut O, cause: &O::Error) {
        for job in &mut self.jobs {
            let caller = match job {
                Job::Ask(asked) => asked.caller.take(),
                Job::Keep { caller, .. } => caller.take(),
                Job::Node { .. } | Job::Schedule { .. } | Job::Boot(_) | Job::Nothing => None,
            };
            if let Some(caller) = caller {
                outside.answer(caller, Answer::Unavailable(cause));
            }
        }
    }
}

impl Culprit {
    fn of(input: &Input) -> Culprit {
        Culprit::New(Some(Box::new(input.clone())))
    }
}

impl<X> Outcome<X> {
    pub(crate) fn decide<O: Outside>(
        &mut self,
        state: &mut State,
        outside: &mut O,
        caller: Option<&O::Caller>,
        input: Input,
    ) -> Result<Reply, Refusal> {
        let now = outside.now();
        outside.before_step(state, &input);
        let watched = O::WATCHES.then(|| input.clone());
        let step = step(state, input, now);
        if let Some(input) = watched {
            outside.after_step(state, caller, &input, &step);
        }
        let Step { events, effects, retired, reply } = step;
        self.changed.extend(events.iter().flat_map(Event::rows));
        self.events.extend(events.into_iter().map(|event| (now, event)));
        self.effects.extend(effects);
        self.retired.extend(retired.into_iter().map(|it| (it.task.id, it)));
        reply
    }
}
