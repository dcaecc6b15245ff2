//! Ended tasks that have left the rows, through real files: what is written with a batch is found again.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use danlu_core::run::{Exit, PartState, RunPart, RunState, RunUsage};
use danlu_core::state::Retired;
use danlu_core::task::{ArrayElement, ArraySpec, Axis, Outcome, TaskSpec, TaskState};
use danlu_core::{
    Actor, Epoch, Input, NodeId, Row, RowKey, Run, RunId, SpecId, State, Task, TaskId, Time,
    UserId, step,
};
use danlu_server::store::history::{History, HistoryQuery, HistorySort};
use danlu_server::store::{Batch, Store, StoreError};
use danlu_wire::api::TaskStateName;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A task as it is submitted.
fn template() -> Task {
    let mut state = State::new();
    let user = Input::AddUser { by: Actor::Daemon, name: "ann".into(), admin: false };
    let boot = Input::Boot { epoch: Epoch(1), restored: false, ids_from: 0 };
    let spec = TaskSpec { command: vec!["train".into()], ..TaskSpec::default() };
    let submit = Input::Submit { by: UserId(1), spec, key: None };
    for input in [boot, user, submit] {
        step(&mut state, input, Time(1)).reply.unwrap();
    }
    Task::clone(&state.tasks[&TaskId(1)])
}

/// Ended tasks with one run each; all that lists go by differs between them.
struct Made {
    template: Task,
}

impl Made {
    fn task(&self, id: u64) -> Retired {
        let spec = TaskSpec {
            name: format!("Exp-{id} 训练{}", if id.is_multiple_of(50) { "特别" } else { "" }),
            description: format!("run {}", id % 7),
            project: id.is_multiple_of(3).then(|| format!("p{}", id % 2)),
            labels: BTreeMap::from([("kind".into(), format!("k{}", id % 5))]),
            command: vec!["python".into(), format!("--seed={id}")],
            ..TaskSpec::default()
        };
        self.with(id, id, Arc::new(spec))
    }

    fn with(&self, id: u64, spec_id: u64, spec: Arc<TaskSpec>) -> Retired {
        let ended = Time(1_000_000 + i64::try_from(id * 37 % 1009).unwrap() * 1_000);
        let ran = i64::try_from(id * 13 % 101).unwrap() * 10;
        let outcome = match id % 4 {
            0 => Outcome::Failed { exit: Exit::Code(1) },
            1 => Outcome::TimedOut,
            _ => Outcome::Succeeded,
        };
        let run = RunId { epoch: Epoch(1), number: id };
        let part = RunPart {
            node: NodeId(u32::try_from(id % 3).unwrap() + 1),
            gpus: Vec::new(),
            started_at: Some(Time(ended.0 - ran)),
            state: PartState::Ended {
                exit: Exit::Code(0),
                stopped: false,
                failure: None,
                at: ended,
            },
        };
        let mut task = self.template.clone();
        task.id = TaskId(id);
        task.place = id;
        task.owner = UserId(u32::try_from(id % 2).unwrap() + 1);
        (task.spec, task.spec_id) = (spec, SpecId(spec_id));
        task.key = Some(format!("key-{id}").into());
        task.state = TaskState::Finished { outcome: Box::new(outcome), at: ended };
        task.trail_mut().last_run = Some(run);
        let run = Run {
            id: run,
            task: TaskId(id),
            attempt: 1,
            launched_at: Time(ended.0 - ran),
            expected_end_at: None,
            parts: vec![part],
            state: RunState::Ended { exit: Exit::Code(0), failure: None, at: ended },
            peak_gpu_memory: None,
            used: RunUsage { log_bytes: id, ..RunUsage::default() },
            idle: danlu_core::idle::IdleTrail::default(),
        };
        Retired { task: Arc::new(task), runs: vec![Arc::new(run)] }
    }
}

