//! The history of use on pages: what charts are called, and small lines.

use crate::api::Api;
use danlu_core::{GpuId, NodeId};
use danlu_messages::web::charts as words;
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
