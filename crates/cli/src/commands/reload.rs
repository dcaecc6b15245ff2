//! `danlu reload`: makes the server read its configuration file again.

use clap::Args;
use danlu_messages::cli::reload as msg;
use serde::Deserialize;
use serde_json::json;

use crate::{
    client::{Client, read, responses::ConfigEntry},
    failure::Failure,
    screen,
};

#[derive(Deserialize)]
struct Reloaded {
    after_restart: Vec<ConfigEntry>,
}

#[derive(Debug, Args)]
#[command(
    about = msg::about(),
    override_usage = "danlu reload",
    after_help = msg::help(),
)]
pub(crate) struct ReloadArguments {}

pub(crate) fn run(client: &Client, _: &ReloadArguments) -> Result<(), Failure> {
    let answer = client.send("POST", "/server/reload", &json!({}))?;
    let Reloaded { after_restart } = read(&answer)?;
    if after_restart.is_empty() {
        return screen::print(msg::reloaded_unchanged());
    }
    let keys: Vec<String> =
        after_restart.iter().map(|entry| format!("  {} = {}\n", entry.key, entry.value)).collect();
    let keys = keys.concat();
    screen::print(&msg::reloaded_after_restart(&keys))
}
