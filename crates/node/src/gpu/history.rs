//! The utilisation of a GPU in its last ten samples: a single sample can fall into a pause.

use std::collections::VecDeque;

pub const SAMPLES: usize = 10;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct History(VecDeque<u8>);

impl History {
    /// `None`, from a GPU that does not tell, adds nothing.
    pub(crate) fn push(&mut self, utilization: Option<u8>) {
        let Some(percent) = utilization else { return };
        if self.0.len() == SAMPLES {
            self.0.pop_front();
        }
        self.0.push_back(percent);
    }

    /// Oldest first.
    pub(crate) fn to_vec(&self) -> Vec<u8> {
        self.0.iter().copied().collect()
    }
}
