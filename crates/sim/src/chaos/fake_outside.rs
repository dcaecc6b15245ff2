//! A fake store, fleet and clock for the real engine. The engine's actions are recorded and carried out later.

use super::client::Ticket;
use super::disk::{Disk, Tables, Written};
use super::engine_actions::{Answer, Commit, EngineAction};
use super::engine_driver::Turn;
use super::faults::Fault;
use super::inspect::{changed_rows_are_named, rows_of};
use super::turn_order::{classes_are_kept, quotas_are_kept};
use super::verdict::{Verdict, Violation, ensure};
use super::world::{BEGINNING, World};
use danlu_core::effect::Launch;
use danlu_core::state::Retired;
use danlu_core::task::TaskSpec;
use danlu_core::{
    Effect, Input, NodeId, Reply, Row, RowKey, Span, State, Step, TaskId, Time, UserId,
};
use danlu_engine::{Batch, Clock, Extras, Fleet, Notice, Panic, People, Store, Watch};
use std::fmt;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::Duration;

/// The message of an injected panic.
const ON_PURPOSE: &str = "on purpose";
/// The engine's message about a state that panics repeatedly.
const PANICS: &str = "its state makes the server panic";

#[derive(Debug)]
pub(super) enum StoreError {
    CannotWrite,
    Damaged(String),
}

/// What is committed beside the rows: what the operator has to know.
#[derive(Debug, Default)]
pub(super) struct Notes(Vec<Note>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Note {
    Paused,
    Resumed,
    Distrusted,
}

/// What a machine is told to start, made of the state after the commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Order {
    pub(super) launch: Launch,
    spec: Arc<TaskSpec>,
    nodes: Vec<String>,
    grace: Span,
}

impl Notes {
    pub(super) fn resumed() -> Notes {
        Notes(vec![Note::Resumed])
    }

    pub(super) fn pauses(&self) -> bool {
        self.0.contains(&Note::Paused)
    }

    pub(super) fn distrusts(&self) -> u64 {
        self.0.iter().filter(|note| **note == Note::Distrusted).count() as u64
    }
}

