//! `danlu db check`: whether the database is sound.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use danlu_server::{data_directory::DirectoryError, restore, restore::RestoreError};
use danlu_wire::api::{DatabaseCheck, Document};

use super::restore::configured;
use crate::{
    client::{Client, read},
    failure::{Exit, Failure},
    language::{say, text},
    screen,
};

#[derive(Debug, Args)]
#[command(
    about = text("Check the database", "检查数据库"),
    override_usage = "danlu db check",
    arg_required_else_help = true,
    disable_help_subcommand = true,
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    #[command(
        about = text("Read all of it and compare; nothing is changed", "读取并核对全部内容；不做任何更改"),
        override_usage = text("danlu db check [OPTIONS]", "danlu db check [选项]"),
        after_help = text(
            "While the server runs it is asked (admins); otherwise the files are read.",
            "服务器运行时由它检查（管理员）；否则直接读取文件。",
        ),
    )]
    Check(Check),
}

#[derive(Debug, Args)]
struct Check {
    #[arg(long, value_name = "DIR", help = text("The data directory", "数据目录"))]
    data: Option<PathBuf>,

    #[arg(long, value_name = "CONFIG", help = text("The configuration file of the server", "服务器的配置文件"))]
    config: Option<PathBuf>,
}

pub(crate) fn run(server: Option<&str>, arguments: &Arguments) -> Result<(), Failure> {
    let What::Check(Check { data, config }) = &arguments.what;
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
    screen::print(&say!(
        "the database is sound: {tasks} tasks ({open_tasks} open), {runs} runs, {users} users, {nodes} machines, {events} events\n",
        "数据库完好：{tasks} 个任务（{open_tasks} 个未结束），{runs} 次运行，{users} 个用户，{nodes} 台机器，{events} 个事件\n"
    ))
}
