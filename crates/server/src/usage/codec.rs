//! The stored form of a block: columns of whole numbers as differences in variable length, then deflated.
//!
//! ```text
//!     form (1 byte: 0 plain, 1 deflated), then
//!     rows, columns, first time, differences of differences of the times, and each column:
//!     kind (1 byte), then  0 nothing: missing everywhere        1 the value that it has everywhere
//!                          2 first value and differences         3 lengths of present and missing stretches, then as 2
//! ```

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use std::io::{Read as _, Write as _};

/// Stands for a value that could not be measured.
pub(super) const MISSING: i64 = i64::MIN;

/// Rows in the order of their times; every column has as many values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Table {
    pub(super) times: Vec<i64>,
    pub(super) columns: Vec<Vec<i64>>,
}

/// More rows or columns are a damaged block.
const MOST_ROWS: u64 = 1 << 17;
const MOST_COLUMNS: u64 = 64;
const MOST_BYTES: u64 = 64 << 20;
const PLAIN: u8 = 0;
const DEFLATED: u8 = 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DamagedBlock;

impl Table {
    pub(super) fn new(columns: usize) -> Table {
        Table { times: Vec::new(), columns: vec![Vec::new(); columns] }
    }

    pub(super) fn push(&mut self, time: i64, values: impl IntoIterator<Item = i64>) {
        self.times.push(time);
        for (column, value) in self.columns.iter_mut().zip(values) {
            column.push(value);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.times.len()
    }

    /// The rows from this one on.
    pub(super) fn tail(&self, from: usize) -> Table {
        let columns = self.columns.iter().map(|column| column[from..].to_vec()).collect();
        Table { times: self.times[from..].to_vec(), columns }
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let plain = self.plain();
        let mut encoder = DeflateEncoder::new(vec![DEFLATED], Compression::new(9));
        let packed = encoder.write_all(&plain).and_then(|()| encoder.finish());
        match packed {
            Ok(packed) if packed.len() <= plain.len() => packed,
            _ => [&[PLAIN][..], &plain].concat(),
        }
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Table, DamagedBlock> {
        match bytes.split_first() {
            Some((&PLAIN, plain)) => Table::read(plain),
            Some((&DEFLATED, packed)) => {
                let mut plain = Vec::new();
                let mut decoder = DeflateDecoder::new(packed).take(MOST_BYTES);
                decoder.read_to_end(&mut plain).map_err(|_| DamagedBlock)?;
                Table::read(&plain)
            }
            _ => Err(DamagedBlock),
        }
    }

    fn plain(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.len() * (self.columns.len() + 1));
        put(&mut out, self.len() as u64);
        put(&mut out, self.columns.len() as u64);
        let (mut before, mut step) = (0_i64, 0_i64);
        for &time in &self.times {
            let difference = time.wrapping_sub(before);
            put_signed(&mut out, difference.wrapping_sub(step));
            (before, step) = (time, difference);
        }
        for column in &self.columns {
            put_column(&mut out, column);
        }
        out
    }

    fn read(plain: &[u8]) -> Result<Table, DamagedBlock> {
        let mut input = Input(plain);
        let rows = input.number().filter(|rows| *rows <= MOST_ROWS).ok_or(DamagedBlock)?;
        let columns = input.number().filter(|it| *it <= MOST_COLUMNS).ok_or(DamagedBlock)?;
        let rows = rows as usize;
        let mut times = Vec::with_capacity(rows);
        let (mut before, mut step) = (0_i64, 0_i64);
        for _ in 0..rows {
            step = step.wrapping_add(input.signed().ok_or(DamagedBlock)?);
            before = before.wrapping_add(step);
            times.push(before);
        }
        let columns = (0..columns).map(|_| input.column(rows)).collect::<Option<Vec<_>>>();
        Ok(Table { times, columns: columns.ok_or(DamagedBlock)? })
    }
}

fn put_column(out: &mut Vec<u8>, column: &[i64]) {
    let mut present = column.iter().copied().filter(|value| *value != MISSING);
    let Some(first) = present.next() else { return out.push(0) };
    let missing = column.contains(&MISSING);
    if !missing && present.all(|value| value == first) {
        out.push(1);
        return put_signed(out, first);
    }
    out.push(if missing { 3 } else { 2 });
    if missing {
        put_stretches(out, column);
    }
    let mut before = 0_i64;
    for value in column.iter().filter(|value| **value != MISSING) {
        put_signed(out, value.wrapping_sub(before));
        before = *value;
    }
}

/// How many there are, then present and missing ones in turn, the present first.
fn put_stretches(out: &mut Vec<u8>, column: &[i64]) {
    let mut lengths = vec![0_u64];
    let mut is_present = true;
    for value in column {
        if (*value != MISSING) != is_present {
            is_present = !is_present;
            lengths.push(0);
        }
        if let Some(last) = lengths.last_mut() {
            *last += 1;
        }
    }
    put(out, lengths.len() as u64);
    lengths.into_iter().for_each(|length| put(out, length));
}

fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Small ones of both signs are short.
fn put_signed(out: &mut Vec<u8>, number: i64) {
    put(out, ((number << 1) ^ (number >> 63)).cast_unsigned());
}

struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn signed(&mut self) -> Option<i64> {
        let number = self.number()?;
        Some((number >> 1).cast_signed() ^ -((number & 1).cast_signed()))
    }

