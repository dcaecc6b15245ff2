//! Everything that is told to monitoring systems, as plain values of one moment.

use super::counters::CounterFigures;
use super::influx::InfluxFigures;
use danlu_core::Time;
use danlu_wire::api::{GpuStateName, TaskStateName};
use danlu_wire::samples::MachineReading;

#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct MetricsSnapshot {
    pub(crate) at: Time,
    pub(crate) nodes: Vec<NodeFigures>,
    pub(crate) gpus: Vec<GpuFigures>,
    /// Every state, also those that no task is in.
    pub(crate) tasks: Vec<(TaskStateName, usize)>,
    /// Only if they are wanted.
    pub(crate) users: Vec<UserFigures>,
    pub(crate) custom: Vec<CustomFigure>,
    pub(crate) counts: CounterFigures,
    pub(crate) server: ServerFigures,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NodeFigures {
    pub(crate) name: String,
    pub(crate) up: bool,
    pub(crate) unfit: bool,
    pub(crate) draining: bool,
    pub(crate) schedulable: bool,
    pub(crate) cpus: Option<u32>,
    /// What was measured last; nothing while it is away.
    pub(crate) reading: MachineReading,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GpuFigures {
    pub(crate) node: String,
    pub(crate) index: u32,
    pub(crate) uuid: String,
    pub(crate) model: String,
    pub(crate) state: GpuStateName,
    /// How many tasks hold it.
    pub(crate) tasks: usize,
    /// Bytes, as the next.
    pub(crate) memory_total: u64,
    pub(crate) memory_used: Option<u64>,
    /// Percent.
    pub(crate) utilization: Option<u8>,
    /// °C.
    pub(crate) temperature: Option<i32>,
    /// Watts.
    pub(crate) power: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UserFigures {
    pub(crate) name: String,
    pub(crate) gpus_held: usize,
    pub(crate) tasks_queued: usize,
}

/// Of a probe of the administrator's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CustomFigure {
    pub(crate) name: String,
    pub(crate) unit: String,
    pub(crate) node: String,
    pub(crate) gpu: Option<u32>,
    /// Thousandths of its unit.
    pub(crate) value: i64,
}

/// Of the server itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct ServerFigures {
    pub(crate) notices: usize,
    pub(crate) posts_waiting: u64,
    pub(crate) posts_sent: u64,
    pub(crate) posts_failed: u64,
    pub(crate) posts_dropped: u64,
    /// Receivers of messages that do not take them.
    pub(crate) targets_failing: usize,
    pub(crate) samples_waiting: u64,
    pub(crate) samples_dropped: u64,
    pub(crate) influx: Vec<InfluxFigures>,
}

impl MetricsSnapshot {
    /// How many GPUs are in each state, also in those that none is in.
    pub(crate) fn gpu_states(&self) -> impl Iterator<Item = (GpuStateName, usize)> {
        GpuStateName::ALL
            .into_iter()
            .map(|state| (state, self.gpus.iter().filter(|gpu| gpu.state == state).count()))
    }
}
