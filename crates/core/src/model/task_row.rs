//! A task as it is stored: in one level, without what is as usual.

use crate::explain::accuracy::StartPrediction;
use crate::model::ids::{RunId, SpecId, TaskId, UserId};
use crate::model::task::{ArrayElement, Doubt, Task, TaskSpec, TaskState};
use crate::model::time::{Span, Time};
use crate::model::trail::Trail;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

/// Fields of the first releases are all there, also those that are as usual.
#[derive(Serialize, Deserialize)]
struct TaskRow<'a> {
    id: TaskId,
    owner: UserId,
    spec_id: SpecId,
    submitted_at: Time,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<Arc<str>>,
    #[serde(default, skip_serializing_if = "is_default")]
    edited: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    array: Option<ArrayElement>,
    /// Left out where it is the id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    place: Option<u64>,
    #[serde(default, skip_serializing_if = "is_default")]
    own_claims: bool,
    state: Cow<'a, TaskState>,
    #[serde(default, skip_serializing_if = "is_default")]
    attempts: u32,
    #[serde(default, skip_serializing_if = "is_default")]
    failures: u32,
    #[serde(default, skip_serializing_if = "is_default")]
    losses: u32,
    #[serde(default, skip_serializing_if = "is_default")]
    attained: Span,
    #[serde(default, skip_serializing_if = "is_default")]
    progress: Span,
    #[serde(default, skip_serializing_if = "is_default")]
    restart_cost: Span,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_run: Option<RunId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    not_before: Option<Time>,
    #[serde(default, skip_serializing_if = "is_default")]
    extra_time: Span,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    wants_more_memory_than: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    predicted: Option<Span>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    predicted_start: Option<StartPrediction>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    doubt: Option<Doubt>,
}

/// Until the caller puts the one of its row there.
static NO_SPEC: LazyLock<Arc<TaskSpec>> = LazyLock::new(Arc::default);

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Serialize for Task {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let trail = self.trail();
        let row = TaskRow {
            id: self.id,
            owner: self.owner,
            spec_id: self.spec_id,
            submitted_at: self.submitted_at,
            key: self.key.clone(),
            edited: self.edited,
            array: self.array,
            place: (self.place != self.id.0).then_some(self.place),
            own_claims: self.own_claims,
            state: Cow::Borrowed(&self.state),
            attempts: trail.attempts,
            failures: trail.failures,
            losses: trail.losses,
            attained: trail.attained,
            progress: trail.progress,
            restart_cost: trail.restart_cost,
            last_run: trail.last_run,
            not_before: trail.not_before,
            extra_time: trail.extra_time,
            wants_more_memory_than: trail.wants_more_memory_than,
            predicted: self.predicted,
            predicted_start: trail.predicted_start,
            doubt: trail.doubt,
        };
        row.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Task {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Task, D::Error> {
        let row = TaskRow::deserialize(from)?;
        let trail = Trail {
            attempts: row.attempts,
            failures: row.failures,
            losses: row.losses,
            attained: row.attained,
            progress: row.progress,
            restart_cost: row.restart_cost,
            last_run: row.last_run,
            not_before: row.not_before,
            extra_time: row.extra_time,
            wants_more_memory_than: row.wants_more_memory_than,
            predicted_start: row.predicted_start,
            doubt: row.doubt,
        };
        Ok(Task {
            id: row.id,
            owner: row.owner,
            spec: Arc::clone(&NO_SPEC),
            spec_id: row.spec_id,
            submitted_at: row.submitted_at,
            key: row.key,
            edited: row.edited,
            array: row.array,
            place: row.place.unwrap_or(row.id.0),
            own_claims: row.own_claims,
            state: row.state.into_owned(),
            predicted: row.predicted,
            trail: trail.kept(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::State;
    use crate::step::submit::new_task;

    /// As 0.1.0 wrote it.
    const FIRST_RELEASE: &str = r#"{"id":7,"owner":2,"spec_id":3,"submitted_at":5,"key":"k","edited":true,
        "array":{"first":6,"index":1},"place":9,"own_claims":true,"state":{"queued":{"since":5}},"attempts":2,
        "failures":1,"losses":0,"attained":10,"progress":0,"restart_cost":0,"last_run":{"epoch":1,"number":4},
        "not_before":8,"extra_time":0,"wants_more_memory_than":null,"predicted":6,"predicted_start":null}"#;

    #[test]
    fn rows_of_the_first_release_are_read() {
        let task: Task = serde_json::from_str(FIRST_RELEASE).unwrap();
        assert_eq!((task.id, task.place, task.key.as_deref()), (TaskId(7), 9, Some("k")));
        let Trail { attempts, failures, attained, not_before, .. } = *task.trail();
        assert_eq!((attempts, failures, attained), (2, 1, Span(10)));
        assert_eq!((not_before, task.predicted), (Some(Time(8)), Some(Span(6))));
        let again: Task = serde_json::from_str(&serde_json::to_string(&task).unwrap()).unwrap();
        assert_eq!(again, task);
    }

    #[test]
    fn what_is_as_usual_is_not_stored() {
        let task = new_task(&State::new(), UserId(1), &NO_SPEC, Time(5));
        let task = Task { own_claims: false, state: TaskState::Held, ..task };
        let json = serde_json::to_string(&task).unwrap();
        assert_eq!(json, r#"{"id":1,"owner":1,"spec_id":1,"submitted_at":5,"state":"held"}"#);
        let again: Task = serde_json::from_str(&json).unwrap();
        assert_eq!(again, task);
    }

    /// With a header of 16 bytes, in an allocation of 160.
    #[test]
    fn a_task_that_waits_takes_little_memory() {
        assert!(size_of::<Task>() <= 144, "{}", size_of::<Task>());
    }
}
