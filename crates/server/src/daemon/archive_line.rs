//! A line of the archive: an ended task as `danlu show --json` tells it, and under `stored` what is needed to read it
//! again.

use crate::api::view;
use crate::read_model::ReadModel;
use danlu_core::idle::IdleTrail;
use danlu_core::limits;
use danlu_core::run::{Exit, PartState, RunPart, RunState, RunUsage};
use danlu_core::state::Retired;
use danlu_core::task::{ArraySpec, LaunchSpec, TaskSpec};
use danlu_core::{Epoch, NodeId, Run, RunId, Task, TaskId, Time, UserId, check_description};
use danlu_messages::{Language, errors};
use danlu_wire::api::{TaskStateName, TaskView};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Ids above this are no ids of tasks.
const HIGHEST_ID: u64 = 1 << 53;
/// Runs of imported tasks are numbered by their tasks: so many each.
const RUNS_PER_TASK: u64 = 1_000;

#[derive(Serialize)]
struct ArchiveLine<'a> {
    #[serde(flatten)]
    view: TaskView,
    stored: Stored<'a>,
}

#[derive(Serialize)]
struct Stored<'a> {
    spec: &'a TaskSpec,
    task: &'a Task,
    runs: &'a [Arc<Run>],
    /// Names of the machines that the runs name by numbers.
    nodes: BTreeMap<NodeId, &'a str>,
}

/// A spec as it is written with an element of its array: without the indices of all others, which would make every line
/// as long as the array.
#[derive(Debug, Default)]
pub(crate) struct ElementSpec(Option<(Arc<TaskSpec>, TaskSpec)>);

impl ElementSpec {
    fn of<'a>(&'a mut self, task: &'a Task) -> &'a TaskSpec {
        let Some(element) = task.array else { return &task.spec };
        let known = self.0.take().filter(|(spec, _)| Arc::ptr_eq(spec, &task.spec));
        let (spec, mut alone) =
            known.unwrap_or_else(|| (Arc::clone(&task.spec), TaskSpec::clone(&task.spec)));
        if let Some(array) = &mut alone.array {
            array.indices = vec![element.index];
        }
        &self.0.insert((spec, alone)).1
    }
}

/// With the end of line. `model` has the task in it.
pub(crate) fn line(
    model: &ReadModel,
    Retired { task, runs }: &Retired,
    specs: &mut ElementSpec,
) -> Vec<u8> {
    // What is stored is English.
    let mut view = Language::English.within(|| view::task(model, task, None));
    view.details = Some(view::details(model, task, None));
    let parts = runs.iter().flat_map(|run| &run.parts);
    let named = |part: &RunPart| Some((part.node, model.nodes.get(&part.node)?.name.as_str()));
    let nodes = parts.filter_map(named).collect();
    let stored = Stored { spec: specs.of(task), task, runs, nodes };
    let mut line = serde_json::to_vec(&ArchiveLine { view, stored }).unwrap_or_default();
    line.push(b'\n');
    line
}

/// Reads lines; equal descriptions of tasks are kept once.
#[derive(Debug)]
pub(crate) struct LineReader {
    pub(crate) users: HashMap<String, UserId>,
    pub(crate) nodes: HashMap<String, NodeId>,
    pub(crate) specs: HashMap<String, Arc<TaskSpec>>,
}

#[derive(Deserialize)]
struct LineHead {
    user: String,
    #[serde(default)]
    stored: Option<StoredAgain>,
}

#[derive(Deserialize)]
struct StoredAgain {
    spec: TaskSpec,
    task: Map<String, Value>,
    #[serde(default)]
    runs: Vec<Run>,
    #[serde(default)]
    nodes: BTreeMap<String, String>,
}

impl LineReader {
    /// The ended task, or what is wrong with the line.
    pub(crate) fn read(&mut self, line: &str) -> Result<Retired, String> {
        let head: LineHead = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let owner =
            *self.users.get(&head.user).ok_or_else(|| errors::no_user_of_line(&head.user))?;
        match head.stored {
            Some(stored) => self.stored(owner, stored),
            None => {
                let view = serde_json::from_str(line).map_err(|error| error.to_string())?;
                self.stored(owner, told(view)?)
            }
        }
    }

    fn stored(&mut self, owner: UserId, stored: StoredAgain) -> Result<Retired, String> {
        let StoredAgain { mut spec, mut task, mut runs, nodes } = stored;
        if let Some(array) = &mut spec.array {
            complete_sweep(array);
        }
        let id = task.get("id").and_then(Value::as_u64).unwrap_or(0);
        if !(1..HIGHEST_ID).contains(&id) || runs.len() as u64 >= RUNS_PER_TASK {
            return Err(errors::not_an_ended_task().to_owned());
        }
        let was = std::mem::replace(&mut task["owner"], json!(owner));
        let canceller = task.get_mut("state").and_then(|state| {
            state.get_mut("finished")?.get_mut("outcome")?.get_mut("cancelled")?.get_mut("by")
        });
        // Other numbers may be other people here.
        if let Some(by) = canceller.filter(|by| by.get("user").is_some()) {
            *by = if by["user"] == was { json!({ "user": owner }) } else { json!("daemon") };
        }
        // Runs here have the same numbers: with those of an epoch that never was, no log of another task is shown.
        let new = |at: usize| RunId { epoch: Epoch(0), number: id * RUNS_PER_TASK + at as u64 + 1 };
        let last: Option<RunId> = task
            .get("last_run")
            .and_then(|run| serde_json::from_value(run.clone()).ok())
            .and_then(|last| runs.iter().position(|run| run.id == last))
            .map(new);
        task.insert(String::from("last_run"), json!(last));
        for (at, run) in runs.iter_mut().enumerate() {
            (run.id, run.task) = (new(at), TaskId(id));
            // Logs are not in the archive.
            run.used.log_bytes = 0;
            for part in &mut run.parts {
                let name = nodes.get(&part.node.to_string());
                let known = name.and_then(|name| self.nodes.get(name));
                part.node = known.copied().unwrap_or(NodeId(0));
            }
        }
        let mut task: Task =
            serde_json::from_value(Value::Object(task)).map_err(|error| error.to_string())?;
        let over = |run: &Run| {
            run.is_ended() && !run.parts.is_empty() && run.parts.iter().all(RunPart::is_ended)
        };
        if !task.is_finished() || !runs.iter().all(over) {
            return Err(errors::not_an_ended_task().to_owned());
        }
        let refused = |refusal| danlu_messages::refusals::refusal(&refusal).0;
        check_description(&spec, task.key.as_deref()).map_err(refused)?;
        let key = shared_key(&spec).map_err(|error| error.to_string())?;
        task.spec = Arc::clone(self.specs.entry(key).or_insert_with(|| Arc::new(spec)));
        let runs = runs.into_iter().map(Arc::new).collect();
        Ok(Retired { task: Arc::new(task), runs })
    }
}

