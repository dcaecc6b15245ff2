//! Samples summed up over longer steps: the least, the mean and the most of each.

use super::codec::{MISSING, Table};
use std::collections::BTreeMap;

/// How finely something is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Tier {
    Raw,
    Minutes,
    Hours,
}

impl Tier {
    pub(super) const ROLLED: [Tier; 2] = [Tier::Minutes, Tier::Hours];

    /// As it is stored.
    pub(super) fn number(self) -> i64 {
        match self {
            Tier::Raw => 0,
            Tier::Minutes => 1,
            Tier::Hours => 2,
        }
    }

    /// Milliseconds of one row.
    pub(super) fn step(self) -> i64 {
        match self {
            Tier::Raw => 100,
            Tier::Minutes => 60_000,
            Tier::Hours => 3_600_000,
        }
    }

    /// Milliseconds of one block.
    pub(super) fn window(self) -> i64 {
        match self {
            Tier::Raw => 30 * 60_000,
            Tier::Minutes => 6 * 3_600_000,
            Tier::Hours => 10 * 86_400_000,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spread {
    pub min: i64,
    pub mean: i64,
    pub max: i64,
}

/// Some samples in a row, of all metrics.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) samples: i64,
    pub(super) values: Vec<Option<Spread>>,
}

/// By the beginning of their steps, in milliseconds.
pub(super) type Rows = BTreeMap<i64, Row>;

impl Row {
    fn of_sample(values: impl Iterator<Item = i64>) -> Row {
        let spread =
            |value| (value != MISSING).then_some(Spread { min: value, mean: value, max: value });
        Row { samples: 1, values: values.map(spread).collect() }
    }

    /// The means count by their numbers of samples.
    pub(super) fn add(&mut self, other: &Row) {
        for (mine, theirs) in self.values.iter_mut().zip(&other.values) {
            *mine = match (*mine, *theirs) {
                (Some(one), Some(two)) => Some(Spread {
                    min: one.min.min(two.min),
                    mean: weighted((one.mean, self.samples), (two.mean, other.samples)),
                    max: one.max.max(two.max),
                }),
                (one, two) => one.or(two),
            };
        }
        self.samples += other.samples;
    }
}

fn weighted((one, count): (i64, i64), (two, more): (i64, i64)) -> i64 {
    let sum = i128::from(one) * i128::from(count) + i128::from(two) * i128::from(more);
    let all = i128::from((count + more).max(1));
    // To the nearest, also below zero.
    i64::try_from((2 * sum + all).div_euclid(2 * all)).unwrap_or(i64::MAX)
}

pub(super) fn add(rows: &mut Rows, at: i64, row: &Row) {
    match rows.get_mut(&at) {
        Some(known) => known.add(row),
        None => drop(rows.insert(at, row.clone())),
    }
}

/// Of raw samples, whose times are in tenths of seconds. Sums are kept until the end, so that nothing is rounded twice.
pub(super) fn roll_up(raw: &Table, step: i64) -> Rows {
    let columns = raw.columns.len();
    let mut sums: BTreeMap<i64, (Row, Vec<(i128, i64)>)> = BTreeMap::new();
    for (place, time) in raw.times.iter().enumerate() {
        let at = (time * Tier::Raw.step()).div_euclid(step) * step;
        let sample = Row::of_sample(raw.columns.iter().map(|column| column[place]));
        let (row, means) = sums.entry(at).or_insert_with(|| {
            (Row { samples: 0, values: vec![None; columns] }, vec![(0, 0); columns])
        });
        for (value, (sum, count)) in sample.values.iter().zip(means.iter_mut()) {
            if let Some(value) = value {
                *sum += i128::from(value.mean);
                *count += 1;
            }
        }
        row.add(&sample);
    }
    let finished = sums.into_iter().map(|(at, (mut row, means))| {
        for (value, (sum, count)) in row.values.iter_mut().zip(means) {
            if let Some(value) = value {
                let all = i128::from(count.max(1));
                value.mean = i64::try_from((2 * sum + all).div_euclid(2 * all)).unwrap_or(i64::MAX);
            }
        }
        (at, row)
    });
    finished.collect()
}

/// Every sample as a row of its own.
pub(super) fn each(raw: &Table) -> Rows {
    let row = |(place, time): (usize, &i64)| {
        let sample = Row::of_sample(raw.columns.iter().map(|column| column[place]));
        (time * Tier::Raw.step(), sample)
    };
    raw.times.iter().enumerate().map(row).collect()
}

/// As a block: how many samples, then for each metric the mean, and how far the least is below and the most above it.
pub(super) fn to_table(rows: &Rows, step: i64, metrics: usize) -> Table {
    let mut table = Table::new(1 + 3 * metrics);
    for (at, row) in rows {
        let values = row.values.iter().flat_map(|value| match value {
            Some(Spread { min, mean, max }) => [*mean, mean - min, max - mean],
            None => [MISSING; 3],
        });
        table.push(at.div_euclid(step), [row.samples].into_iter().chain(values));
    }
    table
}

pub(super) fn from_table(table: &Table, step: i64) -> Rows {
    let Some((samples, metrics)) = table.columns.split_first() else { return Rows::new() };
    let row = |(place, time): (usize, &i64)| {
        let value = |columns: &[Vec<i64>]| match columns {
            [mean, below, above] if mean[place] != MISSING => {
                let mean = mean[place];
                let (min, max) = (mean - below[place], mean + above[place]);
                Some(Spread { min, mean, max })
            }
            _ => None,
        };
        let values = metrics.chunks(3).map(value).collect();
        (time * step, Row { samples: samples[place].max(1), values })
    };
    table.times.iter().enumerate().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Samples every two seconds, some missing.
    fn raw() -> impl Strategy<Value = Table> {
        let value = prop_oneof![5 => 0_i64..100_000, 1 => Just(MISSING)];
        prop::collection::vec((value.clone(), value), 1..400).prop_map(|samples| {
            let mut table = Table::new(2);
            for (place, (one, two)) in (0_i64..).zip(samples) {
                table.push(16_000_000_000 + place * 20, [one, two]);
            }
            table
        })
    }

    proptest! {
        #[test]
        fn what_is_stored_is_what_was_rolled_up(table in raw()) {
            let rows = roll_up(&table, Tier::Minutes.step());
            let stored = to_table(&rows, Tier::Minutes.step(), 2);
            let read = Table::decode(&stored.encode()).expect("it was written so");
            prop_assert_eq!(from_table(&read, Tier::Minutes.step()), rows);
        }

        /// Added piece by piece, or all at once from the samples: the same, but for rounding.
        #[test]
        fn a_sum_of_pieces_equals_the_sum_of_all(table in raw(), cut in 0_usize..400) {
            let cut = cut.min(table.len());
            let first = Table {
                times: table.times[..cut].to_vec(),
                columns: table.columns.iter().map(|column| column[..cut].to_vec()).collect(),
            };
            let step = Tier::Hours.step();
            let mut pieces = roll_up(&first, step);
            for (at, row) in roll_up(&table.tail(cut), step) {
                add(&mut pieces, at, &row);
            }
            let whole = roll_up(&table, step);
            prop_assert_eq!(pieces.keys().collect::<Vec<_>>(), whole.keys().collect::<Vec<_>>());
            for (one, other) in pieces.values().zip(whole.values()) {
                prop_assert_eq!(one.samples, other.samples);
                for (one, other) in one.values.iter().zip(&other.values) {
                    let (one, other) = (one.map(|it| (it.min, it.max)), other.map(|it| (it.min, it.max)));
                    prop_assert_eq!(one, other);
                }
            }
        }

        #[test]
        fn the_mean_is_between_the_least_and_the_most(table in raw()) {
            for row in roll_up(&table, Tier::Minutes.step()).values() {
                for value in row.values.iter().flatten() {
                    prop_assert!(value.min <= value.mean && value.mean <= value.max);
                }
            }
        }
    }

    #[test]
    fn means_count_by_their_samples() {
        let row = |samples, mean| Row {
            samples,
            values: vec![Some(Spread { min: mean, mean, max: mean })],
        };
        let mut sum = row(30, 100);
        sum.add(&row(10, 0));
        let spread = Some(Spread { min: 0, mean: 75, max: 100 });
        assert_eq!(sum, Row { samples: 40, values: vec![spread] });
    }
}
