//! Reports: what was used, by whom, when and to what avail; kept in `reports.db` beside the main database.
//!
//! One thread (`keeper.rs`) books every ended run in a few rows (`piece.rs`, `file.rs`). A question reads the rows of its
//! time, adds what runs now, and sums up (`fold.rs`, `figures.rs`) by names and by periods (`calendar.rs`).
//!
//! Invariant: nobody waits for it but who asks for a report.

mod calendar;
mod codes;
mod figures;
mod file;
mod fold;
mod keeper;
mod lines;
mod names;
mod piece;
#[cfg(test)]
mod tests;

pub(crate) use calendar::{Unit, days_between, first_day, written_period, zone};
pub(crate) use figures::{Figures, Waits};
pub(crate) use fold::{Filters, Grouping, MOST_GROUPINGS, ReportQuestion};
pub(crate) use lines::Report;

use crate::api::Api;
use crate::daemon::config::ReportsConfig;
use crate::read_model::{News, ReadModel};
use crate::store::EventReader;
use crate::usage::Usage;
use arc_swap::ArcSwap;
use codes::run_number;
use danlu_core::{GpuId, Span};
use file::Book;
use fold::{FilterIds, Fold, UNKNOWN};
use keeper::{Keeper, KeeperMessage, node_name};
use names::Names;
use piece::{RunFacts, first_start, pieces};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{Semaphore, broadcast, oneshot};
use tracing::warn;

/// Clones share the same keeper.
#[derive(Debug, Clone)]
pub struct Reports {
    shared: Arc<ReportsShared>,
    inbox: Sender<KeeperMessage>,
}

#[derive(Debug)]
struct ReportsShared {
    path: PathBuf,
    settings: ArcSwap<ReportsConfig>,
    /// The keeper knows that there is news.
    told: AtomicBool,
    /// Tasks from before are not all booked yet.
    reading_history: AtomicBool,
    /// Questions that may read at the same time.
    readers: Semaphore,
    waiting: Mutex<Option<Receiver<KeeperMessage>>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReportError {
    /// The file cannot be read.
    Unavailable,
    /// More lines or periods than a report has.
    TooMuch,
    /// It would take too long.
    Slow,
}

impl ReportsShared {
    fn keep(&self) -> Span {
        self.settings.load().keep
    }
}

const MOST_READERS: usize = 2;
/// What is not booked by then is missing in the report.
const CATCH_UP: Duration = Duration::from_secs(3);
const LONGEST: Duration = Duration::from_secs(10);
/// Rows between two looks at the clock.
const ROWS: u32 = 4_096;

impl Reports {
    pub fn new(data: &Path, settings: &ReportsConfig) -> Reports {
        let (inbox, waiting) = channel();
        let shared = ReportsShared {
            path: data.join("reports.db"),
            settings: ArcSwap::from_pointee(settings.clone()),
            told: AtomicBool::new(false),
            reading_history: AtomicBool::new(true),
            readers: Semaphore::new(MOST_READERS),
            waiting: Mutex::new(Some(waiting)),
        };
        Reports { shared: Arc::new(shared), inbox }
    }

    /// Starts its thread, and a task that wakes it. It ends with `stop`.
    pub(crate) fn start(&self, api: &Api, events: EventReader) -> Option<JoinHandle<()>> {
        let waiting = self.shared.waiting.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        let keeper = Keeper {
            api: api.downgrade(),
            shared: Arc::clone(&self.shared),
            events,
            runtime: tokio::runtime::Handle::current(),
            inbox: waiting,
            open: None,
            failed: false,
        };
        tokio::spawn(wake(api.handle.reader().news(), self.clone()));
        let thread = std::thread::Builder::new().name("reports".into());
        thread.spawn(move || keeper.run()).ok()
    }

    pub(crate) fn stop(&self) {
        let _ = self.inbox.send(KeeperMessage::Stop);
    }

    pub(crate) fn set(&self, settings: &ReportsConfig) {
        self.shared.settings.store(Arc::new(settings.clone()));
    }

