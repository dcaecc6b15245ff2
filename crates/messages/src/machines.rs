//! Problems of machines and of the way to them. They are stored and sent in English; readers get their language.

use crate::Language;

/// What went wrong on the way, as far as it is known in Chinese; what a machine said itself stays as it is.
pub fn problem(message: &str, hint: &str) -> (String, String) {
    let known = |table: &[(&str, &'static str)], text: &str| {
        let found = table.iter().find_map(|(english, chinese)| {
            let rest = text.strip_prefix(english)?;
            Some(format!("{chinese}{rest}"))
        });
        found.unwrap_or_else(|| text.to_owned())
    };
    match Language::current() {
        Language::English => (message.to_owned(), hint.to_owned()),
        Language::Chinese => {
            let message = around_a_name(message).unwrap_or_else(|| known(MESSAGES, message));
            (message, known(HINTS, hint))
        }
    }
}

/// A name in the middle of a sentence.
fn around_a_name(message: &str) -> Option<String> {
    AROUND.iter().find_map(|[before, after, chinese_before, chinese_after]| {
        let name = message.strip_prefix(before)?.strip_suffix(after)?;
        Some(format!("{chinese_before}{name}{chinese_after}"))
    })
}

const AROUND: &[[&str; 4]] = &[
    ["another machine (", ") answers at this address", "在此地址应答的是另一台机器（", "）"],
    ["another machine (", ") answers to this key", "接受此密钥的是另一台机器（", "）"],
    ["somebody else is connected as ", " there already", "已有他人以 ", " 的身份连接"],
    ["", " is the server's own login there", "", " 是服务器自己在该机器上的登录名"],
    [
        "",
        " is the same machine with the same directory for its runs",
        "",
        " 是同一台机器，且使用相同的运行目录",
    ],
];

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
    ("the connection went silent", "连接没有响应"),
    ("its agent has not dialled in yet", "其代理尚未连接"),
    ("its agent does not answer", "其代理没有应答"),
    ("its agent makes no sense", "无法理解其代理的消息"),
    ("its agent does not say who it is", "其代理没有说明自己的身份"),
    ("somebody's own connection was lost", "某位用户自己的连接已断开"),
    ("it cannot start tasks: ", "无法启动任务："),
    ("the key cannot be used", "密钥无法使用"),
    (
        "the key was given when the machine was reached in another way",
        "给出密钥后，机器的访问方式已改变",
    ),
    ("their key was changed", "密钥已更换"),
    (
        "this key logs in as root, and nobody's tasks run as root",
        "此密钥以 root 登录，而任何人的任务都不能以 root 运行",
    ),
    ("this key logs in as ", "此密钥登录的账户是 "),
    ("the machine does not say who was logged in", "机器没有说明登录的账户"),
    ("looks like the same machine as ", "与以下机器似乎是同一台："),
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
    ("see its agent: it dials in again by itself", "请检查其代理；它会自动重新连接"),
    ("it is opened again by itself", "会自动重新建立"),
    ("if it has replaced the old one: ", "若它已替换原机器："),
    ("remove one of them: ", "请移除其中一个："),
    ("raise the limit of open files there: ", "请提高该机器的打开文件数限制："),
    ("see the limit of processes there: ", "请检查该机器的进程数限制："),
    ("free memory there", "请释放该机器的内存"),
    ("see the disk there: ", "请检查该机器的磁盘："),
    ("see the log of its agent", "请查看其代理的日志"),
    ("run there: ", "请在该机器上运行："),
    ("see nvidia-smi there", "请在该机器上运行 nvidia-smi 检查"),
    ("let it use NTP, as chrony does", "请使用 NTP 校时，如 chrony"),
    ("make room there", "请清理磁盘空间"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_machine_said_itself_stays() {
        let problem = |message, hint| Language::Chinese.within(|| problem(message, hint));
        let (message, hint) =
            problem("the log-in was refused: Permission denied (publickey).", "see the network");
        assert_eq!(message, "登录被拒绝: Permission denied (publickey).");
        assert_eq!(hint, "请检查网络");
        let (message, _) = problem("another machine (x) answers at this address", "");
        assert_eq!(message, "在此地址应答的是另一台机器（x）");
        let odd = problem("ssh: odd", "");
        assert_eq!(odd, ("ssh: odd".to_owned(), String::new()));
    }
}
