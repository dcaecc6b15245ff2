//! Samples that are in no block yet, and the summaries of runs that go on: all that is in memory.

use super::codec::Table;
use super::file::{FileResult, Journalled, SubjectId, UsageFile};
use super::rollup::Tier;
use super::subject::Subject;
use super::summary::RunSummary;
use danlu_core::RunId;
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Write as _};
use std::sync::Arc;

#[derive(Debug, Default)]
pub(super) struct OpenBlocks {
    pub(super) blocks: BTreeMap<Subject, OpenBlock>,
    pub(super) runs: BTreeMap<RunId, RunSummary>,
    /// Changed since they were stored last.
    pub(super) changed_runs: BTreeSet<RunId>,
    /// Values that are not in the journal yet, roughly.
    pub(super) unsaved: usize,
}

#[derive(Debug, Default)]
pub(super) struct OpenBlock {
    id: Option<SubjectId>,
    samples: Table,
    /// How many of them the journal has.
    journalled: usize,
    /// Complete, and about to be stored.
    sealed: Vec<Arc<Table>>,
}

/// Blocks on their way to the file.
pub(super) struct Sealed {
    pub(super) subject: Subject,
    pub(super) blocks: Vec<Arc<Table>>,
}

/// A journal entry is at most this long when it is read.
const MOST_JOURNAL: u64 = 256 << 20;
/// Where the file cannot be written, so many blocks of a subject are kept in memory.
const MOST_SEALED: usize = 4;

impl OpenBlocks {
    /// A sample that is not newer than the last one is left out: the clock was set back.
    pub(super) fn add(&mut self, subject: Subject, at: i64, values: Vec<i64>) {
        let time = at.div_euclid(Tier::Raw.step());
        let columns = subject.metrics().len();
        let block = self.blocks.entry(subject).or_default();
        if block.samples.columns.is_empty() {
            block.samples = Table::new(columns);
        }
        if block.samples.times.last().is_some_and(|last| *last >= time) {
            return;
        }
        if block.samples.times.first().is_some_and(|first| window(*first) != window(time)) {
            block.seal();
            block.samples = Table::new(columns);
        }
        self.unsaved += values.len() + 1;
        block.samples.push(time, values);
    }

    /// What of it is in memory.
    pub(super) fn of(&self, subject: &Subject) -> Vec<Arc<Table>> {
        let Some(block) = self.blocks.get(subject) else { return Vec::new() };
        let open = (block.samples.len() > 0).then(|| Arc::new(block.samples.clone()));
        block.sealed.iter().cloned().chain(open).collect()
    }

    /// Blocks whose time is over, and those that `ended` names.
    pub(super) fn seal(&mut self, now: i64, ended: &BTreeSet<RunId>) -> Vec<Sealed> {
        let this_window = window(now.div_euclid(Tier::Raw.step()));
        let mut sealed = Vec::new();
        for (subject, block) in &mut self.blocks {
            let over = block.samples.times.first().is_some_and(|at| window(*at) != this_window);
            if over || subject.run().is_some_and(|run| ended.contains(&run)) {
                block.seal();
            }
            if !block.sealed.is_empty() {
                sealed.push(Sealed { subject: subject.clone(), blocks: block.sealed.clone() });
            }
        }
        sealed
    }

    /// They are in the file.
    pub(super) fn stored(&mut self, stored: &[Sealed]) {
        for Sealed { subject, blocks } in stored {
            let Some(block) = self.blocks.get_mut(subject) else { continue };
            block.sealed.retain(|one| !blocks.iter().any(|other| Arc::ptr_eq(one, other)));
            if block.sealed.is_empty() && block.samples.len() == 0 {
                self.blocks.remove(subject);
            }
        }
    }

    /// What is new since the last time, for the journal: with the time of the newest, in milliseconds.
    pub(super) fn journal(&mut self, file: &UsageFile) -> FileResult<Option<(i64, Vec<u8>)>> {
        let mut parts = Vec::new();
        let mut newest = i64::MIN;
        for (subject, block) in &mut self.blocks {
            if block.journalled >= block.samples.len() {
                continue;
            }
            let id = match block.id {
                Some(id) => id,
                None => *block.id.insert(file.subject(subject)?),
            };
            let fresh = block.samples.tail(block.journalled);
            newest = newest.max(fresh.times.last().map_or(i64::MIN, |at| at * Tier::Raw.step()));
            parts.push(Journalled { subject: id, samples: fresh });
        }
        Ok((!parts.is_empty()).then(|| (newest, pack(&parts))))
    }

    /// The journal has all that there is.
    pub(super) fn journalled(&mut self) {
        self.blocks.values_mut().for_each(|block| block.journalled = block.samples.len());
        self.unsaved = 0;
    }

    /// What an earlier process has left in the journal. What is in blocks already is left out.
    pub(super) fn restore(&mut self, file: &UsageFile) -> FileResult<()> {
        for entry in file.journal()? {
            for Journalled { subject: id, samples } in unpack(&entry) {
                let Some(subject) = file.subject_of(id)? else { continue };
                let closed = file.closed_until(id)?;
                for (place, time) in samples.times.iter().enumerate() {
                    if time * Tier::Raw.step() > closed {
                        let values = samples.columns.iter().map(|column| column[place]).collect();
                        self.add(subject.clone(), time * Tier::Raw.step(), values);
                    }
                }
            }
        }
        self.journalled();
        Ok(())
    }

