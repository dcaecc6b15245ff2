//! A snapshot as Prometheus reads it: the text format 0.0.4.
//! <https://prometheus.io/docs/instrumenting/exposition_formats/>

use super::histogram::HistogramFigures;
use super::influx::InfluxFigures;
use super::snapshot::{GpuFigures, MetricsSnapshot, NodeFigures};
use danlu_wire::samples::MachineReading;
use std::fmt::{self, Write as _};

pub(crate) const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

const MIB: f64 = 1_048_576.0;
const KIB: f64 = 1_024.0;

type Label<'a> = (&'static str, &'a str);

#[derive(Clone, Copy)]
enum Kind {
    Gauge,
    Counter,
    Histogram,
}

/// The text so far.
#[derive(Default)]
struct Exposition(String);

/// One metric: its name, and whether anybody has been told of it yet.
struct Family<'a> {
    page: &'a mut Exposition,
    name: &'static str,
    kind: Kind,
    help: &'static str,
    begun: bool,
}

pub(crate) fn text(snapshot: &MetricsSnapshot) -> String {
    let mut page = Exposition::default();
    let version = env!("CARGO_PKG_VERSION");
    page.gauge("danlu_build_info", "The version of the server").add(&[("version", version)], 1.0);
    nodes(&mut page, &snapshot.nodes);
    gpus(&mut page, snapshot);
    tasks(&mut page, snapshot);
    custom(&mut page, snapshot);
    server(&mut page, snapshot);
    page.0
}

fn nodes(page: &mut Exposition, nodes: &[NodeFigures]) {
    let mut each = |name, help, value: &dyn Fn(&NodeFigures) -> Option<f64>| {
        let mut family = page.gauge(name, help);
        for node in nodes {
            let labels = [("node", node.name.as_str())];
            value(node).into_iter().for_each(|value| family.add(&labels, value));
        }
    };
    let flag = |is: bool| Some(f64::from(u8::from(is)));
    each("danlu_node_up", "Whether the machine is connected and its report was checked", &|it| {
        flag(it.up)
    });
    each("danlu_node_unfit", "Whether the machine cannot start tasks", &|it| flag(it.unfit));
    each("danlu_node_draining", "Whether the machine gets no new tasks", &|it| flag(it.draining));
    each("danlu_node_schedulable", "Whether the machine may get new tasks", &|it| {
        flag(it.schedulable)
    });
    each("danlu_node_cpus", "CPUs of the machine", &|it| it.cpus.map(f64::from));
    let mut read = |name, help, value: fn(&MachineReading) -> Option<u32>, unit: f64| {
        each(name, help, &|node| value(&node.reading).map(|number| f64::from(number) * unit));
    };
    read("danlu_node_cpu_utilization_ratio", "Use of all CPUs", |it| it.cpu, 0.001);
    read("danlu_node_load_average", "Load average of the last minute", |it| it.load, 0.01);
    read("danlu_node_memory_used_bytes", "Memory in use", |it| it.memory_used, MIB);
    read("danlu_node_memory_total_bytes", "Memory of the machine", |it| it.memory_total, MIB);
    read(
        "danlu_node_disk_used_bytes",
        "Use of the file system that runs are on",
        |it| it.disk_used,
        MIB,
    );
    read("danlu_node_disk_total_bytes", "Size of that file system", |it| it.disk_total, MIB);
    read("danlu_node_disk_read_bytes_per_second", "Read from disks", |it| it.disk_read, KIB);
    read("danlu_node_disk_written_bytes_per_second", "Written to disks", |it| it.disk_written, KIB);
    read(
        "danlu_node_network_received_bytes_per_second",
        "Received over the network",
        |it| it.received,
        KIB,
    );
    read("danlu_node_network_sent_bytes_per_second", "Sent over the network", |it| it.sent, KIB);
}

