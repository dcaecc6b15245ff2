//! The blocks of samples in the file: written once, read by range, fine or coarse.

use super::{FileResult, SubjectId, UsageFile};
use crate::usage::codec::Table;
use crate::usage::rollup::{self, Rows, Tier};
use rusqlite::params;
use tracing::warn;

impl UsageFile {
    /// The samples become a block, and are added to the blocks of minutes and hours.
    pub(in crate::usage) fn close(&self, id: SubjectId, raw: &Table) -> FileResult<()> {
        let (Some(first), Some(last)) = (raw.times.first(), raw.times.last()) else {
            return Ok(());
        };
        let step = Tier::Raw.step();
        self.put(id, Tier::Raw, (first * step, last * step), &raw.encode())?;
        for tier in Tier::ROLLED {
            let mut windows: std::collections::BTreeMap<i64, Rows> = Default::default();
            for (at, row) in rollup::roll_up(raw, tier.step()) {
                let window = at.div_euclid(tier.window()) * tier.window();
                windows.entry(window).or_default().insert(at, row);
            }
            for (window, fresh) in windows {
                let mut rows = self.rows(id, tier, window, window)?;
                fresh.iter().for_each(|(at, row)| rollup::add(&mut rows, *at, row));
                let last = rows.keys().next_back().map_or(window, |last| last + tier.step() - 1);
                let table = rollup::to_table(&rows, tier.step(), raw.columns.len());
                self.put(id, tier, (window, last), &table.encode())?;
            }
        }
        Ok(())
    }

    fn put(
        &self,
        id: SubjectId,
        tier: Tier,
        (first, last): (i64, i64),
        data: &[u8],
    ) -> FileResult<()> {
        self.connection
            .prepare_cached(
                "INSERT INTO block (subject, tier, first, last, data) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT (subject, tier, first) DO UPDATE SET last = ?4, data = ?5",
            )?
            .execute(params![id.0, tier.number(), first, last, data])?;
        Ok(())
    }

    /// Of the blocks that begin between these, both included; damaged ones are left out.
    fn rows(&self, id: SubjectId, tier: Tier, first: i64, last: i64) -> FileResult<Rows> {
        let mut rows = Rows::new();
        let mut statement = self.connection.prepare_cached(
            "SELECT data FROM block WHERE subject = ?1 AND tier = ?2 AND first BETWEEN ?3 AND ?4",
        )?;
        let mut found = statement.query(params![id.0, tier.number(), first, last])?;
        while let Some(row) = found.next()? {
            let data = row.get_ref(0)?.as_blob().unwrap_or_default();
            let Ok(table) = Table::decode(data) else {
                warn!(subject = id.0, "a damaged block of samples is left out");
                continue;
            };
            let read = match tier {
                Tier::Raw => rollup::each(&table),
                Tier::Minutes | Tier::Hours => rollup::from_table(&table, tier.step()),
            };
            read.iter().for_each(|(at, row)| rollup::add(&mut rows, *at, row));
        }
        Ok(rows)
    }

    /// What was at these times, both included, as finely as it is kept there and asked for.
    pub(in crate::usage) fn range(
        &self,
        id: SubjectId,
        tier: Tier,
        from: i64,
        to: i64,
    ) -> FileResult<Rows> {
        let oldest = self.oldest(id, tier)?;
        let mut rows = self.rows(id, tier, from.saturating_sub(tier.window()), to)?;
        let coarser = match tier {
            Tier::Raw => Some(Tier::Minutes),
            Tier::Minutes => Some(Tier::Hours),
            Tier::Hours => None,
        };
        let begins = oldest.unwrap_or(i64::MAX);
        if let Some(coarser) = coarser.filter(|_| from < begins) {
            let until = to.min(begins - 1);
            let older = self.range(id, coarser, from, until)?;
            // A row that reaches into what is known more finely says nothing new.
            let whole =
                older.into_iter().filter(|(at, _)| at.saturating_add(coarser.step()) <= begins);
            rows.extend(whole);
        }
        rows.retain(|at, _| at.saturating_add(tier.step()) > from && *at <= to);
        Ok(rows)
    }

    /// The beginning of what is kept that finely.
    fn oldest(&self, id: SubjectId, tier: Tier) -> FileResult<Option<i64>> {
        self.connection
            .prepare_cached("SELECT min(first) FROM block WHERE subject = ?1 AND tier = ?2")?
            .query_row(params![id.0, tier.number()], |row| row.get(0))
    }

    /// Of the newest block of samples, in milliseconds.
    pub(in crate::usage) fn closed_until(&self, id: SubjectId) -> FileResult<i64> {
        let newest: Option<i64> = self
            .connection
            .prepare_cached("SELECT max(last) FROM block WHERE subject = ?1 AND tier = 0")?
            .query_row([id.0], |row| row.get(0))?;
        Ok(newest.unwrap_or(i64::MIN))
    }
}
