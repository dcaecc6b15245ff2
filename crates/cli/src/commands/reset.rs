//! `danlu reset`: an installation becomes empty.

use std::{
    fs::{self, File, TryLockError},
    path::{Path, PathBuf},
};

use clap::Args;
use danlu_server::data_directory;

use super::restore::configured;
use crate::{
    failure::{Exit, Failure},
    language::{say, text},
    screen::{self, confirm::confirm},
};

#[derive(Debug, Args)]
#[command(
    about = text("Delete all data of a stopped server", "删除已停止的服务器的全部数据"),
    override_usage = text("danlu reset [OPTIONS]", "danlu reset [选项]"),
    after_help = text(
        "Tasks, accounts, keys, logs and backups in the data directory are gone for good; the configuration file stays.\n\n\
         Examples:\n  danlu down --cancel-tasks\n  danlu reset",
        "数据目录中的任务、账号、密钥、日志和备份将永久删除；配置文件保留。\n\n\
         示例：\n  danlu down --cancel-tasks\n  danlu reset",
    ),
)]
pub(crate) struct Arguments {
    #[arg(long, value_name = "DIR", help = text("The data directory", "数据目录"))]
    data: Option<PathBuf>,

    #[arg(long, value_name = "CONFIG", help = text("The configuration file of the server", "服务器的配置文件"))]
    config: Option<PathBuf>,

    #[arg(short, long, help = text("Do not ask", "不询问"))]
    yes: bool,

    #[arg(long, help = text("Also while tasks run; they go on without a record", "即使有任务在运行；它们会继续，但不再有记录"))]
    force: bool,
}

/// What a server makes there. Anything else is somebody's own.
const NAMES: [&str; 17] = [
    "danlu.db",
    "danlu.db-wal",
    "danlu.db-shm",
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

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { data, config, yes, force } = arguments;
    let config = configured(data.as_deref(), config.as_deref())?;
    let data = &config.data;
    let shown = data.display();
    if !["danlu.db", "epoch.json", "danlu.lock"].iter().any(|name| data.join(name).exists()) {
        let message = say!("{shown} has no data of a server", "{shown} 中没有服务器的数据");
        return Err(Failure::new(Exit::NotFound, message)
            .hint(text("name the data directory with --data", "请用 --data 指明数据目录")));
    }
    let lock = data_directory::lock(data)
        .map_err(|error| Failure::new(Exit::Refused, error.to_string()).hint(error.hint()))?;
    let running = running(data);
    if running > 0 && !force {
        let message = say!("{running} tasks still run", "仍有 {running} 个任务在运行");
        let hint = "danlu up, danlu down --cancel-tasks; danlu reset --force";
        return Err(Failure::new(Exit::Refused, message).hint(hint));
    }
    let question = say!("delete all data in {shown}?", "删除 {shown} 中的全部数据？");
    if !yes && !confirm(&question)? {
        return Ok(());
    }
    let mut out = String::new();
    for (name, path) in found(data) {
        remove(&path).map_err(|error| {
            let message = say!("could not remove {name}: {error}", "无法删除 {name}：{error}");
            Failure::new(Exit::Refused, message)
        })?;
        out += &say!("removed {name}\n", "已删除 {name}\n");
    }
    drop(lock);
    let _ = fs::remove_file(data.join("danlu.lock"));
    if fs::remove_dir(data).is_err() && data.exists() {
        out += &say!("{shown} has other files, which stay\n", "{shown} 中还有其他文件，予以保留\n");
    }
    let file = config.file();
    if file.exists() {
        let file = file.display();
        out += &say!("the configuration stays: {file}\n", "配置文件保留：{file}\n");
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
