//! One GPU: what it is, and who uses it.

use crate::ids::{GpuId, RunId};
use crate::mutant::{Mutant, mutated};
use crate::resources::Request;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gpu {
    pub id: GpuId,
    /// The number people know it by; may change with a reboot or a new card.
    pub index: u32,
    pub model: String,
    /// Bytes.
    pub memory: u64,
    pub condition: GpuCondition,
    /// The run that Danlu gave it to. Kept by [`crate::State`] from the runs; not stored.
    #[serde(skip)]
    pub held_by: Option<RunId>,
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
    /// Memory was not given back: more is in use than when nobody uses it.
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
    pub condition: GpuCondition,
}

impl Gpu {
    pub(crate) fn is_free(&self) -> bool {
        self.is_usable() && self.held_by.is_none()
    }

    /// Free but for what Danlu itself runs on it.
    pub(crate) fn is_usable(&self) -> bool {
        match self.condition {
            GpuCondition::Idle => true,
            GpuCondition::Foreign { .. } => mutated(Mutant::ForeignIsFree),
            GpuCondition::Dirty | GpuCondition::Missing => false,
            GpuCondition::Unknown => mutated(Mutant::UnknownIsFree),
        }
    }

    pub(crate) fn matches(&self, request: &Request) -> bool {
        self.memory >= request.gpu_memory
            && request.gpu_model.as_ref().is_none_or(|wanted| {
                self.model.to_ascii_lowercase().contains(&wanted.to_ascii_lowercase())
            })
    }
}
