//! `danlu policy`: shows and changes the scheduling policy.

use clap::{Args, Subcommand};
use danlu_messages::cli::policy as msg;

use super::set;
use crate::{
    client::{Client, read, responses::SettingsAnswer},
    failure::Failure,
    screen,
};

#[derive(Debug, Args)]
#[command(
    about = msg::show_or_change_who_comes_first(),
    override_usage = msg::danlu_policy_show_set_name(),
    after_help = msg::help(),
    disable_help_subcommand = true,
)]
pub(crate) struct PolicyArguments {
    #[command(subcommand)]
    what: Option<PolicyCommand>,
}

#[derive(Debug, Subcommand)]
enum PolicyCommand {
    #[command(about = msg::show_the_policy(), override_usage = "danlu policy show [--json]")]
    Show {
        #[arg(long, help = msg::print_one_json_document())]
        json: bool,
    },
    #[command(about = msg::change_it_at_once(), override_usage = msg::danlu_policy_set_name())]
    Set {
        #[arg(value_name = "NAME", help = msg::such_as_balance_or_fifo_easy())]
        name: String,
    },
}

pub(crate) fn run(client: &Client, arguments: &PolicyArguments) -> Result<(), Failure> {
    let document = match &arguments.what {
        Some(PolicyCommand::Set { name }) => change(client, name)?,
        Some(PolicyCommand::Show { json: true }) => {
            return screen::print_document(&client.get_document("/settings")?);
        }
        Some(PolicyCommand::Show { json: false }) | None => client.get_document("/settings")?,
    };
    let settings = set::flat(&read::<SettingsAnswer>(&document)?.settings);
    let of = |key: &str| {
        settings.iter().find(|(name, _)| name == key).map_or("", |(_, value)| value.as_str())
    };
    screen::print(&format!("{}+{}\n", of("order"), of("backfill")))
}

fn change(client: &Client, name: &str) -> Result<String, Failure> {
    let (order, backfill) = match name.split_once('+') {
        Some((order, backfill)) => (order, Some(backfill)),
        None => (name, None),
    };
    let document = set::change(client, "order", order)?;
    match backfill {
        Some(backfill) => set::change(client, "backfill", backfill),
        None => Ok(document),
    }
}
