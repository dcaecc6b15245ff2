//! The start page: free GPUs, the reader's tasks, the next expected start.

use super::gpu_map::{self, NodeMap};
use super::moment::Moment;
use super::page::{PageResult, page};
use super::page_context::{PageContext, Visit};
use super::rows::{TaskRow, row};
use crate::api::overview::{MostLines, gather};
use crate::api::{Api, ApiError, Filter};
use askama::Template;
use axum::Extension;
use axum::extract::State;
use danlu_core::{TaskId, Time, UserId};
use danlu_messages::Language;
use danlu_messages::errors;
use danlu_messages::web::pages;
use danlu_wire::api::{ErrorCode, GpuStateName, Line, ME, Overview, TaskStateName};
use std::collections::BTreeMap;
use std::sync::Arc;

const MINE: MostLines = MostLines { waiting: 12, ended: 6 };
const QUEUE: MostLines = MostLines { waiting: 30, ended: 0 };
/// Each forecast goes through the queue: these many are told.
const FORECASTS: usize = 10;

#[derive(Template)]
#[template(path = "overview.html")]
struct OverviewPage<'a> {
    context: &'a PageContext,
    /// Written by [`Live`].
    live: &'a str,
}

#[derive(Template)]
#[template(path = "overview_live.html")]
struct Live {
    figures: ClusterFigures,
    nodes: Vec<NodeMap>,
    mine: Vec<TaskRow>,
    mine_not_shown: usize,
    queue: Vec<TaskRow>,
    queue_not_shown: usize,
}

struct ClusterFigures {
    free: usize,
    gpus: usize,
    outside: usize,
    attention: usize,
    running: usize,
    running_gpus: u32,
    waiting: usize,
    next_start: Option<Moment>,
}

/// Who sees it, as an admin or not, and in which language.
pub(super) type OverviewCache =
    crate::api::response_cache::ResponseCache<(UserId, bool, Language), Arc<str>>;

pub(super) async fn overview(
    State(api): State<Api>,
    Extension(kept): Extension<Arc<OverviewCache>>,
    visit: Visit,
) -> PageResult {
    let model = api.handle.model();
    let reader = (visit.caller.id, visit.caller.admin, visit.context.language);
    let live = match kept.get(&reader, &model) {
        Some(live) => live,
        None => {
            let live: Arc<str> = live(&api, &visit).await.map_err(visit.no())?.into();
            kept.put(reader, &model, Arc::clone(&live));
            live
        }
    };
    Ok(page(&OverviewPage { context: &visit.context, live: &live }))
}

async fn live(api: &Api, visit: &Visit) -> Result<String, ApiError> {
    let read = OverviewData::all(api, visit).await?;
    let model = api.handle.model();
    let rows = |lines: &[Line]| {
        let row = |line: &Line| row(line, &model, visit, read.starts.get(&line.task.id).copied());
        lines.iter().map(row).collect()
    };
    let live = Live {
        figures: read.figures(visit),
        nodes: gpu_map::nodes(api, visit),
        mine: rows(&read.mine.lines),
        mine_not_shown: read.mine.not_shown,
        queue: rows(&read.queue),
        queue_not_shown: read.queue_not_shown,
    };
    live.render().map_err(|error| {
        ApiError::new(ErrorCode::Internal, errors::page_not_rendered(&error), errors::report_this())
    })
}

struct OverviewData {
    mine: Overview,
    /// Waiting tasks of all users.
    queue: Vec<Line>,
    queue_not_shown: usize,
    starts: BTreeMap<u64, Time>,
}

impl OverviewData {
    async fn all(api: &Api, visit: &Visit) -> Result<OverviewData, ApiError> {
        let me = Filter { user: Some(ME.to_owned()), ..Filter::default() };
        let mine = gather(api, &visit.caller, me, MINE).await?;
        let waiting = [TaskStateName::Queued, TaskStateName::Blocked, TaskStateName::Held];
        let waiting = waiting.map(TaskStateName::as_str).join(",");
        let everybody = Filter { state: Some(waiting), ..Filter::default() };
        let queue = gather(api, &visit.caller, everybody, QUEUE).await?;
        let queued = |line: &&Line| line.task.state == TaskStateName::Queued;
        let ids: Vec<u64> = mine.lines.iter().filter(queued).map(|line| line.task.id).collect();
        let others = queue.lines.iter().filter(queued).map(|line| line.task.id);
        let mut wanted: Vec<u64> = ids.into_iter().take(FORECASTS / 2).chain(others).collect();
        wanted.dedup();
        wanted.truncate(FORECASTS);
        let starts = starts(api, &wanted)?;
        Ok(OverviewData { mine, queue: queue.lines, queue_not_shown: queue.not_shown, starts })
    }

    fn figures(&self, visit: &Visit) -> ClusterFigures {
        use GpuStateName::{Conflict, Dirty, Foreign, Free, Quarantined, Unknown};
        let gpus = &self.mine.gpus;
        let my_starts = self.mine.lines.iter().filter_map(|line| self.starts.get(&line.task.id));
        ClusterFigures {
            free: gpus.of(Free),
            gpus: gpus.total(),
            outside: gpus.of(Foreign),
            attention: gpus.of_any(&[Dirty, Quarantined, Unknown, Conflict]),
            running: self.mine.running,
            running_gpus: self.mine.running_gpus,
            waiting: self.mine.waiting,
            next_start: my_starts.min().map(|at| Moment::new(*at, visit.context.now)),
        }
    }
}

pub(super) fn starts(api: &Api, ids: &[u64]) -> Result<BTreeMap<u64, Time>, ApiError> {
    if ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    Ok(api.handle.consider(|state, now| {
        let start = |id: &u64| Some((*id, danlu_core::expected_start(state, TaskId(*id), now)?));
        ids.iter().filter_map(start).collect()
    })?)
}

impl Live {
    fn me(&self) -> &'static str {
        ME
    }
}
