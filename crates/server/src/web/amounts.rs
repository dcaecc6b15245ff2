//! Numbers with units.

/// `71.0 GiB`.
pub(super) fn bytes(bytes: u64) -> String {
    let mut number = bytes as f64;
    let mut unit = "B";
    for larger in ["KiB", "MiB", "GiB", "TiB", "PiB"] {
        if number < 1024.0 {
            break;
        }
        number /= 1024.0;
        unit = larger;
    }
    match unit {
        "B" => format!("{bytes} B"),
        _ if number < 10.0 => format!("{number:.1} {unit}"),
        _ => format!("{number:.0} {unit}"),
    }
}

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

/// `1:22:10`, `1-02:00:00`: how long something took.
pub(super) fn clock(seconds: u64) -> String {
    let (days, hours) = (seconds / 86_400, seconds / 3_600 % 24);
    let (minutes, seconds) = (seconds / 60 % 60, seconds % 60);
    match days {
        0 => format!("{hours}:{minutes:02}:{seconds:02}"),
        _ => format!("{days}-{hours:02}:{minutes:02}:{seconds:02}"),
    }
}

/// `24h`, `1h30m`: a length as one would write it in a form.
pub(super) fn length(seconds: u64) -> String {
    danlu_wire::span::to_text(danlu_core::Span::from_secs(seconds))
}