fn retire(store: &mut Store, tasks: &[Retired]) {
    for some in tasks.chunks(64) {
        let gone = |retired: &Retired| {
            let run = retired.runs.iter().map(|run| (RowKey::Run(run.id), None));
            let rows = [(RowKey::Task(retired.task.id), None)].into_iter().chain(run);
            rows.collect::<Vec<_>>()
        };
        let rows = some.iter().flat_map(gone).collect();
        store.commit(&Batch { rows, retired: some.to_vec(), ..Batch::default() }).unwrap();
    }
}

fn put_row(store: &mut Store, key: RowKey, row: Option<Row>) {
    let rows = BTreeMap::from([(key, row)]);
    store.commit(&Batch { rows, ..Batch::default() }).unwrap();
}

struct Scratch {
    _directory: tempfile::TempDir,
    path: PathBuf,
    store: Store,
    history: History,
    made: Made,
    runtime: tokio::runtime::Runtime,
}

impl Scratch {
    fn new() -> Scratch {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("danlu.db");
        let store = Store::open(&path).unwrap();
        let history = store.history();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let made = Made { template: template() };
        Scratch { _directory: directory, path, store, history, made, runtime }
    }

    fn with(count: u64) -> Scratch {
        let mut scratch = Scratch::new();
        let tasks: Vec<Retired> = (1..=count).map(|id| scratch.made.task(id)).collect();
        retire(&mut scratch.store, &tasks);
        scratch
    }

    fn page(&self, query: HistoryQuery) -> (Vec<u64>, bool, Option<u64>) {
        let page = self.runtime.block_on(self.history.page(query)).unwrap();
        (page.tasks.iter().map(|it| it.task.id.0).collect(), page.more, page.total)
    }

    /// Page by page.
    fn all(&self, query: &HistoryQuery) -> Vec<u64> {
        let (mut all, mut after) = (Vec::new(), None);
        loop {
            let query = HistoryQuery { after, ..query.clone() };
            let page = self.runtime.block_on(self.history.page(query.clone())).unwrap();
            all.extend(page.tasks.iter().map(|it| it.task.id.0));
            if !page.more {
                return all;
            }
            let last = page.tasks.last().unwrap();
            after = Some((key(last, query.sort), last.task.id));
        }
    }

    fn task(&self, id: u64) -> Result<Option<Retired>, StoreError> {
        self.runtime.block_on(self.history.task(TaskId(id)))
    }
}

fn key(retired: &Retired, sort: HistorySort) -> i64 {
    match sort {
        HistorySort::Id => i64::try_from(retired.task.id.0).unwrap(),
        HistorySort::Ended => retired.task.ended_at().unwrap().0,
        HistorySort::Ran => retired.task.ended_at().unwrap().0 - retired.runs[0].launched_at.0,
    }
}

fn query() -> HistoryQuery {
    HistoryQuery { limit: 7, ..HistoryQuery::default() }
}

#[test]
fn what_has_left_the_rows_is_found_as_it_was() {
    let scratch = Scratch::with(200);
    for id in [1, 77, 200] {
        let expected = scratch.made.task(id);
        assert_eq!(scratch.task(id).unwrap().as_ref(), Some(&expected));
        assert_eq!(scratch.store.retired(TaskId(id)).unwrap(), Some(expected.clone()));
        let key = expected.task.key.clone().unwrap();
        let found = scratch.store.retired_with_key(expected.task.owner, &key).unwrap();
        assert_eq!(found, Some(TaskId(id)));
        assert_eq!(scratch.store.retired_with_key(UserId(9), &key).unwrap(), None);
    }
    assert_eq!(scratch.task(201).unwrap(), None);
    assert!(scratch.store.rows().unwrap().is_empty());
    let several = vec![TaskId(9), TaskId(3), TaskId(999), TaskId(3)];
    let found = scratch.runtime.block_on(scratch.history.tasks(several)).unwrap();
    assert_eq!(found.iter().map(|it| it.task.id.0).collect::<Vec<_>>(), [3, 9]);
    // And after a restart.
    let Scratch { path, store, history, made, _directory, .. } = scratch;
    drop((history, store));
    let store = Store::open(&path).unwrap();
    assert_eq!(store.retired(TaskId(77)).unwrap(), Some(made.task(77)));
}