/// Of a sweep, what an element knows of its array: an index for each combination of values.
fn complete_sweep(array: &mut ArraySpec) {
    let axes = array.grid.iter().map(|axis| axis.values.len());
    let combinations = axes.fold(1, usize::saturating_mul);
    if !array.grid.is_empty() && combinations <= limits::TASKS_PER_ARRAY {
        array.indices = (0..).take(combinations).collect();
    }
}

/// Equal for the elements of an array, each of which knows its own index only.
fn shared_key(spec: &TaskSpec) -> serde_json::Result<String> {
    let Some(array) = &spec.array else { return serde_json::to_string(spec) };
    let (at_once, grid) = (array.at_once, array.grid.clone());
    let array = Some(ArraySpec { indices: Vec::new(), at_once, grid });
    serde_json::to_string(&TaskSpec { array, ..spec.clone() })
}

/// What a line of an earlier version tells.
fn told(view: TaskView) -> Result<StoredAgain, String> {
    let time = |text: &Option<String>| text.as_deref().and_then(parse);
    let submitted = parse(&view.submitted_at).ok_or_else(|| view.submitted_at.clone())?;
    let ended = time(&view.ended_at).unwrap_or(submitted);
    let exit = Exit::Code(view.exit_code.unwrap_or(1));
    let outcome = match view.state {
        TaskStateName::Succeeded => json!("succeeded"),
        TaskStateName::Failed => json!({ "failed": { "exit": exit } }),
        TaskStateName::Cancelled => json!({ "cancelled": { "by": "daemon" } }),
        TaskStateName::TimedOut => json!("timed_out"),
        TaskStateName::Held
        | TaskStateName::Blocked
        | TaskStateName::Queued
        | TaskStateName::Starting
        | TaskStateName::Running
        | TaskStateName::Paused
        | TaskStateName::Stopping
        | TaskStateName::Lost
        | TaskStateName::Unknown => return Err(errors::not_an_ended_task().to_owned()),
    };
    let run = RunId { epoch: Epoch(0), number: 0 };
    let mut nodes = BTreeMap::new();
    let started = time(&view.started_at);
    let runs: Vec<Run> = started.map(|from| one_run(run, from, ended, &view)).into_iter().collect();
    if let Some(name) = view.node.filter(|_| !runs.is_empty()) {
        nodes.insert(String::from("1"), name);
    }
    let details = view.details.ok_or_else(|| errors::not_an_ended_task().to_owned())?;
    let element = view.array.zip(view.index);
    let spec = TaskSpec {
        name: view.name,
        description: details.description,
        project: view.project,
        labels: view.labels,
        command: view.command,
        launch: LaunchSpec {
            shell: view.shell,
            shell_program: details.shell_program,
            directory: details.directory,
            output: details.output,
            gpu_argument: details.gpu_argument,
            gpus_by_uuid: details.gpus_by_uuid,
            python: details.python,
            umask: details.umask,
            ..LaunchSpec::default()
        }
        .into(),
        request: details.request.into(),
        retries: details.retries,
        retry_on: details.retry_on,
        preemptible: details.preemptible,
        priority: view.priority,
        urgent: view.urgent,
        ..TaskSpec::default()
    };
    let task = json!({
        "id": view.id,
        "owner": 0,
        "spec_id": 0,
        "submitted_at": submitted,
        "array": element.map(|(first, index)| json!({ "first": first, "index": index })),
        "state": { "finished": { "outcome": outcome, "at": ended } },
        "attempts": view.attempt,
        "last_run": started.map(|_| run),
    });
    let Value::Object(task) = task else { return Err(errors::not_an_ended_task().to_owned()) };
    Ok(StoredAgain { spec, task, runs, nodes })
}

fn one_run(id: RunId, from: Time, to: Time, view: &TaskView) -> Run {
    let exit = Exit::Code(view.exit_code.unwrap_or(0));
    let state = PartState::Ended { exit: exit.clone(), stopped: false, failure: None, at: to };
    Run {
        id,
        task: TaskId(view.id),
        attempt: view.attempt,
        launched_at: from,
        expected_end_at: None,
        parts: vec![RunPart { node: NodeId(1), gpus: Vec::new(), started_at: Some(from), state }],
        state: RunState::Ended { exit, failure: None, at: to },
        peak_gpu_memory: None,
        used: RunUsage::default(),
        idle: IdleTrail::default(),
    }
}

fn parse(text: &str) -> Option<Time> {
    text.parse::<jiff::Timestamp>().ok().map(|time| Time(time.as_millisecond()))
}
