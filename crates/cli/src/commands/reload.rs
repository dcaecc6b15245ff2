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
    about = msg::let_the_server_read_its_configuration_file(),
    override_usage = "danlu reload",
    after_help = msg::a_file_with_a_mistake_is_refused_and_nothing(),
)]
pub(crate) struct ReloadArguments {}

pub(crate) fn run(client: &Client, _: &ReloadArguments) -> Result<(), Failure> {
    let answer = client.send("POST", "/server/reload", &json!({}))?;
    let Reloaded { after_restart } = read(&answer)?;
    if after_restart.is_empty() {
        return screen::print(msg::the_configuration_was_read_again_nothing_has());
    }
    let keys: Vec<String> =
        after_restart.iter().map(|entry| format!("  {} = {}\n", entry.key, entry.value)).collect();
    let keys = keys.concat();
    screen::print(&msg::the_configuration_was_read_again_this_takes(&keys))
}
