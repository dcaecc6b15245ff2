//! Job ids as people write them: `12`, `12_3`, `12_[1-5]`, `12.batch`; and as lists show them: `12_[2-5%2]`.

use std::collections::BTreeSet;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobId {
    pub job: u64,
    /// Indices of an array: inclusive ranges. Empty: the whole job.
    pub elements: Vec<(u32, u32)>,
    /// `batch`, `0`: what stands after the point.
    pub step: Option<String>,
}

impl JobId {
    pub fn read(text: &str) -> Option<JobId> {
        let (id, step) = match text.split_once('.') {
            Some((id, step)) => (id, Some(step.to_owned())),
            None => (text, None),
        };
        let (job, elements) = match id.split_once('_') {
            None => (id, Vec::new()),
            Some((job, elements)) => {
                let elements = elements.strip_prefix('[').unwrap_or(elements);
                let elements = elements.strip_suffix(']').unwrap_or(elements);
                let elements = elements.split('%').next().unwrap_or_default();
                // All of an array.
                let all = elements == "*";
                (job, if all { Vec::new() } else { ranges(elements)? })
            }
        };
        Some(JobId { job: number(job)?, elements, step })
    }

    /// Several, separated by commas that are not within brackets.
    pub fn read_list(text: &str) -> Option<Vec<JobId>> {
        let (mut ids, mut depth, mut word) = (Vec::new(), 0_u32, String::new());
        for letter in text.chars() {
            match letter {
                '[' => depth += 1,
                ']' => depth = depth.saturating_sub(1),
                ',' if depth == 0 => {
                    ids.extend((!word.is_empty()).then(|| JobId::read(&word)));
                    word.clear();
                    continue;
                }
                _ => {}
            }
            word.push(letter);
        }
        ids.extend((!word.is_empty()).then(|| JobId::read(&word)));
        ids.into_iter().collect()
    }

    pub fn has_element(&self, index: Option<u32>) -> bool {
        let within =
            |index| self.elements.iter().any(|(first, last)| (*first..=*last).contains(&index));
        self.elements.is_empty() || index.is_some_and(within)
    }
}

fn number<T: std::str::FromStr>(digits: &str) -> Option<T> {
    let plain = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    plain.then(|| digits.parse().ok())?
}

fn ranges(text: &str) -> Option<Vec<(u32, u32)>> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (number(first)?, number(last)?);
        (first <= last).then_some((first, last))
    };
    text.split(',').map(range).collect()
}

/// `1-5`, `0,2,4`: of an array that waits, as one line shows it.
pub fn indices(of: &BTreeSet<u32>) -> String {
    let ranges = danlu_wire::api::ranges(of.iter().copied());
    let written = |(first, last): (u32, u32)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    ranges.into_iter().map(written).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_name_jobs_elements_and_steps() {
        let plain = JobId { job: 12, elements: vec![], step: None };
        assert_eq!(JobId::read("12"), Some(plain.clone()));
        assert_eq!(JobId::read("12_3"), Some(JobId { elements: vec![(3, 3)], ..plain.clone() }));
        let some = JobId { elements: vec![(1, 5), (7, 7)], ..plain.clone() };
        assert_eq!(JobId::read("12_[1-5,7%2]"), Some(some.clone()));
        assert!(some.has_element(Some(5)) && !some.has_element(Some(6)) && !some.has_element(None));
        assert_eq!(
            JobId::read("12.batch"),
            Some(JobId { step: Some("batch".into()), ..plain.clone() })
        );
        for wrong in ["", "x", "12_", "12_x", "-3", "12_[5-1]", "+1"] {
            assert_eq!(JobId::read(wrong), None, "{wrong}");
        }
        let list = JobId::read_list("12,13_[1,2],14").expect("a list");
        assert_eq!(list.iter().map(|id| id.job).collect::<Vec<_>>(), [12, 13, 14]);
        assert_eq!(indices(&BTreeSet::from([1, 2, 3, 7])), "1-3,7");
    }
}
