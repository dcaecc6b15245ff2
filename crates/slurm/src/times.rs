//! Times and lengths as Slurm writes them: `2026-11-18T10:50:35`, `1-00:00:00`, `0:42`.

use jiff::{Timestamp, tz::TimeZone};

/// What the clock and the time zone of the reader say.
#[derive(Clone, Debug)]
pub struct Now {
    pub at: Timestamp,
    pub zone: TimeZone,
}

impl Now {
    pub fn local(&self, at: Timestamp) -> String {
        at.to_zoned(self.zone.clone()).strftime("%Y-%m-%dT%H:%M:%S").to_string()
    }
}

pub fn read(at: &str) -> Option<Timestamp> {
    at.parse().ok()
}

/// As `squeue` does: `0:42`, `1:02:03`, `1-02:03:04`.
pub fn short(seconds: u64) -> String {
    let (days, hours) = (seconds / 86_400, seconds / 3_600 % 24);
    let (minutes, seconds) = (seconds / 60 % 60, seconds % 60);
    match (days, hours) {
        (0, 0) => format!("{minutes}:{seconds:02}"),
        (0, hours) => format!("{hours}:{minutes:02}:{seconds:02}"),
        (days, hours) => format!("{days}-{hours:02}:{minutes:02}:{seconds:02}"),
    }
}

/// As `scontrol` and `sacct` do: `00:00:42`, `1-02:03:04`.
pub fn long(seconds: u64) -> String {
    let (days, hours) = (seconds / 86_400, seconds / 3_600 % 24);
    let (minutes, seconds) = (seconds / 60 % 60, seconds % 60);
    match days {
        0 => format!("{hours:02}:{minutes:02}:{seconds:02}"),
        days => format!("{days}-{hours:02}:{minutes:02}:{seconds:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_as_slurm_prints_them() {
        for (seconds, squeue, sacct) in [
            (0, "0:00", "00:00:00"),
            (42, "0:42", "00:00:42"),
            (3_723, "1:02:03", "01:02:03"),
            (93_784, "1-02:03:04", "1-02:03:04"),
        ] {
            assert_eq!((short(seconds).as_str(), long(seconds).as_str()), (squeue, sacct));
        }
    }
}
