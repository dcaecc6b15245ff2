//! Parses amounts of memory: `20G`, `1.5T`, `512M`, `4096`. `danlu_messages::amounts` prints them.

use super::times;
use danlu_messages::spec as msg;

/// Bytes. Units count in 1024s, as those who order memory and GPUs mean them.
pub fn parse_bytes(given: &str) -> Result<u64, String> {
    parse_bytes_in(given, 1)
}

/// A number without a unit counts in `bare`.
pub fn parse_bytes_in(given: &str, bare: u64) -> Result<u64, String> {
    let digits = given.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(given.len());
    let (number, unit) = given.split_at(digits);
    let factor = factor(unit, bare).ok_or_else(complaint)?;
    times(number, factor).ok_or_else(complaint)
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

fn complaint() -> String {
    msg::expected_size().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use danlu_messages::amounts::exact_bytes;

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
    fn what_is_shown_can_be_typed() {
        for size in [1, 1_000, 1 << 20, 20 << 30, 3 << 29, 5 << 40] {
            assert_eq!(parse_bytes(&exact_bytes(size)), Ok(size));
        }
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
