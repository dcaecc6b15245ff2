//! The figures of a report: sums of pieces, each for the part of it that lies in a stretch of time.

use super::piece::{Measured, Piece, TaskCount};
use danlu_core::FailureClass;
use std::collections::BTreeMap;

/// All are whole numbers, so that sums are exact.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Figures {
    /// GPU milliseconds.
    pub(crate) gpu: i64,
    /// CPU milliseconds.
    pub(crate) cpu: i64,
    pub(crate) running: u64,
    pub(crate) succeeded: u64,
    pub(crate) failed: u64,
    pub(crate) cancelled: u64,
    pub(crate) timed_out: u64,
    pub(crate) failures: BTreeMap<FailureClass, u64>,
    pub(crate) measured: Measured,
    /// Milliseconds, of each task that counts here and waited for the cluster.
    waits: Vec<i64>,
}

/// Milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Waits {
    pub(crate) tasks: u64,
    pub(crate) mean: i64,
    pub(crate) median: i64,
    pub(crate) p90: i64,
}

impl Figures {
    /// The part of a piece from `from` on and before `to`, without what is counted once.
    pub(crate) fn add_time(&mut self, piece: &Piece, from: i64, to: i64) {
        let (begins, ends) = (piece.begun.max(from), piece.ended.min(to));
        let whole = piece.ended - piece.begun;
        // One without length counts where its end is.
        if begins > ends || (begins == ends && whole > 0) || (whole == 0 && piece.ended == to) {
            return;
        }
        self.gpu += i64::from(piece.gpus) * (ends - begins).max(0);
        if begins == piece.begun && ends == piece.ended {
            return self.add_amounts(piece.cpu, piece.measured);
        }
        let (before, after) = (begins - piece.begun, ends - piece.begun);
        // What no time is known of is spread evenly. The shares of neighbours add up to the whole.
        let share = |amount: i64| portion(amount, after, whole) - portion(amount, before, whole);
        let Measured { held, idle, used, known, energy } = piece.measured;
        let measured = Measured {
            held: share(held),
            idle: share(idle),
            used: share(used),
            known: share(known),
            energy: share(energy),
        };
        self.add_amounts(share(piece.cpu), measured);
    }

    fn add_amounts(&mut self, cpu: i64, measured: Measured) {
        self.cpu += cpu;
        self.measured.plus(measured);
    }

    /// What is counted once: where its end, or the present, is.
    pub(crate) fn add_end(&mut self, piece: &Piece) {
        match piece.task {
            None => {}
            Some(TaskCount::Running) => self.running += 1,
            Some(TaskCount::Succeeded) => self.succeeded += 1,
            Some(TaskCount::Failed) => self.failed += 1,
            Some(TaskCount::Cancelled) => self.cancelled += 1,
            Some(TaskCount::TimedOut) => self.timed_out += 1,
        }
        self.waits.extend(piece.waited);
        if let Some(class) = piece.failure {
            *self.failures.entry(class).or_default() += 1;
        }
    }

    pub(super) fn plus(&mut self, other: &Figures) {
        self.gpu += other.gpu;
        self.cpu += other.cpu;
        self.running += other.running;
        self.succeeded += other.succeeded;
        self.failed += other.failed;
        self.cancelled += other.cancelled;
        self.timed_out += other.timed_out;
        for (class, count) in &other.failures {
            *self.failures.entry(*class).or_default() += count;
        }
        self.measured.plus(other.measured);
        self.waits.extend(&other.waits);
    }

    pub(crate) fn tasks(&self) -> u64 {
        self.running + self.succeeded + self.failed + self.cancelled + self.timed_out
    }

    pub(crate) fn is_nothing(&self) -> bool {
        self.gpu == 0 && self.cpu == 0 && self.tasks() == 0 && self.failures.is_empty()
    }

    /// `None` where nobody waited.
    pub(crate) fn waits(&mut self) -> Option<Waits> {
        self.waits.sort_unstable();
        let tasks = self.waits.len();
        let sum: i128 = self.waits.iter().map(|wait| i128::from(*wait)).sum();
        let mean = sum.checked_div(tasks as i128)?;
        // The least that so many percent did not exceed.
        let rank = |percent: usize| self.waits[(tasks * percent).div_ceil(100).max(1) - 1];
        Some(Waits {
            tasks: tasks as u64,
            mean: i64::try_from(mean).unwrap_or(i64::MAX),
            median: rank(50),
            p90: rank(90),
        })
    }
}

impl Measured {
    fn plus(&mut self, other: Measured) {
        self.held += other.held;
        self.idle += other.idle;
        self.used += other.used;
        self.known += other.known;
        self.energy += other.energy;
    }
}

/// Of an amount that is spread over `whole`, what comes before `until`.
fn portion(amount: i64, until: i64, whole: i64) -> i64 {
    let product = i128::from(amount) * i128::from(until);
    i64::try_from(product / i128::from(whole.max(1))).unwrap_or(i64::MAX)
}

#[cfg(test)]
impl Figures {
    /// The sum of the waits, which are none then.
    pub(super) fn take_waits(&mut self) -> i64 {
        std::mem::take(&mut self.waits).into_iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_ranked() {
        let mut figures = Figures { waits: (1..=10).rev().collect(), ..Figures::default() };
        let waits = figures.waits().unwrap();
        assert_eq!(waits, Waits { tasks: 10, mean: 5, median: 5, p90: 9 });
        let mut one = Figures { waits: vec![7], ..Figures::default() };
        assert_eq!(one.waits(), Some(Waits { tasks: 1, mean: 7, median: 7, p90: 7 }));
        assert_eq!(Figures::default().waits(), None);
    }
}
