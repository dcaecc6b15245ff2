//! `danlu reload`: the server reads its configuration file again.

use clap::Args;
use serde_json::json;

use crate::{client::Client, failure::Failure, language::text, screen};

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
    client.send("POST", "/server/reload", &json!({}))?;
    screen::print(text("the configuration was read again\n", "已重新读取配置\n"))
}
