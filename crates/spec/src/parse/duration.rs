//! Parses durations: `10s`, `5m`, `1h30m`, `2d`. `danlu_messages::amounts` prints them.

use danlu_core::{Span, limits};
use danlu_messages::amounts::DURATION_UNITS;

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
        let (_, unit) = *DURATION_UNITS.iter().find(named)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use danlu_messages::amounts::{length, span};

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
