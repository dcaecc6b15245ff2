//! One machine with GPUs, its connection, and whether it may get work.

use crate::fault_injection::{Mutant, mutated};
use crate::model::gpu::{Gpu, GpuCondition, GpuConfig, GpuRule};
use crate::model::ids::{GpuId, NodeId, RunId, SessionId, TaskId};
use crate::model::resources::{GpuMask, Request};
use crate::model::settings::Settings;
use crate::model::time::Time;
use crate::model::trouble::Unfit;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    pub id: NodeId,
    pub name: String,
    pub labels: BTreeMap<String, String>,
    pub link: Link,
    /// The newest connection; messages of earlier ones are ignored.
    pub session: SessionId,
    /// Custom countable resources, such as licences.
    #[serde(default)]
    pub resources: BTreeMap<String, u32>,
    /// Gets no new work; its runs go on.
    pub draining: bool,
    /// The capacity it last reported; `None` before its first report.
    pub capacity: Option<Capacity>,
    /// By index. A GPU that is no longer reported stays, as missing, while a run holds it.
    pub gpus: Vec<Gpu>,
    /// What the configuration file says about its GPUs.
    #[serde(default)]
    pub gpu_config: GpuConfig,
    /// What administrators have decided about single ones.
    #[serde(default)]
    pub gpu_rules: BTreeMap<GpuId, GpuRule>,
    /// Free memory in bytes, in coarse steps; `None` if not reported.
    #[serde(default)]
    pub free_memory: Option<u64>,
    /// It cannot start tasks, and gets no new work until it reports that it can; its runs go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfit: Option<Unfit>,
    /// Runs there that belong to a lost store: only an administrator ends them, and their GPUs count as used by
    /// others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unknown_runs: Vec<UnknownRun>,
}

/// A run on a machine that the store does not know, because the store was lost or is older.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnknownRun {
    pub run: RunId,
    /// `None` if the agent does not report it.
    #[serde(default)]
    pub task: Option<TaskId>,
    /// Where `task` is `None`, it may be any of the machine's.
    #[serde(default)]
    pub gpus: Vec<GpuId>,
    /// By the node's clock.
    pub since: Time,
    /// An administrator has ordered its end.
    #[serde(default)]
    pub stopping: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capacity {
    pub cpus: u32,
    /// Bytes.
    pub memory: u64,
}

/// The connection to a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Link {
    /// No connection: its runs are lost until it comes back.
    Down {
        since: Time,
    },
    /// Connected, but it has not yet shown that it runs only what it should.
    Unverified {
        since: Time,
    },
    Ready {
        since: Time,
    },
}

impl Node {
    /// The connection it can be reached by now.
    pub fn live_session(&self) -> Option<SessionId> {
        (!matches!(self.link, Link::Down { .. })).then_some(self.session)
    }

    pub fn is_ready(&self) -> bool {
        matches!(self.link, Link::Ready { .. })
    }

    /// May be given new work. Invariant: only a node whose last report was clean, and that is well.
    pub fn is_open(&self) -> bool {
        self.is_ready()
            && (!self.draining || mutated(Mutant::DrainIgnored))
            && (self.unfit.is_none() || mutated(Mutant::UnfitIgnored))
    }

    /// Whether a run that a lost store knew may use this GPU.
    pub(crate) fn unknown_run_on(&self, gpu: &GpuId) -> bool {
        let uses = |it: &UnknownRun| it.task.is_none() || it.gpus.contains(gpu);
        self.unknown_runs.iter().any(uses) && !mutated(Mutant::UnknownRunIgnored)
    }

    /// It has too little free memory to get new work.
    pub fn is_short_of_memory(&self, settings: &Settings) -> bool {
        let total = self.capacity.map_or(0, |capacity| capacity.memory);
        self.free_memory.is_some_and(|free| free < settings.keep_memory.of(total))
    }

    /// What is decided about one of its GPUs.
    pub fn rule_of(&self, gpu: &Gpu) -> GpuRule {
        let usual = GpuRule::default();
        self.gpu_rules.get(&gpu.id).unwrap_or(&usual).resolved(&self.gpu_config, gpu.index)
    }

    pub(crate) fn usable_gpus(&self) -> GpuMask {
        self.gpus_where(Gpu::is_usable)
    }

    pub(crate) fn shareable_with_others(&self) -> GpuMask {
        self.gpus_where(Gpu::is_shareable_with_others)
    }

    /// GPUs that Danlu may allocate when they are idle and healthy.
    pub(crate) fn managed_gpus(&self) -> GpuMask {
        self.gpus_where(|gpu| gpu.rule.disabled != Some(true))
    }

    pub(crate) fn matching_gpus(&self, request: &Request) -> GpuMask {
        self.gpus_where(|gpu| gpu.matches(request))
    }

    /// The GPUs requested by number; `None` if some of them are not here.
    pub(crate) fn pinned_gpus(&self, request: &Request) -> Option<GpuMask> {
        // One that is gone and still held keeps the number it had: the one that has it now is meant.
        let gone = |gpu: &Gpu| gpu.condition == GpuCondition::Missing;
        let replaced = |gpu: &Gpu| {
            gone(gpu) && self.gpus.iter().any(|other| other.index == gpu.index && !gone(other))
        };
        let pinned = self.gpus_where(|gpu| request.gpu_ids.contains(&gpu.index) && !replaced(gpu));
        (pinned.count() as usize == request.gpu_ids.len()).then_some(pinned)
    }

    pub(crate) fn accepts(&self, request: &Request) -> bool {
        request.node.as_ref().is_none_or(|wanted| wanted.matches(&self.name, &self.labels))
    }

    pub(crate) fn gpus_where(&self, keep: impl Fn(&Gpu) -> bool) -> GpuMask {
        self.gpus
            .iter()
            .enumerate()
            .filter(|(_, gpu)| keep(gpu))
            .fold(GpuMask::NONE, |mask, (position, _)| mask.with(GpuMask::single(position)))
    }
}
