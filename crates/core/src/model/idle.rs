//! A run that holds GPUs and does not use them: what is known of it, and what is to be done about it.

use crate::model::time::{Span, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// In which way GPUs are held and not used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IdleKind {
    /// No process of the run is on them.
    NoProcess,
    /// Processes are on them, and have never computed anything.
    NeverUsed,
    UsedThenIdle,
    /// Only what a program does that keeps GPUs: short bursts, or a faint load at the power of an idle GPU.
    Pulses,
}

impl IdleKind {
    pub const ALL: [IdleKind; 4] =
        [IdleKind::NoProcess, IdleKind::NeverUsed, IdleKind::UsedThenIdle, IdleKind::Pulses];

    pub fn as_str(self) -> &'static str {
        match self {
            IdleKind::NoProcess => "no_process",
            IdleKind::NeverUsed => "never_used",
            IdleKind::UsedThenIdle => "used_then_idle",
            IdleKind::Pulses => "pulses",
        }
    }
}

/// What the owner has been told so far. The order is that of the ladder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IdleRung {
    Told,
    /// … whether the GPUs are to be kept.
    Asked,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdleNote {
    pub since: Time,
    pub kind: IdleKind,
    pub rung: IdleRung,
    /// When the owner was told that.
    pub at: Time,
}

/// What a run has been through because it was idle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct IdleTrail {
    /// Until it is used again or kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<IdleNote>,
    /// Nothing is done about it before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept_until: Option<Time>,
    /// How often it was kept.
    pub keeps: u32,
}

impl IdleTrail {
    pub fn is_nothing(&self) -> bool {
        *self == IdleTrail::default()
    }

    /// The time that counts, of all that it has been idle.
    pub fn counts_from(&self, since: Time) -> Time {
        self.kept_until.map_or(since, |until| until.max(since))
    }
}

/// The last rung of the ladder; those before it come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IdleAct {
    /// Idle GPUs are shown, and that is all.
    #[default]
    None,
    /// The owner is told.
    Tell,
    /// … and asked whether to keep them.
    Ask,
    /// … and without an answer the task is stopped, as by a preemption, and queued again.
    Requeue,
    /// … and without an answer the task is ended.
    Release,
}

/// What is done about GPUs that are held and not used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct IdleSettings {
    pub act: IdleAct,
    pub tell_after: Span,
    pub ask_after: Span,
    pub release_after: Span,
    /// For how long an owner may keep idle GPUs at a time; admins may for longer.
    pub longest_keep: Span,
    /// A run whose CPUs are busy is stopped all the same.
    pub ignore_cpu: bool,
    /// Names of users, names of projects, and labels (`KEY` or `KEY=VALUE`) of tasks that are left alone.
    pub exempt_users: BTreeSet<String>,
    pub exempt_projects: BTreeSet<String>,
    pub exempt_labels: BTreeSet<String>,
}

impl Default for IdleSettings {
    fn default() -> Self {
        IdleSettings {
            act: IdleAct::None,
            tell_after: Span::from_secs(1_800),
            ask_after: Span::from_secs(3_600),
            release_after: Span::from_secs(7_200),
            longest_keep: Span::from_secs(86_400),
            ignore_cpu: false,
            exempt_users: BTreeSet::new(),
            exempt_projects: BTreeSet::new(),
            exempt_labels: BTreeSet::new(),
        }
    }
}

impl IdleSettings {
    /// After how long the owner is told that; `None` where that is not done.
    pub fn told_after(&self, rung: IdleRung) -> Option<Span> {
        let (act, after) = match rung {
            IdleRung::Told => (IdleAct::Tell, self.tell_after),
            IdleRung::Asked => (IdleAct::Ask, self.ask_after),
        };
        (self.act >= act).then_some(after)
    }

    /// After how long the run is stopped, and whether its task is queued again.
    pub fn stopped_after(&self) -> Option<(Span, bool)> {
        match self.act {
            IdleAct::None | IdleAct::Tell | IdleAct::Ask => None,
            IdleAct::Requeue => Some((self.release_after, true)),
            IdleAct::Release => Some((self.release_after, false)),
        }
    }

    pub fn is_exempt(
        &self,
        user: &str,
        project: Option<&str>,
        labels: &BTreeMap<String, String>,
    ) -> bool {
        let labelled = |wanted: &String| match wanted.split_once('=') {
            Some((key, value)) => labels.get(key).is_some_and(|it| it == value),
            None => labels.contains_key(wanted),
        };
        self.exempt_users.contains(user)
            || project.is_some_and(|project| self.exempt_projects.contains(project))
            || self.exempt_labels.iter().any(labelled)
    }
}

/// What is done about processes that Danlu did not start, on GPUs that it has allocated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct GuardSettings {
    /// They are ended, unless they are root's.
    pub end_foreign: bool,
    /// How long such a process may be there, and how long it has between the signals TERM and KILL.
    pub grace: Span,
}

impl Default for GuardSettings {
    fn default() -> Self {
        GuardSettings { end_foreign: false, grace: Span::from_secs(60) }
    }
}
