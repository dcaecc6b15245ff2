//! Placeholders in commands, variables and file names, replaced when a run starts: `{task_id}`, `{gpu_list}`.

use crate::launch::LaunchOrder;
use danlu_core::TaskId;
use danlu_core::task::ArrayElement;
use std::borrow::Cow;

/// The values of `{task_id}`, `{array_id}`, `{array_index}`, `{node}`, `{gpu_list}`, `{gpu_count}`, and for the names of
/// a sweep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placeholders {
    known: [(&'static str, String); 6],
    swept: Vec<(String, String)>,
}

impl Placeholders {
    /// Outside of an array, its id is the task's and the index is 0.
    pub fn new(
        task: TaskId,
        array: Option<ArrayElement>,
        node: &str,
        gpus: &[u32],
    ) -> Placeholders {
        let list: Vec<String> = gpus.iter().map(u32::to_string).collect();
        let (first, index) = array.map_or((task, 0), |element| (element.first, element.index));
        Placeholders {
            known: [
                ("{task_id}", task.to_string()),
                ("{array_id}", first.to_string()),
                ("{array_index}", index.to_string()),
                ("{node}", node.to_owned()),
                ("{gpu_list}", list.join(",")),
                ("{gpu_count}", list.len().to_string()),
            ],
            swept: Vec::new(),
        }
    }

    /// The same with the values of one element of a sweep.
    #[must_use]
    pub fn with_values<'a>(
        mut self,
        values: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Placeholders {
        let values = values.into_iter();
        self.swept.extend(values.map(|(name, value)| (format!("{{{name}}}"), value.to_owned())));
        self
    }

    pub fn of(order: &LaunchOrder) -> Placeholders {
        let gpus: Vec<u32> = order.gpus.assigned.iter().map(|gpu| gpu.index).collect();
        let values = order.values.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        Placeholders::new(order.task, order.array, &order.node, &gpus).with_values(values)
    }

    pub fn gpu_list(&self) -> &str {
        &self.known[4].1
    }

    /// In one pass, so that nothing that was put in is replaced again. `${task_id}` is a shell's variable.
    pub fn put_into<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if !text.contains('{') {
            return Cow::Borrowed(text);
        }
        let mut result = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(brace) = rest.find('{') {
            result.push_str(&rest[..brace]);
            rest = &rest[brace..];
            let of_shell = result.ends_with('$');
            let known = self.known.iter().map(|(name, value)| (*name, value));
            let swept = self.swept.iter().map(|(name, value)| (name.as_str(), value));
            let word = known.chain(swept).find(|(name, _)| !of_shell && rest.starts_with(name));
            match word {
                Some((name, value)) => {
                    result.push_str(value);
                    rest = &rest[name.len()..];
                }
                None => {
                    result.push('{');
                    rest = &rest[1..];
                }
            }
        }
        result.push_str(rest);
        Cow::Owned(result)
    }
}