    fn column(&mut self, rows: usize) -> Option<Vec<i64>> {
        match self.byte()? {
            0 => Some(vec![MISSING; rows]),
            1 => Some(vec![self.signed()?; rows]),
            2 => self.differences(rows),
            3 => {
                let stretches = self.number().filter(|count| *count <= rows as u64 + 1)?;
                let lengths: Vec<u64> =
                    (0..stretches).map(|_| self.number()).collect::<Option<_>>()?;
                let total = lengths.iter().try_fold(0_u64, |sum, it| sum.checked_add(*it))?;
                (total == rows as u64).then_some(())?;
                let present: u64 = lengths.iter().step_by(2).sum();
                let mut values = self.differences(present as usize)?.into_iter();
                let mut column = Vec::with_capacity(rows);
                for (place, length) in lengths.into_iter().enumerate() {
                    match place % 2 {
                        0 => column.extend(values.by_ref().take(length as usize)),
                        _ => column.resize(column.len() + length as usize, MISSING),
                    }
                }
                Some(column)
            }
            _ => None,
        }
    }

    fn differences(&mut self, count: usize) -> Option<Vec<i64>> {
        let mut before = 0_i64;
        let next = |_| {
            before = before.wrapping_add(self.signed()?);
            Some(before)
        };
        (0..count).map(next).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tables() -> impl Strategy<Value = Table> {
        let value = prop_oneof![4 => -1_000_i64..1_000, 1 => Just(MISSING), 1 => any::<i64>()];
        (0_usize..200, 0_usize..6).prop_flat_map(move |(rows, columns)| {
            let times = prop::collection::vec(any::<i64>(), rows);
            let column = prop::collection::vec(value.clone(), rows);
            (times, prop::collection::vec(column, columns))
                .prop_map(|(times, columns)| Table { times, columns })
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(table in tables()) {
            prop_assert_eq!(Table::decode(&table.encode()), Ok(table));
        }

        #[test]
        fn damaged_blocks_are_errors_and_no_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Table::decode(&bytes);
        }

        #[test]
        fn a_cut_block_is_not_taken_for_a_whole(table in tables(), cut in 1_usize..20) {
            let bytes = table.encode();
            let kept = bytes.len().saturating_sub(cut);
            if let Ok(read) = Table::decode(&bytes[..kept]) {
                // Deflate may end early where only padding is cut.
                prop_assert_eq!(read, table);
            }
        }
    }

    #[test]
    fn constants_cost_nothing() {
        let mut table = Table::new(10);
        (0..900).for_each(|row| table.push(row * 20, [0, 1, 2, 3, 4, 5, 6, MISSING, 100_000, -7]));
        assert!(table.encode().len() < 48, "{}", table.encode().len());
    }
}
