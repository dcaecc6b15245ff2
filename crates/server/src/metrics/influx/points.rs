//! A snapshot as points of InfluxDB, in Danlu's own names or in those of the master/slave manager.

use super::line::Line;
use crate::daemon::config::PointNames;
use crate::metrics::snapshot::{GpuFigures, MetricsSnapshot, NodeFigures};
use danlu_wire::samples::MachineReading;

const MIB: u64 = 1 << 20;
const KIB: u64 = 1 << 10;

pub(crate) fn points(snapshot: &MetricsSnapshot, names: PointNames) -> Vec<Line> {
    let lines = match names {
        PointNames::Danlu => own(snapshot),
        PointNames::MasterSlave => master_slave(snapshot),
    };
    lines.into_iter().filter(|line| !line.is_empty()).collect()
}

fn own(snapshot: &MetricsSnapshot) -> Vec<Line> {
    let mut lines: Vec<Line> = snapshot.nodes.iter().map(node).collect();
    lines.extend(snapshot.gpus.iter().map(gpu));
    let gpus = snapshot.gpu_states();
    lines.push(
        gpus.fold(Line::new("danlu_gpus"), |line, (state, count)| {
            line.integer(state.as_str(), count)
        }),
    );
    let tasks = snapshot.tasks.iter();
    lines.push(tasks.fold(Line::new("danlu_tasks"), |line, (state, count)| {
        line.integer(state.as_str(), *count)
    }));
    for ((outcome, class), total) in &snapshot.counts.ends {
        let line = Line::new("danlu_task_ends").tag("outcome", outcome).tag("class", class);
        lines.push(line.integer("total", *total));
    }
    let waits = &snapshot.counts.waits;
    let waits = Line::new("danlu_queue_wait").integer("count", waits.count).float("sum", waits.sum);
    lines.push(waits);
    for user in &snapshot.users {
        let line = Line::new("danlu_user").tag("user", &user.name);
        let line = line.integer("gpus_held", user.gpus_held);
        lines.push(line.integer("tasks_queued", user.tasks_queued));
    }
    for figure in &snapshot.custom {
        let gpu = figure.gpu.map(|index| index.to_string()).unwrap_or_default();
        let line = Line::new("danlu_custom").tag("name", &figure.name).tag("unit", &figure.unit);
        let line = line.tag("node", &figure.node).tag("gpu", &gpu);
        lines.push(line.float("value", figure.value as f64 / 1_000.0));
    }
    lines
}

fn node(figures: &NodeFigures) -> Line {
    let NodeFigures { name, up, unfit, draining, schedulable, cpus, reading } = figures;
    let line = Line::new("danlu_node").tag("node", name);
    let line = line.integer("up", *up).integer("schedulable", *schedulable);
    let mut line = line.integer("draining", *draining).integer("unfit", *unfit);
    if let Some(cpus) = cpus {
        line = line.integer("cpus", *cpus);
    }
    if let Some(cpu) = reading.cpu {
        line = line.float("cpu_utilization", f64::from(cpu) / 1_000.0);
    }
    if let Some(load) = reading.load {
        line = line.float("load_average", f64::from(load) / 100.0);
    }
    let bytes = [
        ("memory_used", reading.memory_used, MIB),
        ("memory_total", reading.memory_total, MIB),
        ("disk_used", reading.disk_used, MIB),
        ("disk_total", reading.disk_total, MIB),
        ("disk_read", reading.disk_read, KIB),
        ("disk_written", reading.disk_written, KIB),
        ("network_received", reading.received, KIB),
        ("network_sent", reading.sent, KIB),
    ];
    let known = bytes.into_iter().filter_map(|(key, count, unit)| Some((key, count?, unit)));
    known.fold(line, |line, (key, count, unit)| line.integer(key, u64::from(count) * unit))
}

fn gpu(figures: &GpuFigures) -> Line {
    let line = Line::new("danlu_gpu").tag("node", &figures.node);
    let line = line.tag("gpu", &figures.index.to_string()).tag("model", &figures.model);
    let line = line.text("state", figures.state.as_str()).integer("tasks", figures.tasks);
    let mut line = line.integer("memory_total", figures.memory_total);
    if let Some(bytes) = figures.memory_used {
        line = line.integer("memory_used", bytes);
    }
    let numbers = [
        ("utilization", figures.utilization.map(|percent| f64::from(percent) / 100.0)),
        ("temperature", figures.temperature.map(f64::from)),
        ("power", figures.power.map(f64::from)),
    ];
    let known = numbers.into_iter().filter_map(|(key, number)| Some((key, number?)));
    known.fold(line, |line, (key, number)| line.float(key, number))
}

/// With its measurements, tags, units and kinds of numbers, so that a database that it has filled goes on.
fn master_slave(snapshot: &MetricsSnapshot) -> Vec<Line> {
    let mut lines = Vec::new();
    for NodeFigures { name, reading, .. } in &snapshot.nodes {
        lines.extend(master_slave_node(name, reading));
    }
    for figures in &snapshot.gpus {
        lines.push(master_slave_gpu(figures));
    }
    lines
}

