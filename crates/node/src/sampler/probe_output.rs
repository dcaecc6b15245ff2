//! What a probe of the administrator's has printed: numbers, of the machine or of each GPU.

use danlu_wire::samples::{MetricScope, ProbeFailure};

/// How much of an unexpected line is quoted.
const QUOTE: usize = 80;
/// Larger numbers cannot be kept.
const LARGEST: f64 = 1e15;

/// In thousandths, with the index of the GPU where it is about one.
pub(super) fn parse(
    output: &str,
    per: MetricScope,
    gpus: &[u32],
) -> Result<Vec<(Option<u32>, i64)>, ProbeFailure> {
    let lines: Vec<&str> = output.lines().map(str::trim).filter(|it| !it.is_empty()).collect();
    match per {
        MetricScope::Machine => match lines.as_slice() {
            [line] => Ok(vec![(None, number(line).ok_or_else(|| wrong(line))?)]),
            [] => Err(wrong("")),
            [_, second, ..] => Err(wrong(second)),
        },
        MetricScope::Gpu => {
            let values = lines.iter().enumerate().map(|(place, line)| {
                let value = of_gpu(line, place, gpus).ok_or_else(|| wrong(line))?;
                Ok((Some(value.0), value.1))
            });
            let values = values.collect::<Result<Vec<_>, _>>()?;
            if values.is_empty() && !gpus.is_empty() { Err(wrong("")) } else { Ok(values) }
        }
    }
}

/// `INDEX VALUE`, or the value alone in order of the GPUs.
fn of_gpu(line: &str, place: usize, gpus: &[u32]) -> Option<(u32, i64)> {
    let index = match line.split_once(char::is_whitespace) {
        Some((index, value)) => {
            return Some((
                index.parse().ok().filter(|it| gpus.contains(it))?,
                number(value.trim())?,
            ));
        }
        None => *gpus.get(place)?,
    };
    Some((index, number(line)?))
}

fn number(text: &str) -> Option<i64> {
    let number: f64 = text.parse().ok()?;
    (number.is_finite() && number.abs() <= LARGEST).then(|| (number * 1_000.0).round() as i64)
}

fn wrong(line: &str) -> ProbeFailure {
    ProbeFailure::Output(line.chars().take(QUOTE).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_number_of_a_machine() {
        let parsed = |output| parse(output, MetricScope::Machine, &[]).ok();
        assert_eq!(parsed("21.5\n"), Some(vec![(None, 21_500)]));
        assert_eq!(parsed("  -3e2 \n\n"), Some(vec![(None, -300_000)]));
        for rubbish in ["", "warm", "1\n2", "NaN", "inf", "1e300", "21,5"] {
            assert_eq!(parsed(rubbish), None, "{rubbish:?}");
        }
    }

    #[test]
    fn one_line_for_each_gpu() {
        let parsed = |output| parse(output, MetricScope::Gpu, &[0, 1, 4]).ok();
        assert_eq!(
            parsed("1\n2\n3"),
            Some(vec![(Some(0), 1_000), (Some(1), 2_000), (Some(4), 3_000)])
        );
        assert_eq!(parsed("4 7.5\n0\t1"), Some(vec![(Some(4), 7_500), (Some(0), 1_000)]));
        for rubbish in ["", "1\n2\n3\n4", "9 1", "0 x", "a b c"] {
            assert_eq!(parsed(rubbish), None, "{rubbish:?}");
        }
    }
}
