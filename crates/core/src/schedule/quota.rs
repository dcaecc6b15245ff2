//! Quotas of users and projects: how much may run or wait at once, and GPU-hours per period.

use crate::fault_injection::{Mutant, mutated};
use crate::model::ids::UserId;
use crate::model::resources::Request;
use crate::model::settings::Order;
use crate::model::task::{Task, TaskSpec};
use crate::model::time::{Span, Time};
use crate::model::user::User;
use crate::schedule::queue::Lane;
use crate::state::State;
use crate::step::refusal::Refusal;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Unset fields are unlimited, or as for every user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Quota {
    pub running_tasks: Option<u64>,
    pub running_gpus: Option<u64>,
    /// Tasks that wait for whatever reason.
    pub queued_tasks: Option<u64>,
    /// Tasks that have not ended; a user's, where nothing is said: as many as the limits allow.
    pub open_tasks: Option<u64>,
    /// In each period.
    pub gpu_hours: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct QuotaSettings {
    pub over: OverQuota,
    /// Of `gpu_hours`; periods follow each other from 1970 on.
    pub period: Span,
    /// For each user …
    pub user: Quota,
    /// … and for some by name, where it says something else.
    pub users: BTreeMap<String, Quota>,
    /// For projects by name; others are not limited.
    pub project: BTreeMap<String, Quota>,
}

/// What becomes of a task that would exceed what may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OverQuota {
    /// It waits until others have ended.
    Wait,
    /// It is refused: what waits counts like what runs.
    Refuse,
}

/// Tasks, and the GPUs that they ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Load {
    pub tasks: u64,
    pub gpus: u64,
}

/// A quota that is exceeded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excess {
    pub whose: Party,
    pub limit: Limit,
    pub in_use: u64,
    pub most: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Party {
    User(String),
    Project(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    RunningTasks,
    RunningGpus,
    QueuedTasks,
    OpenTasks,
    GpuHours,
}

/// GPU time in the period that `at` is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Spent {
    /// Millionths of a GPU-second.
    pub micros: u64,
    pub at: Time,
}

const MICROS_PER_HOUR: u64 = 3_600_000_000;

impl Default for QuotaSettings {
    fn default() -> Self {
        QuotaSettings {
            over: OverQuota::Wait,
            period: Span::from_secs(30 * 86_400),
            user: Quota::default(),
            users: BTreeMap::new(),
            project: BTreeMap::new(),
        }
    }
}

impl QuotaSettings {
    pub fn of_user(&self, name: &str) -> Quota {
        let Some(own) = self.users.get(name) else { return self.user };
        Quota {
            running_tasks: own.running_tasks.or(self.user.running_tasks),
            running_gpus: own.running_gpus.or(self.user.running_gpus),
            queued_tasks: own.queued_tasks.or(self.user.queued_tasks),
            open_tasks: own.open_tasks.or(self.user.open_tasks),
            gpu_hours: own.gpu_hours.or(self.user.gpu_hours),
        }
    }

    /// Whether what some user may have running is limited.
    pub(crate) fn limits_users(&self) -> bool {
        self.user.limits_running() || self.users.values().any(Quota::limits_running)
    }

    pub(crate) fn limits_hours(&self) -> bool {
        let mut all =
            [&self.user].into_iter().chain(self.users.values()).chain(self.project.values());
        all.any(|quota| quota.gpu_hours.is_some())
    }
}

impl Quota {
    fn limits_running(&self) -> bool {
        [self.running_tasks, self.running_gpus, self.gpu_hours].iter().any(Option::is_some)
    }

    /// What a start would exceed.
    fn exceeded(&self, running: Load, asked: Load, spent: u64) -> Option<(Limit, u64, u64)> {
        let over = |limit, has: u64, more: u64, most: Option<u64>| {
            let most = most?;
            (has.saturating_add(more) > most).then_some((limit, has, most))
        };
        let hours = spent / MICROS_PER_HOUR;
        let gpus_asked = asked.gpus > 0;
        over(Limit::RunningTasks, running.tasks, asked.tasks, self.running_tasks)
            .or_else(|| {
                let most = self.running_gpus.filter(|_| gpus_asked);
                over(Limit::RunningGpus, running.gpus, asked.gpus, most)
            })
            .or_else(|| over(Limit::GpuHours, hours, 1, self.gpu_hours.filter(|_| gpus_asked)))
    }
}

impl Load {
    pub(crate) fn of(request: &Request) -> Load {
        Load { tasks: 1, gpus: u64::from(request.gpus) }
    }

    pub(crate) fn plus(self, other: Load) -> Load {
        Load {
            tasks: self.tasks.saturating_add(other.tasks),
            gpus: self.gpus.saturating_add(other.gpus),
        }
    }

    pub(crate) fn minus(self, other: Load) -> Load {
        Load {
            tasks: self.tasks.saturating_sub(other.tasks),
            gpus: self.gpus.saturating_sub(other.gpus),
        }
    }

    fn times(self, count: u64) -> Load {
        Load { tasks: self.tasks.saturating_mul(count), gpus: self.gpus.saturating_mul(count) }
    }
}

impl Spent {
    pub(crate) fn until(self, now: Time, gpus: u64, period: Span) -> Spent {
        let begins = match i64::try_from(period.0) {
            Ok(period @ 1..) => Time(now.0.div_euclid(period).saturating_mul(period)),
            _ => Time(i64::MIN),
        };
        let before = if self.at >= begins { self.micros } else { 0 };
        let since = now.since(self.at.max(begins)).0.saturating_mul(1_000).saturating_mul(gpus);
        Spent { micros: before.saturating_add(since), at: now }
    }
}