fn master_slave_node(name: &str, reading: &MachineReading) -> Vec<Line> {
    let mut lines = Vec::new();
    if let Some(cpu) = reading.cpu {
        let line = Line::new("cpu").tag("host", name).tag("cpu", "cpu-total");
        // Percent.
        lines.push(line.float("value", f64::from(cpu) / 10.0));
    }
    if let (Some(used), Some(total)) = (reading.memory_used, reading.memory_total) {
        let available = total.saturating_sub(used);
        let line = Line::new("ram").tag("host", name);
        let line = line.integer("total", u64::from(total) * MIB);
        let line = line.integer("available", u64::from(available) * MIB);
        let line = line.integer("used", u64::from(used) * MIB);
        lines.push(line.float("percent", share(used.into(), total.into()) * 100.0));
    }
    if let (Some(received), Some(sent)) = (reading.received, reading.sent) {
        // Bits per second, in spite of their names; of all interfaces.
        let bits = |kib: u32| (u64::from(kib) * KIB * 8) as f64;
        let line = Line::new("net").tag("host", name).tag("net", "total");
        lines.push(line.float("recv_bytes_ps", bits(received)).float("sent_bytes_ps", bits(sent)));
    }
    lines
}

fn master_slave_gpu(figures: &GpuFigures) -> Line {
    let line = Line::new("gpu").tag("host", &figures.node);
    let mut line = line.tag("gpu", &format!("gpu{}", figures.index));
    if let Some(percent) = figures.utilization {
        line = line.float("load", f64::from(percent) / 100.0);
    }
    if let Some(used) = figures.memory_used {
        let mib = |bytes: u64| (bytes / MIB) as f64;
        let total = figures.memory_total;
        line = line.float("mem_used", mib(used)).float("mem_total", mib(total));
        line = line.float("mem_available", mib(total.saturating_sub(used)));
        line = line.float("mem_util", share(used, total));
    }
    line
}

fn share(used: u64, total: u64) -> f64 {
    if total == 0 { 0.0 } else { used as f64 / total as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::tests::snapshot;
    use danlu_core::Time;

    fn written(names: PointNames) -> Vec<String> {
        let mut snapshot = snapshot();
        snapshot.nodes[0].name = "gpu1".to_owned();
        snapshot.nodes[0].reading = MachineReading {
            cpu: Some(125),
            memory_used: Some(1_024),
            memory_total: Some(4_096),
            received: Some(2),
            sent: Some(1),
            ..MachineReading::default()
        };
        snapshot.gpus[0].memory_used = Some(8_589_934_592);
        let lines = points(&snapshot, names).into_iter();
        lines
            .map(|line| {
                let mut out = String::new();
                line.write(Time(7), &mut out);
                out.trim_end().to_owned()
            })
            .collect()
    }

    #[test]
    fn own_names_and_base_units() {
        let lines = written(PointNames::Danlu);
        let has =
            |line: &str| assert!(lines.iter().any(|it| it == line), "{line} is not in\n{lines:#?}");
        has(
            "danlu_node,node=gpu1 up=1i,schedulable=1i,draining=0i,unfit=0i,cpus=8i,cpu_utilization=0.125,memory_used=1073741824i,memory_total=4294967296i,network_received=2048i,network_sent=1024i 7",
        );
        has(
            "danlu_gpu,node=n,gpu=3,model=A100 state=\"held\",tasks=2i,memory_total=85899345920i,memory_used=8589934592i,utilization=0.07,temperature=-3 7",
        );
        has(
            "danlu_gpus conflict=0i,dirty=0i,disabled=0i,foreign=0i,free=0i,held=1i,quarantined=0i,shared=0i,unknown=0i 7",
        );
        has("danlu_tasks queued=5i 7");
        has("danlu_custom,name=inlet,unit=°C,node=n value=-1.5 7");
    }

    /// What its monitor writes: `{"measurement": "cpu", "tags": {"host", "cpu": "cpu-total"}, "fields": {"value": percent}}` and
    /// so on, with whole numbers for `ram` except `percent`, and MiB for memory of GPUs.
    #[test]
    fn names_and_units_of_the_master_slave_manager() {
        assert_eq!(
            written(PointNames::MasterSlave),
            [
                "cpu,host=gpu1,cpu=cpu-total value=12.5 7",
                "ram,host=gpu1 total=4294967296i,available=3221225472i,used=1073741824i,percent=25 7",
                "net,host=gpu1,net=total recv_bytes_ps=16384,sent_bytes_ps=8192 7",
                "gpu,host=n,gpu=gpu3 load=0.07,mem_used=8192,mem_total=81920,mem_available=73728,mem_util=0.1 7",
            ]
        );
    }
}
