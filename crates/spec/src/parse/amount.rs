//! Amounts of memory: `20G`, `1.5T`, `512M`, `4096`; read and written here alone.

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

/// A size as one would write it for `--mem`, losing nothing.
pub fn exact_bytes(bytes: u64) -> String {
    for (power, unit) in [(40, "T"), (30, "G"), (20, "M"), (10, "K")] {
        if bytes >= 1 << power && bytes.is_multiple_of(1 << power) {
            return format!("{}{unit}", bytes >> power);
        }
    }
    bytes.to_string()
}

/// `71.0G`, `512M`: short, for tables.
pub fn short_bytes(bytes: u64) -> String {
    let (number, unit) = scaled(bytes);
    match unit {
        "B" => format!("{bytes}B"),
        _ if number < 100.0 => format!("{number:.1}{}", &unit[..1]),
        _ => format!("{number:.0}{}", &unit[..1]),
    }
}

/// `21.3 GiB`: in sentences.
pub fn bytes_in_words(bytes: u64) -> String {
    let (number, unit) = scaled(bytes);
    if unit == "B" { format!("{bytes} B") } else { format!("{number:.1} {unit}") }
}

/// `80 GiB`, `1.5 GiB`: where a card's size is read as its name.
pub fn rounded_bytes(bytes: u64) -> String {
    let (number, unit) = scaled(bytes);
    if unit == "B" || number >= 10.0 {
        format!("{number:.0} {unit}")
    } else {
        format!("{number:.1} {unit}")
    }
}

fn scaled(bytes: u64) -> (f64, &'static str) {
    let mut number = bytes as f64;
    let mut unit = "B";
    for larger in ["KiB", "MiB", "GiB", "TiB", "PiB"] {
        if number < 1024.0 {
            break;
        }
        number /= 1024.0;
        unit = larger;
    }
    (number, unit)
}

fn complaint() -> String {
    msg::a_size_is_written_as_20g_or_512m().to_owned()
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
    fn memory() {
        assert_eq!(short_bytes(71 << 30), "71.0G");
        assert_eq!(short_bytes(512 << 20), "512M");
        assert_eq!(short_bytes(100), "100B");
        assert_eq!(bytes_in_words((213 << 30) / 10), "21.3 GiB");
        assert_eq!((rounded_bytes(80 << 30), rounded_bytes(7)), ("80 GiB".into(), "7 B".into()));
        assert_eq!(rounded_bytes(3 << 29), "1.5 GiB");
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
