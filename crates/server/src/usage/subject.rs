//! What is measured, which numbers there are of it, and their units.

use super::codec::MISSING;
use danlu_core::{GpuId, NodeId, RunId};
use danlu_wire::samples::{GpuLoad, GpuReading, MachineReading, RunReading};
use serde::{Deserialize, Serialize};

/// Everything that has a history of its own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    Machine(NodeId),
    Gpu(GpuId),
    /// What a run uses of the CPUs and the memory of one machine.
    Part {
        run: RunId,
        node: NodeId,
    },
    /// What a run uses of a GPU.
    RunGpu {
        run: RunId,
        gpu: GpuId,
    },
    /// Of a probe of the administrator's.
    MachineMetric {
        node: NodeId,
        name: String,
    },
    GpuMetric {
        gpu: GpuId,
        name: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Metric {
    Cpu,
    MemoryUsed,
    MemoryTotal,
    Load,
    DiskUsed,
    DiskTotal,
    DiskRead,
    DiskWritten,
    NetworkReceived,
    NetworkSent,
    GpuUtilization,
    GpuMemory,
    GpuTemperature,
    GpuPower,
    Cores,
    Memory,
    Custom,
}

/// Places of columns are stored: only ever add at the end.
const MACHINE: &[Metric] = &[
    Metric::Cpu,
    Metric::MemoryUsed,
    Metric::MemoryTotal,
    Metric::Load,
    Metric::DiskUsed,
    Metric::DiskTotal,
    Metric::DiskRead,
    Metric::DiskWritten,
    Metric::NetworkReceived,
    Metric::NetworkSent,
];
const GPU: &[Metric] =
    &[Metric::GpuUtilization, Metric::GpuMemory, Metric::GpuPower, Metric::GpuTemperature];
const RUN_GPU: &[Metric] = &[Metric::GpuUtilization, Metric::GpuMemory, Metric::GpuPower];
const PART: &[Metric] = &[Metric::Cores, Metric::Memory];
const CUSTOM: &[Metric] = &[Metric::Custom];

impl Subject {
    /// In the order of its columns.
    pub fn metrics(&self) -> &'static [Metric] {
        match self {
            Subject::Machine(_) => MACHINE,
            Subject::Gpu(_) => GPU,
            Subject::Part { .. } => PART,
            Subject::RunGpu { .. } => RUN_GPU,
            Subject::MachineMetric { .. } | Subject::GpuMetric { .. } => CUSTOM,
        }
    }

    pub(super) fn run(&self) -> Option<RunId> {
        match self {
            Subject::Part { run, .. } | Subject::RunGpu { run, .. } => Some(*run),
            Subject::Machine(_)
            | Subject::Gpu(_)
            | Subject::MachineMetric { .. }
            | Subject::GpuMetric { .. } => None,
        }
    }
}

impl Metric {
    /// As the API names it.
    pub fn name(self) -> &'static str {
        match self {
            Metric::Cpu => "cpu",
            Metric::MemoryUsed => "memory_used",
            Metric::MemoryTotal => "memory_total",
            Metric::Load => "load",
            Metric::DiskUsed => "disk_used",
            Metric::DiskTotal => "disk_total",
            Metric::DiskRead => "disk_read",
            Metric::DiskWritten => "disk_written",
            Metric::NetworkReceived => "network_received",
            Metric::NetworkSent => "network_sent",
            Metric::GpuUtilization => "gpu_utilization",
            Metric::GpuMemory => "gpu_memory",
            Metric::GpuTemperature => "gpu_temperature",
            Metric::GpuPower => "gpu_power",
            Metric::Cores => "cores",
            Metric::Memory => "memory",
            Metric::Custom => "custom",
        }
    }

    /// Of the numbers that the API gives, after [`Metric::scale`].
    pub fn unit(self) -> &'static str {
        match self {
            Metric::Cpu | Metric::GpuUtilization => "%",
            Metric::MemoryUsed
            | Metric::MemoryTotal
            | Metric::DiskUsed
            | Metric::DiskTotal
            | Metric::GpuMemory
            | Metric::Memory => "MiB",
            Metric::Load | Metric::Custom => "",
            Metric::DiskRead
            | Metric::DiskWritten
            | Metric::NetworkReceived
            | Metric::NetworkSent => "KiB/s",
            Metric::GpuTemperature => "°C",
            Metric::GpuPower => "W",
            Metric::Cores => "cores",
        }
    }

    /// By what a stored number is divided.
    pub fn scale(self) -> f64 {
        match self {
            Metric::Cpu => 10.0,
            Metric::Load => 100.0,
            Metric::Cores | Metric::Custom => 1000.0,
            Metric::MemoryUsed
            | Metric::MemoryTotal
            | Metric::DiskUsed
            | Metric::DiskTotal
            | Metric::DiskRead
            | Metric::DiskWritten
            | Metric::NetworkReceived
            | Metric::NetworkSent
            | Metric::GpuUtilization
            | Metric::GpuMemory
            | Metric::GpuTemperature
            | Metric::GpuPower
            | Metric::Memory => 1.0,
        }
    }
}

/// In the order of the columns.
pub(super) fn of_machine(reading: &MachineReading) -> Vec<i64> {
    let MachineReading {
        cpu,
        memory_used,
        memory_total,
        load,
        disk_used,
        disk_total,
        disk_read,
        disk_written,
        received,
        sent,
    } = *reading;
    let all = [
        cpu,
        memory_used,
        memory_total,
        load,
        disk_used,
        disk_total,
        disk_read,
        disk_written,
        received,
        sent,
    ];
    all.into_iter().map(|value| value.map_or(MISSING, i64::from)).collect()
}

pub(super) fn of_load(load: &GpuLoad) -> Vec<i64> {
    vec![
        load.utilization.map_or(MISSING, i64::from),
        load.memory.map_or(MISSING, i64::from),
        load.power.map_or(MISSING, i64::from),
    ]
}

pub(super) fn of_gpu(reading: &GpuReading) -> Vec<i64> {
    let mut values = of_load(&reading.load);
    values.push(reading.temperature.map_or(MISSING, i64::from));
    values
}

pub(super) fn of_part(reading: &RunReading) -> Vec<i64> {
    vec![reading.cpu.map_or(MISSING, i64::from), reading.memory.map_or(MISSING, i64::from)]
}
