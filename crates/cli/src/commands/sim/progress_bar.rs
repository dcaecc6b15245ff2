//! The progress bar of a replay, on a terminal only.

use std::{
    io::{self, IsTerminal as _, Write as _},
    time::{Duration, Instant},
};

use danlu_sim::trace::{Policy, Progress};

#[derive(Debug)]
pub(super) struct ProgressBar {
    /// `None` without a terminal.
    drawn_at: Option<Instant>,
    label: String,
}

const BETWEEN_DRAWINGS: Duration = Duration::from_millis(100);
const WIDTH: usize = 30;

impl ProgressBar {
    pub(super) fn new(policy: Policy, place: usize, policies: usize) -> Self {
        Self {
            drawn_at: io::stderr().is_terminal().then(Instant::now),
            label: format!("{policy} ({}/{policies})", place + 1),
        }
    }

    /// A replay of less than a tenth of a second shows nothing at all.
    pub(super) fn draw(&mut self, progress: Progress) {
        if self.drawn_at.is_none_or(|at| at.elapsed() < BETWEEN_DRAWINGS) {
            return;
        }
        self.drawn_at = Some(Instant::now());
        let full = progress.ended * WIDTH / progress.jobs.max(1);
        let bar = "█".repeat(full) + &"░".repeat(WIDTH - full);
        let percent = progress.ended * 100 / progress.jobs.max(1);
        // The terminal may be closed.
        let _ = write!(io::stderr(), "\r{bar} {percent:3} % {}", self.label);
    }

    pub(super) fn clear(&self) {
        if self.drawn_at.is_some() {
            let _ = write!(io::stderr(), "\r\x1b[2K");
        }
    }
}