/// Every filter with every order in both directions gives what a plain look at all of them gives, page by page.
#[test]
fn every_filter_and_order_gives_every_task_once() {
    let scratch = Scratch::with(300);
    let tasks: Vec<Retired> = (1..=300).map(|id| scratch.made.task(id)).collect();
    let filters: Vec<HistoryQuery> = vec![
        query(),
        HistoryQuery { owner: Some(UserId(2)), ..query() },
        HistoryQuery { states: Some(vec![TaskStateName::Failed]), ..query() },
        HistoryQuery {
            states: Some(vec![TaskStateName::Failed, TaskStateName::TimedOut]),
            owner: Some(UserId(1)),
            ..query()
        },
        HistoryQuery { states: Some(vec![TaskStateName::Running]), ..query() },
        HistoryQuery { node: Some(NodeId(2)), ..query() },
        HistoryQuery { label: Some(("kind".into(), Some("k3".into()))), ..query() },
        HistoryQuery { label: Some(("kind".into(), None)), owner: Some(UserId(2)), ..query() },
        HistoryQuery { label: Some(("other".into(), None)), ..query() },
        HistoryQuery { project: Some("p1".into()), ..query() },
        HistoryQuery { project: Some("p0".into()), node: Some(NodeId(1)), ..query() },
        HistoryQuery {
            ended_from: Some(Time(1_200_000)),
            ended_before: Some(Time(1_500_000)),
            ..query()
        },
        HistoryQuery { text: Some("SEED=1".into()), ..query() },
        HistoryQuery { text: Some("特别".into()), owner: Some(UserId(1)), ..query() },
        HistoryQuery { text: Some("\"run 3\"".into()), node: Some(NodeId(3)), ..query() },
        HistoryQuery { text: Some("nowhere".into()), ..query() },
        HistoryQuery { folded: true, ..query() },
        HistoryQuery { folded: true, owner: Some(UserId(1)), ..query() },
    ];
    for filter in filters {
        for sort in [HistorySort::Id, HistorySort::Ended, HistorySort::Ran] {
            for ascending in [true, false] {
                let query = HistoryQuery { sort, ascending, ..filter.clone() };
                let wanted = |it: &&Retired| lets_through(&query, it);
                let mut expected: Vec<&Retired> = tasks.iter().filter(wanted).collect();
                expected.sort_by_key(|it| (key(it, sort), it.task.id));
                if !ascending {
                    expected.reverse();
                }
                let expected: Vec<u64> = expected.iter().map(|it| it.task.id.0).collect();
                assert_eq!(scratch.all(&query), expected, "{query:?}");
                let counted = HistoryQuery { count: true, limit: 300, ..query.clone() };
                let (_, more, total) = scratch.page(counted);
                assert_eq!((more, total), (false, Some(expected.len() as u64)), "{query:?}");
            }
        }
    }
}

fn lets_through(query: &HistoryQuery, Retired { task, runs }: &Retired) -> bool {
    let state = match task.outcome().unwrap() {
        Outcome::Failed { .. } => TaskStateName::Failed,
        Outcome::TimedOut => TaskStateName::TimedOut,
        _ => TaskStateName::Succeeded,
    };
    let text = [&task.spec.name, &task.spec.description, &task.spec.command.join(" ")];
    let text = text.map(|it| it.to_lowercase());
    let ended = task.ended_at().unwrap();
    query.owner.is_none_or(|it| it == task.owner)
        && query.states.as_ref().is_none_or(|it| it.contains(&state))
        && query.node.is_none_or(|it| runs[0].parts[0].node == it)
        && query.label.as_ref().is_none_or(|(key, value)| {
            let found = task.spec.labels.get(key);
            found.is_some_and(|it| value.as_ref().is_none_or(|value| value == it))
        })
        && query.project.as_ref().is_none_or(|it| task.spec.project.as_ref() == Some(it))
        && (!query.folded || task.array.is_none_or(|element| element.first == task.id))
        && query.ended_from.is_none_or(|it| ended >= it)
        && query.ended_before.is_none_or(|it| ended < it)
        && query.text.as_ref().is_none_or(|it| {
            let mut words = danlu_server::store::history::needles(it).into_iter();
            words.all(|word| text.iter().any(|text| text.contains(&word)))
        })
}

