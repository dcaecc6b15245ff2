//! The texts of many specs in one block, so that a search reads a few thousand rows instead of a million.
//!
//! A block is the texts one after the other, each ended by a zero byte, and where each ends. The newest specs are in none
//! yet; their texts are made when they are looked at.

use super::read::HistoryLoader;
use super::text::{VALUES, spec_text};
use memchr::memmem::Finder;
use rusqlite::{Connection, OptionalExtension as _, Transaction, params};

/// So many wait until they are put into a block together.
const SPECS: i64 = 128;
/// A block is closed beyond this.
const MOST_BYTES: usize = 256 << 10;
/// A spec's number and the end of its text.
const SPAN: usize = 12;

/// Puts those that are in no block into one, once there are enough of them.
pub(super) fn seal(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    let sql = "SELECT count(*) FROM history_specs WHERE block IS NULL";
    while transaction.prepare_cached(sql)?.query_row([], |row| row.get::<_, i64>(0))? >= SPECS {
        let sql = "SELECT id FROM history_specs WHERE block IS NULL ORDER BY id LIMIT ?1";
        let mut statement = transaction.prepare_cached(sql)?;
        let ids = statement.query_map([SPECS], |row| row.get(0))?;
        let ids = ids.collect::<Result<Vec<i64>, _>>()?;
        let mut block = TextBlock::default();
        let mut loader = HistoryLoader::new(transaction);
        for id in &ids {
            // One that cannot be read is found by no search.
            let text = match loader.spec(*id)? {
                Some(Ok(spec)) => spec_text(&spec),
                Some(Err(_)) | None => String::new(),
            };
            block.push(*id, &text);
            if block.text.len() > MOST_BYTES {
                break;
            }
        }
        let number = block.insert(transaction)?;
        for id in &ids[..block.specs()] {
            let sql = "UPDATE history_specs SET block = ?1 WHERE id = ?2";
            transaction.prepare_cached(sql)?.execute([number, *id])?;
        }
    }
    Ok(())
}

