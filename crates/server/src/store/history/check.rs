//! Reads all of the history and compares its tables with each other, for `danlu db check`.

use super::entry::HistoryColumns;
use super::read::HistoryLoader;
use crate::store::{Store, StoreError};
use std::collections::BTreeMap;

impl Store {
    /// How many tasks it has.
    pub(in crate::store) fn check_history(&self) -> Result<usize, StoreError> {
        let failed = |error| StoreError::from_sqlite(&self.path, error);
        let none = |what: &str, sql: &str| {
            let found: Option<i64> = self
                .connection
                .query_row(&format!("SELECT min(id) FROM ({sql})"), [], |row| row.get(0))
                .map_err(failed)?;
            found.map_or(Ok(()), |id| Err(self.damaged(format!("{what} (task {id})"))))
        };
        none(
            "a task is live and in the lists of the history",
            "SELECT id FROM history WHERE id IN (SELECT id FROM tasks)",
        )?;
        none(
            "a task of the history is neither listed nor live",
            "SELECT id FROM history_rows WHERE id NOT IN (SELECT id FROM history)
                AND id NOT IN (SELECT id FROM tasks)",
        )?;
        none(
            "a label of the history has no task",
            "SELECT id FROM history_labels WHERE id NOT IN (SELECT id FROM history)",
        )?;
        let mut loader = HistoryLoader::new(&self.connection);
        let mut counts: BTreeMap<(u32, i64), (i64, i64)> = BTreeMap::new();
        let sql = "SELECT id, user, state, ended, log_bytes FROM history";
        let mut statement = self.connection.prepare(sql).map_err(failed)?;
        let mut rows = statement.query([]).map_err(failed)?;
        let mut count = 0;
        while let Some(row) = rows.next().map_err(failed)? {
            let listed: (i64, u32, i64, i64, i64) = row.try_into().map_err(failed)?;
            let (id, user, state, ended, log_bytes) = listed;
            let retired = match loader.load(id).map_err(failed)? {
                Some(Ok(retired)) => retired,
                Some(Err(bad)) => return Err(self.damaged(bad.to_string())),
                None => return Err(self.damaged(format!("task {id} of the history is missing"))),
            };
            let columns = HistoryColumns::of(&retired);
            let stored = (retired.task.owner.0, columns.state, columns.ended, columns.log_bytes);
            if stored != (user, state, ended, log_bytes) {
                let what = format!("task {id} of the history is listed as something else");
                return Err(self.damaged(what));
            }
            let sums = counts.entry((user, state)).or_default();
            *sums = (sums.0 + 1, sums.1 + log_bytes);
            count += 1;
        }
        let sql = "SELECT user, state, tasks, log_bytes FROM history_counts WHERE tasks <> 0";
        let mut statement = self.connection.prepare(sql).map_err(failed)?;
        let stored = statement
            .query_map([], |row| Ok(((row.get(0)?, row.get(1)?), (row.get(2)?, row.get(3)?))));
        let stored: BTreeMap<(u32, i64), (i64, i64)> =
            stored.map_err(failed)?.collect::<Result<_, _>>().map_err(failed)?;
        match stored == counts {
            true => Ok(count),
            false => Err(self.damaged(String::from("the counters of the history are wrong"))),
        }
    }
}
