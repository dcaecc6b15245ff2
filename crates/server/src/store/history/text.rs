//! The text of a task that searches look at: its name, its description, its command, and its values if it is of a sweep.

use danlu_core::Task;
use danlu_core::task::{ArraySpec, TaskSpec};

/// Between what all elements of a sweep have in common and the values of all of them.
pub(super) const VALUES: char = '\u{2}';

/// In lower case. Whatever contains the [`needles`] of a search is found by it.
pub fn searched_text(task: &Task) -> String {
    let mut text = common_text(&task.spec);
    for (name, value) in task.values() {
        text.push('\n');
        push_lower(&mut text, name);
        text.push('=');
        push_lower(&mut text, value);
    }
    text
}

/// What to look for in such texts: words, and what stands in double quotes as a whole.
pub fn needles(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    for (number, part) in text.split('"').enumerate() {
        match number % 2 {
            0 => all.extend(part.split_whitespace().filter_map(needle)),
            _ => all.extend(needle(part)),
        }
    }
    all
}

/// What to look for in such a text; `None` where everything would be found.
fn needle(words: &str) -> Option<String> {
    let mut needle = String::with_capacity(words.len());
    push_lower(&mut needle, words);
    let needle = needle.trim();
    (!needle.is_empty()).then(|| needle.to_owned())
}

/// Of all elements together: what any of them has is in it.
pub(super) fn spec_text(spec: &TaskSpec) -> String {
    let mut text = common_text(spec);
    let grid = spec.array.as_ref().map_or(&[][..], |array| &array.grid);
    if !grid.is_empty() {
        text.push(VALUES);
    }
    for axis in grid {
        for value in &axis.values {
            push_lower(&mut text, &axis.name);
            text.push('=');
            push_lower(&mut text, value);
            text.push('\n');
        }
    }
    text
}

/// Whether the values of this element of a sweep contain it.
pub(super) fn values_contain(array: &ArraySpec, index: u32, needle: &str) -> bool {
    array.values(index).into_iter().any(|(name, value)| {
        let mut text = String::new();
        push_lower(&mut text, name);
        text.push('=');
        push_lower(&mut text, value);
        text.contains(needle)
    })
}

fn common_text(spec: &TaskSpec) -> String {
    let mut text = String::with_capacity(160);
    push_lower(&mut text, &spec.name);
    text.push('\n');
    push_lower(&mut text, &spec.description);
    text.push('\n');
    for (number, word) in spec.command.iter().enumerate() {
        if number > 0 {
            text.push(' ');
        }
        push_lower(&mut text, word);
    }
    text
}

/// Letter by letter, whatever stands beside them: a part of a text becomes a part of the result. Control characters
/// separate texts from each other, so they become spaces inside of one.
fn push_lower(to: &mut String, text: &str) {
    for letter in text.chars() {
        if letter.is_ascii() {
            let letter = if letter.is_ascii_control() { ' ' } else { letter };
            to.push(letter.to_ascii_lowercase());
        } else {
            to.extend(letter.to_lowercase());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use danlu_core::task::Axis;

    #[test]
    fn any_part_in_any_case_is_found() {
        let spec = TaskSpec {
            name: String::from("ResNet-50 训练模型"),
            description: String::from("ΣΑΣ baseline"),
            command: vec![String::from("python"), String::from("Train.py\t--LR")],
            ..TaskSpec::default()
        };
        let text = spec_text(&spec);
        for words in ["resnet", "训练", "型", "σ", "ΣΑ", "PYTHON train", "py --lr", " base "]
        {
            let needle = needle(words).unwrap();
            assert!(text.contains(&needle), "{words:?} in {text:?}");
        }
        assert!(!text.contains(&needle("baseline python").unwrap()));
        assert_eq!(needle(" \n"), None);
    }

    #[test]
    fn quotes_keep_words_together() {
        let check = |text, expect: &[&str]| assert_eq!(needles(text), expect, "{text}");
        check("Run  3", &["run", "3"]);
        check("a \"Run 3\" b", &["a", "run 3", "b"]);
        check("\"open end", &["open end"]);
        check(" \"\" ", &[]);
    }

    #[test]
    fn an_element_of_a_sweep_has_its_own_values() {
        let values = |all: &[&str]| all.iter().map(|it| (*it).to_owned()).collect();
        let array = ArraySpec {
            indices: vec![0, 1],
            at_once: None,
            grid: vec![Axis { name: String::from("LR"), values: values(&["0.1", "0.2"]) }],
        };
        assert!(values_contain(&array, 1, "lr=0.2"));
        assert!(!values_contain(&array, 0, "lr=0.2"));
        let text = spec_text(&TaskSpec { array: Some(array), ..TaskSpec::default() });
        assert!(text.contains("lr=0.1") && text.contains("lr=0.2"));
    }
}
