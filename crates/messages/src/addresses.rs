//! What each address of the API does. Its description (OpenAPI) is English.

use crate::Language;

/// In the language of the reader; `english` where there is no other.
pub fn summary<'a>(method: &str, path: &str, english: &'a str) -> &'a str {
    match Language::current() {
        Language::English => english,
        Language::Chinese => {
            let known = SUMMARIES.iter().find(|(it, at, _)| (*it, *at) == (method, path));
            known.map_or(english, |(_, _, chinese)| chinese)
        }
    }
}

#[rustfmt::skip] // one line for each
const SUMMARIES: &[(&str, &str, &str)] = &[
    ("get", "/tasks", "列出任务，最新的在前"),
    ("post", "/tasks", "提交任务或数组；dry_run 时只回答在何处、何时开始"),
    ("post", "/tasks/act", "对多个任务做同一操作"),
    ("get", "/tasks/{id}", "一个任务的全部信息"),
    ("patch", "/tasks/{id}", "修改等待中的任务；位置不变"),
    ("delete", "/tasks/{id}", "从列表中移除已结束的任务"),
    ("get", "/tasks/{id}/why", "它在等什么，预计何时开始"),
    ("get", "/tasks/{id}/logs", "任务的输出；Accept: text/event-stream 时为事件流"),
    ("post", "/tasks/{id}/{act}", "取消、扣住、放行、暂停、继续、重试、启动、移动、延长、重新排队或移除"),
    ("post", "/archive", "把已结束的任务写入服务器的归档；任务仍在列表中"),
    ("post", "/archive/lines", "以归档行的形式取回已结束的任务"),
    ("post", "/archive/import", "从归档行导入已结束的任务"),
    ("get", "/notify/channels", "通知渠道"),
    ("get", "/notify/messages", "已发送、等待或失败的消息，最新的在前；管理员可见所有人的"),
    ("post", "/notify/test", "立即发送测试消息，并返回对方的回应"),
    ("get", "/notify/watches", "我的空闲 GPU 提醒"),
    ("post", "/notify/watches", "某台机器空出这么多 GPU 时通知我"),
    ("delete", "/notify/watches/{id}", "取消提醒"),
    ("get", "/overview", "机器概况与我的任务"),
    ("get", "/events", "实时事件"),
    ("get", "/wait", "这些任务结束或达到某个状态时回答，最长一分钟"),
    ("get", "/dependents", "哪些任务在等待这些任务"),
    ("get", "/gpus", "所有 GPU：使用率、占用者、外部进程"),
    ("post", "/gpus/act", "哪些 GPU 可分配，以及每块可同时分给几个任务"),
    ("get", "/nodes", "所有机器"),
    ("post", "/nodes", "添加一台通过 SSH 连接或主动连入的机器"),
    ("get", "/nodes/{name}", "一台机器"),
    ("patch", "/nodes/{name}", "改变访问机器的方式；已运行的继续"),
    ("delete", "/nodes/{name}", "移除机器；其上不能有运行中的任务"),
    ("post", "/nodes/{name}/labels", "在任务运行时修改机器的标签"),
    ("post", "/nodes/{name}/declare-lost", "将离线机器上的任务判为失败"),
    ("post", "/nodes/{name}/{act}", "排空、恢复、接受或检查机器；换发或作废令牌"),
    ("get", "/status", "机器、GPU 和任务的总数"),
    ("get", "/settings", "管理员可在运行时修改的设置"),
    ("patch", "/settings", "修改一项设置"),
    ("get", "/users", "所有账号"),
    ("post", "/users", "添加账号"),
    ("patch", "/users/{name}", "修改账号：管理员、锁定、运行身份、邮箱、优先级、权重、组、配额"),
    ("delete", "/users/{name}", "删除账号；其任务被取消，历史保留"),
    ("post", "/users/{name}/password", "设置某人的密码，或生成一次性密码"),
    ("get", "/me", "我是谁"),
    ("patch", "/me", "我的邮箱、语言和通知"),
    ("post", "/me/password", "修改我的密码"),
    ("get", "/me/template", "我的任务模板"),
    ("put", "/me/template", "替换我的任务模板"),
    ("get", "/me/nodes", "我在各机器上的身份"),
    ("put", "/me/nodes/{name}", "在服务器不是 root 的机器上使用的 SSH 用户名与密钥"),
    ("delete", "/me/nodes/{name}", "删除它们"),
    ("post", "/session", "登录"),
    ("delete", "/session", "退出登录"),
    ("post", "/setup", "用服务器打印的密钥创建第一位管理员"),
    ("get", "/sessions", "我在哪里登录"),
    ("delete", "/sessions/{id}", "在该处退出登录"),
    ("get", "/tokens", "我的令牌"),
    ("post", "/tokens", "创建令牌；只显示这一次"),
    ("delete", "/tokens/{id}", "按编号或名称吊销令牌"),
    ("get", "/audit", "谁做了什么，最新的在前"),
    ("post", "/command", "一行管理员命令，gpuman 的写法"),
    ("get", "/reports/predictions", "预计的开始时间和时长有多准"),
    ("get", "/config", "服务器启动时的配置"),
    ("get", "/whoami", "我是谁（简短）"),
    ("get", "/server/logs", "服务器自己的日志"),
    ("get", "/server/backup", "数据库、密钥和配置的备份（tar 归档）"),
    ("get", "/server/health", "服务器的时钟、磁盘、地址和证书"),
    ("get", "/server/check", "在服务器运行时检查数据库"),
    ("get", "/notices", "关于服务器本身的通知"),
    ("post", "/notices/{id}/acknowledge", "确认一条通知；因错误而暂停的调度随之恢复"),
    ("post", "/server/reload", "重新读取配置文件"),
    ("post", "/server/stop", "停止服务器；运行中的任务继续"),
    ("get", "/openapi.json", "本说明（供程序使用）"),
];
