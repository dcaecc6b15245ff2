//! The page of one task: description, state, output.

use super::charts;
use super::moment::{Elapsed, Moment};
use super::page::{PageResult, page};
use super::page_context::{PageContext, Visit};
use super::reasons::{Panel, panel};
use super::rows::{TaskRow, command, row};
use super::{amounts, log_file, states};
use crate::api::efficiency::EfficiencyCard;
use crate::api::{Api, one_task, why};
use askama::Template;
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use danlu_core::FailureClass;
use danlu_core::TaskId;
use danlu_core::task::{DependencyKind, PythonEnvironment};
use danlu_messages::efficiency as efficiency_words;
use danlu_messages::idle as idle_words;
use danlu_messages::web::charts as chart_words;
use danlu_messages::web::pages;
use danlu_messages::web::task as msg;
use danlu_wire::api::{Line, MaybeNewer, RunView, TaskDetails, TaskStateName, TaskView};
use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct TaskPageQuery {
    run: Option<u32>,
}

#[derive(Template)]
#[template(path = "task.html")]
struct TaskPage<'a> {
    context: &'a PageContext,
    task: TaskView,
    details: TaskDetails,
    row: TaskRow,
    /// Of a task that waits.
    why: Option<Panel>,
    command: String,
    facts: Vec<(&'static str, String)>,
    after: Vec<(u64, &'static str)>,
    failure: Option<Problem>,
    runs: Vec<Attempt>,
    /// The attempt whose log is shown.
    run: Option<u32>,
    /// It was chosen: the page does not go on to a newer one.
    is_pinned: bool,
    /// Owners and admins.
    may_act: bool,
    log: Option<String>,
    titles: String,
    /// Of the attempt that is shown.
    efficiency: Option<EfficiencyCard>,
    kept: Option<Moment>,
    /// The attempt that was asked for.
    shown_run: Option<u32>,
}

struct Problem {
    what: &'static str,
    evidence: String,
    help: &'static str,
}

struct Attempt {
    run: RunView,
    state: String,
    started: Option<Moment>,
    elapsed: Option<Elapsed>,
}

pub(super) async fn task(
    State(api): State<Api>,
    visit: Visit,
    Path(id): Path<u64>,
    Query(query): Query<TaskPageQuery>,
    headers: HeaderMap,
) -> PageResult {
    let mut task = one_task(&api, &visit.caller, TaskId(id)).await.map_err(visit.no())?;
    let model = api.model_with(&[TaskId(id)]).await.map_err(visit.no())?;
    let no_such = || danlu_core::Refusal::NoSuchTask(TaskId(id));
    let details = task.details.take().ok_or_else(no_such).map_err(visit.no())?;
    let explained = match task.state.is_waiting() {
        true => why::explained(&api, &visit.caller, TaskId(id)).await.map_err(visit.no())?,
        false => None,
    };
    let starts_at = explained.as_ref().and_then(|explained| explained.starts_at);
    let may_act = visit.caller.admin || task.user == visit.caller.name;
    // A page that is refreshed reads the log as a stream of its own.
    let is_refresh = headers.contains_key("x-danlu-live");
    let log = match may_act && !details.runs.is_empty() && !is_refresh {
        true => log_file::tail(&api, &visit.caller, TaskId(id), query.run).await,
        false => None,
    };
    let line = Line { task: task.clone(), array: None };
    Ok(page(&TaskPage {
        context: &visit.context,
        row: row(&line, &model, &visit, starts_at),
        why: explained.map(|explained| panel(&explained, &task, &visit.context)),
        command: command(&task),
        facts: facts(&task, &details),
        after: after(&details),
        failure: failure(&task),
        runs: details.runs.iter().rev().map(|run| attempt(run, &visit.context)).collect(),
        run: query.run.or_else(|| details.runs.last().map(|run| run.attempt)),
        is_pinned: query.run.is_some(),
        may_act,
        log,
        titles: charts::titles(),
        efficiency: efficiency(&details, query.run),
        kept: task.kept_until.as_deref().and_then(|at| Moment::read(at, visit.context.now)),
        shown_run: query.run,
        task,
        details,
    }))
}

fn efficiency(details: &TaskDetails, attempt: Option<u32>) -> Option<EfficiencyCard> {
    let wanted = |run: &&RunView| attempt.is_none_or(|attempt| run.attempt == attempt);
    let run = details.runs.iter().rfind(wanted)?;
    run.efficiency.as_ref().map(EfficiencyCard::of).filter(|card| !card.facts.is_empty())
}

impl TaskPage<'_> {
    fn is(&self, states: &[TaskStateName]) -> bool {
        states.contains(&self.task.state)
    }

    fn waits(&self) -> bool {
        self.task.state.is_waiting()
    }

    fn is_held(&self) -> bool {
        self.is(&[TaskStateName::Held])
    }

    fn runs_now(&self) -> bool {
        self.is(&[TaskStateName::Running])
    }

    fn is_paused(&self) -> bool {
        self.is(&[TaskStateName::Paused])
    }

    fn is_over(&self) -> bool {
        self.task.state.is_over()
    }

    fn newest(&self) -> Option<u32> {
        self.runs.first().map(|attempt| attempt.run.attempt)
    }

    fn is_shown(&self, attempt: &Attempt) -> bool {
        self.run == Some(attempt.run.attempt)
    }

    fn failure_words(&self, class: &MaybeNewer<FailureClass>) -> &'static str {
        states::failure(class).0
    }
}