#[test]
fn a_search_meets_common_and_rare_words_of_any_length() {
    let mut scratch = Scratch::with(1_500);
    let long = TaskSpec { name: "Zürich ΣΑΣ".into(), ..TaskSpec::default() };
    let one = scratch.made.with(5_000, 5_000, Arc::new(long));
    retire(&mut scratch.store, &[one]);
    let found = |text: &str| {
        let query = HistoryQuery { text: Some(text.into()), count: true, limit: 5, ..query() };
        scratch.page(query)
    };
    assert_eq!(found("\"zÜRICH σας\""), (vec![], false, Some(0)));
    for text in ["zÜRICH σα", "ü", "ΣΑ", "richs"] {
        let expected = if text == "richs" { vec![] } else { vec![5_000] };
        assert_eq!(found(text).0, expected, "{text}");
    }
    assert_eq!(found("训练特别"), (vec![1500, 1450, 1400, 1350, 1300], true, Some(30)));
    assert_eq!(found("特").2, Some(30));
    assert_eq!(found("python").0, [1500, 1499, 1498, 1497, 1496]);
    assert_eq!(found("--seed=777").0, [777]);
    assert_eq!(found("练").0, [1500, 1499, 1498, 1497, 1496]);
    assert_eq!(found("exp-1234"), (vec![1234], false, Some(1)));
}

#[test]
fn elements_of_a_sweep_are_found_by_their_own_values() {
    let mut scratch = Scratch::with(600);
    let values = |all: &[&str]| all.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    let array = ArraySpec {
        indices: (0..4).collect(),
        at_once: None,
        grid: vec![
            Axis { name: "LR".into(), values: values(&["0.1", "0.2"]) },
            Axis { name: "opt".into(), values: values(&["adam", "sgd"]) },
        ],
    };
    let spec =
        Arc::new(TaskSpec { name: "sweep".into(), array: Some(array), ..TaskSpec::default() });
    let element = |index: u32| {
        let mut made = scratch.made.with(700 + u64::from(index), 700, Arc::clone(&spec));
        Arc::make_mut(&mut made.task).array = Some(ArrayElement { first: TaskId(700), index });
        made
    };
    let elements: Vec<Retired> = (0..4).map(element).collect();
    retire(&mut scratch.store, &elements);
    // Enough others that its text is in a block.
    let others: Vec<Retired> = (1_000..1_400).map(|id| scratch.made.task(id)).collect();
    retire(&mut scratch.store, &others);
    let found = |text: &str| {
        let mut ids = scratch.all(&HistoryQuery { text: Some(text.into()), ..query() });
        ids.sort_unstable();
        ids
    };
    assert_eq!(found("lr=0.2"), [702, 703]);
    assert_eq!(found("opt=ADAM"), [700, 702]);
    assert_eq!(found("sweep"), [700, 701, 702, 703]);
    let array = HistoryQuery { array: Some(TaskId(700)), ascending: true, ..query() };
    assert_eq!(scratch.all(&array), [700, 701, 702, 703]);
    assert_eq!(scratch.task(703).unwrap(), Some(elements[3].clone()));
}

#[test]
fn what_is_live_counts_more() {
    let mut scratch = Scratch::with(100);
    let live = scratch.made.task(40).task;
    put_row(&mut scratch.store, RowKey::Task(TaskId(40)), Some(Row::Task(live)));
    let all = HistoryQuery { count: true, limit: 200, ..query() };
    let (ids, _, total) = scratch.page(all.clone());
    assert!(!ids.contains(&40));
    assert_eq!((ids.len(), total), (99, Some(99)));
    let labelled = HistoryQuery { label: Some(("kind".into(), Some("k0".into()))), ..all.clone() };
    assert_eq!(scratch.page(labelled).2, Some(19));
    // A reader that took the rows a moment ago still finds it.
    assert!(scratch.task(40).unwrap().is_some());
    // It leaves again, with another end.
    let mut again = scratch.made.task(40);
    Arc::make_mut(&mut again.task).trail_mut().attempts += 1;
    retire(&mut scratch.store, std::slice::from_ref(&again));
    assert_eq!(scratch.task(40).unwrap(), Some(again));
    assert_eq!(scratch.page(all).2, Some(100));
}

