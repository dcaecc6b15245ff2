//! Acts of the audit log. They are stored in English.

use crate::Language;

/// In the language of the reader, where the act is known.
pub fn act(stored: &str) -> &str {
    match Language::current() {
        Language::English => stored,
        Language::Chinese => ACTS
            .iter()
            .find(|(english, _)| *english == stored)
            .map_or(stored, |(_, chinese)| chinese),
    }
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
