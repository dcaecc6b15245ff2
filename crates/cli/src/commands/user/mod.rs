//! `danlu user`: who there is, and what admins give them.

mod accounts;
mod password;
mod ssh;

use std::io;

use clap::{Args, Subcommand};
use danlu_wire::api::{Document, OneUser, UserView, Users};
use serde_json::{Map, Value};

use crate::{
    client::{Client, read},
    failure::{Exit, Failure},
    given::pair::{Pair, parse_pair},
    language::{say, text},
    screen::{
        self, colour,
        table::{Column, Table},
        width,
    },
};

#[derive(Debug, Args)]
#[command(
    about = text("Accounts: who may do what, and their shares of the GPUs", "账号：权限与 GPU 份额"),
    override_usage = text("danlu user [list | add | del | lock | unlock | grant | revoke | passwd | ssh | set] …", "danlu user [list | add | del | lock | unlock | grant | revoke | passwd | ssh | set] …"),
    after_help = text(
        "What can be set:\n  \
           os_user    whom their tasks run as on the machines; empty for the OS user of the same name\n  \
           email, language (en or zh)\n  \
           priority   for `balance`: 2 is twice the share of 1; 0 before all above it; below 0 before everybody\n  \
           weight     for `fair`: 2 is twice the share of 1\n  \
           group      for `fair`: its members share what the group's weight gives them; empty for none\n  \
           running_tasks, running_gpus, queued_tasks, gpu_hours\n  \
                      quotas, where they differ from quota.user; `default` for the same\n\n\
         Examples:\n  \
           danlu user list\n  \
           danlu user add ann --email ann@lab.example\n  \
           danlu user add boss --admin --password-stdin < secret\n  \
           danlu user passwd ann\n  \
           danlu user lock ann\n  \
           danlu user set ann priority=2\n  \
           danlu user set ann --weight 1.5 --group vision\n  \
           danlu user set ann running_gpus=8\n  \
           danlu user set ann --os-user-on gpu7=asmith\n  \
           danlu user ssh gpu8 --user asmith --key ~/.ssh/gpu8\n  \
           danlu set fair.groups.vision 3",
        "可以设置：\n  \
           os_user    其任务在机器上以哪个系统用户运行；留空表示同名的系统用户\n  \
           email, language（en 或 zh）\n  \
           priority   用于 `balance`：2 的份额是 1 的两倍；0 排在所有正数之前；负数排在所有人之前\n  \
           weight     用于 `fair`：2 的份额是 1 的两倍\n  \
           group      用于 `fair`：组内成员分享该组权重所得；留空表示不属于任何组\n  \
           running_tasks, running_gpus, queued_tasks, gpu_hours\n  \
                      配额，与 quota.user 不同时设置；`default` 表示相同\n\n\
         示例：\n  \
           danlu user list\n  \
           danlu user add ann --email ann@lab.example\n  \
           danlu user add boss --admin --password-stdin < secret\n  \
           danlu user passwd ann\n  \
           danlu user lock ann\n  \
           danlu user set ann priority=2\n  \
           danlu user set ann --weight 1.5 --group vision\n  \
           danlu user set ann running_gpus=8\n  \
           danlu user set ann --os-user-on gpu7=asmith\n  \
           danlu user ssh gpu8 --user asmith --key ~/.ssh/gpu8\n  \
           danlu set fair.groups.vision 3",
    ),
    disable_help_subcommand = true,
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(Debug, Subcommand)]
enum What {
    #[command(about = text("Show all users", "列出所有用户"), override_usage = "danlu user list [--json]")]
    List {
        #[arg(long, help = text("Print one JSON document", "输出一个 JSON 文档"))]
        json: bool,
    },
    #[command(about = text("Add an account", "添加账号"), override_usage = text("danlu user add NAME [OPTIONS]", "danlu user add 用户名 [选项]"))]
    Add(accounts::Add),
    #[command(visible_alias = "rm", about = text("Remove an account; its tasks are cancelled, its history stays", "删除账号；取消其任务，保留历史"), override_usage = text("danlu user del NAME… [--yes]", "danlu user del 用户名… [--yes]"))]
    Del(accounts::Del),
    #[command(about = text("Let nobody in with this account; sessions and tokens end at once", "锁定账号；会话与令牌立即失效"), override_usage = text("danlu user lock NAME…", "danlu user lock 用户名…"))]
    Lock(accounts::Named),
    #[command(about = text("Let its owner in again", "解锁账号"), override_usage = text("danlu user unlock NAME…", "danlu user unlock 用户名…"))]
    Unlock(accounts::Named),
    #[command(about = text("Make somebody an admin", "授予管理员权限"), override_usage = text("danlu user grant NAME…", "danlu user grant 用户名…"))]
    Grant(accounts::Named),
    #[command(about = text("Make an admin a user again", "收回管理员权限"), override_usage = text("danlu user revoke NAME…", "danlu user revoke 用户名…"))]
    Revoke(accounts::Named),
    #[command(about = text("Set a password: your own, or as an admin somebody's", "设置密码：自己的，管理员也可为他人设置"), override_usage = text("danlu user passwd [NAME] [OPTIONS]", "danlu user passwd [用户名] [选项]"))]
    Passwd(password::Passwd),
    #[command(about = text("Who you are on each machine; your SSH user name and key where the server is not root", "您在各机器上的身份；在服务器不是 root 的机器上使用您自己的 SSH 用户名与密钥"), override_usage = text("danlu user ssh [MACHINE --user NAME --key FILE | MACHINE --remove] [--json]", "danlu user ssh [机器 --user 用户名 --key 文件 | 机器 --remove] [--json]"))]
    Ssh(ssh::Ssh),
    #[command(about = text("Change what a user has, at once", "修改用户的设置，立即生效"), override_usage = text("danlu user set NAME [KEY=VALUE…] [OPTIONS]", "danlu user set 用户名 [名称=值…] [选项]"))]
    Set(Set),
}

