//! What is counted, and how a snapshot reads as text.

use super::counters::{CounterFigures, Counters};
use super::exposition::text;
use super::snapshot::{CustomFigure, GpuFigures, MetricsSnapshot, NodeFigures};
use crate::read_model::Publisher;
use crate::store::Batch;
use danlu_core::event::RequeueReason;
use danlu_core::run::Exit;
use danlu_core::task::Outcome;
use danlu_core::{Epoch, Event, NodeId, RunId, SpecId, TaskId, Time, UserId};
use danlu_wire::api::{GpuStateName, TaskStateName};
use danlu_wire::samples::MachineReading;

fn batch(events: Vec<Event>) -> Batch {
    let events = events.into_iter().map(|event| (Time(1_000), event)).collect();
    Batch { events, ..Batch::default() }
}

fn counted(events: Vec<Event>) -> CounterFigures {
    let (mut publisher, reader) = Publisher::new();
    publisher.publish(&batch(events.clone()), 1, None);
    assert_eq!(reader.counters().figures(), Counters::default().figures(), "nobody asked");
    reader.counters().begin();
    publisher.publish(&batch(events), 2, None);
    reader.counters().figures()
}

#[test]
fn what_happens_is_counted_once_somebody_asks() {
    let (task, spec) = (TaskId(1), SpecId(1));
    let run = RunId { epoch: Epoch(1), number: 1 };
    let ended = |outcome| Event::TaskFinished { task, outcome };
    let figures = counted(vec![
        Event::TaskSubmitted { task, spec },
        Event::TasksSubmitted { first: TaskId(2), count: 40, spec },
        Event::RunLaunched { run, task, owner: UserId(1), nodes: vec![NodeId(1)] },
        Event::TaskRequeued { task, why: RequeueReason::Preempted },
        ended(Outcome::Succeeded),
        ended(Outcome::Failed { exit: Exit::Code(127) }),
        ended(Outcome::Failed { exit: Exit::Code(1) }),
        ended(Outcome::Failed { exit: Exit::Code(1) }),
        ended(Outcome::TimedOut),
        ended(Outcome::GaveUp { attempts: 3 }),
    ]);
    let of = |outcome, class| {
        let found = figures.ends.iter().find(|(kind, _)| *kind == (outcome, class));
        found.map(|(_, count)| *count)
    };
    assert_eq!(figures.submitted, 41);
    assert_eq!(figures.waits.count, 1);
    assert_eq!(of("succeeded", "none"), Some(1));
    assert_eq!(of("failed", "command_not_found"), Some(1));
    assert_eq!(of("failed", "other"), Some(2));
    assert_eq!(of("failed", "killed"), Some(1));
    assert_eq!(of("timed_out", "timeout"), Some(1));
    assert_eq!(of("cancelled", "none"), Some(0), "there from the start");
    assert_eq!(
        figures.requeues.iter().find(|(why, _)| *why == "preempted"),
        Some(&("preempted", 1))
    );
}

pub(super) fn snapshot() -> MetricsSnapshot {
    let reading =
        MachineReading { cpu: Some(125), memory_used: Some(2), ..MachineReading::default() };
    MetricsSnapshot {
        nodes: vec![NodeFigures {
            name: "a\"b\\c\nd".to_owned(),
            up: true,
            unfit: false,
            draining: false,
            schedulable: true,
            cpus: Some(8),
            reading,
        }],
        gpus: vec![GpuFigures {
            node: "n".to_owned(),
            index: 3,
            uuid: "GPU-1".to_owned(),
            model: "A100".to_owned(),
            state: GpuStateName::Held,
            tasks: 2,
            memory_total: 85_899_345_920,
            memory_used: None,
            utilization: Some(7),
            temperature: Some(-3),
            power: None,
        }],
        tasks: vec![(TaskStateName::Queued, 5)],
        custom: vec![CustomFigure {
            name: "inlet".to_owned(),
            unit: "°C".to_owned(),
            node: "n".to_owned(),
            gpu: None,
            value: -1_500,
        }],
        ..MetricsSnapshot::default()
    }
}

#[test]
fn values_are_in_base_units_and_labels_are_escaped() {
    let text = text(&snapshot());
    let has = |line: &str| assert!(text.lines().any(|it| it == line), "{line} is not in\n{text}");
    has(r#"danlu_node_up{node="a\"b\\c\nd"} 1"#);
    has(r#"danlu_node_cpu_utilization_ratio{node="a\"b\\c\nd"} 0.125"#);
    has(r#"danlu_node_memory_used_bytes{node="a\"b\\c\nd"} 2097152"#);
    has(r#"danlu_gpu_info{node="n",gpu="3",model="A100",uuid="GPU-1"} 1"#);
    has(r#"danlu_gpu_state{node="n",gpu="3",state="held"} 1"#);
    has(r#"danlu_gpu_utilization_ratio{node="n",gpu="3"} 0.07"#);
    has(r#"danlu_gpu_temperature_celsius{node="n",gpu="3"} -3"#);
    has(r#"danlu_gpu_memory_total_bytes{node="n",gpu="3"} 85899345920"#);
    has(r#"danlu_tasks{state="queued"} 5"#);
    has(r#"danlu_gpus{state="held"} 1"#);
    has(r#"danlu_gpus{state="free"} 0"#);
    has(r#"danlu_custom{name="inlet",unit="°C",node="n",gpu=""} -1.5"#);
}

#[test]
fn what_is_not_measured_is_not_there() {
    let text = text(&snapshot());
    for absent in
        ["danlu_gpu_memory_used_bytes", "danlu_gpu_power_watts", "danlu_user_", "load_average"]
    {
        assert!(!text.contains(absent), "{absent} in\n{text}");
    }
}
