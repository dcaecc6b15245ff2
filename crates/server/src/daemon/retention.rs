//! Removes the oldest ended tasks and their logs as the settings `history.*` say, and writes the archive by itself.
//!
//! Looks when something has happened, at a limited rate, and when the oldest task is due.

use crate::api::{Api, ApiError, rfc3339};
use crate::daemon::handle::{AskError, Asker};
use crate::daemon::{archive, clock};
use crate::read_model::ReadModel;
use crate::store::Deed;
use crate::store::history::{HistoryFacts, HistoryQuery, HistorySort};
use danlu_core::settings::HistorySettings;
use danlu_core::state::Retired;
use danlu_core::{Actor, Input, Task, TaskId, Time};
use danlu_messages::acts::Act;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::sync::broadcast::error::RecvError;
use tracing::{info, warn};

/// Removed together, so that others get their turn in between.
const AT_ONCE: usize = 50;
/// Interval of checks while something happens.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// Later than that is looked again in any case.
const LONGEST_SLEEP: Duration = Duration::from_secs(86_400);

pub(crate) async fn keep_in_bounds(api: Api) {
    let mut news = api.handle.reader().news();
    loop {
        let wait = match look(&api).await {
            Ok(wait) => wait,
            Err(error) => {
                warn!(cause = error.0.message, "old tasks could not be removed or archived");
                LONGEST_SLEEP
            }
        };
        if let Ok(Err(RecvError::Closed)) = tokio::time::timeout(wait, news.recv()).await {
            return;
        }
        tokio::time::sleep(LOOK_EVERY).await;
        // All that came meanwhile is looked at together.
        news = news.resubscribe();
    }
}

/// Answers how long nothing is due by itself.
async fn look(api: &Api) -> Result<Duration, ApiError> {
    let facts = api.handle.history().facts().await.map_err(archive::unreadable)?;
    archive_oldest(api, &facts).await?;
    prune(api).await?;
    let keep = api.handle.model().ledger.settings.history.keep;
    let facts = api.handle.history().facts().await.map_err(archive::unreadable)?;
    let oldest = facts.oldest.filter(|_| keep.0 > 0);
    let due = oldest.map(|at| at.0.saturating_add_unsigned(keep.0) - clock::now().0);
    let due = due.map_or(LONGEST_SLEEP, |ms| Duration::from_millis(ms.try_into().unwrap_or(0)));
    Ok(due.min(LONGEST_SLEEP))
}

/// What one look has removed.
#[derive(Debug, Default)]
struct Pruned {
    tasks: u64,
    /// When the first and the last of them ended.
    ended: Option<(Time, Time)>,
    rules: BTreeSet<&'static str>,
}

async fn prune(api: &Api) -> Result<(), ApiError> {
    let mut pruned = Pruned::default();
    // Those that a waiting task needs.
    let mut needed = BTreeSet::new();
    let done = loop {
        let (due, rules) = match due(api, &needed).await {
            Ok((due, rules)) if !due.is_empty() => (due, rules),
            Ok(_) => break Ok(()),
            Err(error) => break Err(error),
        };
        let remove = |retired: &Retired| {
            let input = Input::Remove { by: Actor::Daemon, task: retired.task.id };
            api.handle.begin(input, None, None)
        };
        let asked: Vec<_> = due.iter().map(remove).collect();
        let mut failed = None;
        for (retired, answer) in due.iter().zip(asked) {
            match answer.wait().await {
                Ok(_) => pruned.add(retired.task.ended_at(), &rules),
                Err(AskError::Refused(_)) => drop(needed.insert(retired.task.id)),
                Err(error @ AskError::NotNow(_)) => failed = Some(error),
            }
        }
        if let Some(error) = failed {
            break Err(error.into());
        }
    };
    if let Some((from, to)) = pruned.ended {
        info!(tasks = pruned.tasks, "old tasks and their logs were removed");
        let rules: Vec<&str> = pruned.rules.into_iter().collect();
        let deed = Deed {
            user: String::from("danlu"),
            origin: String::from("automatic"),
            act: Act::Prune,
            target: format!("{} tasks", pruned.tasks),
            detail: format!("ended {} to {}; {}", rfc3339(from), rfc3339(to), rules.join(", ")),
        };
        api.handle.keep(Vec::new(), Some(deed)).await?;
    }
    done
}

impl Pruned {
    fn add(&mut self, ended: Option<Time>, rules: &BTreeSet<&'static str>) {
        self.tasks += 1;
        self.rules.extend(rules);
        if let Some(at) = ended {
            let (from, to) = self.ended.unwrap_or((at, at));
            self.ended = Some((from.min(at), to.max(at)));
        }
    }
}