#[derive(Debug, Args)]
struct Set {
    #[arg(value_name = "NAME", help = text("The user", "用户名"))]
    name: String,

    #[arg(value_name = "KEY=VALUE", help = text("Such as priority=2", "如 priority=2"))]
    pairs: Vec<String>,

    #[arg(long, value_name = "N", allow_hyphen_values = true, help = text("For `balance`", "用于 `balance`"))]
    priority: Option<String>,

    #[arg(long, value_name = "N", help = text("For `fair`", "用于 `fair`"))]
    weight: Option<String>,

    #[arg(long, value_name = "GROUP", help = text("For `fair`", "用于 `fair`"))]
    group: Option<String>,

    #[arg(long, value_name = "USER", help = text("Whom their tasks run as on the machines", "任务在机器上以哪个系统用户运行"))]
    os_user: Option<String>,

    #[arg(long, value_name = "MACHINE=USER", value_parser = parse_pair, help = text("The same on one machine; empty for the same as everywhere; can be repeated", "在某台机器上的系统用户；留空表示与其他机器相同；可重复"))]
    os_user_on: Vec<Pair>,

    #[arg(long, value_name = "ADDRESS", help = text("For messages", "用于通知"))]
    email: Option<String>,

    #[arg(long, help = text("Print one JSON document", "输出一个 JSON 文档"))]
    json: bool,
}

pub(crate) fn run(client: &Client, arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.what {
        Some(What::Set(set)) => change(client, set),
        Some(What::Add(add)) => accounts::add(client, add),
        Some(What::Del(del)) => accounts::del(client, del),
        Some(What::Lock(named)) => accounts::set_each(client, named, "locked", true),
        Some(What::Unlock(named)) => accounts::set_each(client, named, "locked", false),
        Some(What::Grant(named)) => accounts::set_each(client, named, "admin", true),
        Some(What::Revoke(named)) => accounts::set_each(client, named, "admin", false),
        Some(What::Passwd(passwd)) => password::run(client, passwd),
        Some(What::Ssh(ssh)) => ssh::run(client, ssh),
        Some(What::List { json: true }) => screen::print_document(&client.get_document("/users")?),
        Some(What::List { json: false }) | None => {
            let users = read::<Document<Users>>(&client.get_document("/users")?)?.content.users;
            show(&users)
        }
    }
}

fn change(client: &Client, set: &Set) -> Result<(), Failure> {
    let document =
        client.send("PATCH", &format!("/users/{}", path_segment(&set.name)), &wanted(set)?)?;
    if set.json {
        return screen::print_document(&document);
    }
    show(&[read::<Document<OneUser>>(&document)?.content.user])
}

fn wanted(set: &Set) -> Result<Value, Failure> {
    let mut body = Map::new();
    let flags = [
        ("priority", &set.priority),
        ("weight", &set.weight),
        ("group", &set.group),
        ("os_user", &set.os_user),
        ("email", &set.email),
    ];
    for (key, value) in flags {
        if let Some(value) = value {
            body.insert(key.to_owned(), Value::String(value.clone()));
        }
    }
    if !set.os_user_on.is_empty() {
        let named = set.os_user_on.iter().map(|it| (it.name.clone(), it.value.clone().into()));
        body.insert("os_user_on".to_owned(), Value::Object(named.collect()));
    }
    for pair in &set.pairs {
        let Some((key, value)) = pair.split_once('=') else {
            let message = say!("`{pair}` is not KEY=VALUE", "`{pair}` 不是 名称=值 的形式");
            return Err(Failure::new(Exit::Usage, message).hint("danlu user set NAME priority=2"));
        };
        body.insert(key.to_owned(), Value::String(value.to_owned()));
    }
    if body.is_empty() {
        let message = text("nothing to change was given", "没有给出要修改的内容");
        return Err(Failure::new(Exit::Usage, message).hint("danlu user set NAME priority=2"));
    }
    Ok(Value::Object(body))
}

/// A name may have characters that mean something in an address.
pub(super) fn path_segment(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    name.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

fn show(users: &[UserView]) -> Result<(), Failure> {
    let mut table = Table::new(vec![
        Column::left(text("USER", "用户")),
        Column::left(text("ROLE", "角色")),
        Column::right(text("PRIORITY", "优先级")),
        Column::right(text("WEIGHT", "权重")),
        Column::left(text("GROUP", "组")),
        Column::right(text("RUNNING", "运行中")),
        Column::right(text("GPUS", "GPU")),
        Column::right(text("USED GPU-HOURS", "已用 GPU 小时")),
    ]);
    for user in users {
        let role = match (user.locked, user.admin) {
            (true, _) => text("locked", "已锁定"),
            (false, true) => text("admin", "管理员"),
            (false, false) => text("user", "用户"),
        };
        let tenths = user.used_gpu_seconds / 360;
        table.row(vec![
            user.name.as_str().into(),
            role.into(),
            user.priority.to_string().into(),
            user.weight.to_string().into(),
            user.group.as_deref().unwrap_or_default().into(),
            user.running_tasks.to_string().into(),
            user.running_gpus.to_string().into(),
            format!("{}.{}", tenths / 10, tenths % 10).into(),
        ]);
    }
    screen::print(&table.render(width::of_stdout(), colour::wanted(&io::stdout())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe_in_an_address() {
        assert_eq!(path_segment("ann-1.b_c"), "ann-1.b_c");
        assert_eq!(path_segment("a/b é"), "a%2Fb%20%C3%A9");
    }
}
