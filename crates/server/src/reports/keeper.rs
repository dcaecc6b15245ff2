//! The thread that books ended runs: it follows the events, and reads the history once.

use super::ReportsShared;
use super::file::{Book, BookResult, Booked};
use super::names::Names;
use super::piece::{Piece, RunFacts, first_start, pieces};
use crate::api::{Api, WeakApi};
use crate::daemon::clock;
use crate::read_model::ReadModel;
use crate::store::history::{HistoryQuery, HistorySort};
use crate::store::set_aside;
use crate::store::{EventReader, StoreError};
use danlu_core::run::RunPart;
use danlu_core::{Event, GpuId, Run, RunId, Span, Task, TaskId};
use rusqlite::ErrorCode;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tracing::{info, warn};

pub(super) enum KeeperMessage {
    /// Something has been committed.
    News,
    /// Say so when all that is committed is booked.
    CatchUp(oneshot::Sender<()>),
    Stop,
}

pub(super) struct Keeper {
    pub(super) api: WeakApi,
    pub(super) shared: Arc<ReportsShared>,
    pub(super) events: EventReader,
    pub(super) runtime: tokio::runtime::Handle,
    pub(super) inbox: Receiver<KeeperMessage>,
    pub(super) open: Option<OpenBook>,
    pub(super) failed: bool,
}

/// The file, and what of it is in memory.
pub(super) struct OpenBook {
    book: Book,
    names: Names,
    /// Names that are in the file.
    stored_names: usize,
    models: BTreeMap<GpuId, String>,
    booked: Booked,
    /// The last task of the history that was read, while that is not all.
    history: Option<TaskId>,
    pruned_at: Option<Instant>,
}

/// What happens within this time is booked together.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Events that are booked at once, and tasks of the history.
const PAGE: u32 = 500;
const HISTORY_PAGE: usize = 500;
const PRUNE_EVERY: Duration = Duration::from_secs(3_600);
const TRY_AGAIN: Duration = Duration::from_secs(10);

enum BookingError {
    Book(rusqlite::Error),
    Store(StoreError),
}

impl From<rusqlite::Error> for BookingError {
    fn from(error: rusqlite::Error) -> BookingError {
        BookingError::Book(error)
    }
}

impl From<StoreError> for BookingError {
    fn from(error: StoreError) -> BookingError {
        BookingError::Store(error)
    }
}

impl Keeper {
    pub(super) fn run(mut self) {
        let mut asked: Vec<oneshot::Sender<()>> = Vec::new();
        loop {
            let looked = Instant::now();
            let more = self.look();
            for asked in asked.drain(..) {
                let _ = asked.send(());
            }
            // Until something happens; but not at once again for every single event.
            let mut wait = match more {
                Next::Idle => None,
                Next::More => Some(Duration::ZERO),
                Next::Retry => Some(TRY_AGAIN),
            };
            loop {
                let message = match wait {
                    None => self.inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
                    Some(wait) => self.inbox.recv_timeout(wait),
                };
                match message {
                    Ok(KeeperMessage::News) => {
                        self.shared.told.store(false, Ordering::Relaxed);
                        let soon = LOOK_EVERY.saturating_sub(looked.elapsed());
                        wait = Some(wait.map_or(soon, |wait| wait.min(soon)));
                    }
                    Ok(KeeperMessage::CatchUp(reply)) => {
                        asked.push(reply);
                        break;
                    }
                    Err(RecvTimeoutError::Timeout) => break,
                    Ok(KeeperMessage::Stop) | Err(RecvTimeoutError::Disconnected) => {
                        self.look();
                        return self.open.iter().for_each(|open| open.book.settle());
                    }
                }
            }
        }
    }

    fn look(&mut self) -> Next {
        let Some(api) = self.api.upgrade() else { return Next::Idle };
        let done = self.book(&api);
        match done {
            Ok(next) => {
                if std::mem::take(&mut self.failed) {
                    info!("reports are kept up again");
                }
                next
            }
            Err(trouble) => {
                self.open = None;
                if !std::mem::replace(&mut self.failed, true) {
                    let cause = match trouble {
                        BookingError::Book(error) => error.to_string(),
                        BookingError::Store(error) => error.to_string(),
                    };
                    warn!(cause, "what runs used cannot be kept in reports.db; trying again");
                }
                Next::Retry
            }
        }
    }

