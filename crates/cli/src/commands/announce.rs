//! `danlu announce`: what everybody reads first.

use clap::Args;

use super::set;
use crate::{
    client::{Client, answers::SettingsAnswer},
    failure::Failure,
    language::text,
    screen,
};

#[derive(Debug, Args)]
#[command(
    about = text("Tell everybody something", "发布公告"),
    override_usage = text("danlu announce [TEXT… | --clear]", "danlu announce [内容… | --clear]"),
    after_help = text(
        "Shown by `danlu ls` and on top of the web pages. For admins; without a text it shows what there is.\n\n\
         Examples:\n  danlu announce GPU 3 of gpu1 is replaced on Friday\n  danlu announce --clear",
        "显示在 `danlu ls` 和网页顶部。仅限管理员；不带内容则显示当前公告。\n\n\
         示例：\n  danlu announce 周五更换 gpu1 的 3 号卡\n  danlu announce --clear",
    ),
)]
pub(crate) struct Arguments {
    #[arg(value_name = "TEXT", help = text("What to say", "公告内容"))]
    words: Vec<String>,

    #[arg(long, conflicts_with = "words", help = text("Say nothing any more", "清除公告"))]
    clear: bool,
}

pub(crate) fn run(client: &Client, arguments: &Arguments) -> Result<(), Failure> {
    if arguments.words.is_empty() && !arguments.clear {
        let settings = client.get::<SettingsAnswer>("/settings")?.settings;
        let said = settings.get("announcement").and_then(|said| said.as_str()).unwrap_or_default();
        return screen::print(&match said {
            "" => text("nothing is announced\n", "没有公告\n").to_owned(),
            said => format!("{said}\n"),
        });
    }
    set::change(client, "announcement", &arguments.words.join(" "))?;
    screen::print(match arguments.clear {
        true => text("nothing is announced any more\n", "已清除公告\n"),
        false => text("announced\n", "已发布\n"),
    })
}
