//! One GPU: its properties, its condition, and the runs that hold it.

use crate::fault_injection::{Mutant, mutated};
use crate::model::ids::{GpuId, NodeId, RunId};
use crate::model::resources::{GpuMask, Request};
use crate::model::time::Time;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gpu {
    pub id: GpuId,
    /// The number people know it by; may change with a reboot or a new card.
    pub index: u32,
    pub model: String,
    /// Bytes.
    pub memory: u64,
    #[serde(default)]
    pub vendor: GpuVendor,
    pub condition: GpuCondition,
    /// What is in use of it, besides what was promised to runs.
    #[serde(default)]
    pub usage: GpuUsage,
    /// GPUs that a fast link connects it with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub neighbours: Vec<GpuId>,
    /// What its runs have been seen to use. A run that is not listed has not been seen yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tenants: Vec<Tenant>,
    /// When the last foreign process left it; it is not allocated again before `idle_delay`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_at: Option<Time>,
    /// The runs that hold it, in order. Derived by [`crate::State`] from the runs; not stored.
    #[serde(skip)]
    pub holders: Vec<RunId>,
    /// What administrators have set for it. Derived by [`crate::State`] from [`crate::Node::gpu_rules`].
    #[serde(skip)]
    pub rule: GpuRule,
    /// Other nodes that have reported it too: none of them may allocate it until an administrator disables it on all
    /// but one. Derived by [`crate::State`].
    #[serde(skip)]
    pub also_on: Vec<NodeId>,
    /// A run of a lost store may use it. Derived by [`crate::State`].
    #[serde(skip)]
    pub has_unknown_run: bool,
    /// The positions of its neighbours. Derived by [`crate::State`].
    #[serde(skip)]
    pub(crate) links: GpuMask,
}

/// Decides which environment variables name a command's GPUs. Simulated GPUs count as NVIDIA's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GpuVendor {
    /// Also what agents mean that do not report a vendor.
    #[default]
    Nvidia,
    Amd,
}

/// What a node sees in use on a GPU. Sizes and percentages are rounded up there, so that small changes are no news.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct GpuUsage {
    /// Bytes used by foreign processes and the driver. `None` if unknown.
    pub other_memory: Option<u64>,
    /// Percent: the busiest of the last samples.
    pub busy: u8,
}

/// One run on a GPU, as it has been seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tenant {
    pub run: RunId,
    /// The most bytes it was seen to use.
    pub peak: u64,
    pub grown_at: Time,
    /// It has what it needs: it no longer grows, or has reached the size it asked for.
    pub settled: bool,
}

/// What a node reports of a run on a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunMemory {
    pub run: RunId,
    /// The most bytes it was seen to use since the node began to look.
    pub peak: u64,
}

/// What administrators have decided about a GPU; it outlives the GPU's absence.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct GpuRule {
    /// Disabled; `None`: as the configuration file says.
    pub disabled: Option<bool>,
    /// How many tasks share it by count; `None`: as the configuration file says (default: 1).
    pub slots: Option<u16>,
    /// What is broken; set by Danlu, cleared by an administrator.
    pub quarantined: Option<String>,
    /// What was broken when an administrator enabled it all the same.
    pub accepted: Option<String>,
}

/// What the node says about a GPU, apart from what Danlu itself runs there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GpuCondition {
    Idle,
    /// Processes that Danlu did not start.
    Foreign {
        processes: Vec<ForeignProcess>,
    },
    /// Memory was not released: more is in use than on an idle GPU.
    Dirty,
    /// The probe failed. Unknown is not free.
    Unknown,
    /// No longer reported; listed only while a run holds it.
    Missing,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignProcess {
    pub pid: u32,
    pub user: String,
}

/// What a node reports of one GPU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GpuReport {
    pub id: GpuId,
    pub index: u32,
    pub model: String,
    pub memory: u64,
    #[serde(default)]
    pub vendor: GpuVendor,
    pub condition: GpuCondition,
    #[serde(default)]
    pub usage: GpuUsage,
    #[serde(default)]
    pub runs: Vec<RunMemory>,
    /// A hardware error, in words.
    #[serde(default)]
    pub broken: Option<String>,
    #[serde(default)]
    pub neighbours: Vec<GpuId>,
}

