//! How a run has ended.

use crate::Language::{self, Chinese, English};
use danlu_core::run::Exit;

pub fn exit(exit: &Exit) -> String {
    let language = Language::current();
    let fixed = |english: &str, chinese: &str| match language {
        English => english.to_owned(),
        Chinese => chinese.to_owned(),
    };
    match (exit, language) {
        (Exit::Code(code), English) => format!("exit code {code}"),
        (Exit::Code(code), Chinese) => format!("退出码 {code}"),
        (Exit::Signal(signal), English) => format!("ended by signal {signal}"),
        (Exit::Signal(signal), Chinese) => format!("被信号 {signal} 结束"),
        (Exit::TimedOut, _) => fixed("the time limit was reached", "已达到时限"),
        (Exit::Launch { message }, _) => message.clone(),
        (Exit::NeverStarted, _) => fixed("never started", "从未启动"),
        (Exit::Vanished { rebooted: true }, _) => fixed("its machine was rebooted", "其机器已重启"),
        (Exit::Vanished { rebooted: false }, _) => {
            fixed("it vanished without a result", "消失且没有结果")
        }
        (Exit::Abandoned, _) => fixed("given up while its machine was away", "机器失联期间已放弃"),
        (Exit::Trouble(trouble), English) => {
            format!("the machine could not start it: {}", trouble.detail)
        }
        (Exit::Trouble(trouble), Chinese) => format!("机器无法启动它：{}", trouble.detail),
        (Exit::NoRecord, _) => fixed("its record on the machine is gone", "机器上的运行记录已丢失"),
    }
}

/// Evidence of a failure, which is stored in English; what the program printed itself stays as it is.
pub fn evidence(stored: &str) -> String {
    let known = EVIDENCE.iter().find_map(|(english, chinese)| {
        stored.strip_prefix(english).map(|rest| format!("{chinese}{rest}"))
    });
    match (Language::current(), known) {
        (Chinese, Some(chinese)) => chinese,
        (English | Chinese, _) => stored.to_owned(),
    }
}

const EVIDENCE: [(&str, &str); 9] = [
    ("exit code ", "退出码 "),
    ("ended by signal ", "被信号结束："),
    ("the time limit was reached", "已达到时限"),
    ("never started", "从未启动"),
    ("its machine was rebooted", "其机器已重启"),
    ("it vanished without a result", "消失且没有结果"),
    ("given up while its node was away", "机器失联期间已放弃"),
    ("the machine could not start it: ", "机器无法启动它："),
    ("its record on the machine is gone", "机器上的运行记录已丢失"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use danlu_core::{Trouble, TroubleKind};

    #[test]
    fn what_the_core_stores_of_an_end_has_chinese_words() {
        let ends = [
            Exit::Code(3),
            Exit::Signal(9),
            Exit::TimedOut,
            Exit::NeverStarted,
            Exit::Vanished { rebooted: true },
            Exit::Vanished { rebooted: false },
            Exit::Abandoned,
            Exit::NoRecord,
            Exit::Trouble(Trouble::new(TroubleKind::DiskFull, "no space left")),
        ];
        for end in ends.iter().map(Exit::in_words) {
            assert!(!Chinese.within(|| evidence(&end)).is_ascii(), "{end}");
            assert_eq!(English.within(|| evidence(&end)), end);
        }
        let told = Chinese.within(|| evidence("exit code 2: no such file"));
        assert_eq!(told, "退出码 2: no such file");
    }
}
