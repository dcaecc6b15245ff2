//! The free memory of this machine, reported only when it has changed considerably.

use std::fs;

/// Changes below this fraction of the total are not reported.
const STEPS: u64 = 50;

#[derive(Debug, Default)]
pub(super) struct FreeMemory {
    told: Option<u64>,
}

impl FreeMemory {
    /// The free memory, if it has changed enough to be reported.
    pub(super) fn change(&mut self, free: Option<u64>, total: u64) -> Option<u64> {
        let free = free?;
        let same =
            |told: u64| told.abs_diff(free) < (total / STEPS).max(1) && (told == 0) == (free == 0);
        if self.told.is_some_and(same) {
            return None;
        }
        self.told = Some(free);
        self.told
    }

    pub(super) fn told(&self) -> Option<u64> {
        self.told
    }
}

/// What programs can get without making others swap.
pub(super) fn available() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_changes_are_no_news() {
        let mut memory = FreeMemory::default();
        assert_eq!(memory.change(Some(500), 1000), Some(500));
        assert_eq!(memory.change(Some(519), 1000), None);
        assert_eq!(memory.change(Some(520), 1000), Some(520));
        assert_eq!(memory.change(None, 1000), None);
        assert_eq!(memory.told(), Some(520));
    }

    #[test]
    fn this_machine_tells() {
        assert!(available().is_some_and(|bytes| bytes > 0));
    }
}
