//! `danlu user`: who there is, and what admins give them.

use std::io;

use clap::{Args, Subcommand};
use danlu_wire::api::{Document, OneUser, UserView, Users};
use serde_json::{Map, Value};

use crate::{
    client::{Client, read},
    failure::{Exit, Failure},
    language::{say, text},
    screen::{
        self, colour,
        table::{Column, Table},
        width,
    },
};

#[derive(Debug, Args)]
#[command(
    about = text("Users: their shares of the GPUs", "用户：各自的 GPU 份额"),
    override_usage = text("danlu user [list | set NAME KEY=VALUE…]", "danlu user [list | set 用户名 名称=值…]"),
    after_help = text(
        "What can be set:\n  \
           priority   for `balance`: 2 is twice the share of 1; 0 before all above it; below 0 before everybody\n  \
           weight     for `fair`: 2 is twice the share of 1\n  \
           group      for `fair`: its members share what the group's weight gives them; empty for none\n  \
           running_tasks, running_gpus, queued_tasks, gpu_hours\n  \
                      quotas, where they differ from quota.user; `default` for the same\n\n\
         Examples:\n  \
           danlu user list\n  \
           danlu user set ann priority=2\n  \
           danlu user set ann --weight 1.5 --group vision\n  \
           danlu user set ann running_gpus=8\n  \
           danlu set fair.groups.vision 3",
        "可以设置：\n  \
           priority   用于 `balance`：2 的份额是 1 的两倍；0 排在所有正数之前；负数排在所有人之前\n  \
           weight     用于 `fair`：2 的份额是 1 的两倍\n  \
           group      用于 `fair`：组内成员分享该组权重所得；留空表示不属于任何组\n  \
           running_tasks, running_gpus, queued_tasks, gpu_hours\n  \
                      配额，与 quota.user 不同时设置；`default` 表示相同\n\n\
         示例：\n  \
           danlu user list\n  \
           danlu user set ann priority=2\n  \
           danlu user set ann --weight 1.5 --group vision\n  \
           danlu user set ann running_gpus=8\n  \
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

    #[arg(long, help = text("Print one JSON document", "输出一个 JSON 文档"))]
    json: bool,
}

pub(crate) fn run(client: &Client, arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.what {
        Some(What::Set(set)) => change(client, set),
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
    let flags = [("priority", &set.priority), ("weight", &set.weight), ("group", &set.group)];
    for (key, value) in flags {
        if let Some(value) = value {
            body.insert(key.to_owned(), Value::String(value.clone()));
        }
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
fn path_segment(name: &str) -> String {
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
        let role = if user.admin { text("admin", "管理员") } else { text("user", "用户") };
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
