//! `danlu reload`: the server reads its configuration file again.

use clap::Args;
use serde::Deserialize;
use serde_json::json;

use crate::{
    client::{Client, answers::ConfigEntry, read},
    failure::Failure,
    language::{say, text},
    screen,
};

#[derive(Deserialize)]
struct Reloaded {
    after_restart: Vec<ConfigEntry>,
}

#[derive(Debug, Args)]
#[command(
    about = text("Let the server read its configuration file again", "让服务器重新读取配置文件"),
    override_usage = "danlu reload",
    after_help = text(
        "A file with a mistake is refused, and nothing changes.",
        "有错误的文件会被拒绝，设置保持不变。",
    ),
)]
pub(crate) struct Arguments {}

pub(crate) fn run(client: &Client, _: &Arguments) -> Result<(), Failure> {
    let answer = client.send("POST", "/server/reload", &json!({}))?;
    let Reloaded { after_restart } = read(&answer)?;
    if after_restart.is_empty() {
        return screen::print(text(
            "the configuration was read again: nothing has changed\n",
            "已重新读取配置：没有变化\n",
        ));
    }
    let keys: Vec<String> =
        after_restart.iter().map(|entry| format!("  {} = {}\n", entry.key, entry.value)).collect();
    let keys = keys.concat();
    screen::print(&say!(
        "the configuration was read again; this takes effect when the server is started again:\n{keys}",
        "已重新读取配置；以下设置在服务器重启后生效：\n{keys}"
    ))
}
