//! Parses names of tasks: `12`, `3-9`, `1,3,5-9`, `@` (my last one), `@~1` (the one before).

use super::whole;
use danlu_messages::spec as msg;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskName {
    Id(u64),
    /// Both ends are in it.
    Range(u64, u64),
    /// 0 is my last one.
    Mine(u32),
}

/// One word of the command line: names separated by commas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskNames(pub Vec<TaskName>);

/// A range may be this long: nothing larger was ever one submit.
const MOST_IN_A_RANGE: u64 = 1_000_000;

pub fn parse_task_names(given: &str) -> Result<TaskNames, String> {
    given.split(',').map(parse_task_name).collect::<Result<_, _>>().map(TaskNames)
}

/// A name of exactly one task.
pub fn parse_one_task(given: &str) -> Result<TaskName, String> {
    match parse_task_name(given)? {
        TaskName::Range(..) => Err(msg::one_task_is_needed_here_not_a_range().to_owned()),
        one => Ok(one),
    }
}

pub fn parse_task_name(given: &str) -> Result<TaskName, String> {
    if given == "@" {
        return Ok(TaskName::Mine(0));
    }
    if let Some(back) = given.strip_prefix("@~") {
        return whole(back).map(TaskName::Mine).ok_or_else(complaint);
    }
    let Some((first, last)) = given.split_once('-') else {
        return whole(given).map(TaskName::Id).ok_or_else(complaint);
    };
    match (whole(first), whole(last)) {
        (Some(first), Some(last)) if first > last => Err(msg::reversed_range(&last, &first)),
        (Some(first), Some(last)) if last - first >= MOST_IN_A_RANGE => {
            Err(msg::range_too_long(&MOST_IN_A_RANGE))
        }
        (Some(first), Some(last)) => Ok(TaskName::Range(first, last)),
        _ => Err(complaint()),
    }
}

fn complaint() -> String {
    msg::expected_task().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use TaskName::{Id, Mine, Range};

    #[test]
    fn ids_ranges_lists_and_my_last_ones() {
        let check = |given, expect: &[TaskName]| {
            assert_eq!(parse_task_names(given), Ok(TaskNames(expect.to_vec())), "{given}");
        };
        check("12", &[Id(12)]);
        check("3-9", &[Range(3, 9)]);
        check("4-4", &[Range(4, 4)]);
        check("1,3,5-9", &[Id(1), Id(3), Range(5, 9)]);
        check("@", &[Mine(0)]);
        check("@~1,7", &[Mine(1), Id(7)]);
    }

    #[test]
    fn nonsense_is_refused() {
        for wrong in [
            "",
            "a",
            "12a",
            "-3",
            "3-",
            "9-3",
            "1,",
            "@1",
            "@~",
            "@~x",
            "1-2-3",
            "+1",
            "1.5",
            "0-1000000",
            "99999999999999999999",
        ] {
            assert!(parse_task_names(wrong).is_err(), "{wrong} is accepted");
        }
        assert!(parse_one_task("3-9").is_err());
        assert_eq!(parse_one_task("@~2"), Ok(Mine(2)));
    }
}
