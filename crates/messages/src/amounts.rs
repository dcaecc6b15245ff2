//! Prints sizes in bytes and durations, which look the same in both languages.
//!
//! All of Danlu prints them with these functions; `danlu_spec::parse` reads what they print.

use danlu_core::Span;

/// As one would write it for `--mem`, without rounding.
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

/// `21.3 GiB`: for sentences.
pub fn bytes_in_words(bytes: u64) -> String {
    let (number, unit) = scaled(bytes);
    if unit == "B" { format!("{bytes} B") } else { format!("{number:.1} {unit}") }
}

/// `80 GiB`, `1.5 GiB`: for sizes of GPUs and machines, which are part of their names.
pub fn rounded_bytes(bytes: u64) -> String {
    let (number, unit) = scaled(bytes);
    if unit == "B" || number >= 10.0 {
        format!("{number:.0} {unit}")
    } else {
        format!("{number:.1} {unit}")
    }
}

/// `21 / 80 GiB`: for bars.
pub fn used_of(used: u64, total: u64) -> String {
    let gib = |bytes: u64| bytes as f64 / f64::from(1 << 30);
    let used = match gib(used) {
        few if few > 0.0 && few < 9.95 => format!("{few:.1}"),
        many => format!("{many:.0}"),
    };
    format!("{used} / {:.0} GiB", gib(total))
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

/// Names of a unit, the one that is printed first, and its milliseconds. The parser of durations reads all of them.
pub const DURATION_UNITS: [(&[&str], u64); 6] = [
    (&["w", "week", "weeks"], 604_800_000),
    (&["d", "day", "days"], 86_400_000),
    (&["h", "hour", "hours"], 3_600_000),
    (&["m", "min", "mins", "minute", "minutes"], 60_000),
    (&["s", "sec", "secs", "second", "seconds"], 1_000),
    (&["ms"], 1),
];

/// The shortest way to write it that is read back as the same: `1d`, `1h30m`.
pub fn span(Span(ms): Span) -> String {
    written(ms, 86_400_000)
}

/// As one would write it for `--time`: `24h`, but `2d`.
pub fn length(seconds: u64) -> String {
    written(
        seconds.saturating_mul(1_000),
        if seconds >= 2 * 86_400 { 86_400_000 } else { 3_600_000 },
    )
}

fn written(ms: u64, largest: u64) -> String {
    let mut rest = ms;
    let mut text = String::new();
    for (names, unit) in DURATION_UNITS.into_iter().filter(|(_, unit)| *unit <= largest) {
        if rest >= unit {
            text += &format!("{}{}", rest / unit, names[0]);
            rest %= unit;
        }
    }
    if text.is_empty() { String::from("0s") } else { text }
}

/// Two units, for columns that are compared by eye: `42s`, `3m07s`, `11h20m`, `2d18h`.
pub fn two_units(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m{:02}s", seconds / 60, seconds % 60),
        3_600..86_400 => format!("{}h{:02}m", seconds / 3_600, seconds % 3_600 / 60),
        86_400.. => format!("{}d{:02}h", seconds / 86_400, seconds % 86_400 / 3_600),
    }
}

/// How long something took: `1:22:10`, `1-02:00:00`.
pub fn clock(seconds: u64) -> String {
    let (days, hours) = (seconds / 86_400, seconds / 3_600 % 24);
    let (minutes, seconds) = (seconds / 60 % 60, seconds % 60);
    match days {
        0 => format!("{hours}:{minutes:02}:{seconds:02}"),
        _ => format!("{days}-{hours:02}:{minutes:02}:{seconds:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn time() {
        assert_eq!(clock(0), "0:00:00");
        assert_eq!(clock(4_930), "1:22:10");
        assert_eq!(clock(93_600), "1-02:00:00");
    }

    #[test]
    fn columns_have_two_units() {
        for (seconds, text) in [(42, "42s"), (187, "3m07s"), (40_800, "11h20m"), (237_600, "2d18h")]
        {
            assert_eq!(two_units(seconds), text);
        }
    }
}