/// What a start of this task would exceed, with so much running of its owner and project.
pub(crate) fn excess(
    state: &State,
    task: &Task,
    owner_runs: Load,
    project_runs: Load,
    now: Time,
) -> Option<Excess> {
    let asked = Load::of(&task.spec.request);
    let of_user = user_excess(state, task.owner, owner_runs, asked, now);
    of_user.or_else(|| project_excess(state, &task.spec, project_runs, asked, now))
}

/// Whether the first of a user's tasks would exceed what they may have running, and with it all that it keeps back.
/// GPU-hours do not count here: with these it depends on the time.
pub(crate) fn is_shut(state: &State, user: &User) -> bool {
    let settings = &state.settings().quota;
    if !settings.limits_users() || mutated(Mutant::QuotaIgnored) {
        return false;
    }
    let lane = Lane::User(user.id);
    let first = match state.settings().order {
        Order::Auto => state.queue().batches().first_of(user.id),
        Order::Balance | Order::Fair | Order::Fifo | Order::Sjf | Order::Srtf | Order::Las => {
            state.queue().first_after(lane, None).map(|rank| rank.task)
        }
    };
    let Some(first) = first else { return false };
    let asked = Load::of(&state.tasks[&first].spec.request);
    let quota = Quota { gpu_hours: None, ..settings.of_user(&user.name) };
    let limit = quota.exceeded(state.running_of(user.id), asked, 0).map(|(limit, ..)| limit);
    match limit {
        None => false,
        Some(Limit::RunningGpus) => !state.queue().has_tasks_without_gpus(lane),
        Some(_) => true,
    }
}

/// … with nothing but what runs.
pub(crate) fn excess_now(state: &State, task: &Task, now: Time) -> Option<Excess> {
    let project = task.spec.project.as_deref();
    let project_runs = project.map_or(Load::default(), |name| state.load_of_project(name).0);
    excess(state, task, state.running_of(task.owner), project_runs, now)
}

fn user_excess(state: &State, id: UserId, runs: Load, asked: Load, now: Time) -> Option<Excess> {
    let user = state.users.get(&id).filter(|_| !mutated(Mutant::QuotaIgnored))?;
    let quota = state.settings().quota.of_user(&user.name);
    let spent = state.spent_by_user(id, now);
    let (limit, in_use, most) = quota.exceeded(runs, asked, spent)?;
    Some(Excess { whose: Party::User(user.name.clone()), limit, in_use, most })
}

fn project_excess(
    state: &State,
    spec: &TaskSpec,
    runs: Load,
    asked: Load,
    now: Time,
) -> Option<Excess> {
    let project = spec.project.as_ref()?;
    let quota = state.settings().quota.project.get(project)?;
    let spent = state.spent_by_project(project, now);
    let (limit, in_use, most) = quota.exceeded(runs, asked, spent)?;
    Some(Excess { whose: Party::Project(project.clone()), limit, in_use, most })
}

/// Whether a user may submit `count` new tasks.
pub(crate) fn admit(
    state: &State,
    owner: UserId,
    spec: &TaskSpec,
    count: usize,
    now: Time,
) -> Result<(), Refusal> {
    if let Some(excess) = refuses(state, owner, spec, count, now) {
        return Err(Refusal::OverQuota(excess));
    }
    let (kept, most) = (state.log_bytes_of(owner), state.settings().limits.log_bytes_per_user);
    match most.filter(|most| *most > 0 && kept >= *most) {
        Some(most) => Err(Refusal::LogsFull { user: state.users[&owner].name.clone(), kept, most }),
        None => Ok(()),
    }
}

fn refuses(
    state: &State,
    owner: UserId,
    spec: &TaskSpec,
    count: usize,
    now: Time,
) -> Option<Excess> {
    let settings = &state.settings().quota;
    let count = u64::try_from(count).unwrap_or(u64::MAX);
    let one = Load::of(&spec.request);
    let name = &state.users.get(&owner)?.name;
    let own = settings.of_user(name);
    let usual = u64::try_from(state.settings().limits.open_tasks_per_user).unwrap_or(u64::MAX);
    let user = (
        Party::User(name.clone()),
        Quota { open_tasks: Some(own.open_tasks.unwrap_or(usual)), ..own },
        (state.running_of(owner), state.waiting_of(owner)),
        state.spent_by_user(owner, now),
    );
    let project = spec.project.as_ref().and_then(|project| {
        let quota = settings.project.get(project)?;
        let spent = state.spent_by_project(project, now);
        Some((Party::Project(project.clone()), *quota, state.load_of_project(project), spent))
    });
    for (whose, quota, (running, waiting), spent) in [Some(user), project].into_iter().flatten() {
        let queued = quota.queued_tasks.filter(|most| waiting.tasks.saturating_add(count) > *most);
        let open = running.tasks.saturating_add(waiting.tasks);
        let too_many = quota.open_tasks.filter(|most| open.saturating_add(count) > *most);
        let too_many = too_many.map(|most| (Limit::OpenTasks, open, most));
        let queued = queued.map(|most| (Limit::QueuedTasks, waiting.tasks, most));
        let exceeded = too_many.or(queued).or_else(|| match settings.over {
            OverQuota::Refuse => quota.exceeded(running.plus(waiting), one.times(count), spent),
            // It exceeds the quota alone and would wait for ever.
            OverQuota::Wait => quota.exceeded(Load::default(), one, 0),
        });
        if let Some((limit, in_use, most)) = exceeded {
            return Some(Excess { whose, limit, in_use, most });
        }
    }
    None
}
