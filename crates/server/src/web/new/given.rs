//! What is typed into single fields: numbers with units, lists, ranges.

use danlu_core::limits::TASKS_PER_ARRAY;
use danlu_core::task::{Axis, Dependency, DependencyKind};
use danlu_core::{FailureClass, TaskId};
use danlu_wire::api::Array;
use std::collections::{BTreeMap, BTreeSet};

/// `2`, `A100:2`.
pub(super) fn gpus(text: &str) -> Option<(u32, Option<String>)> {
    match text.rsplit_once(':') {
        Some((model, count)) if !model.is_empty() => {
            Some((count.parse().ok()?, Some(model.to_owned())))
        }
        Some(_) => None,
        None => Some((text.parse().ok()?, None)),
    }
}

/// `0,2`, `0-3`.
pub(super) fn numbers(text: &str) -> Option<Vec<u32>> {
    let mut all = Vec::new();
    for part in text.split(',') {
        let (bounds, step) = part.split_once(':').unwrap_or((part, "1"));
        let (first, last) = bounds.split_once('-').unwrap_or((bounds, bounds));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        let step: usize = step.parse().ok().filter(|step| *step > 0)?;
        all.extend((first..=last).step_by(step).take(TASKS_PER_ARRAY + 1));
        if first > last || all.len() > TASKS_PER_ARRAY {
            return None;
        }
    }
    Some(all)
}

/// `20G`, `512M`; a bare number is bytes.
pub(super) fn bytes(text: &str) -> Option<u64> {
    let digits =
        text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = unit.trim().to_ascii_lowercase();
    let power = match unit.trim_end_matches('b').trim_end_matches('i') {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return None,
    };
    let number: f64 = number.parse().ok()?;
    let bytes = number * 1024_f64.powi(power);
    (bytes.is_finite() && bytes < 1e18).then_some(bytes as u64)
}

/// `90m`, `1h30m`, `1-02:00:00`; a bare number is minutes, as everywhere in Danlu and Slurm.
pub(super) fn seconds(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    if text.contains(|letter: char| letter.is_ascii_alphabetic()) {
        return danlu_wire::span::from_text(&text.replace(' ', "")).map(|span| span.0 / 1000);
    }
    let (days, clock) =
        text.split_once('-').map_or((None, text.as_str()), |(days, clock)| (Some(days), clock));
    let parts: Option<Vec<u64>> = clock.split(':').map(|part| part.parse().ok()).collect();
    let of_clock = match (days, parts?.as_slice()) {
        (None, [minutes]) => minutes.checked_mul(60)?,
        (None, [minutes, seconds]) => minutes.checked_mul(60)?.checked_add(*seconds)?,
        (Some(_), [hours]) => hours.checked_mul(3_600)?,
        (Some(_), [hours, minutes]) => {
            hours.checked_mul(3_600)?.checked_add(minutes.checked_mul(60)?)?
        }
        (_, [hours, minutes, seconds]) => hours
            .checked_mul(3_600)?
            .checked_add(minutes.checked_mul(60)?)?
            .checked_add(*seconds)?,
        _ => return None,
    };
    let days: u64 = days.map_or(Some(0), |days| days.parse().ok())?;
    days.checked_mul(86_400)?.checked_add(of_clock)
}

/// `3`, `3:cuda_oom,nccl`.
pub(super) fn retries(text: &str) -> Option<(u32, BTreeSet<FailureClass>)> {
    let (times, classes) = text.split_once(':').unwrap_or((text, ""));
    let names = classes.split(',').map(str::trim).filter(|name| !name.is_empty());
    let classes: Option<BTreeSet<_>> = names.map(FailureClass::from_name).collect();
    Some((times.trim().parse().ok()?, classes?))
}

