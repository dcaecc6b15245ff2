//! Lengths of time: `10s`, `5m`, `1h30m`, `2d`; read and written here alone.

use danlu_core::{Span, limits};

/// What a unit may be called, its shortest name first, and its milliseconds.
const UNITS: [(&[&str], u64); 6] = [
    (&["w", "week", "weeks"], 604_800_000),
    (&["d", "day", "days"], 86_400_000),
    (&["h", "hour", "hours"], 3_600_000),
    (&["m", "min", "mins", "minute", "minutes"], 60_000),
    (&["s", "sec", "secs", "second", "seconds"], 1_000),
    (&["ms"], 1),
];

/// The milliseconds of one part, and those of its unit.
pub(super) struct Part {
    pub(super) length: u64,
    pub(super) unit: u64,
}

/// `1h30m`, `1.5h`: its parts, as they stand there.
pub(super) fn parts(text: &str) -> Option<Vec<Part>> {
    let mut rest = text;
    let mut parts = Vec::new();
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let letters = rest[digits..]
            .find(|c: char| !c.is_ascii_alphabetic())
            .map_or(rest.len(), |end| digits + end);
        let named = |(names, _): &&(&[&str], u64)| names.contains(&&rest[digits..letters]);
        let (_, unit) = *UNITS.iter().find(named)?;
        parts.push(Part { length: super::times(&rest[..digits], unit)?, unit });
        rest = &rest[letters..];
    }
    Some(parts)
}

/// A length in settings: a number without a unit is seconds, and there are no fractions. `None` for what makes no sense.
pub fn parse_span(text: &str) -> Option<Span> {
    let text = text.trim();
    let total = match text.parse::<u64>() {
        Ok(seconds) => seconds.checked_mul(1_000)?,
        Err(_) if text.is_empty() || text.contains('.') => return None,
        Err(_) => parts(text)?.iter().try_fold(0_u64, |sum, part| sum.checked_add(part.length))?,
    };
    Some(Span(total)).filter(|span| *span <= limits::LONGEST)
}

/// The shortest way to write it that is read back as the same: `1d`, `1h30m`.
pub fn span(Span(ms): Span) -> String {
    written(ms, 86_400_000)
}

/// As one would write it for `--time`: `24h`, but `2d`.
pub fn length(seconds: u64) -> String {
    written(
        seconds.saturating_mul(1_000),
        if seconds >= 2 * 86_400 { 86_400_000 } else { 3_600_000 },
    )
}

fn written(ms: u64, largest: u64) -> String {
    let mut rest = ms;
    let mut text = String::new();
    for (names, unit) in UNITS.into_iter().filter(|(_, unit)| *unit <= largest) {
        if rest >= unit {
            text += &format!("{}{}", rest / unit, names[0]);
            rest %= unit;
        }
    }
    if text.is_empty() { String::from("0s") } else { text }
}

/// How long something took: `1:22:10`, `1-02:00:00`.
pub fn clock(seconds: u64) -> String {
    let (days, hours) = (seconds / 86_400, seconds / 3_600 % 24);
    let (minutes, seconds) = (seconds / 60 % 60, seconds % 60);
    match days {
        0 => format!("{hours}:{minutes:02}:{seconds:02}"),
        _ => format!("{days}-{hours:02}:{minutes:02}:{seconds:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        for (ms, text) in [
            (0, "0s"),
            (1, "1ms"),
            (10_000, "10s"),
            (90_000, "1m30s"),
            (18_000_000, "5h"),
            (86_400_000, "1d"),
            (90_061_001, "1d1h1m1s1ms"),
        ] {
            assert_eq!(span(Span(ms)), text);
            assert_eq!(parse_span(text), Some(Span(ms)), "{text}");
        }
        assert_eq!(parse_span("45"), Some(Span(45_000)));
        assert_eq!(parse_span("30m1h"), Some(Span(5_400_000)));
        assert_eq!((length(86_400), length(172_800)), ("24h".to_owned(), "2d".to_owned()));
    }

    #[test]
    fn time() {
        assert_eq!(clock(0), "0:00:00");
        assert_eq!(clock(4_930), "1:22:10");
        assert_eq!(clock(93_600), "1-02:00:00");
    }

    #[test]
    fn nonsense_is_refused() {
        for text in [
            "",
            " ",
            "s",
            "5x",
            "-5s",
            "1.5h",
            "99999999999999999999",
            "5 m",
            "99999d",
            "400000000",
        ] {
            assert_eq!(parse_span(text), None, "{text}");
        }
    }
}
