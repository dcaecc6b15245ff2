//! A fraction from 0 to 1.

use serde::{Deserialize, Serialize};

/// Kept as millionths, so that equal ones are equal; written as a number such as 0.2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Fraction {
    millionths: u32,
}

const WHOLE: u32 = 1_000_000;

impl Fraction {
    pub const ZERO: Fraction = Fraction { millionths: 0 };

    /// More than a whole is a whole.
    pub const fn from_thousandths(thousandths: u32) -> Fraction {
        let millionths = if thousandths < 1000 { thousandths * 1000 } else { WHOLE };
        Fraction { millionths }
    }

    pub fn of(self, bytes: u64) -> u64 {
        let part = u128::from(bytes) * u128::from(self.millionths) / u128::from(WHOLE);
        u64::try_from(part).unwrap_or(u64::MAX)
    }
}

impl From<Fraction> for f64 {
    fn from(fraction: Fraction) -> f64 {
        f64::from(fraction.millionths) / f64::from(WHOLE)
    }
}

impl TryFrom<f64> for Fraction {
    type Error = String;

    fn try_from(number: f64) -> Result<Fraction, String> {
        if (0.0..=1.0).contains(&number) {
            Ok(Fraction { millionths: (number * f64::from(WHOLE)).round() as u32 })
        } else {
            Err(format!("{number} is not a part of a whole: from 0 to 1"))
        }
    }
}
