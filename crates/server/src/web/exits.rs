//! How a run has ended, in the reader's language; what it printed itself stays as it is.

use super::language::Language;

/// As the core says it, perhaps with a line of the output behind it.
const WORDS: [(&str, &str); 9] = [
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

pub(super) fn exit(words: &str, language: Language) -> String {
    let known = WORDS.iter().find_map(|(english, chinese)| {
        words.strip_prefix(english).map(|rest| format!("{chinese}{rest}"))
    });
    match (language, known) {
        (Language::Chinese, Some(chinese)) => chinese,
        _ => words.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use danlu_core::run::Exit;
    use danlu_core::{Trouble, TroubleKind};

    #[test]
    fn every_end_has_chinese_words() {
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
            assert!(!exit(&end, Language::Chinese).is_ascii(), "{end}");
            assert_eq!(exit(&end, Language::English), end);
        }
        assert_eq!(exit("exit code 2: no such file", Language::Chinese), "退出码 2: no such file");
    }
}
