//! What has come and is not committed yet: the inputs themselves, so that they can be decided again, and what they lead to.

use super::NEWS_WAIT;
use crate::audit;
use crate::clock;
use crate::disk::Disk;
use crate::handle::{Answer, Asker, Look, Message, NotNow};
use crate::panics::{self, on_purpose};
use crate::store::{Batch, Deed, Environment, RecordChange, Store};
use danlu_core::{Effect, Event, Input, NodeId, Reply, RowKey, SessionId, State, Step, Time, step};
use std::collections::BTreeSet;
use std::time::Instant;
use tokio::sync::oneshot;

#[derive(Default)]
pub(super) struct Pending {
    jobs: Vec<Job>,
    /// The first that has not been decided.
    next: usize,
    question: Option<Look>,
    outcome: Outcome,
    /// Since when there has been nothing but news.
    news_since: Option<Instant>,
    /// How often the state had to be loaded again because of these.
    pub(super) reloads: u32,
}

/// What the decided ones lead to, kept back until it is committed.
#[derive(Default)]
struct Outcome {
    changed: BTreeSet<RowKey>,
    events: Vec<(Time, Event)>,
    effects: Vec<Effect>,
    deeds: Vec<(Time, Deed)>,
}

pub(super) enum Job {
    Ask(Box<Asked>),
    Keep {
        changes: Vec<RecordChange>,
        deed: Option<Deed>,
        reply: Option<oneshot::Sender<Answer>>,
    },
    /// Something that a node said.
    Node {
        input: Input,
        panics: u32,
    },
    /// Decide what starts.
    Schedule {
        panics: u32,
    },
    /// The first step of a life.
    Boot(Input),
    /// Had to be given up.
    Nothing,
}

pub(super) struct Asked {
    input: Input,
    environment: Option<Environment>,
    by: Option<Asker>,
    reply: oneshot::Sender<Answer>,
    /// Without a decision of the core.
    refused: Option<NotNow>,
    answer: Option<Answer>,
    panics: u32,
}

/// What has panicked.
pub(super) enum Culprit {
    /// For the first time: it is tried again on a fresh state.
    New(Option<Box<Input>>),
    Person,
    Machine(NodeId, SessionId),
    Scheduler,
}

impl Pending {
    pub(super) fn add(&mut self, message: Message, disk: &Disk) {
        match message {
            Message::Ask { input, environment, by, reply } => {
                let adds = matches!(input, Input::Submit { .. });
                let refused = if adds { disk.full() } else { None };
                let asked =
                    Asked { input, environment, by, reply, refused, answer: None, panics: 0 };
                self.push(Job::Ask(Box::new(asked)));
            }
            Message::Keep { changes, deed, reply } => {
                self.push(Job::Keep { changes, deed, reply: Some(reply) });
            }
            Message::Node(input) => self.push(Job::Node { input, panics: 0 }),
            Message::Look(look) => self.question = Some(look),
            Message::Wake | Message::CloseQueue | Message::ConnectLocal | Message::Stop(_) => {}
        }
    }

    pub(super) fn push(&mut self, job: Job) {
        self.jobs.push(job);
    }

    pub(super) fn has_more(&self) -> bool {
        self.next < self.jobs.len()
    }

    pub(super) fn has_question(&self) -> bool {
        self.question.is_some()
    }

    /// Whoever asked hears nothing if it makes us panic; nothing has changed then.
    pub(super) fn answer_question(&mut self, state: &State, store: &Store) {
        if let Some(look) = self.question.take() {
            let _ = panics::guarded(|| look(state, store, clock::now()));
        }
    }

    /// May panic, and the state is not to be used any more then. Answers why the first step of a life was refused.
    pub(super) fn decide_next(&mut self, state: &mut State) -> Option<String> {
        let Pending { jobs, next, outcome, .. } = self;
        match jobs.get_mut(*next) {
            Some(Job::Ask(asked)) if asked.refused.is_none() => {
                let deed = asked.by.clone().and_then(|by| audit::deed(state, by, &asked.input));
                let answer = outcome.decide(state, asked.input.clone());
                if let (Some(deed), Ok(reply)) = (deed, &answer) {
                    outcome.deeds.push((clock::now(), audit::with_reply(deed, *reply)));
                }
                asked.answer = Some(answer);
            }
            Some(Job::Node { input, .. }) => drop(outcome.decide(state, input.clone())),
            // A pass refuses nothing.
            Some(Job::Schedule { .. }) => drop(outcome.decide(state, Input::Schedule)),
            Some(Job::Boot(input)) => {
                if let Err(refusal) = outcome.decide(state, input.clone()) {
                    return Some(refusal.to_string());
                }
            }
            Some(Job::Ask(_) | Job::Keep { .. } | Job::Nothing) | None => {}
        }
        *next += 1;
        None
    }

