//! Writes the history, in the transaction of the batch with which tasks leave the rows or come back.

use super::entry::HistoryColumns;
use super::read::{HistoryLoader, number, spec_number};
use super::{archive_marks, blocks};
use crate::store::to_json;
use danlu_core::state::Retired;
use danlu_core::{SpecId, TaskId, Time};
use rusqlite::{OptionalExtension as _, Transaction, params};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// What imported tasks were to do is numbered from here on. The core gives such a one a number of its own when it comes
/// back into the state.
const IMPORTED_SPECS: u64 = 1 << 52;

#[derive(Debug)]
pub(in crate::store) struct HistoryWriter<'a> {
    transaction: &'a Transaction<'a>,
    /// Tasks and bytes of logs to add, by user and state.
    counts: BTreeMap<(u32, i64), (i64, i64)>,
    /// The last one that is known to be there: elements of an array come one after the other.
    known_spec: Option<i64>,
    new_specs: bool,
    /// Of what was forgotten.
    environments: Vec<String>,
}

impl<'a> HistoryWriter<'a> {
    pub(in crate::store) fn new(transaction: &'a Transaction<'a>) -> Self {
        let counts = BTreeMap::new();
        let environments = Vec::new();
        HistoryWriter { transaction, counts, known_spec: None, new_specs: false, environments }
    }

