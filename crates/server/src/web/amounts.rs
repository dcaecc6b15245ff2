//! Numbers with units.

pub(super) use crate::parse::amount::rounded_bytes as bytes;
pub(super) use crate::parse::duration::{clock, length};

/// `21 / 80 GiB`.
pub(super) fn part_of(used: u64, total: u64) -> String {
    let gib = |bytes: u64| bytes as f64 / f64::from(1 << 30);
    let used = match gib(used) {
        few if few > 0.0 && few < 9.95 => format!("{few:.1}"),
        many => format!("{many:.0}"),
    };
    format!("{used} / {:.0} GiB", gib(total))
}

pub(super) fn percent(part: u64, whole: u64) -> u64 {
    part.saturating_mul(100).checked_div(whole).unwrap_or(0).min(100)
}