    /// The one that was being decided has panicked.
    pub(super) fn blame(&mut self) -> Culprit {
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
    pub(super) fn give_up(&mut self, not_now: NotNow) {
        match self.jobs.get_mut(self.next) {
            Some(Job::Ask(asked)) => asked.refused = Some(not_now),
            Some(job) => *job = Job::Nothing,
            None => {}
        }
    }

    /// No pass that was asked for takes place.
    pub(super) fn give_up_passes(&mut self) {
        for job in self.jobs.iter_mut().filter(|job| matches!(job, Job::Schedule { .. })) {
            *job = Job::Nothing;
        }
    }

    /// The state is as it was before all of them: everything is decided again.
    pub(super) fn begin_again(&mut self) {
        self.next = 0;
        self.outcome = Outcome::default();
    }

    /// Nobody waits for it and nothing is to be done because of it: that a task has begun, for one.
    pub(super) fn is_only_news(&self) -> bool {
        let news =
            |job: &Job| matches!(job, Job::Node { .. } | Job::Schedule { .. } | Job::Nothing);
        !self.outcome.events.is_empty()
            && self.outcome.effects.is_empty()
            && self.jobs.iter().all(news)
    }

    /// News that lead to nothing share the commit of what comes next, if that comes soon.
    pub(super) fn may_wait(&mut self) -> bool {
        let since = *self.news_since.get_or_insert_with(Instant::now);
        since.elapsed() < NEWS_WAIT
    }

    /// The rows as they are now, after all inputs of the batch.
    pub(super) fn take_batch(&mut self, state: &State) -> Batch {
        let Outcome { changed, events, deeds, .. } = &mut self.outcome;
        let mut batch = Batch {
            rows: changed.iter().map(|key| (*key, state.row(*key))).collect(),
            events: std::mem::take(events),
            deeds: std::mem::take(deeds),
            ..Batch::default()
        };
        let now = clock::now();
        for job in &mut self.jobs {
            match job {
                Job::Ask(asked) => batch.environments.extend(asked.environment.take()),
                Job::Keep { changes, deed, .. } => {
                    batch.records.append(changes);
                    batch.deeds.extend(deed.take().map(|deed| (now, deed)));
                }
                Job::Node { .. } | Job::Schedule { .. } | Job::Boot(_) | Job::Nothing => {}
            }
        }
        batch
    }

    /// It is durable. What is to be done now is returned.
    pub(super) fn answer(self) -> Vec<Effect> {
        for job in self.jobs {
            // Whoever asked may have gone; what was asked for has happened all the same.
            match job {
                Job::Ask(asked) => {
                    let refused = asked.refused.map(|not_now| Err(not_now.into()));
                    if let Some(answer) = refused.or(asked.answer) {
                        let _ = asked.reply.send(answer);
                    }
                }
                Job::Keep { reply: Some(reply), .. } => drop(reply.send(Ok(Reply::Done))),
                Job::Keep { .. }
                | Job::Node { .. }
                | Job::Schedule { .. }
                | Job::Boot(_)
                | Job::Nothing => {}
            }
        }
        self.outcome.effects
    }

    pub(super) fn refuse(self, not_now: &NotNow) {
        for job in self.jobs {
            match job {
                Job::Ask(asked) => drop(asked.reply.send(Err(not_now.clone().into()))),
                Job::Keep { reply: Some(reply), .. } => {
                    drop(reply.send(Err(not_now.clone().into())));
                }
                Job::Keep { .. }
                | Job::Node { .. }
                | Job::Schedule { .. }
                | Job::Boot(_)
                | Job::Nothing => {}
            }
        }
    }
}

impl Culprit {
    fn of(input: &Input) -> Culprit {
        Culprit::New(Some(Box::new(input.clone())))
    }
}

impl Outcome {
    fn decide(&mut self, state: &mut State, input: Input) -> Answer {
        let now = clock::now();
        on_purpose::for_input(&input);
        let Step { events, effects, reply } = step(state, input, now);
        self.changed.extend(events.iter().flat_map(Event::rows));
        self.events.extend(events.into_iter().map(|event| (now, event)));
        self.effects.extend(effects);
        reply.map_err(Into::into)
    }
}
