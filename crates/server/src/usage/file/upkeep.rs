//! What is taken out of the file, by age, size or because its task was removed.

use super::{FileResult, UsageFile};
use crate::usage::rollup::Tier;
use danlu_core::RunId;
use rusqlite::params;

/// Blocks that are taken away at once.
const SLICE: i64 = 500;

impl UsageFile {
    pub(in crate::usage) fn forget_run(&self, run: RunId) -> FileResult<()> {
        let run = run.to_string();
        let mut blocks = self.connection.prepare_cached(
            "DELETE FROM block WHERE subject IN (SELECT id FROM subject WHERE run = ?1)",
        )?;
        blocks.execute([&run])?;
        self.connection.prepare_cached("DELETE FROM subject WHERE run = ?1")?.execute([&run])?;
        self.connection.prepare_cached("DELETE FROM run WHERE run = ?1")?.execute([&run])?;
        Ok(())
    }

    /// A slice of what is older than this; how many blocks that were.
    pub(in crate::usage) fn prune(&self, tier: Tier, before: i64) -> FileResult<usize> {
        self.connection
            .prepare_cached(
                "DELETE FROM block WHERE rowid IN
                 (SELECT rowid FROM block WHERE tier = ?1 AND last < ?2 ORDER BY last LIMIT ?3)",
            )?
            .execute(params![tier.number(), before, SLICE])
    }

    /// Subjects of which nothing is left, runs excepted: their summaries are theirs until they are forgotten.
    pub(in crate::usage) fn prune_subjects(&self) -> FileResult<usize> {
        self.connection.execute(
            "DELETE FROM subject WHERE id IN (SELECT id FROM subject WHERE run IS NULL
             AND NOT EXISTS (SELECT 1 FROM block WHERE block.subject = subject.id) LIMIT ?1)",
            [SLICE],
        )
    }

    /// Bytes that are in use, without those that were given up.
    pub(in crate::usage) fn size(&self) -> FileResult<u64> {
        let number =
            |pragma| self.connection.pragma_query_value(None, pragma, |row| row.get::<_, i64>(0));
        let pages = number("page_count")? - number("freelist_count")?;
        Ok(u64::try_from(pages * number("page_size")?).unwrap_or(0))
    }

    /// Gives a part of the free space back to the disk.
    pub(in crate::usage) fn shrink(&self) -> FileResult<()> {
        self.connection.execute_batch("PRAGMA incremental_vacuum(1024)")
    }

    /// The file alone is complete afterwards.
    pub(in crate::usage) fn settle(&self) {
        let _ = self.connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)");
    }
}