    pub(super) fn forget(&mut self, run: RunId) {
        self.blocks.retain(|subject, _| subject.run() != Some(run));
        self.runs.remove(&run);
        self.changed_runs.remove(&run);
    }
}

impl OpenBlock {
    fn seal(&mut self) {
        if self.samples.len() > 0 {
            self.sealed.push(Arc::new(std::mem::take(&mut self.samples)));
        }
        self.journalled = 0;
        if self.sealed.len() > MOST_SEALED {
            self.sealed.remove(0);
        }
    }
}

/// Of a time in tenths of seconds.
fn window(time: i64) -> i64 {
    (time * Tier::Raw.step()).div_euclid(Tier::Raw.window())
}

/// The beginning of the present window, in milliseconds: all that is older is in blocks.
pub(super) fn window_start(now: i64) -> i64 {
    now.div_euclid(Tier::Raw.window()) * Tier::Raw.window()
}

fn pack(parts: &[Journalled]) -> Vec<u8> {
    let mut plain = Vec::new();
    for Journalled { subject, samples } in parts {
        let bytes = samples.encode();
        plain.extend(subject.to_bytes());
        plain.extend((bytes.len() as u32).to_le_bytes());
        plain.extend(bytes);
    }
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&plain).and_then(|()| encoder.finish()).unwrap_or_default()
}

/// As far as it can be read.
fn unpack(entry: &[u8]) -> Vec<Journalled> {
    let mut plain = Vec::new();
    let _ = DeflateDecoder::new(entry).take(MOST_JOURNAL).read_to_end(&mut plain);
    let mut rest = &plain[..];
    let mut parts = Vec::new();
    while let Some((id, after)) = rest.split_first_chunk::<8>()
        && let Some((length, after)) = after.split_first_chunk::<4>()
        && let Some((bytes, after)) = after.split_at_checked(u32::from_le_bytes(*length) as usize)
        && let Ok(samples) = Table::decode(bytes)
    {
        parts.push(Journalled { subject: SubjectId::from_bytes(*id), samples });
        rest = after;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use danlu_core::NodeId;

    fn file() -> (tempfile::TempDir, UsageFile) {
        let directory = tempfile::tempdir().unwrap();
        let (file, _) = UsageFile::open(&directory.path().join("usage.db")).unwrap();
        (directory, file)
    }

    fn metric() -> Subject {
        Subject::MachineMetric { node: NodeId(1), name: "flow".into() }
    }

    fn times(open: &OpenBlocks) -> Vec<i64> {
        open.of(&metric()).iter().flat_map(|table| table.times.clone()).collect()
    }

    #[test]
    fn what_is_journalled_comes_back_and_nothing_twice() {
        let (_directory, file) = file();
        let mut open = OpenBlocks::default();
        let start = 1_000_000 * Tier::Raw.window();
        for second in 0..100 {
            open.add(metric(), start + second * 1000, vec![second]);
        }
        let (newest, entry) = open.journal(&file).unwrap().expect("there is something new");
        assert_eq!(newest, start + 99_000);
        file.add_to_journal(newest, &entry).unwrap();
        open.journalled();
        assert!(open.journal(&file).unwrap().is_none(), "nothing is new");
        open.add(metric(), start + 100_000, vec![100]);
        let (newest, entry) = open.journal(&file).unwrap().expect("one sample is new");
        file.add_to_journal(newest, &entry).unwrap();
        let mut again = OpenBlocks::default();
        again.restore(&file).unwrap();
        assert_eq!(times(&again), times(&open));
        // A part of it is in a block by now.
        let mut table = Table::new(1);
        (0..50).for_each(|second| table.push(start / 100 + second * 10, [second]));
        file.close(file.subject(&metric()).unwrap(), &table).unwrap();
        let mut rest = OpenBlocks::default();
        rest.restore(&file).unwrap();
        assert_eq!(times(&rest).len(), 51);
    }

    #[test]
    fn a_block_ends_with_its_window_and_stays_readable_until_it_is_stored() {
        let mut open = OpenBlocks::default();
        let start = 1_000_000 * Tier::Raw.window();
        open.add(metric(), start, vec![1]);
        open.add(metric(), start + Tier::Raw.window(), vec![2]);
        // A clock that was set back.
        open.add(metric(), start + 5, vec![3]);
        let sealed = open.seal(start + Tier::Raw.window(), &BTreeSet::new());
        assert_eq!(sealed.len(), 1);
        assert_eq!(sealed[0].blocks[0].columns, [[1]]);
        assert_eq!(times(&open).len(), 2);
        open.stored(&sealed);
        assert_eq!(times(&open).len(), 1);
    }

    #[test]
    fn a_damaged_entry_is_read_as_far_as_it_goes() {
        let mut samples = Table::new(1);
        samples.push(1, [2]);
        let part =
            || Journalled { subject: SubjectId::from_bytes([1; 8]), samples: samples.clone() };
        let whole = pack(&[part(), part()]);
        assert_eq!(unpack(&whole).len(), 2);
        assert!(unpack(&whole[..whole.len() / 2]).len() < 2);
        assert!(unpack(b"rubbish").is_empty());
    }
}
