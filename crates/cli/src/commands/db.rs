//! `danlu db check`: verifies the database.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use danlu_messages::cli::db as msg;
use danlu_server::daemon::{data_directory::DirectoryError, restore, restore::RestoreError};
use danlu_wire::api::{DatabaseCheck, Document};

use super::restore::configured;
use crate::{
    client::{Client, read},
    failure::{Exit, Failure},
    screen,
};

#[derive(Debug, Args)]
#[command(
    about = msg::check_the_database(),
    override_usage = "danlu db check",
    arg_required_else_help = true,
    disable_help_subcommand = true,
)]
pub(crate) struct DbArguments {
    #[command(subcommand)]
    what: DbCommand,
}

#[derive(Debug, Subcommand)]
enum DbCommand {
    #[command(
        about = msg::about_check(),
        override_usage = msg::danlu_db_check_options(),
        after_help = msg::help(),
    )]
    Check(DbCheck),
}

#[derive(Debug, Args)]
struct DbCheck {
    #[arg(long, value_name = "DIR", help = msg::data_directory())]
    data: Option<PathBuf>,

    #[arg(long, value_name = "CONFIG", help = msg::configuration_file())]
    config: Option<PathBuf>,
}

pub(crate) fn run(server: Option<&str>, arguments: &DbArguments) -> Result<(), Failure> {
    let DbCommand::Check(DbCheck { data, config }) = &arguments.what;
    let client = Client::new(server)?;
    // With a directory it is about that one, and its server's socket is there, too.
    if data.is_none() && client.who_am_i().is_ok() {
        return ask(&client);
    }
    let config = configured(data.as_deref(), config.as_deref())?;
    match restore::check(&config.data) {
        Ok(found) => print(&DatabaseCheck {
            tasks: found.tasks,
            open_tasks: found.open_tasks,
            runs: found.runs,
            users: found.users,
            nodes: found.nodes,
            events: found.events,
        }),
        Err(RestoreError::Directory(DirectoryError::Running(_))) => {
            let socket = config.socket.display().to_string();
            ask(&Client::new(Some(&socket))?)
        }
        Err(error) => Err(Failure::new(Exit::Refused, error.to_string()).hint(error.hint())),
    }
}

fn ask(client: &Client) -> Result<(), Failure> {
    print(&read::<Document<DatabaseCheck>>(&client.get_document("/server/check")?)?.content)
}

fn print(found: &DatabaseCheck) -> Result<(), Failure> {
    let DatabaseCheck { tasks, open_tasks, runs, users, nodes, events } = found;
    screen::print(&msg::database_sound(&tasks, &open_tasks, &runs, &users, &nodes, &events))
}
