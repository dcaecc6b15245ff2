//! Who did what, newest first.

use crate::api::{Api, audit};
use crate::web::look::{Look, Visit};
use crate::web::moment::Moment;
use crate::web::page::{PageResult, page};
use askama::Template;
use axum::extract::{Query, State};
use danlu_wire::api::AuditView;
use serde::Deserialize;

#[derive(Template)]
#[template(path = "admin_audit.html")]
struct AuditPage<'a> {
    look: &'a Look,
    entries: Vec<AuditView>,
    next: Option<i64>,
    target: String,
}

#[rustfmt::skip] // pairs
const ACTS: [(&str, &str); 39] = [
    ("abandon", "放弃"),
    ("accept", "认可更换"),
    ("acknowledge", "确认"),
    ("add", "添加"),
    ("back up", "备份"),
    ("announce", "公告"),
    ("archive", "归档"),
    ("cancel", "取消"),
    ("change", "修改"),
    ("change GPUs of", "修改 GPU"),
    ("change resources of", "修改资源"),
    ("choose notices of", "设置通知"),
    ("declare lost the runs of", "宣告任务丢失"),
    ("drain", "排空"),
    ("edit", "编辑"),
    ("extend", "延长"),
    ("give token to", "发放令牌"),
    ("hold", "扣住"),
    ("label", "修改标签"),
    ("log in", "登录"),
    ("log out", "退出"),
    ("make", "创建"),
    ("move", "移动"),
    ("name OS user of", "指定系统用户"),
    ("note", "记录"),
    ("pause", "暂停"),
    ("release", "放行"),
    ("remove", "删除"),
    ("remove SSH login on", "删除 SSH 登录"),
    ("requeue", "重新排队"),
    ("resume", "继续"),
    ("retry", "重试"),
    ("revoke", "吊销"),
    ("revoke token of", "吊销令牌"),
    ("set password of", "设置密码"),
    ("set SSH login on", "设置 SSH 登录"),
    ("start", "启动"),
    ("submit", "提交"),
    ("undrain", "恢复"),
];

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::web) struct Wanted {
    cursor: Option<i64>,
    target: String,
}

pub(in crate::web) async fn list(
    State(api): State<Api>,
    visit: Visit,
    Query(Wanted { cursor, target }): Query<Wanted>,
) -> PageResult {
    let only = Some(target.trim().to_owned()).filter(|target| !target.is_empty());
    let wanted = audit::Wanted { cursor, limit: None, target: only };
    let audit = audit::read(&api, &visit.caller, wanted).await.map_err(visit.no())?;
    Ok(page(&AuditPage {
        look: &visit.look,
        entries: audit.entries,
        next: audit.next_cursor,
        target,
    }))
}

impl AuditPage<'_> {
    /// As it is kept, which is English; in Chinese where the word is known.
    fn act<'a>(&self, act: &'a str) -> &'a str {
        let chinese = ACTS.iter().find(|(english, _)| *english == act);
        self.look.say(act, chinese.map_or(act, |(_, chinese)| chinese))
    }

    fn time(&self, text: &str) -> Moment {
        Moment::read(text, self.look.now).unwrap_or(Moment::new(self.look.now, self.look.now))
    }
}
