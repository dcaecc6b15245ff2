//! The scheduling settings that an administrator can change.

use crate::fault_injection::{Mutant, mutated};
use crate::model::failure::FailureClass;
use crate::model::idle::{GuardSettings, IdleSettings};
use crate::model::limits;
use crate::model::number::fraction::Fraction;
use crate::model::number::thousandths::Thousandths;
use crate::model::time::Span;
use crate::schedule::quota::QuotaSettings;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    pub order: Order,
    pub backfill: Backfill,
    pub placement: PlacementRule,
    /// Between the signal to the leader and the end of the whole tree.
    pub stop_grace: Span,
    /// A task whose machine went down under it is queued again.
    pub requeue_lost: bool,
    /// … but not for ever.
    pub max_losses: u32,
    /// What runs on a node that could not be asked for so long has failed, though it may still be running there. Zero: never.
    pub lost_after: Span,
    /// A run is not preempted before it has run this long.
    pub min_run_before_preemption: Span,
    pub restart_cost: RestartCost,
    /// GPU time after which `las` puts a task into its second queue.
    pub las_threshold: Span,
    /// No task is started except by hand; runs go on.
    pub queue_paused: bool,
    /// How much time an owner may add to the limit of a task in all; admins may add any.
    pub max_extension: Span,
    /// Of tasks that do not say how often they are to be tried again.
    pub default_retries: u32,
    /// Failures after which a task that names none is tried again; empty: all but a reached time limit.
    pub retry_on: BTreeSet<FailureClass>,
    /// Between a failure and the next try; twice as long after each further one …
    pub retry_backoff: Span,
    /// … up to this.
    pub retry_backoff_max: Span,
    pub fair: FairSettings,
    pub quota: QuotaSettings,
    /// Tasks without an estimate may overtake a task for this long; then freed GPUs are kept for it, and it goes
    /// before other users' tasks. Zero: no limit.
    pub reserve_after: Span,
    /// Predict the run time of tasks without a time limit from ended ones.
    pub predictions: bool,
    /// Between the tasks of one user the order is `auto`, where users take turns.
    pub auto_inside: bool,
    /// A GPU that foreign processes have used is allocated once it has been idle for this long.
    pub idle_delay: Span,
    /// A shared task that has not grown for so long has the memory it needs.
    pub settle_time: Span,
    /// A shared task that has settled counts as what it uses, even if it asked for more.
    pub reclaim_unused_memory: bool,
    /// A node with less than this part of its memory free gets nothing new.
    pub keep_memory: Fraction,
    /// The fraction of a shared GPU's memory that stays free.
    pub keep_gpu_memory: Fraction,
    pub limits: Limits,
    /// The message of the day; empty: none.
    pub announcement: String,
    pub visibility: Visibility,
    pub archive: ArchiveSettings,
    pub history: HistorySettings,
    pub notify: NotifySettings,
    /// In a box, for settings are passed by value.
    pub idle: Box<IdleSettings>,
    pub guard: GuardSettings,
}

/// How people are told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NotifySettings {
    /// Messages about elements of one array wait so long for others, which come in the same message.
    pub digest: Span,
}

impl Default for NotifySettings {
    fn default() -> Self {
        NotifySettings { digest: Span::from_secs(30) }
    }
}

/// When ended tasks go to the archive by themselves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ArchiveSettings {
    /// When there are more than this many; zero: never.
    pub above: u64,
    /// Archive this fraction of each user's ended tasks, the oldest.
    pub share: Fraction,
}

impl Default for ArchiveSettings {
    fn default() -> Self {
        ArchiveSettings { above: 100_000, share: Fraction::from_thousandths(800) }
    }
}

/// How long ended tasks and their logs are kept. The oldest are removed first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HistorySettings {
    /// Tasks that ended longer ago are removed; zero: never.
    pub keep: Span,
    /// At most this many ended tasks; zero: no limit.
    pub max_tasks: u64,
    /// At most this many bytes of their logs; zero: no limit.
    pub log_bytes: u64,
    /// This many of the tasks that ended last stay in memory.
    pub recent: u64,
}

impl Default for HistorySettings {
    fn default() -> Self {
        HistorySettings {
            keep: Span::from_secs(730 * 86_400),
            max_tasks: 0,
            log_bytes: 0,
            recent: 1_000,
        }
    }
}

/// Whose tasks a user sees in lists. Logs and environments are the owner's and admins' in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Visibility {
    #[default]
    All,
    Own,
}

/// Limits that hold for every user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Tasks that share one GPU by its memory; `None` for as many as fit.
    pub max_tasks_per_gpu: Option<u32>,
    /// Tasks of one user that have not ended, where no quota says otherwise.
    pub open_tasks_per_user: usize,
    /// Bytes that are kept of what one run prints to its log; `None` for all of it.
    pub log_size: Option<u64>,
    /// Bytes of logs kept for one user: beyond this, submits are refused. `None` or zero: no limit.
    pub log_bytes_per_user: Option<u64>,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            max_tasks_per_gpu: None,
            open_tasks_per_user: limits::OPEN_TASKS_PER_USER,
            log_size: Some(limits::LOG_BYTES),
            log_bytes_per_user: Some(limits::LOG_BYTES_PER_USER),
        }
    }
}

