//! What the steps and the test runners said, summed up: passed, failed, skipped.

use std::{
    fmt,
    ops::{Add, AddAssign},
};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
}

impl Tally {
    pub(crate) const PASSED: Self = Self { passed: 1, failed: 0, skipped: 0 };
    pub(crate) const FAILED: Self = Self { passed: 0, failed: 1, skipped: 0 };
    pub(crate) const SKIPPED: Self = Self { passed: 0, failed: 0, skipped: 1 };

    /// Reads the summary of cargo-nextest, or sums those of `cargo test`; `None` without any.
    pub(crate) fn of_test_output(output: &str) -> Option<Self> {
        // Nextest shows the output of failed tests, with a summary of `cargo test` in each: it goes first.
        let nextest = output.lines().filter_map(nextest_summary).reduce(Self::add);
        nextest.or_else(|| output.lines().filter_map(cargo_test_summary).reduce(Self::add))
    }

    /// Tests that passed because they could not run here, and said so.
    pub(crate) fn with_skipped(self, skipped: usize) -> Self {
        let skipped = (skipped as u64).min(self.passed);
        Self { passed: self.passed - skipped, skipped: self.skipped + skipped, ..self }
    }

    /// `12 passed`, `3 failed`, `1 timed out`, `2 ignored`, `1 exec failed`, …
    fn of_count(phrase: &str) -> Option<Self> {
        let (count, what) = phrase.trim().split_once(' ')?;
        let count = count.parse().ok()?;
        let mut tally = Self::default();
        match what {
            "passed" => tally.passed = count,
            "skipped" | "ignored" => tally.skipped = count,
            "measured" | "filtered out" => {}
            _ => tally.failed = count,
        }
        Some(tally)
    }
}

impl Add for Tally {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            passed: self.passed + other.passed,
            failed: self.failed + other.failed,
            skipped: self.skipped + other.skipped,
        }
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)?;
        if self.skipped > 0 {
            write!(f, ", {} skipped", self.skipped)?;
        }
        Ok(())
    }
}

/// `Summary [ 0.1s] 9/12 tests run: 7 passed (1 slow), 2 failed, 3 skipped`.
fn nextest_summary(line: &str) -> Option<Tally> {
    let line = line.trim_start().strip_prefix("Summary [")?;
    let (_, counts) = line.split_once(" tests run: ").or_else(|| line.split_once(" test run: "))?;
    let counts = without_parentheses(counts);
    Some(sum(counts.split(',')))
}

/// `test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.05s`.
fn cargo_test_summary(line: &str) -> Option<Tally> {
    let line = line.strip_prefix("test result: ")?;
    let (_, counts) = line.split_once(". ")?;
    Some(sum(counts.split(';')))
}

fn sum<'a>(phrases: impl Iterator<Item = &'a str>) -> Tally {
    phrases.filter_map(Tally::of_count).fold(Tally::default(), Tally::add)
}

fn without_parentheses(text: &str) -> String {
    let mut depth = 0;
    text.chars()
        .filter(|&letter| {
            let outside = depth == 0 && letter != '(';
            match letter {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            outside
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::Tally;

    fn check(output: &str, expect: Option<[u64; 3]>) {
        let found = Tally::of_test_output(output);
        let found = found.map(|tally| [tally.passed, tally.failed, tally.skipped]);
        assert_eq!(found, expect, "{output}");
    }

    #[test]
    fn nextest_summaries_are_read() {
        check("     Summary [   0.082s] 9 tests run: 9 passed, 0 skipped", Some([9, 0, 0]));
        check("Summary [ 0.1s] 1 test run: 1 passed, 2 skipped", Some([1, 0, 2]));
        check(
            "Summary [1s] 9/12 tests run: 4 passed (1 slow, 2 leaky), 2 failed (1 due to being leaky), 1 exec failed, 2 timed out, 3 skipped",
            Some([4, 5, 3]),
        );
    }

    #[test]
    fn cargo_test_summaries_are_summed() {
        check(
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 4 filtered out; finished in 0.00s\n\
             test result: FAILED. 1 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.05s",
            Some([4, 2, 1]),
        );
    }

    #[test]
    fn nextest_counts_a_failed_test_once() {
        check(
            "test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 2 filtered out\n\
             Summary [1s] 3 tests run: 2 passed, 1 failed, 0 skipped",
            Some([2, 1, 0]),
        );
    }

    #[test]
    fn output_without_a_summary_counts_nothing() {
        check("error: could not compile\nthe Summary [ is not a line of its own", None);
    }

    #[test]
    fn skipped_is_named_only_when_there_is_something() {
        let tally = Tally { passed: 3, failed: 0, skipped: 0 };
        assert_eq!(tally.to_string(), "3 passed, 0 failed");
        assert_eq!(tally.with_skipped(1).to_string(), "2 passed, 0 failed, 1 skipped");
    }
}
