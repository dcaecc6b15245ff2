//! A lab with two machines and a few tasks, for the tests of model and drawing.

use std::ops::RangeInclusive;

use danlu_core::WaitReason;
use danlu_wire::api::{
    ArrayLine, ForeignView, GpuCounts, GpuStateName, GpuView, Line, Overview, TaskStateName,
    TaskView,
};
use jiff::Timestamp;

use super::{Holder, Holders};

pub(crate) fn now() -> Timestamp {
    "2026-11-15T11:22:10Z".parse().expect("it is a time")
}

pub(crate) fn task(id: u64, name: &str, user: &str, state: TaskStateName) -> TaskView {
    let fields = serde_json::json!({
        "id": id, "name": name, "user": user, "state": state.as_str(), "why": null, "wait": null,
        "command": ["train"], "shell": false, "gpus": 1, "node": null, "gpu_ids": [],
        "submitted_at": "2026-11-15T10:00:00Z", "started_at": null, "ended_at": null, "exit_code": null,
        "failure": null, "attempt": 1, "array": null, "index": null, "priority": 5, "urgent": false,
        "project": null, "labels": {}, "time_limit": null,
    });
    serde_json::from_value(fields).expect("it is a task")
}

fn line(task: TaskView) -> Line {
    Line { task, array: None }
}

fn running(id: u64, name: &str, user: &str, gpus: &[u32]) -> Line {
    line(TaskView {
        node: Some("gpu1".into()),
        gpu_ids: gpus.to_vec(),
        gpus: u32::try_from(gpus.len()).expect("they are few"),
        started_at: Some("2026-11-15T10:00:00Z".into()),
        ..task(id, name, user, TaskStateName::Running)
    })
}

fn empty() -> Overview {
    Overview {
        user: "ada".into(),
        running: 0,
        running_gpus: 0,
        waiting: 0,
        gpus: GpuCounts::default(),
        lines: Vec::new(),
        not_shown: 0,
        lines_before: 0,
        next_cursor: None,
        notices: Vec::new(),
    }
}

pub(crate) fn overview() -> Overview {
    let mut counts = GpuCounts::default();
    gpus().iter().for_each(|gpu| counts.add(gpu.state, 1));
    let sweep = TaskView {
        wait: Some(WaitReason::GpusBusy),
        array: Some(421),
        index: Some(0),
        ..task(421, "ablation", "bo", TaskStateName::Queued)
    };
    let array = ArrayLine {
        first: 421,
        last: 520,
        indices: vec![(0, 99)],
        counts: [(TaskStateName::Queued, 100)].into(),
        running_since: None,
    };
    let failed = TaskView {
        started_at: Some("2026-11-15T10:00:00Z".into()),
        ended_at: Some("2026-11-15T10:12:03Z".into()),
        exit_code: Some(1),
        why: Some("CUDA out of memory".into()),
        ..task(408, "ablation-7", "ada", TaskStateName::Failed)
    };
    Overview {
        running: 1,
        running_gpus: 2,
        waiting: 2,
        gpus: counts,
        lines: vec![
            running(398, "vit-large", "bo", &[2]),
            running(412, "resnet", "ada", &[0, 1]),
            line(TaskView {
                wait: Some(WaitReason::Held),
                ..task(416, "评估 eval", "ada", TaskStateName::Held)
            }),
            line(TaskView {
                wait: Some(WaitReason::Resources { held_by: Vec::new() }),
                gpus: 8,
                ..task(420, "llama-70b", "ada", TaskStateName::Queued)
            }),
            Line { task: sweep, array: Some(array) },
            line(failed),
        ],
        ..empty()
    }
}

/// Tasks that wait, with these ids.
pub(crate) fn queue(ids: RangeInclusive<u64>) -> Overview {
    let lines = ids.map(|id| line(task(id, "train", "ada", TaskStateName::Queued)));
    Overview { lines: lines.collect(), ..empty() }
}

pub(crate) fn holders() -> Holders {
    let holder = |user: &str, name: &str| Holder { user: user.into(), name: name.into() };
    [(398, holder("bo", "vit-large")), (412, holder("ada", "resnet"))].into()
}

pub(crate) fn gpus() -> Vec<GpuView> {
    let gpu = |node: &str, index: u32, state: GpuStateName, tasks: &[u64], percent: u32| GpuView {
        node: node.into(),
        index,
        uuid: format!("GPU-{node}-{index}"),
        model: "NVIDIA A100 80GB".into(),
        state,
        memory_total: 80 << 30,
        memory_used: Some(u64::from(percent) * (80 << 30) / 100),
        utilization: Some(percent),
        temperature: Some(60),
        power: Some(300),
        tasks: tasks.to_vec(),
        foreign: Vec::new(),
        idle: None,
        slots: 1,
        why: None,
        also_on: Vec::new(),
    };
    let outside = ForeignView {
        pid: 4711,
        user: "chen".into(),
        command: "python".into(),
        memory: Some(21 << 30),
        stopped: false,
    };
    let mut all = vec![
        gpu("gpu1", 0, GpuStateName::Held, &[412], 97),
        gpu("gpu1", 1, GpuStateName::Held, &[412], 88),
        gpu("gpu1", 2, GpuStateName::Held, &[398], 62),
        gpu("gpu1", 3, GpuStateName::Free, &[], 0),
        GpuView { foreign: vec![outside], ..gpu("gpu1", 4, GpuStateName::Foreign, &[], 100) },
        GpuView {
            why: Some("Xid 79".into()),
            utilization: None,
            memory_used: None,
            ..gpu("gpu1", 5, GpuStateName::Quarantined, &[], 0)
        },
    ];
    all.extend((0..2).map(|index| gpu("gpu2", index, GpuStateName::Free, &[], 0)));
    all
}