fn attempt(run: &RunView, context: &PageContext) -> Attempt {
    let read = |text: &Option<String>| text.as_deref().and_then(|it| Moment::read(it, context.now));
    let (started, ended) = (read(&run.started_at), read(&run.ended_at));
    let state = match &run.exit {
        Some(exit) => exit.clone(),
        None => states::of_run(run.state).to_owned(),
    };
    let elapsed = |since: Moment| Elapsed {
        since: since.at(),
        until: ended.map(Moment::at),
        now: context.now,
    };
    Attempt { state, started, elapsed: started.map(elapsed), run: run.clone() }
}

fn failure(task: &TaskView) -> Option<Problem> {
    let failure = task.failure.as_ref()?;
    let (what, help) = states::failure(&failure.class);
    Some(Problem { what, evidence: failure.evidence.clone().unwrap_or_default(), help })
}

fn after(details: &TaskDetails) -> Vec<(u64, &'static str)> {
    let words = |kind: DependencyKind| match kind {
        DependencyKind::AfterOk => msg::succeeds(),
        DependencyKind::AfterAny => msg::ends(),
        DependencyKind::AfterNotOk => msg::fails(),
    };
    details.after.iter().map(|it| (it.task.0, words(it.kind))).collect()
}

/// What was asked for, as far as it was, and what the last run has used.
fn facts(task: &TaskView, details: &TaskDetails) -> Vec<(&'static str, String)> {
    let (request, last) = (&details.request, details.runs.last());
    let python = details.python.as_ref().map(|python| match python {
        PythonEnvironment::Conda(name) => format!("conda {name}"),
        PythonEnvironment::Venv(path) => format!("venv {path}"),
    });
    let size = |bytes: u64| (bytes > 0).then(|| amounts::bytes(bytes));
    let labels = task.labels.iter().map(|(key, value)| format!("{key}={value}"));
    let labels = labels.collect::<Vec<_>>().join(", ");
    let some = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    let retries = (details.retries > 0).then(|| details.retries.to_string());
    let yes = |is: bool| is.then(|| msg::yes().to_owned());
    let all = [
        (msg::project(), task.project.clone()),
        (msg::labels(), some(&labels)),
        (msg::directory(), some(&details.directory)),
        (msg::environment(), python),
        (msg::cpu_cores(), (request.cpus > 0).then(|| request.cpus.to_string())),
        (msg::memory(), size(request.memory)),
        (msg::gpu_memory(), size(request.gpu_memory)),
        (msg::shares_gpus(), yes(request.is_shared())),
        (msg::time_limit(), task.time_limit.map(amounts::length)),
        (msg::priority(), Some(task.priority.to_string())),
        (msg::urgent(), yes(task.urgent)),
        (msg::may_be_preempted(), yes(details.preemptible)),
        (msg::retries(), retries),
        (msg::output(), details.output.both.clone()),
        (
            msg::cpu_time(),
            last.and_then(|run| run.cpu_time_ms).map(|ms| amounts::clock(ms.div_ceil(1_000))),
        ),
        (msg::peak_memory(), last.and_then(|run| run.peak_memory).and_then(size)),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}
