//! Notices about the server itself, kept in the database until an administrator acknowledges them.

use crate::api::view::rfc3339;
use crate::daemon::clock;
use crate::daemon::handle::Handle;
use crate::store::restore_guard::Loss;
use crate::store::{Deed, RecordChange, Store, StoreError};
use arc_swap::ArcSwap;
use danlu_core::Time;
use danlu_messages::acts::Act;
use danlu_messages::server::daemon as msg;
pub use danlu_wire::api::{Notice, NoticeKind};
use std::path::Path;
use std::sync::Arc;

/// The kind of these records in the store.
pub(crate) const KIND: &str = "notice";

/// The notices in the database. Clones share the same data.
#[derive(Debug, Clone, Default)]
pub struct Notices(Arc<ArcSwap<Vec<Notice>>>);

impl Notices {
    /// Notices about problems of an earlier process are obsolete; the `Vec` has the records to delete.
    pub(crate) fn load(store: &Store) -> Result<(Notices, Vec<RecordChange>), StoreError> {
        let read = |json: &String| serde_json::from_str::<Notice>(json).ok();
        let found: Vec<Notice> = store.records(KIND)?.iter().filter_map(read).collect();
        let (over, left): (Vec<Notice>, Vec<Notice>) =
            found.into_iter().partition(|notice| notice.what.ends_with_the_server());
        let over =
            over.into_iter().map(|notice| RecordChange::Delete { kind: KIND, id: notice.id });
        Ok((Notices(Arc::new(ArcSwap::from_pointee(left))), over.collect()))
    }

    pub fn all(&self) -> Arc<Vec<Notice>> {
        self.0.load_full()
    }

    pub(crate) fn seen_by(&self, admin: bool) -> Vec<Notice> {
        let all = self.all();
        all.iter().filter(|notice| admin || notice.what.is_for_everybody()).cloned().collect()
    }

    /// After a commit.
    pub(crate) fn take_over(&self, changes: &[RecordChange]) {
        for change in changes {
            match change {
                RecordChange::Put { kind: KIND, json, .. } => {
                    if let Ok(notice) = serde_json::from_str::<Notice>(json) {
                        self.change(|all| all.push(notice.clone()));
                    }
                }
                RecordChange::Delete { kind: KIND, id } => {
                    self.change(|all| all.retain(|notice| notice.id != *id));
                }
                RecordChange::Put { .. } | RecordChange::Delete { .. } => {}
            }
        }
    }

    fn change(&self, change: impl Fn(&mut Vec<Notice>)) {
        self.0.rcu(|all| {
            let mut all = Vec::clone(all);
            change(&mut all);
            all
        });
    }
}

/// A new one, as it is stored, and what the audit log says of it.
pub(crate) fn record(what: NoticeKind, now: Time) -> (RecordChange, Deed) {
    let name = match &what {
        NoticeKind::DataLost { .. } => "data-lost",
        NoticeKind::Restored { .. } => "restored",
        NoticeKind::SchedulingPaused { .. } => "scheduling-paused",
        NoticeKind::MachineDistrusted { .. } => "machine-distrusted",
        NoticeKind::ChannelFailing { .. } => "channel-failing",
        NoticeKind::FileSetAside { file, .. } => file,
        NoticeKind::ExportFailing { .. } => "export-failing",
        NoticeKind::ForeignProcess { .. } => "foreign-process",
        NoticeKind::Unknown => "unknown",
    };
    let (id, target) = (format!("{name}-{}", now.0), name.to_owned());
    let notice = Notice { id: id.clone(), at: rfc3339(now), what };
    let (detail, _) = danlu_messages::Language::English.within(|| words(&notice));
    let deed =
        Deed { user: "danlu".into(), origin: "automatic".into(), act: Act::Note, target, detail };
    let json = serde_json::to_string(&notice).unwrap_or_default();
    (RecordChange::Put { kind: KIND, id, json }, deed)
}

