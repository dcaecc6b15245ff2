//! Parses time limits: `90m`, `2h`, `1h30m`, `1-02:00:00`, and Slurm's other ways to write them.

use super::{duration, whole};
use danlu_messages::spec as msg;

/// What `--time` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeLimit {
    None,
    Seconds {
        seconds: u64,
        /// Written without a unit, so that the person should see how it was read.
        ambiguous: bool,
    },
}

impl TimeLimit {
    pub fn seconds(self) -> Option<u64> {
        match self {
            Self::None => None,
            Self::Seconds { seconds, .. } => Some(seconds),
        }
    }
}

/// Ten years.
const MOST_SECONDS: u64 = 10 * 366 * 86_400;

pub fn parse_time_limit(given: &str) -> Result<TimeLimit, String> {
    let lower = given.to_ascii_lowercase();
    if ["none", "unlimited", "infinite", "0"].contains(&lower.as_str()) {
        return Ok(TimeLimit::None);
    }
    let has_unit = lower.contains(|c: char| c.is_ascii_alphabetic());
    let seconds = if has_unit { with_units(&lower) } else { with_colons(&lower) };
    match seconds {
        Some(seconds) if (1..=MOST_SECONDS).contains(&seconds) => {
            // `1:30` is minutes and seconds for Slurm, and hours and minutes for many people.
            let ambiguous = !has_unit && !lower.contains('-') && lower.matches(':').count() < 2;
            Ok(TimeLimit::Seconds { seconds, ambiguous })
        }
        _ => Err(complaint()),
    }
}

/// A length of time in seconds that needs a unit: `90s`, `10m`, `1-02:00:00`.
pub fn parse_length(given: &str) -> Result<u64, String> {
    match parse_time_limit(given) {
        Ok(TimeLimit::Seconds { seconds, ambiguous: false }) => Ok(seconds),
        Ok(TimeLimit::Seconds { ambiguous: true, .. } | TimeLimit::None) | Err(_) => {
            Err(msg::expected_duration().to_owned())
        }
    }
}

/// `1h30m`, `1.5h`, `2d`. `30m1h` and `1h1h` are more likely slips than wishes.
fn with_units(given: &str) -> Option<u64> {
    let parts = duration::parts(given)?;
    if parts.windows(2).any(|two| two[0].unit <= two[1].unit) {
        return None;
    }
    let total = parts.iter().try_fold(0_u64, |sum, part| sum.checked_add(part.length))?;
    Some(total.checked_add(500)? / 1_000)
}

/// Slurm's: `minutes`, `minutes:seconds`, `hours:minutes:seconds`, `days-hours[:minutes[:seconds]]`.
fn with_colons(given: &str) -> Option<u64> {
    let (days, clock) = match given.split_once('-') {
        Some((days, clock)) => (Some(whole(days)?), clock),
        None => (None, given),
    };
    let parts = clock.split(':').map(whole).collect::<Option<Vec<u64>>>()?;
    // `90:00` is ninety minutes, but `1:90:00` is a slip. Only the first part has no limit.
    if parts.iter().skip(1).any(|part| *part >= 60) {
        return None;
    }
    let (hours, minutes, seconds) = match (days, parts.as_slice()) {
        (None, [minutes]) => (0, *minutes, 0),
        (None, [minutes, seconds]) => (0, *minutes, *seconds),
        (Some(_), [hours]) => (*hours, 0, 0),
        (Some(_), [hours, minutes]) => (*hours, *minutes, 0),
        (_, [hours, minutes, seconds]) => (*hours, *minutes, *seconds),
        _ => return None,
    };
    let hours = days.unwrap_or(0_u64).checked_mul(24)?.checked_add(hours)?;
    hours.checked_mul(3_600)?.checked_add(minutes.checked_mul(60)?)?.checked_add(seconds)
}

fn complaint() -> String {
    msg::expected_time_limit().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_needs_its_unit() {
        assert_eq!(parse_length("90s"), Ok(90));
        assert_eq!(parse_length("1-00:00:00"), Ok(86_400));
        for wrong in ["10", "1:30", "none", "0", ""] {
            assert!(
                parse_length(wrong).is_err_and(|complaint| complaint.contains("90s")),
                "{wrong}"
            );
        }
    }

    fn seconds(given: &str) -> Option<u64> {
        parse_time_limit(given).unwrap_or_else(|_| panic!("{given} is refused")).seconds()
    }

    #[test]
    fn units_and_slurms_forms() {
        for (given, expect) in [
            ("90m", 5_400),
            ("2h", 7_200),
            ("2H", 7_200),
            ("1h30m", 5_400),
            ("1.5h", 5_400),
            ("45s", 45),
            ("2d", 172_800),
            ("1w", 604_800),
            ("10min", 600),
            ("1-02:00:00", 93_600),
            ("1-02:30", 95_400),
            ("1-2", 93_600),
            ("02:00:00", 7_200),
            ("30:00", 1_800),
            ("90", 5_400),
            ("1", 60),
        ] {
            assert_eq!(seconds(given), Some(expect), "{given}");
        }
        for given in ["0", "none", "UNLIMITED"] {
            assert_eq!(parse_time_limit(given), Ok(TimeLimit::None));
        }
    }

    #[test]
    fn what_is_shown_can_be_typed() {
        for length in [1, 59, 60, 5_400, 86_400, 90_000, 172_800, 200_000] {
            let shown = danlu_messages::amounts::length(length);
            assert_eq!(seconds(&shown), Some(length), "{shown}");
        }
    }

    #[test]
    fn a_bare_number_is_minutes_and_is_to_be_echoed() {
        let ambiguous = |given| match parse_time_limit(given) {
            Ok(TimeLimit::Seconds { ambiguous, .. }) => ambiguous,
            other => panic!("{given}: {other:?}"),
        };
        assert!(ambiguous("90"));
        assert!(ambiguous("1:30"));
        assert!(!ambiguous("90m"));
        assert!(!ambiguous("1:30:00"));
        assert!(!ambiguous("1-02"));
    }

    #[test]
    fn nonsense_is_refused() {
        for wrong in [
            "",
            "h",
            "-1",
            "+5",
            "1h1h",
            "30m1h",
            "1:2:3:4",
            "1:90:00",
            "1:99",
            "1-02:60",
            "1-",
            "-",
            "1-1-1",
            "1 h",
            "2x",
            "99999999999",
            "00:00",
            "1e3",
            "5h3",
        ] {
            assert!(parse_time_limit(wrong).is_err(), "{wrong} is accepted");
        }
    }
}
