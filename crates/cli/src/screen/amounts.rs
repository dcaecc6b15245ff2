//! Numbers with units: memory, lengths of time.

/// `71.0G`, `512M`: short, for tables.
pub(crate) fn bytes(bytes: u64) -> String {
    let (number, unit) = scaled(bytes);
    if unit == "B" {
        format!("{bytes}B")
    } else if number < 100.0 {
        format!("{number:.1}{}", &unit[..1])
    } else {
        format!("{number:.0}{}", &unit[..1])
    }
}

/// `21.3 GiB`: in sentences.
pub(crate) fn bytes_in_words(bytes: u64) -> String {
    let (number, unit) = scaled(bytes);
    if unit == "B" { format!("{bytes} B") } else { format!("{number:.1} {unit}") }
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

/// A size as one would write it for `--mem`, losing nothing.
pub(crate) fn exact_bytes(bytes: u64) -> String {
    for (power, unit) in [(40, "T"), (30, "G"), (20, "M"), (10, "K")] {
        if bytes >= 1 << power && bytes.is_multiple_of(1 << power) {
            return format!("{}{unit}", bytes >> power);
        }
    }
    bytes.to_string()
}

/// `1:22:10`, `1-02:00:00`: how long something took.
pub(crate) fn clock(seconds: u64) -> String {
    let (days, hours) = (seconds / 86_400, seconds / 3_600 % 24);
    let (minutes, seconds) = (seconds / 60 % 60, seconds % 60);
    if days > 0 {
        format!("{days}-{hours:02}:{minutes:02}:{seconds:02}")
    } else {
        format!("{hours}:{minutes:02}:{seconds:02}")
    }
}

/// `24h`, `1h30m`, `45s`: a length as one would write it for `--time`.
pub(crate) fn length(seconds: u64) -> String {
    let mut rest = seconds;
    let mut out = String::new();
    let whole_days = seconds >= 2 * 86_400;
    for (unit, name) in [(86_400, "d"), (3_600, "h"), (60, "m"), (1, "s")] {
        if unit == 86_400 && !whole_days {
            continue;
        }
        if rest >= unit {
            out += &format!("{}{name}", rest / unit);
            rest %= unit;
        }
    }
    if out.is_empty() { "0s".to_owned() } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::given::{amount::parse_bytes, time_limit::parse_time_limit};

    #[test]
    fn memory() {
        assert_eq!(bytes(71 << 30), "71.0G");
        assert_eq!(bytes(512 << 20), "512M");
        assert_eq!(bytes(100), "100B");
        assert_eq!(bytes_in_words((213 << 30) / 10), "21.3 GiB");
    }

    #[test]
    fn time() {
        assert_eq!(clock(0), "0:00:00");
        assert_eq!(clock(4_930), "1:22:10");
        assert_eq!(clock(93_600), "1-02:00:00");
    }

    #[test]
    fn what_is_shown_can_be_typed() {
        for seconds in [1, 59, 60, 5_400, 86_400, 90_000, 172_800, 200_000] {
            let limit = parse_time_limit(&length(seconds)).expect("it is understood");
            assert_eq!(limit.seconds(), Some(seconds), "{}", length(seconds));
        }
        for size in [1, 1_000, 1 << 20, 20 << 30, 3 << 29, 5 << 40] {
            assert_eq!(parse_bytes(&exact_bytes(size)), Ok(size));
        }
    }
}
