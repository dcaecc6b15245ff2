//! Problems that keep a machine from starting any task. They do not count as failures of the task.

use crate::model::failure::one_line;
use crate::model::time::Time;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum TroubleKind {
    /// Out of file descriptors.
    Descriptors,
    /// No process can be started.
    Processes,
    /// Out of memory.
    Memory,
    /// No space, or no inodes, where run directories are made.
    DiskFull,
    /// The disk cannot be written for another reason: read-only, or errors.
    Disk,
    /// The process that starts tasks cannot be started or does not answer.
    Launcher,
    /// Anything else, also what a newer agent calls by a name that is not known here.
    Other,
}

/// What is wrong with a machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trouble {
    pub kind: TroubleKind,
    /// One line for people, such as what the system said.
    pub detail: String,
}

/// A machine that starts nothing, because it cannot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unfit {
    pub trouble: Trouble,
    pub since: Time,
}

impl TroubleKind {
    pub const ALL: [TroubleKind; 7] = [
        TroubleKind::Descriptors,
        TroubleKind::Processes,
        TroubleKind::Memory,
        TroubleKind::DiskFull,
        TroubleKind::Disk,
        TroubleKind::Launcher,
        TroubleKind::Other,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            TroubleKind::Descriptors => "descriptors",
            TroubleKind::Processes => "processes",
            TroubleKind::Memory => "memory",
            TroubleKind::DiskFull => "disk_full",
            TroubleKind::Disk => "disk",
            TroubleKind::Launcher => "nursery",
            TroubleKind::Other => "other",
        }
    }
}

impl From<String> for TroubleKind {
    fn from(name: String) -> TroubleKind {
        let known = TroubleKind::ALL.into_iter().find(|kind| kind.as_str() == name);
        known.unwrap_or(TroubleKind::Other)
    }
}

impl From<TroubleKind> for String {
    fn from(kind: TroubleKind) -> String {
        kind.as_str().to_owned()
    }
}

impl Trouble {
    /// Input from nodes is untrusted: cut to length.
    pub fn new(kind: TroubleKind, detail: &str) -> Trouble {
        Trouble { kind, detail: one_line(detail) }
    }

    /// The same as a node may say it.
    pub(crate) fn bounded(&self) -> Trouble {
        Trouble::new(self.kind, &self.detail)
    }
}
