//! What is said about machines, in both languages.

pub(super) use crate::nodes::words::problem;
use crate::web::language::{Language, tell};

/// The colour and the word.
pub(super) fn state(state: &str, language: Language) -> (&'static str, &'static str) {
    match state {
        "ready" => ("good", language.say("ready", "就绪")),
        "draining" => ("warns", language.say("draining", "排空中")),
        "unverified" => ("warns", language.say("connecting", "连接中")),
        "unfit" => ("warns", language.say("unfit", "异常")),
        _ => ("failed", language.say("not reachable", "无法连接")),
    }
}

pub(super) fn route(route: &str, language: Language) -> String {
    match route {
        "local" => language.say("it is the server's own machine", "服务器所在的机器").to_owned(),
        other => other.to_owned(),
    }
}

pub(super) fn clock(ahead_ms: i64, language: Language) -> String {
    let off = ahead_ms.unsigned_abs();
    match ahead_ms {
        -50..=50 => language.say("as the server's", "与服务器一致").to_owned(),
        51.. => tell!(language, "{off} ms ahead of the server's", "比服务器快 {off} 毫秒"),
        _ => tell!(language, "{off} ms behind the server's", "比服务器慢 {off} 毫秒"),
    }
}

pub(super) fn step(step: &str, language: Language) -> &'static str {
    let (english, chinese) = match step {
        "reach" => ("Reach it", "到达"),
        "upload" => ("Bring the program", "上传程序"),
        "start" => ("Start it", "启动"),
        "greet" => ("Be greeted", "应答"),
        "login" => ("Log-in", "登录身份"),
        "clock" => ("Clock", "时钟"),
        "disk" => ("Disk", "磁盘"),
        "gpus" => ("GPUs", "GPU"),
        "machine" => ("Identity", "机器标识"),
        _ => ("Step", "步骤"),
    };
    language.say(english, chinese)
}

/// The question, what follows from it, and the button.
pub(super) fn asked(
    act: &str,
    name: &str,
    language: Language,
) -> Option<(String, &'static str, &'static str)> {
    let words = match act {
        "drain" => (
            tell!(language, "Drain {name}?", "排空 {name}？"),
            language.say(
                "Nothing new starts there; what runs goes on to its end.",
                "不再在其上启动新任务；正在运行的任务继续到结束。",
            ),
            language.say("Drain", "排空"),
        ),
        "undrain" => (
            tell!(language, "Give {name} tasks again?", "恢复向 {name} 分配任务？"),
            language.say("What waits for it may start at once.", "等待它的任务可能立即开始。"),
            language.say("Give it tasks", "恢复分配"),
        ),
        "accept" => (
            tell!(language, "Take the machine that answers now for {name}?", "把现在应答的机器当作 {name}？"),
            language.say(
                "Do this only after the machine was replaced or installed anew: from then on it is trusted as the old one was.",
                "仅在机器更换或重装后使用：此后它将与原机器一样受信任。",
            ),
            language.say("Accept it", "接受"),
        ),
        "remove" => (
            tell!(language, "Take {name} out?", "移除 {name}？"),
            language.say(
                "It gets no tasks any more, and keys that people gave for it are deleted. Nothing may run there.",
                "它不再接受任务，用户为其提供的密钥将被删除。其上不能有任务运行。",
            ),
            language.say("Take it out", "移除"),
        ),
        _ => return None,
    };
    Some(words)
}