/// `12`, `afterok:12,13`, `afterany:14`.
pub(super) fn after(text: &str) -> Option<Vec<Dependency>> {
    let mut kind = DependencyKind::AfterOk;
    let mut all = Vec::new();
    for word in text.split([',', ':', ' ']).filter(|word| !word.is_empty()) {
        match word {
            "afterok" => kind = DependencyKind::AfterOk,
            "afterany" => kind = DependencyKind::AfterAny,
            "afternotok" => kind = DependencyKind::AfterNotOk,
            id => all
                .push(Dependency { task: TaskId(id.trim_start_matches('#').parse().ok()?), kind }),
        }
    }
    Some(all)
}

/// `0-99`, `0-99%4`.
pub(super) fn array(text: &str) -> Option<Array> {
    let (list, at_once) = match text.split_once('%') {
        Some((list, most)) => (list, Some(most.parse().ok().filter(|most| *most > 0)?)),
        None => (text, None),
    };
    // `%4` alone says how many of a sweep run at once.
    let indices = if list.is_empty() && at_once.is_some() { Vec::new() } else { numbers(list)? };
    Some(Array { indices, at_once, grid: Vec::new() })
}

/// One line: `lr=1e-3,1e-4`, `seed=0..4`.
pub(super) fn axis(line: &str) -> Option<Axis> {
    let (name, list) = line.split_once('=').filter(|(name, _)| !name.trim().is_empty())?;
    let mut values = Vec::new();
    for part in list.split(',').map(str::trim) {
        let range = part.split_once("..").and_then(|(first, last)| {
            Some((first.parse::<u64>().ok()?, last.parse::<u64>().ok()?))
        });
        match range {
            Some((first, last)) if last.saturating_sub(first) as usize >= TASKS_PER_ARRAY => {
                return None;
            }
            Some((first, last)) if first <= last => {
                values.extend((first..=last).map(|it| it.to_string()));
            }
            _ => values.push(part.to_owned()),
        }
    }
    Some(Axis { name: name.trim().to_owned(), values })
}

/// `licence:2,scratch:1`.
pub(super) fn resources(text: &str) -> Option<BTreeMap<String, u32>> {
    let one = |part: &str| {
        let (name, count) = part.trim().rsplit_once(':').filter(|(name, _)| !name.is_empty())?;
        Some((name.to_owned(), count.parse().ok()?))
    };
    text.split(',').map(one).collect()
}

/// One `NAME=value` on each line.
pub(super) fn pairs(text: &str) -> Option<BTreeMap<String, String>> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let pair = |line: &str| {
        let (name, value) = line.split_once('=').filter(|(name, _)| !name.is_empty())?;
        Some((name.to_owned(), value.to_owned()))
    };
    lines.map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_as_the_command_line_reads_them() {
        assert_eq!(gpus("A100:2"), Some((2, Some("A100".to_owned()))));
        assert_eq!(gpus("2"), Some((2, None)));
        assert_eq!(gpus(":2"), None);
        assert_eq!(numbers("0,2-4,6-10:2"), Some(vec![0, 2, 3, 4, 6, 8, 10]));
        assert_eq!(numbers("4-1"), None);
        assert_eq!(numbers("0-4294967295"), None);
        assert_eq!(bytes("1.5G"), Some(3 << 29));
        assert_eq!(bytes("G"), None);
        assert_eq!(seconds("90"), Some(5_400));
        assert_eq!(seconds("1h30m"), Some(5_400));
        assert_eq!(seconds("1-02:00:00"), Some(93_600));
        assert_eq!(seconds("soon"), None);
        assert_eq!(retries("2:nccl").map(|(times, on)| (times, on.len())), Some((2, 1)));
        assert_eq!(retries("2:oom"), None);
        assert_eq!(after("afterok:1,2,afterany:3").map(|all| all.len()), Some(3));
        assert_eq!(array("0-9%2").and_then(|array| array.at_once), Some(2));
        assert_eq!(
            axis("seed=0..2,7").map(|axis| axis.values.join(" ")),
            Some("0 1 2 7".to_owned())
        );
        assert_eq!(pairs("A=1\n\nB=x=y").map(|pairs| pairs.len()), Some(2));
        assert_eq!(pairs("A"), None);
        assert_eq!(resources("licence:2,scratch:1").map(|all| all.len()), Some(2));
        assert_eq!(resources("licence"), None);
    }
}