#[test]
fn what_is_removed_is_gone_from_everything() {
    let mut scratch = Scratch::with(400);
    for id in 1..=390 {
        put_row(&mut scratch.store, RowKey::Task(TaskId(id)), None);
    }
    let all = HistoryQuery { count: true, limit: 500, ascending: true, ..query() };
    let left: Vec<u64> = (391..=400).collect();
    assert_eq!(scratch.page(all.clone()), (left.clone(), false, Some(10)));
    for query in [
        HistoryQuery { text: Some("python".into()), ..all.clone() },
        HistoryQuery { label: Some(("kind".into(), None)), ..all.clone() },
    ] {
        assert_eq!(scratch.page(query).0, left);
    }
    assert_eq!(scratch.task(5).unwrap(), None);
    let Scratch { store, history, path, _directory, .. } = scratch;
    drop((history, store));
    let connection = rusqlite::Connection::open(path).unwrap();
    let count = |table: &str| {
        let sql = format!("SELECT count(*) FROM {table}");
        connection.query_row(&sql, [], |row| row.get::<_, i64>(0)).unwrap()
    };
    for table in ["history", "history_rows", "history_specs", "history_labels", "history_nodes"] {
        assert_eq!(count(table), 10, "{table}");
    }
    assert!(count("history_texts") <= 1);
}

#[test]
fn a_damaged_row_hides_no_other() {
    let scratch = Scratch::with(50);
    let Scratch { store, history, path, made, runtime, _directory } = scratch;
    drop((history, store));
    damage(&path, "UPDATE history_rows SET task = '{' WHERE id = 20");
    damage(&path, "DELETE FROM history_specs WHERE id = 30");
    let mut store = Store::open(&path).unwrap();
    let history = store.history();
    let error = store.retired(TaskId(20)).unwrap_err();
    assert!(matches!(&error, StoreError::Damaged { what, .. } if what.contains("task 20")));
    let error = runtime.block_on(history.task(TaskId(30))).unwrap_err();
    assert!(matches!(&error, StoreError::Damaged { what, .. } if what.contains("spec 30")));
    let page = runtime.block_on(history.page(HistoryQuery { limit: 100, ..query() })).unwrap();
    assert_eq!(page.tasks.len(), 48);
    // It can be removed, and replaced by what is right.
    put_row(&mut store, RowKey::Task(TaskId(20)), None);
    retire(&mut store, &[made.task(30)]);
    let page = runtime.block_on(history.page(HistoryQuery { limit: 100, ..query() })).unwrap();
    assert_eq!(page.tasks.len(), 49);
}

fn damage(path: &Path, sql: &str) {
    let connection = rusqlite::Connection::open(path).unwrap();
    assert_eq!(connection.execute(sql, []).unwrap(), 1);
}

#[test]
fn a_page_may_have_an_end_and_counts_all_the_same() {
    let scratch = Scratch::with(50);
    let check = |query: HistoryQuery, after: Option<u64>, until: u64| {
        let all = scratch.all(&query);
        let place = |id: u64| {
            let retired = scratch.task(id).unwrap().unwrap();
            (key(&retired, query.sort), TaskId(id))
        };
        let from = after.map_or(0, |after| all.iter().position(|id| *id == after).unwrap() + 1);
        let to = all.iter().position(|id| *id == until).unwrap();
        let (after, until) = (after.map(place), Some(place(until)));
        let asked = HistoryQuery { after, until, limit: 100, count: true, ..query };
        assert_eq!(scratch.page(asked), (all[from..to].to_vec(), false, Some(50)));
    };
    for sort in [HistorySort::Id, HistorySort::Ended, HistorySort::Ran] {
        for ascending in [true, false] {
            let query = HistoryQuery { sort, ascending, ..query() };
            let all = scratch.all(&query);
            check(query.clone(), None, all[20]);
            check(query, Some(all[4]), all[20]);
        }
    }
}