/// No task needs this one any more: its environment. A block of which most is gone is written anew.
pub(super) fn forget(transaction: &Transaction<'_>, spec: i64) -> rusqlite::Result<Option<String>> {
    let sql = "DELETE FROM history_specs WHERE id = ?1 RETURNING block, environment";
    let mut statement = transaction.prepare_cached(sql)?;
    let gone = statement.query_row([spec], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let (block, environment): (Option<i64>, Option<String>) = gone.unwrap_or_default();
    let Some(block) = block else { return Ok(environment) };
    let sql = "UPDATE history_texts SET gone = gone + 1 WHERE id = ?1 RETURNING specs, gone";
    let mut statement = transaction.prepare_cached(sql)?;
    let counts = statement.query_row([block], |row| Ok((row.get(0)?, row.get(1)?))).optional()?;
    let counts: Option<(i64, i64)> = counts;
    match counts {
        Some((specs, gone)) if gone >= specs => {
            transaction.execute("DELETE FROM history_texts WHERE id = ?1", [block])?;
        }
        Some((specs, gone)) if gone * 2 > specs && gone % 16 == 0 => shrink(transaction, block)?,
        Some(_) | None => {}
    }
    Ok(environment)
}

fn shrink(transaction: &Transaction<'_>, number: i64) -> rusqlite::Result<()> {
    let sql = "SELECT spans, text FROM history_texts WHERE id = ?1";
    let (spans, text): (Vec<u8>, Vec<u8>) =
        transaction.query_row(sql, [number], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut block = TextBlock::default();
    let mut from = 0;
    for (spec, end) in spans_of(&spans) {
        let sql = "SELECT 1 FROM history_specs WHERE id = ?1 AND block = ?2";
        if transaction.prepare_cached(sql)?.exists([spec, number])? {
            let part = text.get(from..end.saturating_sub(1)).unwrap_or_default();
            block.push(spec, &String::from_utf8_lossy(part));
        }
        from = end;
    }
    let sql = "UPDATE history_texts SET specs = ?1, gone = 0, spans = ?2, text = ?3 WHERE id = ?4";
    let specs = i64::try_from(block.specs()).unwrap_or(i64::MAX);
    transaction.execute(sql, params![specs, block.spans, block.text, number])?;
    Ok(())
}

#[derive(Debug, Default)]
struct TextBlock {
    spans: Vec<u8>,
    text: Vec<u8>,
}

impl TextBlock {
    fn push(&mut self, spec: i64, text: &str) {
        self.text.extend_from_slice(text.as_bytes());
        self.text.push(0);
        let end = u32::try_from(self.text.len()).unwrap_or(u32::MAX);
        self.spans.extend_from_slice(&spec.to_le_bytes());
        self.spans.extend_from_slice(&end.to_le_bytes());
    }

    fn specs(&self) -> usize {
        self.spans.len() / SPAN
    }

    fn insert(&self, to: &Transaction<'_>) -> rusqlite::Result<i64> {
        let sql = "INSERT INTO history_texts (specs, gone, spans, text) VALUES (?1, 0, ?2, ?3)";
        let specs = i64::try_from(self.specs()).unwrap_or(i64::MAX);
        to.prepare_cached(sql)?.insert(params![specs, self.spans, self.text])
    }
}

fn spans_of(spans: &[u8]) -> impl Iterator<Item = (i64, usize)> {
    spans.chunks_exact(SPAN).map(span)
}

fn span(span: &[u8]) -> (i64, usize) {
    let (spec, end) = span.split_at(8);
    let spec = i64::from_le_bytes(spec.try_into().unwrap_or_default());
    (spec, u32::from_le_bytes(end.try_into().unwrap_or_default()) as usize)
}

/// What a search has found.
#[derive(Debug, Default)]
pub(super) struct FoundSpecs {
    /// All their tasks contain it. In no order.
    pub(super) whole: Vec<i64>,
    /// Only the values of some elements of the sweep may contain it.
    pub(super) in_values: Vec<i64>,
}

impl FoundSpecs {
    /// What is in both. One that is found only in values by one of the two is looked at element by element.
    fn both(mut self, mut other: FoundSpecs) -> FoundSpecs {
        self.whole.sort_unstable();
        other.whole.sort_unstable();
        other.in_values.sort_unstable();
        let has = |sorted: &[i64], spec: &i64| sorted.binary_search(spec).is_ok();
        let mut in_values = std::mem::take(&mut self.in_values);
        in_values.retain(|it| has(&other.whole, it) || has(&other.in_values, it));
        let in_other = other.in_values.into_iter().filter(|it| has(&self.whole, it));
        in_values.extend(in_other.collect::<Vec<_>>());
        self.whole.retain(|it| has(&other.whole, it));
        FoundSpecs { whole: self.whole, in_values }
    }

    fn add(&mut self, spec: i64, text: &[u8], at: usize) {
        let in_values = text[..at].contains(&(VALUES as u8));
        if in_values { self.in_values.push(spec) } else { self.whole.push(spec) }
    }
}

/// Every spec whose text contains all of them.
pub(super) fn search_all(
    connection: &Connection,
    needles: &[String],
    go_on: &dyn Fn() -> bool,
) -> rusqlite::Result<FoundSpecs> {
    let mut found: Option<FoundSpecs> = None;
    for needle in needles {
        let these = search(connection, needle, go_on)?;
        found = Some(match found {
            None => these,
            Some(others) => others.both(these),
        });
    }
    Ok(found.unwrap_or_default())
}

/// Every spec whose text contains it. `go_on` is asked now and then.
pub(super) fn search(
    connection: &Connection,
    needle: &str,
    go_on: &dyn Fn() -> bool,
) -> rusqlite::Result<FoundSpecs> {
    let finder = Finder::new(needle.as_bytes());
    let mut found = FoundSpecs::default();
    let mut statement =
        connection.prepare_cached("SELECT id FROM history_specs WHERE block IS NULL")?;
    let loose = statement.query_map([], |row| row.get(0))?.collect::<Result<Vec<i64>, _>>()?;
    let mut loader = HistoryLoader::new(connection);
    for spec in loose {
        if let Some(Ok(content)) = loader.spec(spec)? {
            let text = spec_text(&content);
            if let Some(at) = finder.find(text.as_bytes()) {
                found.add(spec, text.as_bytes(), at);
            }
        }
    }
    let mut statement = connection.prepare_cached("SELECT spans, text FROM history_texts")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if !go_on() {
            return Err(interrupted());
        }
        search_block(&finder, row.get_ref(0)?.as_blob()?, row.get_ref(1)?.as_blob()?, &mut found);
    }
    Ok(found)
}

fn search_block(finder: &Finder<'_>, spans: &[u8], text: &[u8], found: &mut FoundSpecs) {
    let ends: Vec<(i64, usize)> = spans_of(spans).collect();
    let mut from = 0;
    while let Some(hit) = text.get(from..).and_then(|rest| finder.find(rest)) {
        let at = from + hit;
        let number = ends.partition_point(|(_, end)| *end <= at);
        let Some((spec, end)) = ends.get(number).copied() else { return };
        let start = number.checked_sub(1).map_or(0, |before| ends[before].1);
        found.add(spec, &text[start..end.min(text.len())], at - start);
        from = end;
    }
}

pub(super) fn interrupted() -> rusqlite::Error {
    let code = rusqlite::ffi::SQLITE_INTERRUPT;
    rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None)
}
