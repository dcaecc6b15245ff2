//! Amounts of memory: `20G`, `1.5T`, `512M`, `4096`.

use crate::language::text;

/// Bytes. Units count in 1024s, as those who order memory and GPUs mean them.
pub fn parse_bytes(given: &str) -> Result<u64, String> {
    parse_bytes_in(given, 1)
}

/// A number without a unit counts in `bare`.
pub fn parse_bytes_in(given: &str, bare: u64) -> Result<u64, String> {
    let digits = given.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(given.len());
    let (number, unit) = given.split_at(digits);
    let factor = factor(unit, bare).ok_or_else(complaint)?;
    bytes(number, factor).ok_or_else(complaint)
}

fn factor(unit: &str, bare: u64) -> Option<u64> {
    let unit = unit.to_ascii_lowercase();
    let power = match unit.trim_end_matches('b').trim_end_matches('i') {
        "" if unit.is_empty() => return Some(bare),
        "" if unit == "b" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        "p" => 5,
        _ => return None,
    };
    Some(1 << (10 * power))
}

/// In whole numbers, so that no size is rounded.
fn bytes(number: &str, factor: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let whole = if whole.is_empty() { 0 } else { whole.parse::<u64>().ok()? };
    let mut total = u128::from(whole) * u128::from(factor);
    if !fraction.is_empty() {
        let digits = u32::try_from(fraction.len()).ok().filter(|digits| *digits <= 15)?;
        total += fraction.parse::<u128>().ok()? * u128::from(factor) / 10_u128.pow(digits);
    }
    u64::try_from(total).ok()
}

/// A size as one would write it for `--mem`, losing nothing.
pub fn exact_bytes(bytes: u64) -> String {
    for (power, unit) in [(40, "T"), (30, "G"), (20, "M"), (10, "K")] {
        if bytes >= 1 << power && bytes.is_multiple_of(1 << power) {
            return format!("{}{unit}", bytes >> power);
        }
    }
    bytes.to_string()
}

fn complaint() -> String {
    text("a size is written as 20G or 512M", "大小的写法是 20G 或 512M").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_powers_of_1024() {
        let check = |given, expect| assert_eq!(parse_bytes(given), Ok(expect), "{given}");
        check("4096", 4096);
        check("512M", 512 << 20);
        check("20G", 20 << 30);
        check("20g", 20 << 30);
        check("20GB", 20 << 30);
        check("20GiB", 20 << 30);
        check("1.5G", 3 << 29);
        check(".5k", 512);
        check("7b", 7);
        check("0", 0);
        assert_eq!(parse_bytes_in("4", 1 << 20), Ok(4 << 20));
    }

    #[test]
    fn nonsense_is_refused() {
        for wrong in
            ["", "G", ".", "-1", "1 G", "1x", "1.2.3G", "20Gi b", "99999999999999999999", "20000P"]
        {
            assert!(parse_bytes(wrong).is_err(), "{wrong} is accepted");
        }
    }
}
