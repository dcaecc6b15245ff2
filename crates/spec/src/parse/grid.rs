//! `--grid lr=1e-3,1e-4`, `--grid seed=0..4`: one parameter of a sweep.

use danlu_core::{limits::TASKS_PER_ARRAY, task::Axis};
use danlu_messages::spec as msg;

use super::whole;

pub fn parse_axis(given: &str) -> Result<Axis, String> {
    let (name, list) = given
        .split_once('=')
        .filter(|(name, _)| !name.is_empty())
        .ok_or_else(|| msg::expected_sweep().to_owned())?;
    let mut values = Vec::new();
    for part in list.split(',') {
        match range(part) {
            Some((first, last)) if last - first >= TASKS_PER_ARRAY as u64 => {
                return Err(msg::too_many_sweep_values(&name, &TASKS_PER_ARRAY));
            }
            Some((first, last)) => values.extend((first..=last).map(|value| value.to_string())),
            None => values.push(part.to_owned()),
        }
    }
    Ok(Axis { name: name.to_owned(), values })
}

/// `0..4`: five values, as `--gpus 1..4` has both its ends.
fn range(part: &str) -> Option<(u64, u64)> {
    let (first, last) = part.split_once("..")?;
    let (first, last) = (whole(first)?, whole(last)?);
    (first <= last).then_some((first, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_ranges() {
        let check = |given, name: &str, values: &[&str]| {
            let values = values.iter().map(ToString::to_string).collect();
            assert_eq!(parse_axis(given), Ok(Axis { name: name.into(), values }), "{given}");
        };
        check("lr=1e-3,1e-4", "lr", &["1e-3", "1e-4"]);
        check("seed=0..2,7", "seed", &["0", "1", "2", "7"]);
        check("path=../a,b..c", "path", &["../a", "b..c"]);
        check("flag=", "flag", &[""]);
        check("eq=a=b", "eq", &["a=b"]);
        check("down=4..1", "down", &["4..1"]);
        for wrong in ["", "lr", "=1", "n=0..1000000"] {
            assert!(parse_axis(wrong).is_err(), "{wrong} is accepted");
        }
    }
}