/// The oldest that a rule removes, not all of them, and which rules those are.
async fn due(
    api: &Api,
    needed: &BTreeSet<TaskId>,
) -> Result<(Vec<Retired>, BTreeSet<&'static str>), ApiError> {
    let model = api.handle.model();
    let settings = model.ledger.settings.history.clone();
    let facts = api.handle.history().facts().await.map_err(archive::unreadable)?;
    let mut bounds = PruneBounds::new(&settings, &facts, &model);
    if bounds.is_kept(facts.oldest, &model) {
        return Ok((Vec::new(), BTreeSet::new()));
    }
    let query = HistoryQuery {
        sort: HistorySort::Ended,
        ascending: true,
        limit: AT_ONCE + needed.len(),
        ..HistoryQuery::default()
    };
    let page = api.handle.history().page(query).await.map_err(archive::unreadable)?;
    let mut oldest = page.tasks;
    oldest.retain(|retired| !model.tasks.contains_key(&retired.task.id));
    oldest.extend(ended(&model).map(|task| {
        let runs = model.runs_of(task.id).map(|run| std::sync::Arc::new(run.clone()));
        Retired { task: std::sync::Arc::new(task.clone()), runs: runs.collect() }
    }));
    oldest.sort_by_key(|retired| (retired.task.ended_at(), retired.task.id));
    let mut rules = BTreeSet::new();
    let mut due = Vec::new();
    for retired in oldest.into_iter().filter(|retired| !needed.contains(&retired.task.id)) {
        match bounds.rule_for(&retired) {
            Some(rule) if due.len() < AT_ONCE => {
                rules.insert(rule);
                due.push(retired);
            }
            _ => break,
        }
    }
    Ok((due, rules))
}

fn ended(model: &ReadModel) -> impl Iterator<Item = &Task> {
    model.tasks.values().map(|task| &**task).filter(|task| task.is_finished())
}

/// What is too much.
#[derive(Debug)]
struct PruneBounds {
    /// Those that ended before.
    before: Option<Time>,
    tasks: u64,
    log_bytes: u64,
}

impl PruneBounds {
    fn new(settings: &HistorySettings, facts: &HistoryFacts, model: &ReadModel) -> PruneBounds {
        let HistorySettings { keep, max_tasks, log_bytes, .. } = settings;
        let now = clock::now().0;
        let before = (keep.0 > 0).then(|| Time(now.saturating_sub_unsigned(keep.0)));
        let tasks = || facts.tasks + ended(model).count() as u64;
        let bytes = || {
            let live = ended(model).flat_map(|task| model.runs_of(task.id));
            facts.log_bytes + live.map(|run| run.used.log_bytes).sum::<u64>()
        };
        let excess = |most: u64, count: &dyn Fn() -> u64| match most {
            0 => 0,
            most => count().saturating_sub(most),
        };
        let (tasks, log_bytes) = (excess(*max_tasks, &tasks), excess(*log_bytes, &bytes));
        PruneBounds { before, tasks, log_bytes }
    }

    /// There is nothing to do.
    fn is_kept(&self, oldest: Option<Time>, model: &ReadModel) -> bool {
        let is_late = |at: Time| self.before.is_some_and(|before| at < before);
        self.tasks == 0
            && self.log_bytes == 0
            && !oldest.is_some_and(is_late)
            // Those in memory have ended later than all others.
            && (self.before.is_none()
                || oldest.is_some()
                || !ended(model).filter_map(Task::ended_at).any(is_late))
    }

    /// Why the next one goes, if it does.
    fn rule_for(&mut self, retired: &Retired) -> Option<&'static str> {
        let ended = retired.task.ended_at();
        let late = ended.zip(self.before).is_some_and(|(ended, before)| ended < before);
        let rule = match () {
            () if late => "history.keep",
            () if self.tasks > 0 => "history.max_tasks",
            () if self.log_bytes > 0 => "history.log_bytes",
            () => return None,
        };
        let bytes: u64 = retired.runs.iter().map(|run| run.used.log_bytes).sum();
        self.tasks = self.tasks.saturating_sub(1);
        self.log_bytes = self.log_bytes.saturating_sub(bytes);
        Some(rule)
    }
}

/// The oldest part of everybody's tasks that are not in the archive, if there are too many of those in all.
async fn archive_oldest(api: &Api, facts: &HistoryFacts) -> Result<(), ApiError> {
    let settings = api.handle.model().ledger.settings.archive.clone();
    let all: u64 = facts.not_archived.values().sum();
    if settings.above == 0 || all <= settings.above {
        return Ok(());
    }
    let mut written = 0;
    for (user, count) in &facts.not_archived {
        let mut left = usize::try_from(settings.share.of(*count)).unwrap_or(0);
        while left > 0 {
            let some = left.min(archive::AT_ONCE);
            let page = api.handle.history().not_archived(*user, some).await;
            let tasks = page.map_err(archive::unreadable)?.tasks;
            if tasks.is_empty() {
                break;
            }
            left -= tasks.len();
            written += archive::write(api, tasks).await?;
        }
    }
    let by = Asker { name: String::from("danlu"), origin: String::from("automatic") };
    archive::note(api, &by, written).await
}
