//! Integer logarithms of durations: equal on every machine, and precise enough for averages.

use crate::model::time::Span;

/// The binary logarithm of a number of milliseconds, in 65,536ths, straight between powers of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Logarithm(pub(crate) u64);

const FRACTION_BITS: u32 = 16;

impl Logarithm {
    pub(crate) fn of(span: Span) -> Logarithm {
        let number = span.0.max(1);
        let whole = number.ilog2();
        let fraction = (u128::from(number) << FRACTION_BITS >> whole) as u64 - (1 << FRACTION_BITS);
        Logarithm(u64::from(whole) << FRACTION_BITS | fraction)
    }

    pub(crate) fn span(self) -> Span {
        let whole = (self.0 >> FRACTION_BITS).min(63);
        let fraction = self.0 & ((1 << FRACTION_BITS) - 1) | 1 << FRACTION_BITS;
        let number = u128::from(fraction) << whole >> FRACTION_BITS;
        Span(u64::try_from(number).unwrap_or(u64::MAX))
    }

    /// The middle of several: one outlier of a hundred times the others weighs little.
    pub(crate) fn mean(sum: u64, count: u64) -> Option<Logarithm> {
        sum.checked_div(count).map(Logarithm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back_is_nearly_the_same() {
        for number in [1, 2, 3, 1000, 3_600_000, 86_400_000, u64::MAX / 3, u64::MAX] {
            let back = Logarithm::of(Span(number)).span().0;
            assert!(back <= number && number - back <= number >> 15, "{number} became {back}");
        }
        assert_eq!(Logarithm::of(Span::ZERO).span(), Span(1));
    }

    #[test]
    fn the_mean_of_logarithms_is_geometric() {
        let sum = Logarithm::of(Span(1 << 10)).0 + Logarithm::of(Span(1 << 20)).0;
        assert_eq!(Logarithm::mean(sum, 2).map(Logarithm::span), Some(Span(1 << 15)));
        assert_eq!(Logarithm::mean(0, 0), None);
    }
}
