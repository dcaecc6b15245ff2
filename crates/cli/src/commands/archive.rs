//! `danlu archive`: ended tasks leave the lists for a file of JSON lines.

use clap::Args;
use danlu_wire::api::{Archive, Archived, Document};

use crate::{
    client::{Client, read},
    failure::{Exit, Failure},
    given::{
        task_ids::{TaskNames, parse_task_names},
        time_limit::{TimeLimit, parse_time_limit},
    },
    language::{say, text},
    screen::{self, confirm::confirm},
    selection::resolve_names,
};

#[derive(Debug, Args)]
#[command(
    about = text("Move ended tasks from the lists to the archive", "将已结束的任务移入归档"),
    override_usage = text("danlu archive [ID…] [OPTIONS]", "danlu archive [编号…] [选项]"),
    after_help = text(
        "The archive is archive.jsonl in the server's data directory: one JSON document per line, as `danlu show --json` tells it.\n\
         Tasks that a waiting one needs stay. The logs of archived tasks are deleted. It happens by itself above `archive.above` ended tasks (danlu set).\n\n\
         Examples:\n  danlu archive 1-99\n  danlu archive --older-than 30d\n  danlu archive --keep 100\n  danlu archive --user ann --yes      (admins)",
        "归档是服务器数据目录中的 archive.jsonl：每行一个 JSON 文档，与 `danlu show --json` 相同。\n\
         仍被等待中的任务依赖的任务会保留。归档任务的日志会被删除。已结束任务超过 `archive.above` 时自动归档（danlu set）。\n\n\
         示例：\n  danlu archive 1-99\n  danlu archive --older-than 30d\n  danlu archive --keep 100\n  danlu archive --user ann --yes      （管理员）",
    ),
)]
pub(crate) struct Arguments {
    #[arg(value_name = "ID", value_parser = parse_task_names, help = text("Tasks: 12, 3-9, 1,3,5", "任务：12、3-9、1,3,5"))]
    ids: Vec<TaskNames>,

    #[arg(long, value_name = "TIME", value_parser = parse_time_limit, help = text("Only those that ended so long ago, such as 30d", "仅限早于此时长结束的，如 30d"))]
    older_than: Option<TimeLimit>,

    #[arg(long, value_name = "N", help = text("All but the newest N", "保留最新的 N 个"))]
    keep: Option<usize>,

    #[arg(long, value_name = "NAME", conflicts_with = "ids", help = text("Of this user; `*` for everybody", "该用户的；`*` 表示所有人"))]
    user: Option<String>,

    #[arg(long, conflicts_with = "ids", help = text("All of mine", "我的全部"))]
    all: bool,

    #[arg(short, long, help = text("Do not ask", "不询问"))]
    yes: bool,

    #[arg(long, help = text("Print one JSON document", "输出一个 JSON 文档"))]
    json: bool,
}

pub(crate) fn run(client: &Client, arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { ids, older_than, keep, user, all, yes, json } = arguments;
    if ids.is_empty() && older_than.is_none() && keep.is_none() && user.is_none() && !all {
        let message = text("which tasks?", "哪些任务？");
        return Err(Failure::new(Exit::Usage, message).hint("danlu archive --older-than 30d"));
    }
    let question = text("move these ended tasks to the archive?", "将这些已结束的任务移入归档？");
    if ids.is_empty() && !yes && !confirm(question)? {
        return Ok(());
    }
    let body = Archive {
        ids: resolve_names(client, ids.iter().flat_map(|names| &names.0))?.ids,
        user: user.clone(),
        older_than: older_than.and_then(TimeLimit::seconds),
        keep: *keep,
        first: None,
    };
    let document = client.send("POST", "/archive", &body)?;
    if *json {
        return screen::print_document(&document);
    }
    let count = read::<Document<Archived>>(&document)?.content.archived;
    screen::print(&say!("archived {count} tasks\n", "已归档 {count} 个任务\n"))
}