    pub(crate) fn settings(&self) -> Arc<ReportsConfig> {
        self.shared.settings.load_full()
    }

    /// With all that has ended by now, and what runs so far.
    pub(crate) async fn ask(
        &self,
        api: &Api,
        question: ReportQuestion,
    ) -> Result<Report, ReportError> {
        let _one = self.shared.readers.acquire().await.map_err(|_| ReportError::Unavailable)?;
        // Before what has ended is booked: a run is then in one of them, or in both, and counted once.
        let model = api.handle.model();
        let (reply, caught_up) = oneshot::channel();
        self.inbox.send(KeeperMessage::CatchUp(reply)).map_err(|_| ReportError::Unavailable)?;
        let _ = tokio::time::timeout(CATCH_UP, caught_up).await;
        let (shared, usage) = (Arc::clone(&self.shared), api.usage.clone());
        let answer = move || answer(&shared, &usage, &model, &question);
        tokio::task::spawn_blocking(answer).await.unwrap_or(Err(ReportError::Unavailable))
    }
}

fn answer(
    shared: &ReportsShared,
    usage: &Usage,
    model: &ReadModel,
    question: &ReportQuestion,
) -> Result<Report, ReportError> {
    let unavailable = |cause: rusqlite::Error| {
        warn!(%cause, "reports.db cannot be read");
        ReportError::Unavailable
    };
    let book = Book::open_to_read(&shared.path).map_err(unavailable)?;
    let mut names = book.names().map_err(unavailable)?;
    let gpus = book.gpus().map_err(unavailable)?;
    let mut live = HashMap::new();
    for run in model.active_runs() {
        let Some(task) = model.tasks.get(&run.task) else { continue };
        let summary = usage.summary(run.id);
        let facts = RunFacts {
            task,
            run,
            first_start: first_start(model.runs_of(task.id)),
            summary: summary.as_ref(),
        };
        let gpu = |gpu: &GpuId| gpus.get(gpu).cloned();
        let found = pieces(&facts, &mut names, |part| node_name(model, part), gpu, question.now);
        live.insert(run_number(run.id), found);
    }
    let filters = filters(&question.only, &names);
    let mut fold = Fold::new(question, filters).map_err(|_| ReportError::TooMuch)?;
    let (started, mut rows, mut stopped) = (Instant::now(), 0_u32, Ok(()));
    // What ends now by another machine's clock may have begun after it.
    let to = if question.open { i64::MAX } else { question.to.0 };
    let read = book.between(question.from.0, to, |piece| {
        live.remove(&run_number(piece.run));
        rows = rows.wrapping_add(1);
        stopped = match fold.add(piece) {
            Ok(()) if rows % ROWS == 0 && started.elapsed() > LONGEST => Err(ReportError::Slow),
            Ok(()) => Ok(()),
            Err(fold::TooMuch) => Err(ReportError::TooMuch),
        };
        stopped.is_ok()
    });
    read.map_err(unavailable)?;
    stopped?;
    for piece in live.values().flatten() {
        fold.add(piece).map_err(|_| ReportError::TooMuch)?;
    }
    let reading_history = shared.reading_history.load(Ordering::Relaxed);
    Ok(lines::report(question, fold, &names, model, reading_history))
}

fn filters(only: &Filters, names: &Names) -> FilterIds {
    let id = |name: &Option<String>| {
        name.as_deref().map(|name| match name {
            "" => names::NO_NAME,
            name => names.known(name).unwrap_or(UNKNOWN),
        })
    };
    FilterIds {
        user: only.user,
        project: id(&only.project),
        node: id(&only.node),
        model: id(&only.model),
    }
}

/// Says that something was committed, once until the keeper has heard it.
async fn wake(mut news: broadcast::Receiver<Arc<News>>, reports: Reports) {
    loop {
        match news.recv().await {
            Ok(_) | Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return,
        }
        if !reports.shared.told.swap(true, Ordering::Relaxed)
            && reports.inbox.send(KeeperMessage::News).is_err()
        {
            return;
        }
    }
}
