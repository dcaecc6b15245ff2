//! The history of a simulation, one line per event; the last lines are shown when a seed fails.

use danlu_core::Time;
use std::collections::VecDeque;
use std::fmt;

#[derive(Debug)]
pub(super) struct History {
    start: Time,
    lines: VecDeque<String>,
    kept: usize,
    /// Over every line, kept or not: two runs of a seed are the same when this is.
    hash: u64,
}

impl History {
    pub(super) fn new(start: Time, kept: usize) -> History {
        History { start, lines: VecDeque::new(), kept: kept.max(1), hash: 0xcbf2_9ce4_8422_2325 }
    }

    pub(super) fn note(&mut self, now: Time, who: &str, what: fmt::Arguments<'_>) {
        let mut line = if self.lines.len() == self.kept {
            self.lines.pop_front().unwrap_or_default()
        } else {
            String::with_capacity(100)
        };
        line.clear();
        let since = now.since(self.start).0;
        let written = fmt::write(
            &mut line,
            format_args!("{:>6}.{:03}s  {who:<8} {what}", since / 1000, since % 1000),
        );
        written.expect("a string takes whatever is written");
        for byte in line.bytes() {
            self.hash = (self.hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        self.lines.push_back(line);
    }

    pub(super) fn hash(&self) -> u64 {
        self.hash
    }

    pub(super) fn into_lines(self) -> Vec<String> {
        self.lines.into()
    }
}
