//! "Tell me when GPUs are free": alerts of users, and whether one is true now. The decision is pure.

use crate::api::view;
use crate::read_model::ReadModel;
use danlu_core::{Event, UserId};
use danlu_wire::api::GpuStateName;
use serde::{Deserialize, Serialize};

/// So many alerts may a user have.
pub(crate) const MOST_WATCHES: usize = 20;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FreeWatch {
    /// So many on one machine.
    pub(crate) gpus: u32,
    pub(crate) model: Option<String>,
    pub(crate) node: Option<String>,
    /// Each time that it becomes true; else once.
    pub(crate) always: bool,
    /// It has been false since it was told.
    #[serde(default = "yes")]
    pub(crate) armed: bool,
}

fn yes() -> bool {
    true
}

/// An alert and whose it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WatchRow {
    pub(crate) id: i64,
    pub(crate) user: UserId,
    pub(crate) watch: FreeWatch,
}

/// What becomes of an alert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WatchStep {
    Nothing,
    /// It may be told again.
    Arm,
    /// Told now, with where the GPUs are; it stays if it is for always.
    Tell(Vec<(String, Vec<u32>)>),
}

impl FreeWatch {
    /// `4 × A100`, as it is shown.
    pub(crate) fn wanted(&self) -> String {
        let model = self.model.as_ref().map(|model| format!(" {model}")).unwrap_or_default();
        let node = self.node.as_ref().map(|node| format!(" @ {node}")).unwrap_or_default();
        format!("-g {}{model}{node}", self.gpus)
    }

    pub(crate) fn step(&self, free: &[FreeGpus]) -> WatchStep {
        let fits = |machine: &&FreeGpus| {
            self.node.as_ref().is_none_or(|node| *node == machine.node)
                && self.of(machine).len() >= self.gpus as usize
        };
        let there: Vec<_> = free.iter().filter(fits).collect();
        match (there.is_empty(), self.armed) {
            (true, false) => WatchStep::Arm,
            (true, true) | (false, false) => WatchStep::Nothing,
            (false, true) => {
                let each = there.into_iter().map(|it| (it.node.clone(), self.of(it)));
                WatchStep::Tell(each.collect())
            }
        }
    }

    fn of(&self, machine: &FreeGpus) -> Vec<u32> {
        let wanted = self.model.as_ref().map(|model| model.to_lowercase());
        let fits = |model: &str| {
            wanted.as_ref().is_none_or(|wanted| model.to_lowercase().contains(wanted.as_str()))
        };
        machine.gpus.iter().filter(|(_, model)| fits(model)).map(|(index, _)| *index).collect()
    }
}

/// The free GPUs of a machine that takes tasks: number and model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FreeGpus {
    pub(crate) node: String,
    pub(crate) gpus: Vec<(u32, String)>,
}

pub(crate) fn free_gpus(model: &ReadModel) -> Vec<FreeGpus> {
    let open = model.nodes.values().filter(|node| node.is_open());
    let free = open.map(|node| {
        let gpus = view::gpus(model, node).into_iter();
        let gpus = gpus.filter(|gpu| gpu.state == GpuStateName::Free);
        FreeGpus { node: node.name.clone(), gpus: gpus.map(|gpu| (gpu.index, gpu.model)).collect() }
    });
    free.filter(|machine| !machine.gpus.is_empty()).collect()
}

/// Whether GPUs may be free, or taken, because of it.
pub(crate) fn may_change(event: &Event) -> bool {
    matches!(
        event,
        Event::RunLaunched { .. }
            | Event::RunEnded { .. }
            | Event::PartEnded { .. }
            | Event::GpusChanged { .. }
            | Event::GpuQuarantined { .. }
            | Event::NodeReady { .. }
            | Event::NodeLost { .. }
            | Event::NodeFit { .. }
            | Event::NodeUnfit { .. }
            | Event::NodeDraining { .. }
            | Event::NodeUndrained { .. }
            | Event::NodeRemoved { .. }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch(gpus: u32, model: Option<&str>, armed: bool) -> FreeWatch {
        let model = model.map(str::to_owned);
        FreeWatch { gpus, model, node: None, always: true, armed }
    }

    fn free(node: &str, gpus: &[(u32, &str)]) -> FreeGpus {
        let gpus = gpus.iter().map(|(index, model)| (*index, (*model).to_owned()));
        FreeGpus { node: node.to_owned(), gpus: gpus.collect() }
    }

    #[test]
    fn it_is_told_when_it_becomes_true_and_not_before_it_was_false() {
        let two = [free("a", &[(0, "NVIDIA A100")]), free("b", &[(1, "NVIDIA A100"), (2, "V100")])];
        let told = WatchStep::Tell(vec![("b".into(), vec![1, 2])]);
        assert_eq!(watch(2, None, true).step(&two), told);
        assert_eq!(watch(2, None, false).step(&two), WatchStep::Nothing);
        assert_eq!(
            watch(2, Some("a100"), true).step(&two),
            WatchStep::Nothing,
            "not on one machine"
        );
        assert_eq!(watch(2, Some("a100"), false).step(&two), WatchStep::Arm);
        let one = WatchStep::Tell(vec![("a".into(), vec![0]), ("b".into(), vec![1])]);
        assert_eq!(watch(1, Some("a100"), true).step(&two), one);
    }
}