fn gpus(page: &mut Exposition, snapshot: &MetricsSnapshot) {
    let mut totals = page.gauge("danlu_gpus", "GPUs by state");
    for (state, count) in snapshot.gpu_states() {
        totals.add(&[("state", state.as_str())], count as f64);
    }
    let indices: Vec<String> = snapshot.gpus.iter().map(|gpu| gpu.index.to_string()).collect();
    let all = || snapshot.gpus.iter().zip(&indices);
    let mut info = page.gauge("danlu_gpu_info", "Model and UUID of a GPU");
    for (gpu, index) in all() {
        let (model, uuid) = (("model", gpu.model.as_str()), ("uuid", gpu.uuid.as_str()));
        info.add(&[("node", &gpu.node), ("gpu", index), model, uuid], 1.0);
    }
    let mut states =
        page.gauge("danlu_gpu_state", "1 for the state that a GPU is in; no other is listed");
    for (gpu, index) in all() {
        states.add(&[("node", &gpu.node), ("gpu", index), ("state", gpu.state.as_str())], 1.0);
    }
    let mut each = |name, help, value: fn(&GpuFigures) -> Option<f64>| {
        let mut family = page.gauge(name, help);
        for (gpu, index) in all() {
            let labels = [("node", gpu.node.as_str()), ("gpu", index.as_str())];
            value(gpu).into_iter().for_each(|value| family.add(&labels, value));
        }
    };
    each("danlu_gpu_tasks", "Tasks that hold the GPU", |gpu| Some(gpu.tasks as f64));
    each("danlu_gpu_utilization_ratio", "Share of time in which the GPU computed", |gpu| {
        gpu.utilization.map(|percent| f64::from(percent) / 100.0)
    });
    each("danlu_gpu_memory_used_bytes", "Memory of the GPU in use", |gpu| {
        gpu.memory_used.map(|bytes| bytes as f64)
    });
    each("danlu_gpu_memory_total_bytes", "Memory of the GPU", |gpu| Some(gpu.memory_total as f64));
    each("danlu_gpu_temperature_celsius", "Temperature of the GPU", |gpu| {
        gpu.temperature.map(f64::from)
    });
    each("danlu_gpu_power_watts", "Power that the GPU draws", |gpu| gpu.power.map(f64::from));
}

fn tasks(page: &mut Exposition, snapshot: &MetricsSnapshot) {
    let mut tasks =
        page.gauge("danlu_tasks", "Tasks by state; ended ones as long as they are kept");
    for (state, count) in &snapshot.tasks {
        tasks.add(&[("state", state.as_str())], *count as f64);
    }
    let mut held = page.gauge("danlu_user_gpus_held", "GPUs that tasks of the user hold");
    for user in &snapshot.users {
        held.add(&[("user", &user.name)], user.gpus_held as f64);
    }
    let mut queued =
        page.gauge("danlu_user_tasks_queued", "Tasks of the user that wait for a start");
    for user in &snapshot.users {
        queued.add(&[("user", &user.name)], user.tasks_queued as f64);
    }
    let counts = &snapshot.counts;
    let submitted = "Tasks that were submitted, since the server counts";
    page.counter("danlu_tasks_submitted_total", submitted).add(&[], counts.submitted as f64);
    let mut ends = page
        .counter("danlu_task_ends_total", "Tasks that have ended, by outcome and class of failure");
    for ((outcome, class), count) in &counts.ends {
        ends.add(&[("outcome", outcome), ("class", class)], *count as f64);
    }
    let mut requeues =
        page.counter("danlu_task_requeues_total", "Runs that ended and whose task waits again");
    for (why, count) in &counts.requeues {
        requeues.add(&[("reason", why)], *count as f64);
    }
    let waits = "How long tasks were queued before a run was started";
    page.histogram("danlu_queue_wait_seconds", waits, &counts.waits);
}

fn custom(page: &mut Exposition, snapshot: &MetricsSnapshot) {
    let mut family =
        page.gauge("danlu_custom", "What the administrator's own probes have measured last");
    for figure in &snapshot.custom {
        let gpu = figure.gpu.map(|index| index.to_string()).unwrap_or_default();
        let labels = [
            ("name", figure.name.as_str()),
            ("unit", &figure.unit),
            ("node", &figure.node),
            ("gpu", &gpu),
        ];
        family.add(&labels, figure.value as f64 / 1_000.0);
    }
}

