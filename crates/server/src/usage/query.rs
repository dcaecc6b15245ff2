//! Questions to the history of use: a range of something, with at most so many points.

use super::file::{FileResult, UsageFile};
use super::rollup::{self, Rows, Spread, Tier};
use super::subject::Subject;
use super::summary::RunSummary;
use super::{Usage, UsageShared};
use danlu_core::RunId;
use std::sync::Arc;
use tracing::warn;

/// More points than any screen has.
const MOST_POINTS: usize = 2_000;
/// Connections that are kept for the next question.
const KEPT_READERS: usize = 4;

/// Something over time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubjectSeries {
    pub subject: Subject,
    /// Milliseconds that a moment stands for, at least.
    pub step: i64,
    /// Oldest first.
    pub moments: Vec<SeriesPoint>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeriesPoint {
    /// Where it begins, in milliseconds.
    pub at: i64,
    /// In the order of [`Subject::metrics`].
    pub values: Vec<Option<Spread>>,
}

impl Usage {
    /// From `from` to `to`, in milliseconds, both included. Reads files: not for threads that must not wait.
    pub fn range(&self, subject: &Subject, from: i64, to: i64, points: usize) -> SubjectSeries {
        let points = points.clamp(1, MOST_POINTS);
        // So wide that there are never more steps than points.
        let step = to.saturating_sub(from) / points as i64 + 1;
        let tier = match () {
            () if step < Tier::Minutes.step() => Tier::Raw,
            () if step < Tier::Hours.step() => Tier::Minutes,
            () => Tier::Hours,
        };
        let rows = self
            .shared
            .as_ref()
            .map_or_else(Rows::new, |shared| shared.rows(subject, tier, from, to));
        let width = if rows.len() > points { step.max(tier.step()) } else { 1 };
        let interval = i64::try_from(self.settings().interval.0).unwrap_or(i64::MAX);
        let own_step = if tier == Tier::Raw { interval } else { tier.step() };
        SubjectSeries {
            subject: subject.clone(),
            step: width.max(own_step),
            moments: thinned(rows, from, width),
        }
    }

    /// All that a run has a history of.
    pub fn subjects_of(&self, run: RunId) -> Vec<Subject> {
        let Some(shared) = &self.shared else { return Vec::new() };
        let open = shared.open();
        let mut subjects: Vec<Subject> =
            open.blocks.keys().filter(|subject| subject.run() == Some(run)).cloned().collect();
        drop(open);
        subjects.extend(shared.read(|file| file.subjects_of_run(run)).unwrap_or_default());
        subjects.sort();
        subjects.dedup();
        subjects
    }

    /// `None` of a run that ended before it was measured.
    pub fn summary(&self, run: RunId) -> Option<RunSummary> {
        let shared = self.shared.as_ref()?;
        let live = shared.open().runs.get(&run).cloned();
        live.or_else(|| shared.read(|file| file.summary(run))?)
    }
}

impl UsageShared {
    /// What is in memory first: a block that is stored meanwhile is then met twice, which changes nothing.
    fn rows(&self, subject: &Subject, tier: Tier, from: i64, to: i64) -> Rows {
        let newest = self.open().of(subject);
        let stored = self.read(|file| match file.known(subject)? {
            Some(id) => file.range(id, tier, from, to),
            None => Ok(Rows::new()),
        });
        let mut rows = stored.unwrap_or_default();
        for table in newest {
            let fresh = match tier {
                Tier::Raw => rollup::each(&table),
                Tier::Minutes | Tier::Hours => rollup::roll_up(&table, tier.step()),
            };
            let within = fresh.iter().filter(|(at, _)| **at + tier.step() > from && **at <= to);
            within.for_each(|(at, row)| rollup::add(&mut rows, *at, row));
        }
        rows
    }

    /// `None` where the file cannot be read: then only the newest is known.
    fn read<T>(&self, question: impl FnOnce(&UsageFile) -> FileResult<T>) -> Option<T> {
        let kept = self.readers().pop();
        let opened = kept.map_or_else(|| UsageFile::open_to_read(&self.path), Ok);
        let answer = opened.and_then(|file| {
            let answer = question(&file)?;
            Ok((file, answer))
        });
        match answer {
            Ok((file, answer)) => {
                let mut readers = self.readers();
                if readers.len() < KEPT_READERS {
                    readers.push(file);
                }
                Some(answer)
            }
            Err(cause) => {
                warn!(%cause, "the history of use cannot be read");
                None
            }
        }
    }
}

/// In steps of so many milliseconds from the beginning.
fn thinned(rows: Rows, from: i64, width: i64) -> Vec<SeriesPoint> {
    let rows = match width {
        1 => rows,
        width => {
            let mut wide = Rows::new();
            for (at, row) in &rows {
                let at = from + (at - from).max(0) / width * width;
                rollup::add(&mut wide, at, row);
            }
            wide
        }
    };
    // A step that began before is shown from the beginning on.
    rows.into_iter().map(|(at, row)| SeriesPoint { at: at.max(from), values: row.values }).collect()
}

/// In a thread of its own: the caller's must not wait for a disk.
impl Usage {
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Usage) -> T + Send + 'static,
    ) -> Option<T> {
        let this = Usage { shared: self.shared.as_ref().map(Arc::clone) };
        tokio::task::spawn_blocking(move || question(&this)).await.ok()
    }
}
