//! What was used, accuracy of predictions, and the check of the database.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The answer to `GET /reports/usage`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UsageReport {
    pub report: UsageReportView,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UsageReportView {
    pub since: String,
    pub until: String,
    /// Whose days these are, such as `Asia/Shanghai`.
    pub time_zone: String,
    /// Such as `user`, `day`.
    pub by: Vec<String>,
    /// All days, weeks or months in this time, also those in which nothing happened; none where it is not by time.
    #[serde(default)]
    pub periods: Vec<String>,
    /// Only the caller's own tasks: others' are not visible.
    pub own: bool,
    /// Not yet while an older history is being read: some tasks are missing.
    pub complete: bool,
    pub total: UsageFigures,
    /// Who used most comes first; periods in their order.
    pub groups: Vec<UsageGroup>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UsageGroup {
    /// A value for each of `by`; `null`: no project, no GPU, or a model that is not known any more.
    pub key: BTreeMap<String, Option<String>>,
    pub figures: UsageFigures,
}

/// Of runs only the part that lies in the time of the report.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct UsageFigures {
    /// For which GPUs were held by runs; one that several runs share counts for each of them.
    pub gpu_hours: f64,
    /// Of CPU time that was used.
    pub cpu_hours: f64,
    /// All that ran: those that ended in this time, and those that run now.
    pub tasks: u64,
    pub running: u64,
    pub succeeded: u64,
    pub failed: u64,
    pub cancelled: u64,
    pub timed_out: u64,
    /// From submission to the first start.
    pub wait: Option<WaitFigures>,
    /// Percent, on average over the time in which it was measured.
    pub gpu_utilization: Option<f64>,
    /// Of `gpu_hours`, those that were measured.
    pub measured_gpu_hours: f64,
    /// Of these, those in which the GPU did nothing for more than a minute.
    pub idle_gpu_hours: f64,
    /// Of GPUs that a run had alone.
    pub energy_kwh: f64,
    /// Attempts that failed, by class, such as `cuda_oom`.
    pub failures: BTreeMap<String, u64>,
}

/// Seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WaitFigures {
    /// Those that waited neither for others nor for their owner.
    pub tasks: u64,
    pub mean_seconds: f64,
    pub median_seconds: f64,
    pub p90_seconds: f64,
}

/// The answer to `GET /reports/predictions`: how good they were.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Predictions {
    pub predictions: PredictionsView,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PredictionsView {
    /// Of how long tasks run.
    pub durations: AccuracyView,
    /// Of how long they wait.
    pub starts: AccuracyView,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AccuracyView {
    /// Tasks for which there was a prediction.
    pub compared: u64,
    /// The share of them, from 0 to 1, that was off by at most a quarter; `None` without any.
    pub within_25_percent: Option<f64>,
    /// How much more was predicted than came, in sum: 0.5 is half as much again.
    pub bias: Option<f64>,
}

/// `GET /server/health`: what `danlu doctor` looks at where the server runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerHealth {
    /// By its clock.
    pub now: String,
    pub version: String,
    /// The data directory, the kind of its file system if that is one of a network, and bytes.
    pub data: String,
    pub file_system: Option<String>,
    pub disk_free: Option<u64>,
    pub disk_total: Option<u64>,
    /// How many files it can have open.
    pub open_files: Option<u64>,
    /// Addresses that are in the configuration, and those that it serves.
    pub configured: Vec<String>,
    pub listening: Vec<String>,
    /// When the certificate that it presents is no longer valid; `None` where nothing is encrypted.
    pub certificate: Option<String>,
    pub certificate_ends_at: Option<String>,
    /// Of the machine on which the server runs.
    #[serde(default)]
    pub host: Option<HostHealth>,
    /// `None` where it sends no mail.
    #[serde(default)]
    pub mail: Option<MailHealth>,
    /// Databases that points are sent to.
    #[serde(default)]
    pub exports: Vec<ExportHealth>,
}

/// What tasks depend on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostHealth {
    pub cgroup_v2: bool,
    /// There is a card of NVIDIA's whose driver is loaded, and the driver's tools.
    pub nvidia_driver: bool,
    pub nvidia_tools: bool,
    /// Settings of its systemd unit; empty where there is none.
    pub unit: BTreeMap<String, String>,
}

/// A connection to the mail server, without a mail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MailHealth {
    pub server: String,
    /// What has gone wrong; `None`: it takes mail from us.
    pub problem: Option<String>,
}

/// A database that points are sent to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExportHealth {
    /// Its address and name.
    pub target: String,
    /// Points that wait to be written, and those that were given up since the server was started.
    pub waiting: u64,
    pub refused: u64,
    pub dropped: u64,
    /// What it said last, while it does not take points.
    pub failing: Option<String>,
}

/// `GET /server/check`: the database is sound, and has so many of each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DatabaseCheck {
    pub tasks: usize,
    pub open_tasks: usize,
    pub runs: usize,
    pub users: usize,
    pub nodes: usize,
    pub events: i64,
}
