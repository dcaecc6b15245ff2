//! Notices about the server itself, shown until an administrator acknowledges them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Notice {
    /// For `POST /notices/{id}/acknowledge`.
    pub id: String,
    pub at: String,
    #[serde(flatten)]
    pub what: NoticeKind,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum NoticeKind {
    /// The database was older than it had been, and the server was told to go on with it.
    DataLost { known_events: i64, found_events: i64 },
    /// The database is one from a backup.
    Restored { backup_at: String },
    /// The scheduler failed; nothing starts before this is acknowledged.
    SchedulingPaused { report: String },
    /// What a machine said could not be processed; it gets no work until it has reported anew.
    MachineDistrusted { node: String, report: String },
    /// Messages cannot be delivered over a channel.
    ChannelFailing { channel: String },
    /// A file beside the database could not be read; a new one was begun.
    FileSetAside { file: String, aside: String },
    /// Points cannot be written to a database.
    ExportFailing { target: String },
    /// A process that Danlu did not start is on a GPU that a task has for itself.
    ForeignProcess { node: String, gpu: u32, pid: u32, user: String, task: u64 },
    /// A notice that only a newer server knows.
    #[serde(other)]
    #[schemars(skip)]
    Unknown,
}

impl NoticeKind {
    /// Whether it concerns people who are not admins, too.
    pub fn is_for_everybody(&self) -> bool {
        match self {
            NoticeKind::DataLost { .. }
            | NoticeKind::Restored { .. }
            | NoticeKind::ChannelFailing { .. }
            | NoticeKind::FileSetAside { .. }
            | NoticeKind::ExportFailing { .. }
            | NoticeKind::ForeignProcess { .. }
            | NoticeKind::Unknown => false,
            NoticeKind::SchedulingPaused { .. } | NoticeKind::MachineDistrusted { .. } => true,
        }
    }

    /// Whether it ends with the server that it was about.
    pub fn ends_with_the_server(&self) -> bool {
        let passing = matches!(
            self,
            NoticeKind::ChannelFailing { .. }
                | NoticeKind::ExportFailing { .. }
                | NoticeKind::ForeignProcess { .. }
        );
        self.is_for_everybody() || passing
    }
}

/// `GET /notices`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct NoticeList {
    pub notices: Vec<Notice>,
}