    /// It has left the rows.
    pub(in crate::store) fn put(&mut self, retired: &Retired) -> rusqlite::Result<()> {
        let task = &retired.task;
        let (id, spec) = (number(task.id), spec_number(task.spec_id));
        self.hide(task.id)?;
        let sql = "SELECT spec FROM history_rows WHERE id = ?1 AND spec <> ?2";
        let mut statement = self.transaction.prepare_cached(sql)?;
        let other_spec: Option<i64> =
            statement.query_row([id, spec], |row| row.get(0)).optional()?;
        self.put_spec(retired)?;
        let columns = HistoryColumns::of(retired);
        let sql = "REPLACE INTO history_rows (id, spec, task, runs) VALUES (?1, ?2, ?3, ?4)";
        self.transaction.prepare_cached(sql)?.execute(params![
            id,
            spec,
            to_json(task)?,
            to_json(&retired.runs)?
        ])?;
        let sql = "INSERT INTO history (id, user, state, submitted, started, ended, ran, spec, project, array, element,
            key, log_bytes, archived) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";
        self.transaction.prepare_cached(sql)?.execute(params![
            id,
            task.owner.0,
            columns.state,
            task.submitted_at.0,
            columns.started,
            columns.ended,
            columns.ran,
            spec,
            task.spec.project,
            task.array.map(|element| number(element.first)),
            task.array.map(|element| element.index),
            task.key,
            columns.log_bytes,
            archive_marks::take(self.transaction, id, columns.ended)?,
        ])?;
        for (key, value) in &task.spec.labels {
            let sql = "INSERT INTO history_labels (key, id, value) VALUES (?1, ?2, ?3)";
            self.transaction.prepare_cached(sql)?.execute(params![key, id, value])?;
        }
        for node in &columns.nodes {
            let sql = "INSERT INTO history_nodes (node, id) VALUES (?1, ?2)";
            self.transaction.prepare_cached(sql)?.execute(params![node.0, id])?;
        }
        self.count((task.owner.0, columns.state), 1, columns.log_bytes);
        other_spec.map_or(Ok(()), |spec| self.forget_unused(spec))
    }

    /// What no task of the history was to do.
    fn forget_unused(&mut self, spec: i64) -> rusqlite::Result<()> {
        let sql = "SELECT 1 FROM history WHERE spec = ?1";
        if !self.transaction.prepare_cached(sql)?.exists([spec])? {
            self.environments.extend(blocks::forget(self.transaction, spec)?);
            self.known_spec = None;
        }
        Ok(())
    }

    fn put_spec(&mut self, Retired { task, .. }: &Retired) -> rusqlite::Result<()> {
        let id = spec_number(task.spec_id);
        if self.known_spec == Some(id) {
            return Ok(());
        }
        let sql = "SELECT 1 FROM history_specs WHERE id = ?1";
        if !self.transaction.prepare_cached(sql)?.exists([id])? {
            let sql = "INSERT INTO history_specs (id, environment, json) VALUES (?1, ?2, ?3)";
            let json = to_json(&task.spec)?;
            self.transaction.prepare_cached(sql)?.execute(params![
                id,
                task.spec.launch.environment,
                json
            ])?;
            self.new_specs = true;
        }
        self.known_spec = Some(id);
        Ok(())
    }

    /// It is among the rows again: no list of the history has it. What is stored of it stays until it leaves them
    /// again or is removed, so that a reader who did not see it among the rows yet finds it here.
    pub(in crate::store) fn hide(&mut self, task: TaskId) -> rusqlite::Result<Option<i64>> {
        let id = number(task);
        // Most have never been there, and a deletion opens every index.
        let sql = "SELECT 1 FROM history WHERE id = ?1";
        if !self.transaction.prepare_cached(sql)?.exists([id])? {
            return Ok(None);
        }
        let sql = "DELETE FROM history WHERE id = ?1 RETURNING user, state, log_bytes, spec,
            iif(archived, ended, NULL)";
        let mut statement = self.transaction.prepare_cached(sql)?;
        let gone = statement.query_row([id], |row| {
            let counter = (row.get(0)?, row.get(1)?);
            Ok((counter, row.get::<_, i64>(2)?, row.get::<_, i64>(3)?, row.get(4)?))
        });
        let Some((counter, log_bytes, spec, archived)) = gone.optional()? else { return Ok(None) };
        if let Some(ended) = archived {
            archive_marks::keep(self.transaction, id, ended)?;
        }
        self.count(counter, -1, -log_bytes);
        match HistoryLoader::new(self.transaction).load(id)? {
            Some(Ok(retired)) => {
                for key in retired.task.spec.labels.keys() {
                    let sql = "DELETE FROM history_labels WHERE key = ?1 AND id = ?2";
                    self.transaction.prepare_cached(sql)?.execute(params![key, id])?;
                }
                for node in HistoryColumns::of(&retired).nodes {
                    let sql = "DELETE FROM history_nodes WHERE node = ?1 AND id = ?2";
                    self.transaction.prepare_cached(sql)?.execute(params![node.0, id])?;
                }
            }
            // Which they were cannot be read any more.
            Some(Err(_)) | None => {
                self.transaction.execute("DELETE FROM history_labels WHERE id = ?1", [id])?;
                self.transaction.execute("DELETE FROM history_nodes WHERE id = ?1", [id])?;
            }
        }
        Ok(Some(spec))
    }

    /// It was removed.
    pub(in crate::store) fn delete(&mut self, task: TaskId) -> rusqlite::Result<()> {
        let listed = self.hide(task)?;
        archive_marks::forget(self.transaction, number(task))?;
        let sql = "DELETE FROM history_rows WHERE id = ?1 RETURNING spec";
        let mut statement = self.transaction.prepare_cached(sql)?;
        let stored = statement.query_row([number(task)], |row| row.get(0)).optional()?;
        stored.or(listed).map_or(Ok(()), |spec| self.forget_unused(spec))
    }

    /// Those whose ids are free. What they were to do gets numbers that no server gives to its own tasks.
    pub(in crate::store) fn import(&mut self, all: &[Retired]) -> rusqlite::Result<()> {
        if all.is_empty() {
            return Ok(());
        }
        let sql = "SELECT max(id) FROM history_specs";
        let highest: Option<i64> = self.transaction.query_row(sql, [], |row| row.get(0))?;
        let mut next = u64::try_from(highest.unwrap_or(0)).unwrap_or(0).max(IMPORTED_SPECS) + 1;
        let mut numbers = HashMap::new();
        for retired in all {
            let sql = "SELECT EXISTS (SELECT 1 FROM tasks WHERE id = ?1) OR EXISTS
                (SELECT 1 FROM history_rows WHERE id = ?1)";
            let mut statement = self.transaction.prepare_cached(sql)?;
            if statement.query_row([number(retired.task.id)], |row| row.get(0))? {
                continue;
            }
            let spec = numbers.entry(Arc::as_ptr(&retired.task.spec)).or_insert(next);
            next = next.max(*spec + 1);
            let mut retired = retired.clone();
            Arc::make_mut(&mut retired.task).spec_id = SpecId(*spec);
            self.put(&retired)?;
        }
        Ok(())
    }

    pub(in crate::store) fn mark_archived(
        &mut self,
        tasks: &[(TaskId, Time)],
    ) -> rusqlite::Result<()> {
        for (task, ended) in tasks {
            archive_marks::set(self.transaction, number(*task), ended.0)?;
        }
        Ok(())
    }

    fn count(&mut self, counter: (u32, i64), tasks: i64, log_bytes: i64) {
        let sums = self.counts.entry(counter).or_default();
        sums.0 += tasks;
        sums.1 = sums.1.saturating_add(log_bytes);
    }

    /// After the last one. Answers the environments that may not be needed any more.
    pub(in crate::store) fn finish(self) -> rusqlite::Result<Vec<String>> {
        for ((user, state), (tasks, log_bytes)) in self.counts {
            let sql = "INSERT INTO history_counts (user, state, tasks, log_bytes) VALUES (?1, ?2, ?3, ?4)
                ON CONFLICT DO UPDATE SET tasks = tasks + excluded.tasks, log_bytes = log_bytes + excluded.log_bytes";
            self.transaction
                .prepare_cached(sql)?
                .execute(params![user, state, tasks, log_bytes])?;
        }
        if self.new_specs {
            blocks::seal(self.transaction)?;
        }
        Ok(self.environments)
    }
}
