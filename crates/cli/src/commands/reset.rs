//! `danlu reset`: deletes all data of an installation.

use std::{
    fs::{self, File, TryLockError},
    path::{Path, PathBuf},
};

use clap::Args;
use danlu_messages::cli::reset as msg;
use danlu_server::daemon::data_directory;

use super::restore::configured;
use crate::{
    failure::{Exit, Failure},
    screen::{self, confirm::confirm},
};

#[derive(Debug, Args)]
#[command(
    about = msg::delete_all_data_of_a_stopped_server(),
    override_usage = msg::danlu_reset_options(),
    after_help = msg::help(),
)]
pub(crate) struct ResetArguments {
    #[arg(long, value_name = "DIR", help = msg::data_directory())]
    data: Option<PathBuf>,

    #[arg(long, value_name = "CONFIG", help = msg::configuration_file())]
    config: Option<PathBuf>,

    #[arg(short, long, help = msg::do_not_ask())]
    yes: bool,

    #[arg(long, help = msg::force())]
    force: bool,
}

/// What a server creates there. Other files are left alone.
const NAMES: [&str; 29] = [
    "danlu.db",
    "danlu.db-wal",
    "danlu.db-shm",
    "notify.db",
    "notify.db-wal",
    "notify.db-shm",
    "usage.db",
    "usage.db-wal",
    "usage.db-shm",
    "influxdb.db",
    "influxdb.db-wal",
    "influxdb.db-shm",
    "reports.db",
    "reports.db-wal",
    "reports.db-shm",
    "epoch.json",
    "keys",
    "tls-key.pem",
    "tls-certificate.pem",
    "archive.jsonl",
    "known_hosts",
    "last-lines",
    "reports",
    "reserve",
    "server.log",
    "server.log.1",
    "simulated",
    "danlu.sock",
    "node",
];
const BEGINNINGS: [&str; 5] = ["before-restore-", "backup-", "restoring-", "restored-", "check-"];

pub(crate) fn run(arguments: &ResetArguments) -> Result<(), Failure> {
    let ResetArguments { data, config, yes, force } = arguments;
    let config = configured(data.as_deref(), config.as_deref())?;
    let data = &config.data;
    let shown = data.display();
    if !["danlu.db", "epoch.json", "danlu.lock"].iter().any(|name| data.join(name).exists()) {
        let message = msg::shown_has_no_data_of_a_server(&shown);
        return Err(
            Failure::new(Exit::NotFound, message).hint(msg::name_the_data_directory_with_data())
        );
    }
    let lock = data_directory::lock(data)
        .map_err(|error| Failure::new(Exit::Refused, error.to_string()).hint(error.hint()))?;
    let running = running(data);
    if running > 0 && !force {
        let message = msg::running_tasks_still_run(&running);
        let hint = "danlu up, danlu down --cancel-tasks; danlu reset --force";
        return Err(Failure::new(Exit::Refused, message).hint(hint));
    }
    let question = msg::delete_all_data_in_shown(&shown);
    if !yes && !confirm(&question)? {
        return Ok(());
    }
    let mut out = String::new();
    for (name, path) in found(data) {
        remove(&path).map_err(|error| {
            let message = msg::could_not_remove_name_error(&name, &error);
            Failure::new(Exit::Refused, message)
        })?;
        out += &msg::removed_name(&name);
    }
    drop(lock);
    let _ = fs::remove_file(data.join("danlu.lock"));
    if fs::remove_dir(data).is_err() && data.exists() {
        out += &msg::shown_has_other_files_which_stay(&shown);
    }
    let file = config.file();
    if file.exists() {
        let file = file.display();
        out += &msg::configuration_kept(&file);
    }
    screen::print(&out)
}

fn found(data: &Path) -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir(data).into_iter().flatten().flatten();
    let named =
        entries.map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path()));
    let ours = |name: &str| {
        NAMES.contains(&name) || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
    };
    let mut found: Vec<_> = named.filter(|(name, _)| ours(name)).collect();
    found.sort();
    found
}

fn remove(path: &Path) -> std::io::Result<()> {
    if path.symlink_metadata()?.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}

/// A run directory is locked while its shim lives.
fn running(data: &Path) -> usize {
    let runs = fs::read_dir(data.join("node/runs")).into_iter().flatten().flatten();
    let locked = |path: PathBuf| {
        let lock = File::open(path).map(|directory| directory.try_lock_shared());
        matches!(lock, Ok(Err(TryLockError::WouldBlock)))
    };
    runs.filter(|entry| locked(entry.path())).count()
}
