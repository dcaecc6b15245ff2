//! Which tasks are in the archive. Those among the rows are remembered until they come (back) to the history; who has
//! ended anew meanwhile is another matter.

use rusqlite::{OptionalExtension as _, Transaction};

/// Records of this kind: the number of a live task, and when it had ended as the archive tells it.
const KIND: &str = "in_archive";

pub(super) fn set(transaction: &Transaction<'_>, task: i64, ended: i64) -> rusqlite::Result<()> {
    let sql = "UPDATE history SET archived = 1 WHERE id = ?1 AND ended = ?2";
    let listed = transaction.prepare_cached(sql)?.execute([task, ended])? > 0;
    let sql = "SELECT 1 FROM tasks WHERE id = ?1";
    if !listed && transaction.prepare_cached(sql)?.exists([task])? {
        keep(transaction, task, ended)?;
    }
    Ok(())
}

pub(super) fn keep(transaction: &Transaction<'_>, task: i64, ended: i64) -> rusqlite::Result<()> {
    let sql = "REPLACE INTO records (kind, id, json) VALUES (?1, ?2, ?3)";
    let values = (KIND, task.to_string(), ended.to_string());
    transaction.prepare_cached(sql)?.execute(values).map(drop)
}

pub(super) fn forget(transaction: &Transaction<'_>, task: i64) -> rusqlite::Result<Option<String>> {
    let sql = "DELETE FROM records WHERE kind = ?1 AND id = ?2 RETURNING json";
    let mut statement = transaction.prepare_cached(sql)?;
    statement.query_row((KIND, task.to_string()), |row| row.get(0)).optional()
}

/// It comes to the history: whether the archive has it as it is.
pub(super) fn take(transaction: &Transaction<'_>, task: i64, ended: i64) -> rusqlite::Result<bool> {
    Ok(forget(transaction, task)?.is_some_and(|marked| marked == ended.to_string()))
}
