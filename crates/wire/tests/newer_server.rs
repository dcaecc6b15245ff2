//! Answers of a newer server: a client of this version understands all but the values that it does not know.

use danlu_core::FailureClass;
use danlu_wire::api::{
    CheckStep, ErrorBody, ErrorCode, Failure, GpuCounts, GpuStateName, GpuTotals, MaybeNewer,
    NodeRole, NodeStateName, Notice, NoticeKind, PartStateName, RunStateName, TaskStateName,
    TaskView,
};
use danlu_wire::gpu::Vendor;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

fn read<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("it is understood")
}

#[test]
fn newer_states_are_unknown() {
    assert_eq!(read::<TaskStateName>(json!("frozen")), TaskStateName::Unknown);
    assert_eq!(read::<RunStateName>(json!("frozen")), RunStateName::Unknown);
    assert_eq!(read::<PartStateName>(json!("frozen")), PartStateName::Unknown);
    assert_eq!(read::<NodeStateName>(json!("frozen")), NodeStateName::Unknown);
    assert_eq!(read::<GpuStateName>(json!("frozen")), GpuStateName::Unknown);
    assert_eq!(read::<CheckStep>(json!("frozen")), CheckStep::Unknown);
    assert_eq!(read::<Vendor>(json!("intel")), Vendor::Other);
}

#[test]
fn names_of_states_are_their_json() {
    for state in TaskStateName::ALL {
        assert_eq!(serde_json::to_value(state).ok(), Some(json!(state.as_str())));
        assert_eq!(read::<TaskStateName>(json!(state.as_str())), state);
    }
    for state in GpuStateName::ALL {
        assert_eq!(serde_json::to_value(state).ok(), Some(json!(state.as_str())));
        assert_eq!(read::<GpuStateName>(json!(state.as_str())), state);
    }
    let mut sorted = GpuStateName::ALL;
    sorted.sort_unstable_by_key(|state| state.as_str());
    assert_eq!(sorted, GpuStateName::ALL);
    use NodeStateName::{Down, Draining, Ready, Unfit, Unverified};
    for state in [Ready, Draining, Unverified, Unfit, Down] {
        assert_eq!(serde_json::to_value(state).ok(), Some(json!(state.as_str())));
    }
    use RunStateName as Run;
    for state in [Run::Starting, Run::Running, Run::Paused, Run::Stopping, Run::Lost, Run::Ended] {
        assert_eq!(serde_json::to_value(state).ok(), Some(json!(state.as_str())));
    }
    use PartStateName as Part;
    for state in [Part::Starting, Part::Running, Part::Lost, Part::Ended] {
        assert_eq!(serde_json::to_value(state).ok(), Some(json!(state.as_str())));
    }
}

#[test]
fn gpus_are_counted_by_state_in_alphabetical_order() {
    let states = [GpuStateName::Unknown, GpuStateName::Free, GpuStateName::Free];
    let counts: GpuCounts = states.into_iter().collect();
    assert_eq!(serde_json::to_string(&counts).ok().as_deref(), Some(r#"{"free":2,"unknown":1}"#));
    let totals = GpuTotals(counts);
    let text = serde_json::to_string(&totals).expect("plain data");
    assert_eq!(text, r#"{"free":2,"total":3,"unknown":1}"#);
    assert_eq!(serde_json::from_str::<GpuTotals>(&text).ok(), Some(totals));
    let newer: GpuTotals = read(json!({"free": 1, "asleep": 2, "broken": 3, "total": 6}));
    assert_eq!((newer.0.of(GpuStateName::Unknown), newer.0.total()), (5, 6));
    let newer: GpuCounts = read(json!({"free": 1, "asleep": 2, "broken": 3}));
    assert_eq!(newer.of_any(&[GpuStateName::Free, GpuStateName::Unknown]), 6);
}

#[test]
fn newer_values_keep_their_text() {
    let failure = json!({"class": "cosmic_ray", "evidence": null});
    let read_failure: Failure = read(failure.clone());
    assert_eq!(read_failure.class, MaybeNewer::Newer("cosmic_ray".to_owned()));
    assert_eq!(serde_json::to_value(read_failure).ok(), Some(failure));
    let known: Failure = read(json!({"class": "cuda_oom", "evidence": "x"}));
    assert!(known.class.is(&FailureClass::CudaOom));
    assert_eq!(read::<MaybeNewer<NodeRole>>(json!("data")), NodeRole::Data.into());
    assert!(!read::<MaybeNewer<NodeRole>>(json!("login")).is(&NodeRole::Tasks));
}

#[test]
fn newer_notices_and_errors_do_not_hide_the_rest() {
    let notice: Notice = read(json!({"id": "a-1", "at": "now", "kind": "new", "more": [1]}));
    assert_eq!((notice.id.as_str(), notice.what), ("a-1", NoticeKind::Unknown));
    let error: ErrorBody = read(json!({"code": "teapot", "message": "m", "hint": "h"}));
    assert_eq!((error.code, error.message.as_str()), (ErrorCode::Internal, "m"));
}

#[test]
fn a_newer_reason_to_wait_leaves_its_sentence() {
    let task = json!({
        "id": 1, "name": "a", "user": "b", "state": "queued", "why": "the moon", "wait": {"Moon": 3},
        "command": [], "shell": false, "gpus": 0, "node": null, "gpu_ids": [], "submitted_at": "",
        "started_at": null, "ended_at": null, "exit_code": null, "failure": null, "attempt": 1,
        "array": null, "index": null, "priority": 5, "urgent": false, "project": null,
        "labels": {}, "time_limit": null,
    });
    let task: TaskView = read(task);
    assert_eq!((task.wait, task.why.as_deref()), (None, Some("the moon")));
}
