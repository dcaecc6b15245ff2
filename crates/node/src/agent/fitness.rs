//! Whether this machine can start runs. Checked again, with growing pauses, only while it cannot.

use danlu_core::Trouble;
use std::time::{Duration, Instant};

#[derive(Debug, Default)]
pub(super) struct Fitness {
    trouble: Option<Trouble>,
    look_at: Option<Instant>,
    /// Until the next look.
    patience: Duration,
    /// Since when it is well again.
    well: Option<Instant>,
}

const LEAST: Duration = Duration::from_secs(3);
const MOST: Duration = Duration::from_secs(60);

impl Fitness {
    pub(super) fn trouble(&self) -> Option<&Trouble> {
        self.trouble.as_ref()
    }

    pub(super) fn look_at(&self) -> Option<Instant> {
        self.look_at
    }

    /// A run could not be started. True when the state has changed.
    pub(super) fn met(&mut self, trouble: Trouble, now: Instant) -> bool {
        let news = self.trouble.as_ref().is_none_or(|before| before.kind != trouble.kind);
        // It was well only for a moment: the server is told so less and less often.
        let relapse = self.well.take().is_some_and(|well| now.duration_since(well) < MOST);
        if relapse {
            self.patience = (self.patience * 2).min(MOST);
        } else if self.trouble.is_none() {
            self.patience = LEAST;
        }
        self.look_at.get_or_insert(now + self.patience);
        if news {
            self.trouble = Some(trouble);
        }
        news
    }

    /// The result of a check. True when the state has changed.
    pub(super) fn looked(&mut self, found: Option<Trouble>, now: Instant) -> bool {
        self.look_at = None;
        match found {
            Some(trouble) => {
                self.look_at = Some(now + self.patience);
                let news = self.trouble.as_ref() != Some(&trouble);
                self.trouble = Some(trouble);
                news
            }
            None => {
                self.well = Some(now);
                self.trouble.take().is_some()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use danlu_core::TroubleKind;

    #[test]
    fn a_machine_that_is_well_for_a_moment_is_looked_at_less_often() {
        let mut fitness = Fitness::default();
        let full = || Trouble::new(TroubleKind::DiskFull, "no space");
        let mut now = Instant::now();
        let mut waits = Vec::new();
        for _ in 0..7 {
            assert!(fitness.met(full(), now));
            assert!(!fitness.met(full(), now), "said once");
            waits.push(fitness.look_at().unwrap().duration_since(now).as_secs());
            now = fitness.look_at().unwrap();
            assert!(fitness.looked(None, now));
            assert_eq!((fitness.trouble(), fitness.look_at()), (None, None));
        }
        assert_eq!(waits, [3, 6, 12, 24, 48, 60, 60]);
        now += MOST;
        assert!(fitness.met(full(), now));
        assert_eq!(fitness.look_at(), Some(now + LEAST));
        assert!(!fitness.looked(Some(full()), now + LEAST));
        assert!(fitness.trouble().is_some() && fitness.look_at().is_some());
    }
}