/// The order in which tasks start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Users take turns by running GPUs relative to priority.
    Balance,
    /// Users take turns by recent GPU time relative to weight.
    Fair,
    /// In the order of submission.
    Fifo,
    /// By run times predicted from ended tasks, and by size: for labs without time limits. Has a backfill rule of its
    /// own.
    Auto,
    /// The shortest expected run first.
    Sjf,
    /// The shortest expected remaining time first; preempts.
    Srtf,
    /// Those that have had least service first; preempts.
    Las,
}

/// What may start while the head of the queue cannot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Backfill {
    /// Nothing.
    None,
    /// Whatever fits.
    Skip,
    /// What fits and does not delay the first in the queue.
    Easy,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlacementRule {
    /// The fullest node that fits; a task larger than any node takes whole nodes and one for the rest.
    #[serde(alias = "pack")]
    Consolidate,
    /// The emptiest node that fits, and the emptiest GPU for those that share; a task larger than any node as with
    /// `Consolidate`.
    Spread,
    /// Any free GPUs, wherever they are.
    Count,
    /// Where least is lost for the tasks that usually come; a task larger than any node as with `Consolidate`.
    Frag,
    /// First fit: the first node that has room, and its GPUs with the lowest numbers.
    #[serde(alias = "first_fit")]
    Lowest,
}

/// How `fair` counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FairSettings {
    /// After this long, use counts half.
    pub half_life: Span,
    /// The weights of groups of users; others have 1.
    pub groups: BTreeMap<String, Thousandths>,
}

/// Work that a preemption adds to a task, as policies reckon it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RestartCost {
    pub up_to_8_gpus: Span,
    pub above: Span,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            order: Order::Balance,
            backfill: Backfill::Easy,
            placement: PlacementRule::Consolidate,
            stop_grace: Span::from_secs(10),
            requeue_lost: true,
            max_losses: 10,
            lost_after: Span::ZERO,
            min_run_before_preemption: Span::from_secs(300),
            restart_cost: RestartCost::default(),
            las_threshold: Span::from_secs(18_000),
            queue_paused: false,
            max_extension: Span::from_secs(86_400),
            default_retries: 0,
            retry_on: BTreeSet::new(),
            retry_backoff: Span::from_secs(1),
            retry_backoff_max: Span::from_secs(600),
            fair: FairSettings::default(),
            quota: QuotaSettings::default(),
            reserve_after: Span::from_secs(43_200),
            idle_delay: Span::ZERO,
            settle_time: Span::from_secs(30),
            reclaim_unused_memory: false,
            keep_memory: Fraction::from_thousandths(200),
            keep_gpu_memory: Fraction::ZERO,
            announcement: String::new(),
            visibility: Visibility::All,
            archive: ArchiveSettings::default(),
            history: HistorySettings::default(),
            notify: NotifySettings::default(),
            idle: Box::default(),
            guard: GuardSettings::default(),
            limits: Limits::default(),
            predictions: true,
            auto_inside: false,
        }
    }
}

impl Default for FairSettings {
    fn default() -> Self {
        FairSettings { half_life: Span::from_secs(7 * 86_400), groups: BTreeMap::new() }
    }
}

impl Default for RestartCost {
    fn default() -> Self {
        RestartCost { up_to_8_gpus: Span::from_secs(40), above: Span::from_secs(60) }
    }
}

impl Settings {
    /// The delay before the next attempt after this many failures.
    pub(crate) fn backoff(&self, failures: u32) -> Span {
        let doubled = 1_u32.checked_shl(failures.saturating_sub(1)).unwrap_or(u32::MAX);
        if mutated(Mutant::BackoffForgotten) {
            return Span::ZERO;
        }
        self.retry_backoff.times(doubled).min(self.retry_backoff_max)
    }

    pub(crate) fn restart_cost(&self, gpus: u32) -> Span {
        if gpus <= 8 { self.restart_cost.up_to_8_gpus } else { self.restart_cost.above }
    }
}

impl Settings {
    /// The longest that only time has to pass for: what is due later was noted before a clock was set back.
    pub(crate) fn longest_ripening(&self) -> Span {
        self.settle_time.max(self.idle_delay)
    }
}

impl Order {
    pub fn is_preemptive(self) -> bool {
        matches!(self, Order::Srtf | Order::Las)
    }

    /// Users take turns; everything else is between the tasks of one user.
    pub fn is_by_user(self) -> bool {
        matches!(self, Order::Balance | Order::Fair)
    }
}
