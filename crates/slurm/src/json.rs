//! `--json` of `squeue`, `sacct` and `sinfo`: documents as Slurm 22.05 writes them (openapi/v0.0.38).

use danlu_wire::api::{NodeView, TaskView};
use serde_json::{Value, json};

use crate::columns::Line;
use crate::environment::{CLUSTER, PARTITION};
use crate::reason::reason;
use crate::sinfo::node_state;
use crate::state::{JobState, exit_code};
use crate::times::{Now, read};

fn document(key: &str, list: &[Value]) -> Value {
    let version = json!({"major": 22, "minor": 5, "micro": 8});
    json!({
        "meta": {
            "plugin": {"type": "openapi/v0.0.38", "name": "Slurm OpenAPI v0.0.38"},
            "Slurm": {"version": version, "release": "22.05.8"},
        },
        "errors": [],
        key: list,
    })
}

pub fn squeue(tasks: &[TaskView], now: &Now) -> Value {
    document("jobs", &tasks.iter().map(|task| job(task, now)).collect::<Vec<_>>())
}

fn seconds(at: Option<&str>) -> i64 {
    at.and_then(read).map_or(0, jiff::Timestamp::as_second)
}

fn state(task: &TaskView) -> &'static str {
    JobState::of(task).map_or("UNKNOWN", JobState::long)
}

fn job(task: &TaskView, now: &Now) -> Value {
    let line = Line::of(task, now);
    let start = seconds(task.started_at.as_deref());
    let limit = task.time_limit.and_then(|seconds| i64::try_from(seconds).ok());
    let end = match (task.ended_at.as_deref(), limit) {
        (Some(at), _) => seconds(Some(at)),
        (None, Some(limit)) if start > 0 => start + limit,
        (None, _) => 0,
    };
    let (code, signal) = exit_code(task);
    let nodes = task.node.clone().unwrap_or_default();
    let memory = task.details.as_ref().map(|it| it.request.memory >> 20).filter(|it| *it > 0);
    let gres = match task.gpus {
        0 => String::new(),
        gpus => format!("gres:gpu:{gpus}"),
    };
    json!({
        "account": task.project.clone().unwrap_or_default(),
        "array_job_id": task.array.unwrap_or(0),
        "array_task_id": task.index,
        "array_task_string": "",
        "batch_flag": true,
        "batch_host": nodes.split(',').next().unwrap_or_default(),
        "cluster": CLUSTER,
        "command": task.command.first().cloned().unwrap_or_default(),
        "comment": task.details.as_ref().map(|it| it.description.clone()).unwrap_or_default(),
        "cpus": line.cpus(),
        "current_working_directory": task.details.as_ref().map(|it| it.directory.clone()).unwrap_or_default(),
        "dependency": match line.dependency().as_str() { "(null)" => String::new(), some => some.to_owned() },
        "derived_exit_code": code << 8 | signal,
        "eligible_time": seconds(Some(&task.submitted_at)),
        "end_time": end,
        "exit_code": code << 8 | signal,
        "features": "",
        "job_id": task.id,
        "job_state": state(task),
        "memory_per_node": memory,
        "name": task.name,
        "node_count": nodes.split(',').filter(|node| !node.is_empty()).count().max(1),
        "nodes": nodes,
        "partition": PARTITION,
        "priority": task.priority,
        "qos": "normal",
        "requeue": true,
        "restart_cnt": task.attempt.saturating_sub(1),
        "standard_error": line.output(true),
        "standard_input": "/dev/null",
        "standard_output": line.output(false),
        "start_time": start,
        "state_description": "",
        "state_reason": reason(task),
        "submit_time": seconds(Some(&task.submitted_at)),
        "tasks": 1,
        // In minutes.
        "time_limit": task.time_limit.map(|seconds| seconds.div_ceil(60)),
        "tres_per_node": gres,
        "tres_req_str": format!("cpu={},node=1,billing=1,gres/gpu={}", line.cpus(), task.gpus),
        "user_name": task.user,
    })
}

pub fn sacct(tasks: &[TaskView], now: &Now) -> Value {
    let one = |task: &TaskView| {
        let line = Line::of(task, now);
        let (code, signal) = exit_code(task);
        let status = match signal {
            0 if code == 0 => json!({"status": "SUCCESS", "return_code": 0}),
            0 => json!({"status": "ERROR", "return_code": code}),
            signal => {
                json!({"status": "SIGNALED", "return_code": 0, "signal": {"signal_id": signal, "name": ""}})
            }
        };
        json!({
            "account": task.project.clone().unwrap_or_default(),
            "array": {"job_id": task.array.unwrap_or(0), "task_id": task.index, "task": ""},
            "cluster": CLUSTER,
            "exit_code": status.clone(),
            "derived_exit_code": status,
            "job_id": task.id,
            "name": task.name,
            "nodes": task.node.clone().unwrap_or_default(),
            "allocation_nodes": 1,
            "partition": PARTITION,
            "priority": task.priority,
            "qos": "normal",
            "state": {"current": state(task), "reason": reason(task)},
            "steps": [],
            "time": {
                "elapsed": line.elapsed(),
                "eligible": seconds(Some(&task.submitted_at)),
                "end": seconds(task.ended_at.as_deref()),
                "start": seconds(task.started_at.as_deref()),
                "submission": seconds(Some(&task.submitted_at)),
                "suspended": 0,
                "limit": task.time_limit.map(|seconds| seconds.div_ceil(60)),
            },
            "user": task.user,
            "working_directory": task.details.as_ref().map(|it| it.directory.clone()).unwrap_or_default(),
        })
    };
    document("jobs", &tasks.iter().map(one).collect::<Vec<_>>())
}

pub fn sinfo(nodes: &[NodeView]) -> Value {
    let one = |node: &NodeView| {
        let features: Vec<String> =
            node.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
        json!({
            "name": node.name,
            "hostname": node.host_name.clone().unwrap_or_else(|| node.name.clone()),
            "address": node.name,
            "state": node_state(node),
            "state_flags": [],
            "cpus": node.cpus,
            "real_memory": node.memory_total >> 20,
            "free_memory": node.memory_total.saturating_sub(node.memory_used.unwrap_or(0)) >> 20,
            "gres": format!("gpu:{}", node.gpus),
            "gres_used": format!("gpu:{}", node.gpus.saturating_sub(node.gpus_free)),
            "features": features.join(","),
            "active_features": features.join(","),
            "partitions": [PARTITION],
            "operating_system": node.system.clone().unwrap_or_default(),
            "reason": node.problem.clone().unwrap_or_default(),
            "slurmd_version": node.version.clone().unwrap_or_default(),
            "weight": 1,
        })
    };
    document("nodes", &nodes.iter().map(one).collect::<Vec<_>>())
}
