//! Lengths of time as people write them in settings: `10s`, `5m`, `1h30m`, `2d`.

use danlu_core::{Span, limits};

const UNITS: [(&str, u64); 5] =
    [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// The shortest way to write it that is read back as the same.
pub fn to_text(Span(ms): Span) -> String {
    if ms == 0 {
        return String::from("0s");
    }
    let mut rest = ms;
    let mut text = String::new();
    for (unit, length) in UNITS {
        if rest >= length {
            text += &format!("{}{unit}", rest / length);
            rest %= length;
        }
    }
    text
}

/// A number without a unit is seconds. `None` for what makes no sense.
pub fn from_text(text: &str) -> Option<Span> {
    let text = text.trim();
    if let Ok(seconds) = text.parse::<u64>() {
        return sensible(seconds.checked_mul(1_000)?);
    }
    let mut total = 0_u64;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit())?;
        let number: u64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let end = rest.find(|letter: char| letter.is_ascii_digit()).unwrap_or(rest.len());
        let (_, length) = UNITS.into_iter().find(|(unit, _)| *unit == &rest[..end])?;
        total = total.checked_add(number.checked_mul(length)?)?;
        rest = &rest[end..];
    }
    if text.is_empty() { None } else { sensible(total) }
}

fn sensible(ms: u64) -> Option<Span> {
    Some(Span(ms)).filter(|span| *span <= limits::LONGEST)
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
            assert_eq!(to_text(Span(ms)), text);
            assert_eq!(from_text(text), Some(Span(ms)), "{text}");
        }
        assert_eq!(from_text("45"), Some(Span(45_000)));
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
            assert_eq!(from_text(text), None, "{text}");
        }
    }
}
