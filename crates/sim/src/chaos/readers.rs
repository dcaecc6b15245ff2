//! Readers: they see what is durable at every moment, and a following state explains to them why tasks wait.

use super::disk::apply;
use super::verdict::{Verdict, Violation, ensure};
use super::world::World;
use danlu_core::state::Changes;
use danlu_core::{Row, RowKey, State, expected_start, explain};
use std::collections::BTreeMap;

type RowMap = BTreeMap<RowKey, Row>;

#[derive(Debug, Default)]
pub(super) struct Readers {
    /// `None` before the engine has booted.
    model: Option<RowMap>,
    /// `None` where it has to be made.
    follower: Option<State>,
}

impl Readers {
    pub(super) fn rows(&self) -> impl Iterator<Item = &Row> {
        self.model.iter().flat_map(|rows| rows.values())
    }

    pub(super) fn publish(&mut self, rows: BTreeMap<RowKey, Option<Row>>) {
        let model = self.model.get_or_insert_default();
        let changes = changes(rows.iter().map(|(key, row)| (*key, model.get(key), row.as_ref())));
        self.follower.take_if(|follower| !follower.follow(&changes));
        apply(model, rows);
    }

    pub(super) fn publish_all(&mut self, rows: RowMap) {
        self.follower = None;
        self.model = Some(rows);
    }

    fn follower(&mut self) -> Option<&State> {
        let model = self.model.as_ref()?;
        let all = || changes(model.iter().map(|(key, row)| (*key, None, Some(row))));
        Some(self.follower.get_or_insert_with(|| State::following(&all())))
    }
}

fn changes<'a>(
    rows: impl Iterator<Item = (RowKey, Option<&'a Row>, Option<&'a Row>)>,
) -> Changes<'a> {
    let mut changes = Changes::default();
    for (key, before, after) in rows {
        match (key, before, after) {
            (RowKey::Ledger, _, Some(Row::Ledger(ledger))) => changes.ledger = Some(ledger),
            (RowKey::User(id), _, Some(Row::User(user))) => changes.users.push((id, Some(user))),
            (RowKey::User(id), _, _) => changes.users.push((id, None)),
            (RowKey::Node(id), _, Some(Row::Node(node))) => changes.nodes.push((id, Some(node))),
            (RowKey::Node(id), _, _) => changes.nodes.push((id, None)),
            (RowKey::Run(id), _, Some(Row::Run(run))) => changes.runs.push((id, Some(run))),
            (RowKey::Run(id), _, _) => changes.runs.push((id, None)),
            (RowKey::Task(id), before, after) => {
                let task = |row: Option<&'a Row>| match row {
                    Some(Row::Task(task)) => Some(task),
                    _ => None,
                };
                changes.tasks.push((id, task(before), task(after)));
            }
            (RowKey::PastWork(user), _, after) => {
                let past = match after {
                    Some(Row::PastWork(past)) => Some(past),
                    _ => None,
                };
                changes.past_work.push((user, past));
            }
            (RowKey::Ledger | RowKey::Spec(_) | RowKey::LogRemoval(_), _, _) => {}
        }
    }
    changes
}

impl World {
    /// At every moment, also while the store cannot be written: everything that is durable, and nothing else.
    pub(super) fn readers_see_what_is_durable(&mut self) -> Verdict {
        let Some(model) = &self.daemon.readers.model else {
            ensure!(!self.daemon.serves(), "readers get no answer");
            return Ok(());
        };
        self.tally.reads += 1;
        ensure!(*model == self.disk.tables.rows, "readers do not see what is durable");
        self.oracle.readers_find_all(model, &self.disk)
    }

    /// Readers are told the same reasons as the engine would tell.
    pub(super) fn readers_know_why(&mut self) -> Verdict {
        let now = self.daemon_clock();
        let Some(state) = self.daemon.state() else {
            return Ok(());
        };
        let expected: Vec<_> = state
            .tasks
            .values()
            .filter(|task| !task.is_finished())
            .map(|task| {
                (task.id, explain(state, task.id, now), expected_start(state, task.id, now))
            })
            .collect();
        let Some(follower) = self.daemon.readers.follower() else {
            return Err(Violation("readers get no answer".to_owned()));
        };
        for (id, why, starts_at) in expected {
            let told = explain(follower, id, now);
            ensure!(told == why, "readers are told that task {id} waits for {told:?}, not {why:?}");
            let told = expected_start(follower, id, now);
            ensure!(told == starts_at, "readers expect task {id} at {told:?}, not {starts_at:?}");
        }
        Ok(())
    }
}
