//! The history of use on pages: what charts are called, small lines, and the efficiency card of a run.

use crate::api::Api;
use danlu_core::{GpuId, NodeId};
use danlu_messages::efficiency as msg;
use danlu_messages::web::charts as words;
use danlu_wire::api::Efficiency;
use serde_json::json;

/// What each chart and each line is called, for the script that draws them.
pub(super) fn titles() -> String {
    json!({
        "gpu_utilization": words::gpu_utilization(),
        "gpu_memory": words::gpu_memory(),
        "gpu_temperature": words::gpu_temperature(),
        "gpu_power": words::gpu_power(),
        "cpu": words::cpu(),
        "cores": words::cores(),
        "memory": words::memory(),
        "load": words::load(),
        "disk": words::disk(),
        "disk_read": words::disk_read(),
        "disk_written": words::disk_written(),
        "network": words::network(),
        "network_received": words::network_received(),
        "network_sent": words::network_sent(),
        "time": words::time(),
    })
    .to_string()
}

/// The efficiency card: names and values, and what to ask for next time.
pub(super) struct EfficiencyCard {
    pub(super) facts: Vec<(&'static str, String)>,
    pub(super) advice: Vec<String>,
}

impl EfficiencyCard {
    pub(super) fn of(seen: &Efficiency) -> EfficiencyCard {
        let use_ = seen.gpu_utilization.zip(seen.gpu_utilization_peak);
        let use_ = use_.map(|(mean, peak)| msg::percent_and_peak(&mean, &peak));
        let idle = (seen.gpu_seconds > 0 && seen.gpu_utilization.is_some())
            .then(|| msg::idle_line(seen.gpu_idle_seconds, seen.gpu_seconds));
        let cores = seen.cpu_millicores.zip(seen.cpu_millicores_peak);
        let cores =
            cores.map(|(mean, peak)| msg::number_and_peak(&msg::cores(mean), &msg::cores(peak)));
        let size = |bytes: Option<u64>| bytes.map(super::amounts::bytes);
        let facts = [
            (msg::gpu_use(), use_),
            (msg::gpu_memory_peak(), size(seen.gpu_memory_peak)),
            (msg::gpu_idle(), idle),
            (msg::cpu(), cores),
            (msg::memory_peak(), size(seen.memory_peak)),
            (msg::energy_used(), seen.energy_joules.map(msg::energy)),
        ];
        EfficiencyCard {
            facts: facts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect(),
            advice: seen.advice.iter().map(|advice| advice.text.clone()).collect(),
        }
    }
}

/// Points for a line of 120 by 24, the last ten minutes from left to right; `None` with too few.
pub(super) fn spark_line(
    api: &Api,
    node: NodeId,
    gpu: &str,
    now: danlu_core::Time,
) -> Option<String> {
    const MINUTES: i64 = 10;
    let samples = api.live.history(node, &GpuId::from(gpu));
    let last = samples.last()?.utilization;
    let point = |at: i64, use_: u8| {
        let x = 120.0 - (now.0 - at) as f64 / (MINUTES * 60_000) as f64 * 120.0;
        format!("{:.1},{:.1}", x.max(0.0), 23.0 - f64::from(use_.min(100)) / 100.0 * 22.0)
    };
    let mut points: Vec<String> =
        samples.iter().filter_map(|sample| Some(point(sample.at.0, sample.utilization?))).collect();
    // What has not been seen to change is as it was.
    points.extend(last.map(|use_| point(now.0, use_)));
    (points.len() > 1).then(|| points.join(" "))
}
