//! Tasks as table rows, with the elements of an array in one.

use std::collections::BTreeMap;

use danlu_messages::cli::ls as msg;
use danlu_wire::api::{ArrayLine, Line, TaskStateName, TaskView, ranges};
use jiff::Timestamp;

use crate::screen::{
    amounts, clock, places, states,
    table::{Cell, Column, Table},
    tasks,
};

pub(crate) fn table(lines: &[Line], with_user: bool, now: Timestamp) -> Table {
    let mut columns = vec![
        Column::right(msg::id()),
        Column::left(msg::name()).shrinks(16, 8),
        Column::left(msg::state()),
        Column::left(msg::gpus()),
        Column::right(msg::time()),
        Column::left(msg::why_where()).shrinks(28, 12),
    ];
    if with_user {
        columns.insert(1, Column::left(msg::user()).shrinks(10, 6));
    }
    let mut table = Table::new(columns);
    for Line { task, array } in lines {
        let mut row = match array {
            None => single(task, now),
            Some(array) => several(task, array, now),
        };
        if with_user {
            row.insert(1, task.user.as_str().into());
        }
        table.row(row);
    }
    table
}

/// In the order of the list; an array stands where its first element does, as far as its elements are listed.
pub(super) fn folded(all: Vec<TaskView>) -> Vec<Line> {
    let mut lines: Vec<Vec<TaskView>> = Vec::new();
    let mut places: BTreeMap<u64, usize> = BTreeMap::new();
    for task in all {
        let place = *places.entry(task.array.unwrap_or(task.id)).or_insert(lines.len());
        if place == lines.len() {
            lines.push(Vec::new());
        }
        lines[place].push(task);
    }
    lines.into_iter().filter_map(line).collect()
}

fn line(mut elements: Vec<TaskView>) -> Option<Line> {
    // One that waits tells why.
    let spokesman = elements.iter().position(|task| task.state.is_waiting()).unwrap_or(0);
    let array = (elements.len() > 1).then(|| {
        let ids = || elements.iter().map(|task| task.id);
        let running = elements.iter().filter(|task| task.state == TaskStateName::Running);
        let mut counts = BTreeMap::new();
        for task in &elements {
            *counts.entry(task.state).or_default() += 1;
        }
        ArrayLine {
            first: ids().min().unwrap_or_default(),
            last: ids().max().unwrap_or_default(),
            indices: ranges(elements.iter().filter_map(|task| task.index)),
            counts,
            running_since: running.filter_map(|task| task.started_at.clone()).min(),
        }
    });
    let task = (!elements.is_empty()).then(|| elements.swap_remove(spokesman))?;
    Some(Line { task, array })
}

fn single(task: &TaskView, now: Timestamp) -> Vec<Cell> {
    let time = tasks::duration(task, now).map_or_else(|| "–".to_owned(), amounts::clock);
    vec![
        task.id.to_string().into(),
        tasks::name(task).into(),
        Cell::coloured(states::word(task.state), states::colour(task.state)),
        task.gpus.to_string().into(),
        time.into(),
        tasks::why_or_where(task, now).into(),
    ]
}

/// Where it stands as a whole, and how many are where.
fn several(task: &TaskView, array: &ArrayLine, now: Timestamp) -> Vec<Cell> {
    let state = array.state();
    let longest = array.running_since.as_deref().and_then(clock::read);
    let longest = longest.map(|began| clock::between(began, now));
    vec![
        format!("{}-{}", array.first, array.last).into(),
        format!("{}[{}]", task.name, places::ranges(&array.indices)).into(),
        Cell::coloured(states::word(state), states::colour(state)),
        task.gpus.to_string().into(),
        longest.map_or_else(|| "–".to_owned(), amounts::clock).into(),
        counts(task, array, now).into(),
    ]
}

