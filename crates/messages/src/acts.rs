//! Acts of the audit log. They are stored by their English names, and shown in the language of the reader.

use crate::Language;

macro_rules! acts {
    ($($act:ident = $name:literal, $chinese:literal;)*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Act {
            $($act),*
        }

        impl Act {
            const ALL: &[Act] = &[$(Act::$act),*];

            /// As it is stored.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Act::$act => $name),*
                }
            }

            fn in_chinese(self) -> &'static str {
                match self {
                    $(Act::$act => $chinese),*
                }
            }
        }
    };
}

/// A stored act in the language of the reader; one of another release stays as it is.
pub fn act(stored: &str) -> &str {
    let known = Act::ALL.iter().find(|act| act.as_str() == stored);
    match (known, Language::current()) {
        (Some(act), Language::Chinese) => act.in_chinese(),
        (Some(_), Language::English) | (None, _) => stored,
    }
}

acts! {
    Abandon = "abandon", "放弃";
    Accept = "accept", "认可更换";
    Acknowledge = "acknowledge", "确认";
    Add = "add", "添加";
    Announce = "announce", "公告";
    Archive = "archive", "归档";
    AskAboutIdle = "ask about idle GPUs of", "询问闲置 GPU";
    BackUp = "back up", "备份";
    Cancel = "cancel", "取消";
    Change = "change", "修改";
    ChangeGpusOf = "change GPUs of", "修改 GPU";
    ChangeResourcesOf = "change resources of", "修改资源";
    ChooseNoticesOf = "choose notices of", "设置通知";
    DeclareLostTheRunsOf = "declare lost the runs of", "宣告任务丢失";
    Drain = "drain", "排空";
    Edit = "edit", "编辑";
    EndTheUnknownRunsOf = "end the unknown runs of", "结束未知的运行";
    Extend = "extend", "延长";
    GiveTokenTo = "give token to", "发放令牌";
    Hold = "hold", "扣住";
    Import = "import", "导入";
    Keep = "keep", "保留";
    Label = "label", "修改标签";
    LogIn = "log in", "登录";
    LogOut = "log out", "退出";
    Make = "make", "创建";
    Move = "move", "移动";
    NameOsUserOf = "name OS user of", "指定系统用户";
    Note = "note", "记录";
    Pause = "pause", "暂停";
    Prune = "prune", "清理";
    Release = "release", "放行";
    Remove = "remove", "删除";
    RemoveSshLoginOn = "remove SSH login on", "删除 SSH 登录";
    Requeue = "requeue", "重新排队";
    Resume = "resume", "继续";
    Retry = "retry", "重试";
    Revoke = "revoke", "吊销";
    RevokeTokenOf = "revoke token of", "吊销令牌";
    SetSshLoginOn = "set SSH login on", "设置 SSH 登录";
    SetPasswordOf = "set password of", "设置密码";
    Start = "start", "启动";
    StopIdle = "stop idle", "停止闲置";
    Submit = "submit", "提交";
    TellOfIdle = "tell of idle GPUs of", "告知闲置 GPU";
    TellOfForeign = "tell of a foreign process on", "告知外部进程";
    EndForeign = "end a foreign process on", "结束外部进程";
    Undrain = "undrain", "恢复";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acts_are_shown_in_the_language_of_the_reader() {
        assert_eq!(Language::English.within(|| act("cancel")), "cancel");
        assert_eq!(Language::Chinese.within(|| act("cancel")), "取消");
        assert_eq!(Language::Chinese.within(|| act("of another release")), "of another release");
    }
}
