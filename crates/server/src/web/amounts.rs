//! Numbers with units.

pub(super) use danlu_messages::amounts::{
    clock, length, rounded_bytes as bytes, used_of as part_of,
};

pub(super) fn percent(part: u64, whole: u64) -> u64 {
    part.saturating_mul(100).checked_div(whole).unwrap_or(0).min(100)
}
