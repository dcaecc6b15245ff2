//! What a machine measures every few seconds, for charts and reports; and what it is told to measure.
//!
//! All numbers are whole, in the units that are stored. What could not be measured is left out, never zero.

use danlu_core::{GpuId, RunId, Span, Time};
use serde::{Deserialize, Serialize};

/// What a server wants to be measured. An agent that has not got one measures nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SamplingOrder {
    /// Between two samples; zero: no samples.
    pub interval: Span,
    /// Only the runs: another agent of the same machine measures the rest.
    pub only_runs: bool,
    pub probes: Vec<MetricProbe>,
}

/// A program that measures something of the administrator's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MetricProbe {
    pub name: String,
    /// Program and arguments; there is no shell.
    pub command: Vec<String>,
    pub per: MetricScope,
    pub interval: Span,
    /// A probe that takes longer is ended, with all that it has started.
    pub timeout: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MetricScope {
    /// It prints one number.
    Machine,
    /// It prints a line for each GPU: `INDEX VALUE`, or the values in order of the GPUs.
    Gpu,
}

/// One moment of one machine.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Samples {
    /// By the clock of the machine.
    pub at: Time,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<MachineReading>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gpus: Vec<GpuReading>,
    /// Every run that is alive there: one that is not listed has ended.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<RunReading>,
    /// Only those that were measured since the last samples.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub custom: Vec<CustomReading>,
    /// Probes whose last attempt failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed_probes: Vec<FailedProbe>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct MachineReading {
    /// Thousandths of all cores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<u32>,
    /// MiB, as all memory and disk space here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_used: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_total: Option<u32>,
    /// The load of the last minute, in hundredths.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<u32>,
    /// Of the file system that the runs are on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk_used: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk_total: Option<u32>,
    /// KiB per second, as all rates here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk_read: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disk_written: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub received: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sent: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GpuReading {
    pub gpu: GpuId,
    #[serde(flatten)]
    pub load: GpuLoad,
    /// °C.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<i32>,
}

/// Of a GPU, or of what one run has of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct GpuLoad {
    /// Percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utilization: Option<u8>,
    /// MiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<u32>,
    /// Watts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power: Option<u32>,
}

/// What a run itself uses on this machine, never what others do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunReading {
    pub run: RunId,
    /// Thousandths of one core.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<u32>,
    /// MiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<u32>,
    /// Of the GPUs that it holds here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gpus: Vec<RunGpuReading>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunGpuReading {
    pub gpu: GpuId,
    #[serde(flatten)]
    pub load: GpuLoad,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CustomReading {
    pub metric: String,
    /// `None`: of the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu: Option<GpuId>,
    /// Thousandths of its unit.
    pub value: i64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedProbe {
    pub metric: String,
    pub why: ProbeFailure,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProbeFailure {
    /// It could not be started.
    NotStarted(String),
    /// It did not end in time, and was ended.
    TimedOut,
    /// Its exit status.
    Status(String),
    /// It printed something else than numbers: the first such line.
    Output(String),
}
