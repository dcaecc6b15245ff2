//! Why a task waits, in the reader's language: the one place for these words, for the command line, pages and API.

mod conditions;
mod needs;
mod short;
pub mod words;

pub use conditions::{Condition, conditions};
pub use needs::{needs, short_of};
pub(crate) use short::over_quota;
pub use short::reason;

use self::words as msg;
use danlu_core::TaskId;
use danlu_core::explain::why::{Alternative, Place};

/// `1st of 6 in line`.
pub fn place(place: Place) -> String {
    let Place { place, of } = place;
    let ending = match (place % 10, place % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    msg::place_in_line(&place, &ending, &of)
}

/// The options that would let it start now.
pub fn options(alternative: &Alternative, gpus: u32) -> String {
    match alternative {
        Alternative::Gpus(fewer) => format!("--gpus {fewer}"),
        Alternative::Model(model) => {
            let wish = gpus_field(model, gpus);
            if wish.contains(' ') { format!("--gpus '{wish}'") } else { format!("--gpus {wish}") }
        }
        Alternative::Shared(bytes) => format!("--shared --vram {}M", bytes.div_ceil(1 << 20)),
    }
}

/// `A6000:4`, as `--gpus` and the form take it.
pub fn gpus_field(model: &str, gpus: u32) -> String {
    format!("{}:{gpus}", short_model(model))
}

/// A name of the model that is long enough to be found by.
fn short_model(model: &str) -> &str {
    let name = model.strip_prefix("NVIDIA ").unwrap_or(model);
    ["RTX ", "GeForce ", "Tesla "].iter().find_map(|maker| name.strip_prefix(maker)).unwrap_or(name)
}

/// `0,2,5-9`: in order, with three or more neighbours as a range.
pub(crate) fn ids(tasks: &[TaskId]) -> String {
    let mut sorted: Vec<u64> = tasks.iter().map(|id| id.0).collect();
    sorted.sort_unstable();
    sorted.dedup();
    let runs = sorted.chunk_by(|one, next| one + 1 == *next);
    let one = |run: &[u64]| match run {
        [first, _, .., last] => format!("{first}-{last}"),
        few => few.iter().map(u64::to_string).collect::<Vec<_>>().join(","),
    };
    runs.map(one).collect::<Vec<_>>().join(",")
}

/// `a, b and c`.
pub(crate) fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => {
            let first = first.join(msg::comma());
            msg::first_and_last(&first, &last)
        }
    }
}

pub(crate) fn gibibytes(bytes: u64) -> String {
    crate::amounts::bytes_in_words(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Language;

    #[test]
    fn places_in_line_are_counted_as_people_do() {
        let said = |at| place(Place { place: at, of: 120 });
        for (at, word) in [
            (1, "1st"),
            (2, "2nd"),
            (3, "3rd"),
            (4, "4th"),
            (11, "11th"),
            (112, "112th"),
            (101, "101st"),
        ] {
            assert_eq!(said(at), format!("{word} of 120 in line"));
        }
        let first = Place { place: 1, of: 6 };
        assert_eq!(Language::Chinese.within(|| place(first)), "队列中第 1 位，共 6 个");
    }

    #[test]
    fn ids_are_short() {
        let said = |ids_of: &[u64]| ids(&ids_of.iter().map(|id| TaskId(*id)).collect::<Vec<_>>());
        assert_eq!(said(&[3, 1, 2, 7, 9, 10]), "1-3,7,9,10");
    }

    #[test]
    fn models_are_named_as_people_type_them() {
        assert_eq!(options(&Alternative::Model("NVIDIA RTX A6000".into()), 4), "--gpus A6000:4");
        let long = Alternative::Model("NVIDIA GeForce GTX 1080 Ti".into());
        assert_eq!(options(&long, 1), "--gpus 'GTX 1080 Ti:1'");
        assert_eq!(options(&Alternative::Gpus(2), 4), "--gpus 2");
        assert_eq!(options(&Alternative::Shared(3 << 30), 1), "--shared --vram 3072M");
    }
}