fn counts(task: &TaskView, array: &ArrayLine, now: Timestamp) -> String {
    // Of held ones the state says it all.
    let tells_why = task.state.is_waiting() && task.state != TaskStateName::Held;
    if tells_why && array.counts.len() == 1 {
        let (count, why) = (array.len(), tasks::why(task, now));
        return msg::count_wait_why(&count, &why);
    }
    let mut parts: Vec<String> = array
        .counts
        .iter()
        .map(|(state, count)| {
            let state = states::word(*state);
            msg::count_state(&count, &state)
        })
        .collect();
    // What happens now first.
    parts.sort_by_key(|part| !part.contains(states::word(TaskStateName::Running)));
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::width;
    use danlu_core::{RunId, WaitReason, ids::Epoch};

    fn task(id: u64, state: TaskStateName) -> TaskView {
        let fields = serde_json::json!({
            "id": id, "name": "train", "user": "ada", "state": state.as_str(), "why": null, "wait": null,
            "command": ["train"], "shell": false, "gpus": 1, "node": null, "gpu_ids": [],
            "submitted_at": "2026-11-15T10:00:00Z", "started_at": null, "ended_at": null, "exit_code": null,
            "failure": null, "attempt": 1, "array": null, "index": null, "priority": 5, "urgent": false,
            "project": null, "labels": {}, "time_limit": null,
        });
        serde_json::from_value(fields).expect("it is a task")
    }

    fn element(first: u64, index: u32, state: TaskStateName) -> TaskView {
        let id = first + u64::from(index);
        TaskView { array: Some(first), index: Some(index), name: "sweep".into(), ..task(id, state) }
    }

    fn now() -> Timestamp {
        "2026-11-15T11:22:10Z".parse().expect("it is a time")
    }

    #[test]
    fn a_task_says_where_it_runs_or_why_it_waits() {
        let running = TaskView {
            node: Some("gpu1".into()),
            gpu_ids: vec![0, 1],
            gpus: 2,
            started_at: Some("2026-11-15T10:00:00Z".into()),
            time_limit: Some(86_400),
            ..task(412, TaskStateName::Running)
        };
        let run = RunId { epoch: Epoch(1), number: 7 };
        let queued = TaskView {
            wait: Some(WaitReason::Resources { held_by: vec![run] }),
            ..task(420, TaskStateName::Queued)
        };
        let shown = table(&folded(vec![running, queued]), false, now()).render(Some(80), false);
        // The backslash eats spaces.
        let expect = " ID  NAME   STATE    GPUS     TIME  WHY / WHERE
412  train  running  2     1:22:10  gpu1:0,1  limit 24h
420  train  queued   1           –  for a running task to end
";
        assert_eq!(shown, expect);
    }

    #[test]
    fn an_array_is_one_line_wherever_its_elements_stand() {
        use TaskStateName::{Failed, Queued, Running, Succeeded};
        let mut all = vec![element(20, 3, Running), task(9, Running)];
        all.extend((4..10).map(|index| element(20, index, Queued)));
        all.extend([element(20, 0, Succeeded), element(20, 1, Succeeded), element(20, 2, Failed)]);
        let shown = table(&folded(all), false, now()).render(None, false);
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines.len(), 3, "{shown}");
        assert!(lines[1].starts_with("20-29  sweep[0-9]  running"), "{shown}");
        assert!(lines[1].ends_with("1 running, 6 queued, 2 succeeded, 1 failed"), "{shown}");
    }

    #[test]
    fn a_single_element_is_named_with_its_index() {
        let all = vec![element(20, 3, TaskStateName::Running)];
        let shown = table(&folded(all), true, now()).render(None, false);
        assert!(shown.contains("23  ada   sweep[3]  running"), "{shown}");
    }

    #[test]
    fn long_names_and_reasons_fit_80_columns() {
        let mut long = task(1_234_567, TaskStateName::Queued);
        long.name = "一个非常长的名字".repeat(6);
        long.why = Some("reasons ".repeat(30));
        let shown = table(&folded(vec![long]), true, now()).render(Some(80), false);
        assert!(shown.lines().all(|line| width::of(line) <= 80), "{shown}");
        assert!(shown.contains("reasons reasons"), "{shown}");
    }
}
