//! `--array 0-99%4`, `1,3,5-9:2`: the indices of an array and how many of it run at once.

use danlu_core::limits::TASKS_PER_ARRAY;
use danlu_messages::spec as msg;
use danlu_wire::api::Array;

use super::whole;

pub fn parse_array(given: &str) -> Result<Array, String> {
    let (list, at_once) = match given.split_once('%') {
        None => (given, None),
        Some((list, number)) => {
            let number = number.parse().ok().filter(|number| *number > 0).ok_or_else(complaint)?;
            (list, Some(number))
        }
    };
    let mut indices = Vec::new();
    // `%4` alone says how many of a sweep run at once.
    let parts =
        list.split(',').filter(|part| !(part.is_empty() && list.is_empty() && at_once.is_some()));
    for part in parts {
        indices.extend(range(part).ok_or_else(complaint)?);
        if indices.len() > TASKS_PER_ARRAY {
            return Err(too_many());
        }
    }
    refuse_doubles(&indices)?;
    Ok(Array { indices, at_once, grid: Vec::new() })
}

/// `7`, `5-9`, `5-9:2`. Lazy, so that `0-4000000000` costs nothing before it is refused.
fn range(part: &str) -> Option<impl Iterator<Item = u32>> {
    let (bounds, step) = match part.split_once(':') {
        None => (part, 1),
        Some((bounds, step)) => (bounds, step.parse().ok().filter(|step| *step > 0)?),
    };
    let (first, last) = match bounds.split_once('-') {
        // A step makes sense with a range only.
        None if step > 1 || part.contains(':') => return None,
        None => (whole(bounds)?, whole(bounds)?),
        Some((first, last)) => (whole(first)?, whole(last)?),
    };
    let most = TASKS_PER_ARRAY + 1;
    (first <= last).then(|| (first..=last).step_by(step).take(most))
}

fn refuse_doubles(indices: &[u32]) -> Result<(), String> {
    let mut sorted = indices.to_vec();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        None => Ok(()),
        Some(pair) => {
            let index = pair[0];
            Err(msg::index_index_comes_twice(&index))
        }
    }
}

fn too_many() -> String {
    msg::array_too_long(&TASKS_PER_ARRAY)
}

fn complaint() -> String {
    msg::expected_array().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_lists_steps_and_how_many_at_once() {
        let check = |given, indices: &[u32], at_once| {
            let expect = Array { indices: indices.to_vec(), at_once, grid: Vec::new() };
            assert_eq!(parse_array(given), Ok(expect), "{given}");
        };
        check("0-3", &[0, 1, 2, 3], None);
        check("7", &[7], None);
        check("0-3%2", &[0, 1, 2, 3], Some(2));
        check("1,3,5-9:2", &[1, 3, 5, 7, 9], None);
        check("9,1", &[9, 1], None);
        check("%4", &[], Some(4));
        check("0-15:4%1", &[0, 4, 8, 12], Some(1));
        assert_eq!(parse_array("0-99999").map(|array| array.indices.len()), Ok(100_000));
    }

    #[test]
    fn nonsense_is_refused() {
        for wrong in [
            "",
            "a",
            "3-1",
            "1,",
            ",1",
            "1-",
            "-1",
            "0-9%",
            "0-9%0",
            "1-5:0",
            "5:2",
            "1,1",
            "0-3,2",
            "0-100000",
            "0-4294967295",
            "4294967296",
            "0-3%%2",
            "1--3",
        ] {
            assert!(parse_array(wrong).is_err(), "{wrong} is accepted");
        }
    }
}