impl Extras for Notes {
    fn append(&mut self, mut other: Notes) {
        self.0.append(&mut other.0);
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Order {
    fn built(state: &State, launch: &Launch) -> Order {
        Order {
            launch: launch.clone(),
            spec: Arc::clone(&state.tasks[&launch.task].spec),
            nodes: launch.nodes.iter().map(|node| state.nodes[node].name.clone()).collect(),
            grace: state.settings().stop_grace,
        }
    }

    /// What it has to be, by what is durable.
    pub(super) fn expected(launch: &Launch, disk: &Disk) -> Option<Order> {
        let Some(Row::Task(task)) = disk.tables.rows.get(&RowKey::Task(launch.task)) else {
            return None;
        };
        let Some(Row::Ledger(ledger)) = disk.tables.rows.get(&RowKey::Ledger) else { return None };
        let name = |node: &NodeId| match disk.tables.rows.get(&RowKey::Node(*node)) {
            Some(Row::Node(node)) => Some(node.name.clone()),
            _ => None,
        };
        Some(Order {
            launch: launch.clone(),
            spec: Arc::clone(&task.spec),
            nodes: launch.nodes.iter().map(name).collect::<Option<_>>()?,
            grace: ledger.settings.stop_grace,
        })
    }
}

impl World {
    /// With what is committed and has not happened yet.
    fn stored(&self) -> Tables {
        let mut tables = self.disk.tables.clone();
        for act in &self.daemon.acts {
            if let EngineAction::Commit(commit) = act {
                tables.write(commit.written.clone());
            }
        }
        tables
    }

    /// Now and then the store cannot be read either.
    fn strike_look_up(&mut self) -> Result<(), StoreError> {
        self.tally.look_ups += 1;
        let broken = self.faults_on && self.now < self.daemon.hooks.broken_until;
        if broken || self.strikes(Fault::CommitFailure) {
            self.tally.look_ups_failed += 1;
            self.note("daemon", format_args!("the history cannot be read"));
            return Err(StoreError::CannotWrite);
        }
        Ok(())
    }

    fn note_violation(&mut self, verdict: Verdict) {
        if let Err(violation) = verdict {
            self.daemon.hooks.violation.get_or_insert(violation);
        }
    }

    fn strike_step(&mut self, input: &Input) {
        let cursed = self.daemon.hooks.cursed.take_if(|it| it == input).is_some();
        if !cursed && !self.strikes(Fault::StepPanic) {
            return;
        }
        self.tally.step_panics += 1;
        if !cursed && self.dice.chance(400) {
            self.daemon.hooks.cursed = Some(input.clone());
        }
        if self.dice.chance(500) {
            panic_on_purpose();
        }
        self.daemon.hooks.doomed = true;
    }

    fn step_is_sound(&mut self, state: &State, input: &Input, step: &Step) -> Verdict {
        // An index that is out of step stays so: one look in a while finds it.
        let checked = match self.tally.steps % 16 {
            0 => state.check(),
            _ => state.check_rows(),
        };
        if let Err(broken) = checked {
            return Err(Violation(format!("an invariant is broken: {broken}")));
        }
        if let Err(refusal) = &step.reply {
            let silent = step.events.is_empty() && step.effects.is_empty();
            ensure!(silent, "a refusal ({refusal:?}) had consequences: {:?}", step.events);
        }
        if *input == Input::Schedule {
            classes_are_kept(state, &step.events, self.daemon_clock())?;
            quotas_are_kept(state, &step.events)?;
            if self.dice.chance(100) {
                self.every_waiting_task_is_explained(state)?;
            }
        }
        if let Some(before) = self.daemon.hooks.before.take() {
            changed_rows_are_named(&before, &rows_of(state), &step.events)?;
        }
        Ok(())
    }
}

/// Without a word on the terminal.
fn panic_on_purpose() -> ! {
    resume_unwind(Box::new(ON_PURPOSE));
}

impl Store for World {
    type Error = StoreError;
    type Extras = Notes;

    /// Whatever was decided since the last commit is void.
    fn rows(&mut self) -> Result<Vec<Row>, StoreError> {
        self.daemon.turns.clear();
        Ok(self.stored().rows.into_values().collect())
    }

    fn commit(&mut self, batch: &Batch<Notes>) -> Result<(), StoreError> {
        let turns = std::mem::take(&mut self.daemon.turns);
        let broken = self.faults_on && self.now < self.daemon.hooks.broken_until;
        if broken || self.strikes(Fault::CommitFailure) {
            self.tally.commit_failures += 1;
            self.tally.failed_recoveries += u64::from(broken);
            if !broken && self.dice.chance(500) {
                self.daemon.hooks.broken_until = self.now + Span(self.dice.scale(100, 10_000));
            }
            self.note("daemon", format_args!("a commit fails"));
            return Err(StoreError::CannotWrite);
        }
        for note in &batch.extras.0 {
            match note {
                Note::Paused => self.daemon.hooks.scheduling_paused = true,
                Note::Resumed => self.daemon.hooks.scheduling_paused = false,
                Note::Distrusted => {}
            }
        }
        let events = batch.events.iter().map(|(_, event)| event.clone()).collect();
        let notes = Notes(batch.extras.0.clone());
        self.daemon.acts.push(EngineAction::Commit(Commit {
            written: Written { rows: batch.rows.clone(), retired: batch.retired.clone() },
            events,
            turns,
            notes,
        }));
        Ok(())
    }

    fn retired(&mut self, task: TaskId) -> Result<Option<Retired>, StoreError> {
        self.strike_look_up()?;
        let stored = self.stored();
        Ok(stored.retired(task).cloned())
    }

    fn retired_with_key(&mut self, user: UserId, key: &str) -> Result<Option<TaskId>, StoreError> {
        self.strike_look_up()?;
        Ok(self.stored().retired_with_key(user, key))
    }

    fn damaged(&mut self, what: String) -> StoreError {
        if what != ON_PURPOSE && what != PANICS {
            self.note_violation(Err(Violation(format!("the store cannot be used: {what}"))));
        }
        StoreError::Damaged(what)
    }
}

impl Fleet for World {
    fn carry_out(&mut self, state: &State, effect: Effect) {
        if matches!(effect, Effect::Launch(_)) && self.strikes(Fault::LostOrder) {
            self.tally.lost_orders += 1;
            self.daemon.acts.push(EngineAction::Lost(Box::new(effect)));
            panic_on_purpose();
        }
        let order = match &effect {
            Effect::Launch(launch) => Some(Box::new(Order::built(state, launch))),
            Effect::Stop { .. }
            | Effect::Pause { .. }
            | Effect::SetLimit { .. }
            | Effect::Forget { .. }
            | Effect::DropLog { .. }
            | Effect::AskReport { .. } => None,
        };
        self.daemon.acts.push(EngineAction::Effect(Box::new(effect), order));
    }

    fn reconnect(&mut self, _: &State) {
        self.daemon.acts.push(EngineAction::Reconnect(None));
    }

    fn reconnect_one(&mut self, _: &State, node: NodeId) {
        self.daemon.acts.push(EngineAction::Reconnect(Some(node)));
    }
}

impl Clock for World {
    fn now(&self) -> Time {
        self.daemon_clock()
    }

    fn elapsed(&self) -> Duration {
        Duration::from_millis(self.now.since(BEGINNING).0)
    }
}

impl People for World {
    type Caller = Option<Ticket>;
    type Question = ();
    type Deed = ();

    fn answer(&mut self, caller: Option<Ticket>, answer: danlu_engine::Answer<'_, StoreError>) {
        let answer = match answer {
            danlu_engine::Answer::Decided(decision) => Answer::Decided(decision),
            danlu_engine::Answer::InternalError { .. } => Answer::InternalError,
            danlu_engine::Answer::Unavailable(_) => Answer::Unavailable,
        };
        self.daemon.acts.push(EngineAction::Answer(caller, answer));
    }

    fn consider(&mut self, (): (), _: Result<&State, &StoreError>) {
        self.daemon.hooks.questions_answered += 1;
    }

    fn publish(&mut self, batch: &Batch<Notes>) {
        self.daemon.acts.push(EngineAction::Publish(batch.rows.clone()));
    }

    fn publish_all(&mut self, state: &State, _: &Batch<Notes>) {
        self.daemon.acts.push(EngineAction::PublishAll(rows_of(state)));
    }

    fn deed(&self, _: &State, _: &Option<Ticket>, _: &Input) -> Option<()> {
        None
    }

    fn log(&self, (): (), _: Reply) -> Notes {
        Notes::default()
    }
}

impl Watch for World {
    const WATCHES: bool = true;

    fn report(&mut self, panic: &Panic, _: Option<&Input>) -> String {
        if panic.message != ON_PURPOSE {
            let Panic { message, place } = panic;
            let what = format!("the core panicked: {message} ({place})");
            self.note_violation(Err(Violation(what)));
        }
        String::from("report")
    }

    fn notice(&self, notice: Notice<'_>) -> Option<Notes> {
        Some(Notes(vec![match notice {
            Notice::SchedulingPaused { .. } => Note::Paused,
            Notice::MachineDistrusted { .. } => Note::Distrusted,
        }]))
    }

    fn scheduling_is_paused(&self) -> bool {
        self.daemon.hooks.scheduling_paused
    }

    fn before_step(&mut self, state: &State, input: &Input) {
        self.daemon.hooks.before = self.dice.chance(60).then(|| rows_of(state));
        self.strike_step(input);
    }

    fn after_step(
        &mut self,
        state: &State,
        caller: Option<&Option<Ticket>>,
        input: &Input,
        step: &Step,
    ) {
        if std::mem::take(&mut self.daemon.hooks.doomed) {
            panic_on_purpose();
        }
        self.tally.steps += 1;
        // The engine makes up one for a machine whose message it has left out: no number is used twice.
        if let Input::Node { session, .. } = input {
            self.network.last_session = self.network.last_session.max(*session);
        }
        self.note_turn(input, step);
        let verdict = self.step_is_sound(state, input, step);
        self.note_violation(verdict);
        let (at, from) = (self.daemon_clock(), caller.copied().flatten());
        self.daemon.turns.push(Turn { at, input: input.clone(), from, step: step.clone() });
    }

    fn before_wake(&mut self) {
        let cursed = std::mem::take(&mut self.daemon.hooks.wake_cursed);
        if cursed || self.strikes(Fault::StepPanic) {
            self.tally.step_panics += 1;
            self.daemon.hooks.wake_cursed = !cursed && self.dice.chance(400);
            panic_on_purpose();
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::CannotWrite => f.write_str("it cannot be written"),
            StoreError::Damaged(what) => f.write_str(what),
        }
    }
}
