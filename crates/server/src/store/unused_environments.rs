//! Deletes environments that no task needs any more, a slice at a time.
//!
//! What commits take away tells which to look at; after a start all are looked at once. What tasks of the history need is
//! indexed. Live tasks have no such index, which every submit would have to pay for: their rows are read through, and
//! commits tell meanwhile what has become needed.

use super::Store;
use rusqlite::OptionalExtension as _;
use std::collections::BTreeSet;

/// Looked for in the history, or deleted, at once.
const ENVIRONMENTS_AT_ONCE: usize = 100;
/// Rows of live tasks that are read at once.
const SPECS_AT_ONCE: i64 = 500;
/// Names that are remembered. Where there are more, all environments are looked at.
const MOST_SUSPECTS: usize = 10_000;
/// Compared with the live tasks together.
const MOST_UNNEEDED: usize = 2_000;
const OF_SPEC: &str = "json_extract(json, '$.spec.spec.launch.environment')";

#[derive(Debug)]
pub(super) struct EnvironmentSweep {
    /// Something that needed these is gone.
    suspects: BTreeSet<String>,
    /// All that come after this one are to be looked at, too.
    look_after: Option<String>,
    /// No task of the history needs these …
    unneeded: BTreeSet<String>,
    /// … and no live one up to this number of what they do.
    compared: Compared,
}

#[derive(Debug, Clone, Copy)]
enum Compared {
    Nothing,
    UpTo(i64),
    Everything,
}

impl EnvironmentSweep {
    pub(super) fn new() -> EnvironmentSweep {
        let look_after = Some(String::new());
        let (suspects, unneeded) = (BTreeSet::new(), BTreeSet::new());
        EnvironmentSweep { suspects, look_after, unneeded, compared: Compared::Nothing }
    }

    pub(super) fn suspect(&mut self, environments: impl IntoIterator<Item = String>) {
        self.suspects.extend(environments);
        if self.suspects.len() > MOST_SUSPECTS {
            self.suspects.clear();
            self.look_after = Some(String::new());
        }
    }

    /// A live task has it now, or is about to.
    pub(super) fn need(&mut self, environment: &str) {
        self.unneeded.remove(environment);
    }
}

/// What was to be done is gone: its environment.
pub(super) fn forget_spec(
    transaction: &rusqlite::Transaction<'_>,
    spec: i64,
) -> rusqlite::Result<Option<String>> {
    let sql = format!(
        "DELETE FROM specs WHERE id = ?1 RETURNING CASE WHEN json_valid(json) THEN {OF_SPEC} END"
    );
    let mut statement = transaction.prepare_cached(&sql)?;
    Ok(statement.query_row([spec], |row| row.get(0)).optional()?.flatten())
}

impl Store {
    /// A slice of it. Whether there is more to do.
    pub(super) fn drop_environments(&self) -> rusqlite::Result<bool> {
        let sweep = &mut *self.sweep.borrow_mut();
        match sweep.compared {
            Compared::Nothing if sweep.unneeded.len() < MOST_UNNEEDED => {
                let some = self.next_suspects(sweep)?;
                if some.is_empty() && sweep.unneeded.is_empty() {
                    return Ok(false);
                }
                if some.is_empty() {
                    sweep.compared = Compared::UpTo(i64::MIN);
                }
                for environment in some {
                    if !self.is_in_history(&environment)? {
                        sweep.unneeded.insert(environment);
                    }
                }
            }
            Compared::Nothing => sweep.compared = Compared::UpTo(i64::MIN),
            Compared::UpTo(last) => sweep.compared = self.compare(&mut sweep.unneeded, last)?,
            Compared::Everything => self.delete_some(sweep)?,
        }
        Ok(true)
    }

    fn next_suspects(&self, sweep: &mut EnvironmentSweep) -> rusqlite::Result<Vec<String>> {
        if !sweep.suspects.is_empty() {
            let next = std::iter::from_fn(|| sweep.suspects.pop_first());
            return Ok(next.take(ENVIRONMENTS_AT_ONCE).collect());
        }
        let Some(after) = &sweep.look_after else { return Ok(Vec::new()) };
        let sql = format!(
            "SELECT hash FROM environments WHERE hash > ?1 ORDER BY hash LIMIT {ENVIRONMENTS_AT_ONCE}"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let found = statement.query_map([after], |row| row.get(0))?;
        let found = found.collect::<Result<Vec<String>, _>>()?;
        sweep.look_after = found.last().cloned();
        Ok(found)
    }

    fn is_in_history(&self, environment: &str) -> rusqlite::Result<bool> {
        let sql = "SELECT 1 FROM history_specs WHERE environment = ?1";
        self.connection.prepare_cached(sql)?.exists([environment])
    }

    fn compare(&self, unneeded: &mut BTreeSet<String>, after: i64) -> rusqlite::Result<Compared> {
        let sql = format!(
            "SELECT id, {OF_SPEC} FROM specs WHERE id > ?1 ORDER BY id LIMIT {SPECS_AT_ONCE}"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut rows = statement.query([after])?;
        let mut last = None;
        while let Some(row) = rows.next()? {
            last = Some(row.get(0)?);
            if let Some(environment) = row.get::<_, Option<String>>(1)? {
                unneeded.remove(&environment);
            }
        }
        Ok(match last.filter(|_| !unneeded.is_empty()) {
            Some(last) => Compared::UpTo(last),
            None => Compared::Everything,
        })
    }

    fn delete_some(&self, sweep: &mut EnvironmentSweep) -> rusqlite::Result<()> {
        let transaction = self.connection.unchecked_transaction()?;
        for environment in sweep.unneeded.iter().take(ENVIRONMENTS_AT_ONCE) {
            // A task that was live when the history was asked may be there now.
            let sql = "DELETE FROM environments WHERE hash = ?1
                AND NOT EXISTS (SELECT 1 FROM history_specs WHERE environment = ?1)";
            transaction.prepare_cached(sql)?.execute([environment])?;
        }
        transaction.commit()?;
        let rest = sweep.unneeded.iter().nth(ENVIRONMENTS_AT_ONCE).cloned();
        sweep.unneeded = rest.map_or_else(BTreeSet::new, |rest| sweep.unneeded.split_off(&rest));
        if sweep.unneeded.is_empty() {
            sweep.compared = Compared::Nothing;
        }
        Ok(())
    }
}