fn server(page: &mut Exposition, snapshot: &MetricsSnapshot) {
    let commits = "How long the database took to commit";
    page.histogram("danlu_commit_duration_seconds", commits, &snapshot.counts.commits);
    let server = &snapshot.server;
    let notices = "Notices that administrators have not acknowledged";
    page.gauge("danlu_notices", notices).add(&[], server.notices as f64);
    let waiting = "Messages to people that wait to be sent";
    page.gauge("danlu_notifications_waiting", waiting).add(&[], server.posts_waiting as f64);
    let mut posts =
        page.counter("danlu_notifications_total", "Messages to people, by what became of them");
    posts.add(&[("result", "sent")], server.posts_sent as f64);
    posts.add(&[("result", "failed")], server.posts_failed as f64);
    posts.add(&[("result", "dropped")], server.posts_dropped as f64);
    let failing = "Receivers of messages that did not take the last one";
    page.gauge("danlu_notification_targets_failing", failing)
        .add(&[], server.targets_failing as f64);
    let waiting = "Samples of use that wait to be written";
    page.gauge("danlu_usage_samples_waiting", waiting).add(&[], server.samples_waiting as f64);
    let dropped = "Samples of use that were dropped because too many waited";
    page.counter("danlu_usage_samples_dropped_total", dropped)
        .add(&[], server.samples_dropped as f64);
    influx(page, &server.influx);
}

fn influx(page: &mut Exposition, databases: &[InfluxFigures]) {
    let mut failing =
        page.gauge("danlu_influxdb_failing", "Whether the database did not take the last points");
    for it in databases {
        failing.add(&[("target", &it.target)], f64::from(u8::from(it.failing.is_some())));
    }
    let mut waiting = page
        .gauge("danlu_influxdb_points_waiting", "Points that wait to be written to the database");
    for it in databases {
        waiting.add(&[("target", &it.target)], it.waiting as f64);
    }
    let mut points = page
        .counter("danlu_influxdb_points_total", "Points for the database, by what became of them");
    for it in databases {
        let results = [("sent", it.sent), ("refused", it.refused), ("dropped", it.dropped)];
        for (result, count) in results {
            points.add(&[("target", &it.target), ("result", result)], count as f64);
        }
    }
}

impl Exposition {
    fn family(&mut self, name: &'static str, kind: Kind, help: &'static str) -> Family<'_> {
        Family { page: self, name, kind, help, begun: false }
    }

    fn gauge(&mut self, name: &'static str, help: &'static str) -> Family<'_> {
        self.family(name, Kind::Gauge, help)
    }

    fn counter(&mut self, name: &'static str, help: &'static str) -> Family<'_> {
        self.family(name, Kind::Counter, help)
    }

    fn histogram(&mut self, name: &'static str, help: &'static str, figures: &HistogramFigures) {
        let mut family = self.family(name, Kind::Histogram, help);
        for (bound, count) in &figures.buckets {
            family.line("_bucket", &[("le", &bound.to_string())], *count as f64);
        }
        family.line("_bucket", &[("le", "+Inf")], figures.count as f64);
        family.line("_sum", &[], figures.sum);
        family.line("_count", &[], figures.count as f64);
    }
}

impl Family<'_> {
    fn add(&mut self, labels: &[Label<'_>], value: f64) {
        self.line("", labels, value);
    }

    fn line(&mut self, suffix: &str, labels: &[Label<'_>], value: f64) {
        let (name, out) = (self.name, &mut self.page.0);
        // Writing to a `String` does not fail.
        if !self.begun {
            self.begun = true;
            let kind = match self.kind {
                Kind::Gauge => "gauge",
                Kind::Counter => "counter",
                Kind::Histogram => "histogram",
            };
            let _ = writeln!(out, "# HELP {name} {}\n# TYPE {name} {kind}", self.help);
        }
        let _ = write!(out, "{name}{suffix}");
        for (place, (label, value)) in labels.iter().enumerate() {
            let before = if place == 0 { '{' } else { ',' };
            let _ = write!(out, "{before}{label}=\"{}\"", Escaped(value));
        }
        let after = if labels.is_empty() { " " } else { "} " };
        let _ = writeln!(out, "{after}{value}");
    }
}

/// The value of a label.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for letter in self.0.chars() {
            match letter {
                '\\' => f.write_str("\\\\")?,
                '"' => f.write_str("\\\"")?,
                '\n' => f.write_str("\\n")?,
                other => f.write_char(other)?,
            }
        }
        Ok(())
    }
}
