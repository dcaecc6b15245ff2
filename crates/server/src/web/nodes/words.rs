//! What is said about machines, in both languages.

use crate::web::language::{Language, tell};

/// The colour and the word.
pub(super) fn state(state: &str, language: Language) -> (&'static str, &'static str) {
    match state {
        "ready" => ("good", language.say("ready", "就绪")),
        "draining" => ("warns", language.say("draining", "排空中")),
        "unverified" => ("warns", language.say("connecting", "连接中")),
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

/// What went wrong on the way, as far as it is known in Chinese; what a machine said itself stays as it is.
pub(super) fn problem(message: &str, hint: &str, language: Language) -> (String, String) {
    let known = |table: &[(&str, &'static str)], text: &str| {
        let found = table.iter().find_map(|(english, chinese)| {
            let rest = text.strip_prefix(english)?;
            Some(format!("{chinese}{rest}"))
        });
        found.unwrap_or_else(|| text.to_owned())
    };
    match language {
        Language::English => (message.to_owned(), hint.to_owned()),
        Language::Chinese => (known(MESSAGES, message), known(HINTS, hint)),
    }
}

const MESSAGES: &[(&str, &str)] = &[
    ("the machine does not answer", "机器没有应答"),
    ("connecting anew", "正在重新连接"),
    ("ssh could not be started", "无法启动 ssh"),
    ("the machine shows another host key than before", "机器出示的主机密钥与以前不同"),
    ("the machine's host key is not known", "机器的主机密钥未知"),
    ("the log-in was refused", "登录被拒绝"),
    ("sudo was refused", "sudo 被拒绝"),
    ("no directory for the program could be made there", "无法在该机器上创建程序目录"),
    ("the program could not be written there", "无法在该机器上写入程序"),
    ("the program arrived damaged", "程序在传输中损坏"),
    ("the connection was closed", "连接已关闭"),
    ("it is the machine that the server runs on", "它是服务器所在的机器"),
    ("reached: ", "已到达："),
    ("has the program", "已有程序"),
    ("its agent runs", "代理程序已运行"),
    ("speaks version", "版本"),
    ("GPUs are asked by", "GPU 查询方式"),
];

const HINTS: &[(&str, &str)] = &[
    ("see whether it is overloaded", "请检查它是否过载"),
    ("see the network", "请检查网络"),
    (
        "log in once as the server's user with ssh, or add the node with --accept-new-key",
        "请先以服务器的用户用 ssh 登录一次，或添加时信任首次出示的主机密钥",
    ),
    ("if the machine was replaced, remove its old key with", "若机器已更换，请删除旧密钥："),
    (
        "see that the key is in authorized_keys there, and give it with --identity",
        "请确认公钥已在该机器的 authorized_keys 中，并指定私钥文件",
    ),
    ("see the name of the machine", "请检查机器名称"),
    (
        "see that the machine is on, and that its sshd can be reached",
        "请确认机器已开机且可以连接其 sshd",
    ),
    ("see that its home directory is there and has room", "请确认主目录存在且有空间"),
    ("it is sent again with the next try", "下次尝试时会重新发送"),
    ("see the log of its sshd", "请查看其 sshd 日志"),
    ("see nvidia-smi there", "请在该机器上运行 nvidia-smi 检查"),
    ("let it use NTP, as chrony does", "请使用 NTP 校时，如 chrony"),
    ("make room there", "请清理磁盘空间"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_machine_said_itself_stays() {
        let (message, hint) = problem(
            "the log-in was refused: Permission denied (publickey).",
            "see the network",
            Language::Chinese,
        );
        assert_eq!(message, "登录被拒绝: Permission denied (publickey).");
        assert_eq!(hint, "请检查网络");
        let odd = problem("ssh: odd", "", Language::Chinese);
        assert_eq!(odd, ("ssh: odd".to_owned(), String::new()));
    }
}
