//! What the archive and the rules for keeping tasks ask the history.

use super::read::{HistoryLoader, number};
use super::readers::HistoryReader;
use super::{History, HistoryPage};
use crate::store::StoreError;
use danlu_core::{TaskId, Time, UserId};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct HistoryFacts {
    pub(crate) tasks: u64,
    pub(crate) log_bytes: u64,
    /// When the first of them ended.
    pub(crate) oldest: Option<Time>,
    /// How many of whose tasks are not in the archive.
    pub(crate) not_archived: BTreeMap<UserId, u64>,
}

impl History {
    pub(crate) async fn facts(&self) -> Result<HistoryFacts, StoreError> {
        let Some(readers) = &self.readers else { return Ok(HistoryFacts::default()) };
        readers.ask(|reader| facts(reader).map_err(|error| reader.failed(error))).await
    }

    /// Those of them that it has.
    pub(crate) async fn has(&self, tasks: Vec<TaskId>) -> Result<BTreeSet<TaskId>, StoreError> {
        let Some(readers) = &self.readers else { return Ok(BTreeSet::new()) };
        let question = move |reader: &HistoryReader| {
            let sql = "SELECT 1 FROM history_rows WHERE id = ?1";
            let is_there = |id: &TaskId| {
                reader.connection.prepare_cached(sql)?.exists([number(*id)]).map(|is| (*id, is))
            };
            let found = tasks.iter().map(is_there).collect::<Result<Vec<_>, _>>();
            let found = found.map_err(|error| reader.failed(error))?;
            Ok(found.into_iter().filter(|(_, is_there)| *is_there).map(|(id, _)| id).collect())
        };
        readers.ask(question).await
    }

    /// A user's oldest tasks that are not in the archive.
    pub(crate) async fn not_archived(
        &self,
        user: UserId,
        limit: usize,
    ) -> Result<HistoryPage, StoreError> {
        let Some(readers) = &self.readers else { return Ok(HistoryPage::default()) };
        let question = move |reader: &HistoryReader| {
            let listed = not_archived(reader, user, limit).map_err(|error| reader.failed(error))?;
            let mut loader = HistoryLoader::new(&reader.connection);
            let mut page = HistoryPage::default();
            for id in listed {
                let loaded = loader.load(id).map_err(|error| reader.failed(error))?;
                page.tasks.extend(loaded.and_then(Result::ok));
            }
            Ok(page)
        };
        readers.ask(question).await
    }
}

fn facts(reader: &HistoryReader) -> rusqlite::Result<HistoryFacts> {
    let connection = &reader.connection;
    let sql = "SELECT coalesce(sum(tasks), 0), coalesce(sum(log_bytes), 0) FROM history_counts";
    let (tasks, bytes): (i64, i64) =
        connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let oldest = connection.query_row("SELECT min(ended) FROM history", [], |row| row.get(0))?;
    let sql = "SELECT user, count(*) FROM history INDEXED BY history_not_archived
        WHERE archived = 0 GROUP BY user";
    let mut statement = connection.prepare_cached(sql)?;
    let counts = statement.query_map([], |row| {
        let count: i64 = row.get(1)?;
        Ok((UserId(row.get(0)?), u64::try_from(count).unwrap_or_default()))
    })?;
    Ok(HistoryFacts {
        tasks: u64::try_from(tasks).unwrap_or_default(),
        log_bytes: u64::try_from(bytes).unwrap_or_default(),
        oldest: Option::map(oldest, Time),
        not_archived: counts.collect::<Result<_, _>>()?,
    })
}

fn not_archived(reader: &HistoryReader, user: UserId, limit: usize) -> rusqlite::Result<Vec<i64>> {
    let sql = "SELECT id FROM history INDEXED BY history_not_archived
        WHERE archived = 0 AND user = ?1 ORDER BY id LIMIT ?2";
    let mut statement = reader.connection.prepare_cached(sql)?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    statement.query_map((user.0, limit), |row| row.get(0))?.collect()
}
