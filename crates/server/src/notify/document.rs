//! A message as JSON: the body of webhooks and what command hooks read.

use super::letter::{Letter, Matter, TaskFacts, TaskNews};
use super::render::Rendered;
use super::task_words::evidence;
use crate::api::rfc3339;
use danlu_core::run::Exit;
use danlu_wire::api::Efficiency;
use serde_json::{Value, json};

/// Everything that a program may rely on is described in the guide.
pub(crate) fn document(
    (id, to): (&str, &str),
    letter: &Letter,
    rendered: &Rendered,
    last_lines: &[String],
    efficiency: Option<&Efficiency>,
) -> Value {
    let mut whole = json!({
        "v": 1,
        "id": id,
        "kind": letter.kind(),
        "at": rfc3339(letter.at),
        "to": to,
        "title": rendered.headline,
        "text": rendered.plain(),
        "url": rendered.link,
    });
    match &letter.matter {
        Matter::Task { news, task } => {
            whole["task"] = task_document(task);
            if let Some(seen) = efficiency.filter(|_| *news == TaskNews::Ended) {
                whole["efficiency"] = json!(seen);
            }
            match news {
                TaskNews::Expiring { ends_at } => whole["ends_at"] = json!(rfc3339(*ends_at)),
                TaskNews::Requeued { why } => whole["why"] = json!(why),
                TaskNews::Lost { node } => whole["node"] = json!(node),
                TaskNews::Ended if !last_lines.is_empty() => {
                    whole["last_lines"] = json!(last_lines);
                }
                TaskNews::Idle { since, kind, stops } => {
                    whole["idle"] = json!({ "since": rfc3339(*since), "kind": kind.as_str() });
                    if let Some(stop) = stops {
                        let act = if stop.requeue { "requeue" } else { "release" };
                        whole["stops"] = json!({ "at": rfc3339(stop.at), "act": act });
                    }
                }
                TaskNews::Ended | TaskNews::Started | TaskNews::InDoubt => {}
            }
        }
        Matter::Digest(facts) => {
            whole["array"] = json!(facts.array);
            whole["counts"] = json!(facts.counts);
            whole["tasks"] = json!([facts.first_task, facts.last_task]);
            whole["failures"] = facts.failures.iter().map(task_document).collect();
        }
        Matter::GpuQuarantined { node, gpu, model, why, tasks } => {
            whole["gpu"] = json!({ "node": node, "index": gpu, "model": model });
            whole["why"] = json!(why);
            whole["tasks"] = json!(tasks);
        }
        Matter::NodeLost { node, tasks } => {
            whole["node"] = json!(node);
            whole["tasks"] = json!(tasks);
        }
        Matter::Quota { used, most } => {
            whole["quota"] = json!({ "gpu_hours_used": used, "gpu_hours": most });
        }
        Matter::GpusFree { free, .. } => {
            let each = free.iter().map(|(node, gpus)| json!({ "node": node, "gpu_ids": gpus }));
            whole["free"] = each.collect();
        }
        Matter::Monthly(facts) => whole["month"] = json!(facts),
        Matter::ForeignProcess { facts, yours } => {
            whole["gpu"] = json!({ "node": facts.node, "index": facts.gpu });
            whole["process"] =
                json!({ "pid": facts.pid, "user": facts.user, "command": facts.command });
            whole["allocated_to"] = json!(facts.task);
            whole["yours"] = json!(yours);
        }
        Matter::Announcement { text } => whole["announcement"] = json!(text),
        Matter::Dropped { count } => whole["dropped"] = json!(count),
        Matter::Test { .. } => {}
    }
    whole
}

fn task_document(task: &TaskFacts) -> Value {
    let code = task.exit.as_ref().and_then(Exit::code);
    let failure = task
        .failure
        .as_ref()
        .map(|failure| json!({ "class": failure.class.as_str(), "evidence": evidence(task) }));
    json!({
        "id": task.id,
        "name": task.name,
        "user": task.user,
        "command": task.command,
        "state": task.state.as_str(),
        "nodes": task.nodes,
        "gpu_ids": task.gpus,
        "attempt": task.attempt,
        "array": task.array,
        "index": task.index,
        "submitted_at": rfc3339(task.submitted_at),
        "started_at": task.started_at.map(rfc3339),
        "ended_at": task.ended_at.map(rfc3339),
        "exit_code": code,
        "failure": failure,
    })
}