/// A file beside the database, and where it is now.
pub(crate) fn file_set_aside(file: &Path, aside: &Path) -> NoticeKind {
    let name = file.file_name().unwrap_or(file.as_os_str());
    NoticeKind::FileSetAside {
        file: name.to_string_lossy().into_owned(),
        aside: aside.display().to_string(),
    }
}

/// Puts one up, unless it is there already. Not waited for: the engine may be slow.
pub(crate) fn raise(handle: &Handle, runtime: &tokio::runtime::Handle, what: NoticeKind) {
    if handle.notices().all().iter().any(|notice| notice.what == what) {
        return;
    }
    let (record, deed) = record(what, clock::now());
    let handle = handle.clone();
    runtime.spawn(async move { drop(handle.keep(vec![record], Some(deed)).await) });
}

/// Takes those away that are over by themselves.
pub(crate) fn withdraw(
    handle: &Handle,
    runtime: &tokio::runtime::Handle,
    is_over: impl Fn(&NoticeKind) -> bool,
) {
    let all = handle.notices().all();
    let over = all.iter().filter(|notice| is_over(&notice.what));
    let changes: Vec<RecordChange> =
        over.map(|notice| RecordChange::Delete { kind: KIND, id: notice.id.clone() }).collect();
    if !changes.is_empty() {
        let handle = handle.clone();
        runtime.spawn(async move { drop(handle.keep(changes, None).await) });
    }
}

impl From<&Loss> for NoticeKind {
    fn from(loss: &Loss) -> NoticeKind {
        match loss {
            Loss::Accepted { known, found } => {
                NoticeKind::DataLost { known_events: *known, found_events: *found }
            }
            Loss::Restored { backup_at } => NoticeKind::Restored { backup_at: backup_at.clone() },
        }
    }
}

/// What happened, and what to do, in the reader's language.
pub fn words(notice: &Notice) -> (String, String) {
    let at = &notice.at;
    let acknowledge = {
        let id = &notice.id;
        msg::then_danlu_notices_acknowledge_id(&id)
    };
    match &notice.what {
        NoticeKind::DataLost { known_events, found_events } => {
            let lost = known_events - found_events;
            (msg::database_older(&at, &lost, &known_events), msg::review_held_tasks(&acknowledge))
        }
        NoticeKind::Restored { backup_at } => {
            (msg::restored(&at, &backup_at), msg::review_held_tasks(&acknowledge))
        }
        NoticeKind::SchedulingPaused { report } => {
            (msg::scheduling_paused(&at), msg::resume_queue(&report))
        }
        NoticeKind::MachineDistrusted { node, report } => (
            msg::machine_disabled(&node, &at),
            msg::report_report_acknowledge(&report, &acknowledge),
        ),
        NoticeKind::ChannelFailing { channel } => {
            (msg::channel_failing(&channel, &at), msg::see_failed_messages().to_owned())
        }
        NoticeKind::FileSetAside { file, aside } => {
            (msg::file_set_aside(&file, &at, &aside), msg::delete_set_aside(&aside, &acknowledge))
        }
        NoticeKind::ExportFailing { target } => {
            (msg::export_failing(&target, &at), msg::points_are_kept().to_owned())
        }
        NoticeKind::ForeignProcess { node, gpu, pid, user, task } => (
            msg::foreign_process(&user, &pid, &gpu, &node, &task),
            msg::end_it_or_ask(&acknowledge),
        ),
        NoticeKind::Unknown => (
            msg::notice_id_of_at_is_of_a_kind_that_this_version(&notice.id, &at),
            msg::use_the_version_of_the_server_acknowledge(&acknowledge),
        ),
    }
}

/// One line each, for the top of a page or a list.
pub fn line(notice: &Notice) -> String {
    let (what, hint) = words(notice);
    let (label, colon) = (msg::hint(), msg::colon());
    format!("{what} ({label}{colon}{hint})")
}
