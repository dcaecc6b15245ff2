//! `danlu announce`: sets the announcement that all users see first.

use clap::Args;
use danlu_messages::cli::announce as msg;

use super::set;
use crate::{
    client::{Client, responses::SettingsAnswer},
    failure::Failure,
    screen,
};

#[derive(Debug, Args)]
#[command(
    about = msg::tell_everybody_something(),
    override_usage = msg::danlu_announce_text_clear(),
    after_help = msg::help(),
)]
pub(crate) struct AnnounceArguments {
    #[arg(value_name = "TEXT", help = msg::what_to_say())]
    words: Vec<String>,

    #[arg(long, conflicts_with = "words", help = msg::say_nothing_any_more())]
    clear: bool,
}

pub(crate) fn run(client: &Client, arguments: &AnnounceArguments) -> Result<(), Failure> {
    if arguments.words.is_empty() && !arguments.clear {
        let settings = client.get::<SettingsAnswer>("/settings")?.settings;
        let said = settings.get("announcement").and_then(|said| said.as_str()).unwrap_or_default();
        return screen::print(&match said {
            "" => msg::nothing_is_announced().to_owned(),
            said => format!("{said}\n"),
        });
    }
    set::change(client, "announcement", &arguments.words.join(" "))?;
    screen::print(match arguments.clear {
        true => msg::nothing_is_announced_any_more(),
        false => msg::announced(),
    })
}
