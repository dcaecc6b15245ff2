//! One machine with GPUs, and how far it can be trusted right now.

use crate::gpu::Gpu;
use crate::ids::{NodeId, SessionId};
use crate::mutant::{Mutant, mutated};
use crate::resources::{GpuMask, Request};
use crate::time::Time;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    pub id: NodeId,
    pub name: String,
    pub labels: BTreeMap<String, String>,
    pub link: Link,
    /// The newest connection there has been; its messages alone are heard.
    pub session: SessionId,
    /// Gets nothing new; what runs there goes on.
    pub draining: bool,
    /// What it last said it has; `None` before its first report.
    pub capacity: Option<Capacity>,
    /// By index. A GPU that is no longer reported stays, as missing, while a run holds it.
    pub gpus: Vec<Gpu>,
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

    /// May be given new work. Invariant: only a node whose last report was clean.
    pub fn is_open(&self) -> bool {
        self.is_ready() && (!self.draining || mutated(Mutant::DrainIgnored))
    }

    pub(crate) fn free_gpus(&self) -> GpuMask {
        self.gpus_where(Gpu::is_free)
    }

    pub(crate) fn usable_gpus(&self) -> GpuMask {
        self.gpus_where(Gpu::is_usable)
    }

    pub(crate) fn matching_gpus(&self, request: &Request) -> GpuMask {
        self.gpus_where(|gpu| gpu.matches(request))
    }

    /// Those that were asked for by their numbers; `None` where some of them are not here.
    pub(crate) fn pinned_gpus(&self, request: &Request) -> Option<GpuMask> {
        let pinned = self.gpus_where(|gpu| request.gpu_ids.contains(&gpu.index));
        (pinned.count() as usize == request.gpu_ids.len()).then_some(pinned)
    }

    pub(crate) fn accepts(&self, request: &Request) -> bool {
        request.node.as_ref().is_none_or(|wanted| wanted.matches(&self.name, &self.labels))
    }

    fn gpus_where(&self, keep: impl Fn(&Gpu) -> bool) -> GpuMask {
        self.gpus
            .iter()
            .enumerate()
            .filter(|(_, gpu)| keep(gpu))
            .fold(GpuMask::NONE, |mask, (position, _)| mask.with(GpuMask::single(position)))
    }
}
