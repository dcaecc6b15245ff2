//! Who is to be told about a task, and of what.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// One `--notify`. A task without any is told of as its owner has set it for all of theirs.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NotifyRule {
    /// Empty: of nothing.
    pub on: BTreeSet<NotifyMoment>,
    /// A channel by its name, or an e-mail address; `None`: where the owner is told usually.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotifyMoment {
    Start,
    /// However it ends.
    End,
    /// It ends without success, and its owner has not cancelled it.
    Fail,
    /// It goes back to the queue.
    Requeue,
    /// Its time limit is near.
    Expiring,
}

impl NotifyMoment {
    pub const ALL: [NotifyMoment; 5] = [
        NotifyMoment::Start,
        NotifyMoment::End,
        NotifyMoment::Fail,
        NotifyMoment::Requeue,
        NotifyMoment::Expiring,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            NotifyMoment::Start => "start",
            NotifyMoment::End => "end",
            NotifyMoment::Fail => "fail",
            NotifyMoment::Requeue => "requeue",
            NotifyMoment::Expiring => "expiring",
        }
    }

    pub fn from_name(name: &str) -> Option<NotifyMoment> {
        NotifyMoment::ALL.into_iter().find(|moment| moment.as_str() == name)
    }
}

impl NotifyRule {
    /// No channel has such a name.
    pub fn address(&self) -> Option<&str> {
        self.to.as_deref().filter(|to| to.contains('@'))
    }

    pub fn channel(&self) -> Option<&str> {
        self.to.as_deref().filter(|to| !to.contains('@'))
    }
}