    fn book(&mut self, api: &Api) -> Result<Next, BookingError> {
        if self.open.is_none() {
            self.open = Some(self.open_book(api)?);
        }
        let Some(open) = &mut self.open else { return Ok(Next::Retry) };
        // Before the model is taken, so that it has all that these events tell of.
        let newest = self.events.newest()?;
        while open.booked.event < newest {
            let page = self.events.ends(open.booked.event, newest, PAGE)?;
            let last = page.last().map_or(newest, |last| last.number);
            let upto = if page.len() < PAGE as usize { newest } else { last };
            let runs: BTreeSet<(TaskId, RunsToBook)> =
                page.iter().filter_map(|it| to_book(&it.event)).collect();
            let tasks: Vec<TaskId> = runs.iter().map(|(task, _)| *task).collect();
            let model = self.runtime.block_on(with_tasks(api, tasks))?;
            open.note_gpus(&model)?;
            let booked = Booked { event: upto, ..open.booked };
            let pieces = open.pieces_of(api, &model, runs);
            open.commit(&pieces, booked, open.history)?;
        }
        open.prune(self.shared.keep())?;
        self.shared.reading_history.store(open.history.is_some(), Ordering::Relaxed);
        let Some(after) = open.history else { return Ok(Next::Idle) };
        self.runtime.block_on(open.read_history(api, after))?;
        Ok(Next::More)
    }

    fn open_book(&mut self, api: &Api) -> Result<OpenBook, BookingError> {
        let book = Book::open(&self.shared.path).or_else(|error| self.open_new(error))?;
        let (names, models) = (book.names()?, book.gpus()?);
        let epoch = api.handle.model().ledger.epoch;
        let (oldest, newest) = (self.events.oldest()?, self.events.newest()?);
        // Of this database, and nothing is missing since.
        let known = book.booked()?.filter(|it| {
            it.epoch == epoch && it.event <= newest && it.event.saturating_add(1) >= oldest
        });
        let history = match known {
            Some(_) => book.reading_history()?.map(|id| TaskId(id.unsigned_abs())),
            None => Some(TaskId(0)),
        };
        let booked = known.unwrap_or(Booked { epoch, event: newest });
        let (stored_names, pruned_at) = (names.len(), None);
        let mut open = OpenBook { book, names, stored_names, models, booked, history, pruned_at };
        open.note_gpus(&api.handle.model())?;
        open.commit(&[], booked, history)?;
        Ok(open)
    }
}

impl Keeper {
    /// In place of one that is damaged: most of it is in the history, too.
    fn open_new(&self, error: rusqlite::Error) -> BookResult<Book> {
        let damaged = [ErrorCode::NotADatabase, ErrorCode::DatabaseCorrupt];
        if error.sqlite_error_code().is_none_or(|code| !damaged.contains(&code)) {
            return Err(error);
        }
        let aside = set_aside(&self.shared.path);
        warn!(cause = %error, ?aside, "reports.db is damaged and set aside; it is made again from the history");
        Book::open(&self.shared.path)
    }
}

enum Next {
    Idle,
    More,
    Retry,
}

/// RunsToBook runs of a task have changed for reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum RunsToBook {
    This(RunId),
    /// It tells what became of the task.
    Last,
    /// None of them tells that any more.
    All,
}

fn to_book(event: &Event) -> Option<(TaskId, RunsToBook)> {
    match event {
        Event::RunEnded { run, task, .. } => Some((*task, RunsToBook::This(*run))),
        Event::TaskFinished { task, .. } => Some((*task, RunsToBook::Last)),
        Event::TaskRetried { task } => Some((*task, RunsToBook::All)),
        _ => None,
    }
}

async fn with_tasks(api: &Api, tasks: Vec<TaskId>) -> Result<Arc<ReadModel>, StoreError> {
    let model = api.handle.model();
    let missing: Vec<TaskId> =
        tasks.into_iter().filter(|id| !model.tasks.contains_key(id)).collect();
    if missing.is_empty() {
        return Ok(model);
    }
    let found = api.handle.history().tasks(missing).await?;
    Ok(Arc::new(model.with_retired(found)))
}

