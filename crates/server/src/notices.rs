//! What people have to know about the server itself, kept in the database until somebody acknowledges it.

use crate::api::view::rfc3339;
use crate::epoch::Loss;
use crate::language::{say, text};
use crate::store::{Deed, RecordChange, Store, StoreError};
use arc_swap::ArcSwap;
use danlu_core::Time;
pub use danlu_wire::api::{Notice, NoticeKind};
use std::sync::Arc;

/// Of records.
pub(crate) const KIND: &str = "notice";

/// Those that are in the database. Copies show the same.
#[derive(Debug, Clone, Default)]
pub struct Notices(Arc<ArcSwap<Vec<Notice>>>);

impl Notices {
    /// Those of an earlier server's own trouble are over; `Vec` says which records go.
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
    };
    let id = format!("{name}-{}", now.0);
    let notice = Notice { id: id.clone(), at: rfc3339(now), what };
    let (detail, _) = crate::language::Language::English.within(|| words(&notice));
    let deed = Deed {
        user: "danlu".into(),
        origin: "automatic".into(),
        act: "note",
        target: name.into(),
        detail,
    };
    let json = serde_json::to_string(&notice).unwrap_or_default();
    (RecordChange::Put { kind: KIND, id, json }, deed)
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

/// What has happened, and what to do, in the language of who is spoken to.
pub fn words(notice: &Notice) -> (String, String) {
    let at = &notice.at;
    let acknowledge = {
        let id = &notice.id;
        say!("then: danlu notices --acknowledge {id}", "然后：danlu notices --acknowledge {id}")
    };
    match &notice.what {
        NoticeKind::DataLost { known_events, found_events } => {
            let lost = known_events - found_events;
            (
                say!(
                    "The database was older than expected at {at}: the last {lost} of {known_events} events are lost. \
                     Open tasks are held, runs that the server does not know go on.",
                    "{at} 发现数据库比预期旧：共 {known_events} 个事件，最后 {lost} 个已丢失。未结束的任务已被扣住，服务器不认识的运行会继续。"
                ),
                say!(
                    "see the held tasks (danlu ls -a --state held) and release or cancel them; {acknowledge}",
                    "请查看被扣住的任务（danlu ls -a --state held）并放行或取消；{acknowledge}"
                ),
            )
        }
        NoticeKind::Restored { backup_at } => (
            say!(
                "Restored at {at} from the backup of {backup_at}. Open tasks are held, runs that the server does not know go on.",
                "{at} 已从 {backup_at} 的备份恢复。未结束的任务已被扣住，服务器不认识的运行会继续。"
            ),
            say!(
                "see the held tasks (danlu ls -a --state held) and release or cancel them; {acknowledge}",
                "请查看被扣住的任务（danlu ls -a --state held）并放行或取消；{acknowledge}"
            ),
        ),
        NoticeKind::SchedulingPaused { report } => (
            say!(
                "Scheduling is paused since {at}: an internal error of the scheduler. Nothing new starts; running tasks go on.",
                "自 {at} 起调度已暂停：调度器发生内部错误。不会启动新任务；正在运行的任务继续。"
            ),
            say!(
                "an admin can resume it: danlu resume-queue; report {report}",
                "管理员可恢复：danlu resume-queue；报告文件 {report}"
            ),
        ),
        NoticeKind::MachineDistrusted { node, report } => (
            say!(
                "Machine {node} is not used since {at}: an internal error while its message was processed. It is asked again later.",
                "自 {at} 起不使用机器 {node}：处理其消息时发生内部错误。稍后会再次询问。"
            ),
            say!("report {report}; {acknowledge}", "报告文件 {report}；{acknowledge}"),
        ),
    }
}

/// One line each, for the top of a page or a list.
pub fn line(notice: &Notice) -> String {
    let (what, hint) = words(notice);
    let (label, colon) = (text("hint", "提示"), text(": ", "："));
    format!("{what} ({label}{colon}{hint})")
}
