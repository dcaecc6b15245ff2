//! The history of use: series of numbers, and what a run has made of what it held.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `GET …/usage`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UsageHistory {
    /// Milliseconds since 1970, as all times here.
    pub now: i64,
    pub from: i64,
    pub to: i64,
    /// Of a task: the attempt that is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// Of a task: when its attempts began and ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<AttemptSpan>,
    pub series: Vec<UsageSeries>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AttemptSpan {
    pub attempt: u32,
    pub started: Option<i64>,
    pub ended: Option<i64>,
}

/// One number over time. Where nothing could be measured, there is no point or a `null`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UsageSeries {
    /// A machine, or a GPU as `machine:index`.
    pub of: String,
    /// Such as `gpu_utilization`, or the name of a metric of the administrator's.
    pub metric: String,
    pub unit: String,
    /// The most that there can be, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub most: Option<f64>,
    /// How many milliseconds a point stands for, at least.
    pub step: i64,
    pub at: Vec<i64>,
    pub mean: Vec<Option<f64>>,
    /// The least and the most within each step; left out where the points are single samples.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub min: Vec<Option<f64>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub max: Vec<Option<f64>>,
}

/// What a run has made of what it held.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Efficiency {
    /// For how long it was measured.
    pub measured_seconds: u64,
    /// Percent of its GPUs, over all the time that it held them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu_utilization: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu_utilization_peak: Option<u32>,
    /// Bytes of one GPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu_memory_peak: Option<u64>,
    /// Of all its GPUs together.
    pub gpu_seconds: u64,
    /// In which a GPU did nothing for more than a minute.
    pub gpu_idle_seconds: u64,
    /// Thousandths of a core, on the machine where it used most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_millicores: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_millicores_peak: Option<u64>,
    /// Bytes, on the machine where it used most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_peak: Option<u64>,
    /// Of the GPUs that it had alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub energy_joules: Option<u64>,
    pub gpus: Vec<GpuEfficiency>,
    /// What to ask for next time. None for runs that are too short to tell.
    pub advice: Vec<AdviceView>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GpuEfficiency {
    /// As `machine:index`.
    pub gpu: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utilization: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utilization_peak: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_peak: Option<u64>,
    pub idle_seconds: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AdviceView {
    /// Such as `fewer_gpus`.
    pub kind: String,
    /// What to say to `danlu submit`, such as `-g 1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub option: Option<String>,
    pub text: String,
}
