//! Formats locations (`gpu1:0,1`) and lists of numbers (`0,2,5-9`).

use std::fmt::Display;

/// `gpu1:0,1`, `gpu1`, or nothing.
pub(crate) fn place(node: Option<&str>, gpus: &[u32]) -> String {
    let node = node.unwrap_or_default();
    if gpus.is_empty() {
        return node.to_owned();
    }
    let numbers: Vec<u64> = gpus.iter().copied().map(u64::from).collect();
    format!("{node}:{}", list(&numbers))
}

/// `0,2,5-9`: in order, with three or more neighbours as a range.
pub(crate) fn list(numbers: &[u64]) -> String {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    let runs = sorted.chunk_by(|one, next| one + 1 == *next);
    ranges(&runs.map(|run| (run[0], run[run.len() - 1])).collect::<Vec<_>>())
}

/// The same of ranges in order, each from its first to its last.
pub(crate) fn ranges<N: Copy + Display + Into<u64>>(ranges: &[(N, N)]) -> String {
    let one = |(first, last): &(N, N)| match (*last).into() - (*first).into() {
        0 => first.to_string(),
        1 => format!("{first},{last}"),
        _ => format!("{first}-{last}"),
    };
    ranges.iter().map(one).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_become_ranges() {
        assert_eq!(list(&[]), "");
        assert_eq!(list(&[3]), "3");
        assert_eq!(list(&[1, 0]), "0,1");
        assert_eq!(list(&[2, 0, 5, 6, 7, 7, 9]), "0,2,5-7,9");
        assert_eq!(place(Some("gpu1"), &[0, 1, 2, 3]), "gpu1:0-3");
        assert_eq!(place(Some("gpu1"), &[]), "gpu1");
        assert_eq!(place(None, &[]), "");
    }
}