/// What the configuration file of a node says about its GPUs, by their numbers.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GpuConfig {
    /// Only these are allocated.
    #[serde(rename = "use")]
    pub in_use: Option<BTreeSet<u32>>,
    pub slots: BTreeMap<u32, u16>,
}

impl GpuReport {
    pub fn new(id: GpuId, index: u32, model: impl Into<String>, memory: u64) -> GpuReport {
        GpuReport {
            id,
            index,
            model: model.into(),
            memory,
            vendor: GpuVendor::Nvidia,
            condition: GpuCondition::Idle,
            usage: GpuUsage { other_memory: Some(0), busy: 0 },
            runs: Vec::new(),
            broken: None,
            neighbours: Vec::new(),
        }
    }
}

impl GpuRule {
    pub fn slots(&self) -> u16 {
        self.slots.unwrap_or(1).max(1)
    }

    /// Falls back to the configuration file where administrators have set nothing.
    pub(crate) fn resolved(&self, config: &GpuConfig, index: u32) -> GpuRule {
        let unused = || config.in_use.as_ref().is_some_and(|used| !used.contains(&index));
        GpuRule {
            disabled: Some(self.disabled.unwrap_or_else(unused)),
            slots: self.slots.or_else(|| config.slots.get(&index).copied()),
            ..self.clone()
        }
    }

    pub fn is_open(&self) -> bool {
        self.disabled != Some(true)
            && (self.quarantined.is_none() || mutated(Mutant::QuarantineIgnored))
    }
}

impl Gpu {
    /// Its first report.
    pub(crate) fn new(report: &GpuReport) -> Gpu {
        Gpu {
            id: report.id.clone(),
            index: report.index,
            model: report.model.clone(),
            memory: report.memory,
            vendor: report.vendor,
            condition: report.condition.clone(),
            usage: report.usage.clone(),
            neighbours: report.neighbours.clone(),
            tenants: Vec::new(),
            left_at: None,
            holders: Vec::new(),
            rule: GpuRule::default(),
            also_on: Vec::new(),
            has_unknown_run: false,
            links: GpuMask::NONE,
        }
    }

    /// Free for a task of its own, but for what Danlu itself runs on it.
    pub(crate) fn is_usable(&self) -> bool {
        self.is_ours() && self.left_at.is_none() && self.is_sound()
    }

    /// Others use it, but what they leave can be shared.
    pub(crate) fn is_shareable_with_others(&self) -> bool {
        let foreign = matches!(self.condition, GpuCondition::Foreign { .. });
        self.is_ours() && foreign && self.usage.other_memory.is_some()
    }

    /// Not disabled, not listed by another node, and not used by a run of a lost store.
    fn is_ours(&self) -> bool {
        let twice = !self.also_on.is_empty() && !mutated(Mutant::SharedGpuGiven);
        self.rule.is_open() && !twice && !self.has_unknown_run
    }

    fn is_sound(&self) -> bool {
        match self.condition {
            GpuCondition::Idle => true,
            GpuCondition::Foreign { .. } => mutated(Mutant::ForeignIsFree),
            GpuCondition::Dirty | GpuCondition::Missing => false,
            GpuCondition::Unknown => mutated(Mutant::UnknownIsFree),
        }
    }

    pub(crate) fn matches(&self, request: &Request) -> bool {
        self.memory >= request.gpu_memory && self.is_called(request)
    }

    /// Of the model that was asked for.
    pub(crate) fn is_called(&self, request: &Request) -> bool {
        request.gpu_model.as_ref().is_none_or(|wanted| {
            self.model.to_ascii_lowercase().contains(&wanted.to_ascii_lowercase())
        })
    }

    pub fn tenant(&self, run: RunId) -> Option<&Tenant> {
        self.tenants.iter().find(|tenant| tenant.run == run)
    }
}
