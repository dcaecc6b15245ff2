//! Tasks as rows, the elements of an array as one.

use std::collections::BTreeMap;

use danlu_wire::api::{TaskStateName, TaskView};
use jiff::Timestamp;

use crate::{
    given::task_state::{ACTIVE, WAITING},
    language::{say, text},
    screen::{
        amounts, places, states,
        table::{Cell, Column, Table},
        tasks,
    },
};

/// At most `ended_lines` are of what has ended altogether.
pub(super) fn table(
    all: &[TaskView],
    mut ended_lines: usize,
    with_user: bool,
    now: Timestamp,
) -> Table {
    let mut columns = vec![
        Column::right(text("ID", "编号")),
        Column::left(text("NAME", "名称")).shrinks(16, 8),
        Column::left(text("STATE", "状态")),
        Column::left(text("GPUS", "GPU")),
        Column::right(text("TIME", "用时")),
        Column::left(text("WHY / WHERE", "原因 / 位置")).shrinks(28, 12),
    ];
    if with_user {
        columns.insert(1, Column::left(text("USER", "用户")).shrinks(10, 6));
    }
    let mut table = Table::new(columns);
    for line in folded(all) {
        if line.iter().all(|task| task.state.is_over()) {
            if ended_lines == 0 {
                continue;
            }
            ended_lines -= 1;
        }
        let mut row = match line.as_slice() {
            [one] => single(one, now),
            several => array(several, now),
        };
        if with_user {
            row.insert(1, line[0].user.as_str().into());
        }
        table.row(row);
    }
    table
}

/// In the order of the list; an array stands where its first element does.
fn folded(all: &[TaskView]) -> Vec<Vec<&TaskView>> {
    let mut lines: Vec<Vec<&TaskView>> = Vec::new();
    let mut places: BTreeMap<u64, usize> = BTreeMap::new();
    for task in all {
        let known = task.array.and_then(|array| places.get(&array));
        match known {
            Some(place) => lines[*place].push(task),
            None => {
                if let Some(array) = task.array {
                    places.insert(array, lines.len());
                }
                lines.push(vec![task]);
            }
        }
    }
    lines
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
fn array(elements: &[&TaskView], now: Timestamp) -> Vec<Cell> {
    let state = leading_state(elements);
    let numbers =
        |of: fn(&TaskView) -> u64| elements.iter().map(|task| of(task)).collect::<Vec<_>>();
    let indices = places::list(&numbers(|task| u64::from(task.index.unwrap_or_default())));
    let ids = numbers(|task| task.id);
    let (first, last) = (ids.iter().min().unwrap_or(&0), ids.iter().max().unwrap_or(&0));
    let longest = elements.iter().filter(|task| ACTIVE.contains(&task.state));
    let longest = longest.filter_map(|task| tasks::duration(task, now)).max();
    vec![
        format!("{first}-{last}").into(),
        format!("{}[{indices}]", elements[0].name).into(),
        Cell::coloured(states::word(state), states::colour(state)),
        elements[0].gpus.to_string().into(),
        longest.map_or_else(|| "–".to_owned(), amounts::clock).into(),
        counts(elements, now).into(),
    ]
}

/// What runs comes before what waits, and a failure before a success.
fn leading_state(elements: &[&TaskView]) -> TaskStateName {
    use TaskStateName::{
        Blocked, Cancelled, Failed, Held, Lost, Paused, Queued, Running, Starting, Stopping,
        Succeeded, TimedOut,
    };
    let order = [
        Running, Starting, Stopping, Lost, Paused, Queued, Blocked, Held, Failed, TimedOut,
        Cancelled, Succeeded,
    ];
    let has = |state: &TaskStateName| elements.iter().any(|task| task.state == *state);
    order.into_iter().find(has).unwrap_or(Succeeded)
}

fn counts(elements: &[&TaskView], now: Timestamp) -> String {
    let mut by_state: BTreeMap<TaskStateName, usize> = BTreeMap::new();
    for task in elements {
        *by_state.entry(task.state).or_default() += 1;
    }
    // Of held ones the state says it all.
    let waits = elements
        .iter()
        .find(|task| WAITING.contains(&task.state) && task.state != TaskStateName::Held);
    if let (Some(task), 1) = (waits, by_state.len()) {
        let why = tasks::why(task, now);
        let count = elements.len();
        return say!("{count} wait: {why}", "{count} 个等待：{why}");
    }
    let mut parts: Vec<String> = by_state
        .iter()
        .map(|(state, count)| {
            let state = states::word(*state);
            say!("{count} {state}", "{count} 个{state}")
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
        let shown = table(&[running, queued], 9, false, now()).render(Some(80), false);
        // The backslash eats spaces.
        let expect = " ID  NAME   STATE    GPUS     TIME  WHY / WHERE
412  train  running  2     1:22:10  gpu1:0,1  limit 24h
420  train  queued   1           –  until a running task ends
";
        assert_eq!(shown, expect);
    }

    #[test]
    fn an_array_is_one_line_wherever_its_elements_stand() {
        use TaskStateName::{Failed, Queued, Running, Succeeded};
        let mut all = vec![element(20, 3, Running), task(9, Running)];
        all.extend((4..10).map(|index| element(20, index, Queued)));
        all.extend([element(20, 0, Succeeded), element(20, 1, Succeeded), element(20, 2, Failed)]);
        let shown = table(&all, 9, false, now()).render(None, false);
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines.len(), 3, "{shown}");
        assert!(lines[1].starts_with("20-29  sweep[0-9]  running"), "{shown}");
        assert!(lines[1].ends_with("1 running, 6 queued, 2 succeeded, 1 failed"), "{shown}");
    }

    #[test]
    fn a_single_element_is_named_with_its_index() {
        let all = [element(20, 3, TaskStateName::Running)];
        let shown = table(&all, 9, true, now()).render(None, false);
        assert!(shown.contains("23  ada   sweep[3]  running"), "{shown}");
    }

    #[test]
    fn lines_of_the_ended_are_few_however_large_their_arrays_were() {
        let mut all: Vec<TaskView> =
            (0..50).map(|index| element(20, index, TaskStateName::Succeeded)).collect();
        all.extend([1, 2, 3].map(|id| task(id, TaskStateName::Succeeded)));
        all.push(task(4, TaskStateName::Queued));
        let shown = table(&all, 2, false, now()).render(None, false);
        assert!(shown.contains("20-69") && shown.contains("50 succeeded"), "{shown}");
        assert_eq!(shown.lines().count(), 4, "{shown}");
    }

    #[test]
    fn long_names_and_reasons_fit_80_columns() {
        let mut long = task(1_234_567, TaskStateName::Queued);
        long.name = "一个非常长的名字".repeat(6);
        long.why = Some("reasons ".repeat(30));
        let shown = table(&[long], 9, true, now()).render(Some(80), false);
        assert!(shown.lines().all(|line| width::of(line) <= 80), "{shown}");
        assert!(shown.contains("reasons reasons"), "{shown}");
    }
}
