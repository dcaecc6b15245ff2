//! Decimal numbers with up to three places, kept as integers so that every machine compares them alike.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// In JSON a plain number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "Number", try_from = "Number")]
pub struct Thousandths(pub i64);

/// As JSON has it; `2` and `2.0` are the same.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Number {
    Whole(i64),
    Decimal(f64),
    Text(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotThousandths;

impl Thousandths {
    pub const ONE: Thousandths = Thousandths(1_000);
    pub const ZERO: Thousandths = Thousandths(0);
    /// In both directions.
    pub const MOST: Thousandths = Thousandths(1_000_000_000);

    pub fn is_sound(self) -> bool {
        self.0.unsigned_abs() <= Thousandths::MOST.0.unsigned_abs()
    }
}

impl From<Thousandths> for Number {
    fn from(Thousandths(number): Thousandths) -> Number {
        match number % 1_000 {
            0 => Number::Whole(number / 1_000),
            _ => Number::Decimal(number as f64 / 1_000.0),
        }
    }
}

impl TryFrom<Number> for Thousandths {
    type Error = NotThousandths;

    fn try_from(number: Number) -> Result<Thousandths, NotThousandths> {
        match number {
            Number::Whole(number) => number.to_string().parse(),
            // The shortest decimal representation of this number, which is the one that was written.
            Number::Decimal(number) => number.to_string().parse(),
            Number::Text(text) => text.parse(),
        }
    }
}

impl FromStr for Thousandths {
    type Err = NotThousandths;

    fn from_str(text: &str) -> Result<Thousandths, NotThousandths> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(digits) => (true, digits),
            None => (false, text),
        };
        let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
        let plain = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || whole.len() > 7 || part.len() > 3 || !plain(whole) || !plain(part) {
            return Err(NotThousandths);
        }
        let number: i64 = format!("{whole}{part:0<3}").parse().map_err(|_| NotThousandths)?;
        let number = Thousandths(if negative { -number } else { number });
        if number.is_sound() { Ok(number) } else { Err(NotThousandths) }
    }
}

/// For serde, which puts it into errors about JSON.
impl fmt::Display for NotThousandths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number with at most three decimal places, between -1000000 and 1000000")
    }
}

impl fmt::Display for Thousandths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, part) = (self.0.unsigned_abs() / 1_000, self.0.unsigned_abs() % 1_000);
        let sign = if self.0 < 0 { "-" } else { "" };
        let text = format!("{sign}{whole}.{part:03}");
        f.pad(text.trim_end_matches('0').trim_end_matches('.'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_read_and_shown() {
        let check = |text: &str, expect: Result<i64, NotThousandths>| {
            assert_eq!(text.parse::<Thousandths>(), expect.map(Thousandths), "{text}");
        };
        check("2", Ok(2_000));
        check("-0.5", Ok(-500));
        check("0.001", Ok(1));
        check("1000000", Ok(1_000_000_000));
        for wrong in ["", "-", ".5", "1.0001", "1e3", "+1", "1000001", "9999999", "1.-1", "１"] {
            check(wrong, Err(NotThousandths));
        }
        for (number, text) in [(1_500, "1.5"), (-20, "-0.02"), (0, "0"), (100_000, "100")] {
            assert_eq!(Thousandths(number).to_string(), text);
        }
    }
}