impl OpenBook {
    /// Cards come and go; what they were is needed longer.
    fn note_gpus(&mut self, model: &ReadModel) -> BookResult<()> {
        for gpu in model.nodes.values().flat_map(|node| &node.gpus) {
            if self.models.get(&gpu.id) != Some(&gpu.model) {
                self.book.put_gpu(&gpu.id, &gpu.model)?;
                self.models.insert(gpu.id.clone(), gpu.model.clone());
            }
        }
        Ok(())
    }

    fn pieces_of(
        &mut self,
        api: &Api,
        model: &ReadModel,
        runs: BTreeSet<(TaskId, RunsToBook)>,
    ) -> Vec<Piece> {
        let mut found = Vec::new();
        for (task, which) in runs {
            let Some(task) = model.tasks.get(&task) else { continue };
            let wanted = |run: &&Run| match which {
                RunsToBook::This(id) => run.id == id,
                RunsToBook::Last => task.trail().last_run == Some(run.id),
                RunsToBook::All => true,
            };
            for run in model.runs_of(task.id).filter(|run| run.is_ended()).filter(wanted) {
                found.extend(self.pieces(api, model, task, run));
            }
        }
        found
    }

    fn pieces(&mut self, api: &Api, model: &ReadModel, task: &Task, run: &Run) -> Vec<Piece> {
        let summary = api.usage.summary(run.id);
        let facts = RunFacts {
            task,
            run,
            first_start: first_start(model.runs_of(task.id)),
            summary: summary.as_ref(),
        };
        let models = &self.models;
        let gpu = |gpu: &GpuId| models.get(gpu).cloned();
        pieces(&facts, &mut self.names, |part| node_name(model, part), gpu, clock::now())
    }

    fn commit(
        &mut self,
        pieces: &[Piece],
        booked: Booked,
        history: Option<TaskId>,
    ) -> BookResult<()> {
        let (names, stored) = (&self.names, self.stored_names);
        self.book.transaction(|book| {
            names.after(stored).try_for_each(|(id, name)| book.put_name(id, name))?;
            pieces.iter().try_for_each(|piece| book.put(piece))?;
            book.put_reading_history(history.map(|id| i64::try_from(id.0).unwrap_or(i64::MAX)))?;
            book.put_booked(booked)
        })?;
        self.stored_names = self.names.len();
        (self.booked, self.history) = (booked, history);
        Ok(())
    }

    /// A slice of the ended tasks from before; at the end those that are still in memory.
    async fn read_history(&mut self, api: &Api, after: TaskId) -> Result<(), BookingError> {
        let live = api.handle.model();
        let query = HistoryQuery {
            sort: HistorySort::Id,
            ascending: true,
            after: Some((i64::try_from(after.0).unwrap_or(i64::MAX), after)),
            limit: HISTORY_PAGE,
            ..HistoryQuery::default()
        };
        let page = api.handle.history().page(query).await?;
        let last = page.tasks.last().map(|retired| retired.task.id).filter(|_| page.more);
        let mut ids: Vec<TaskId> = page.tasks.iter().map(|retired| retired.task.id).collect();
        if last.is_none() {
            ids.extend(live.tasks.keys());
        }
        let model = live.with_retired(page.tasks);
        let mut found = Vec::new();
        for task in ids.iter().filter_map(|id| model.tasks.get(id)) {
            for run in model.runs_of(task.id).filter(|run| run.is_ended()) {
                found.extend(self.pieces(api, &model, task, run));
            }
        }
        self.commit(&found, self.booked, last)?;
        Ok(())
    }

    fn prune(&mut self, keep: Span) -> BookResult<()> {
        if self.pruned_at.is_some_and(|at| at.elapsed() < PRUNE_EVERY) {
            return Ok(());
        }
        let before = (clock::now() - keep).0;
        // The rest has its turn the next time.
        if self.book.prune(before)? == 0 {
            self.pruned_at = Some(Instant::now());
        }
        Ok(())
    }
}

/// One that was removed is called by its number.
pub(super) fn node_name(model: &ReadModel, part: &RunPart) -> String {
    let known = model.nodes.get(&part.node).map(|node| node.name.clone());
    known.unwrap_or_else(|| part.node.to_string())
}
