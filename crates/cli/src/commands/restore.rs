//! `danlu restore`: a backup takes the place of what a stopped server has.

use std::{
    fs::File,
    io::{self, BufReader, Read},
    path::{Path, PathBuf},
};

use clap::Args;
use danlu_server::{
    config::{Config, Flags},
    restore::{self, Restored},
};

use crate::{
    failure::{Exit, Failure},
    language::{say, text},
    screen::{self, confirm::confirm},
};

#[derive(Debug, Args)]
#[command(
    about = text("Restore a backup; the server must be stopped", "恢复备份；须先停止服务器"),
    override_usage = text("danlu restore FILE [OPTIONS]", "danlu restore 文件 [选项]"),
    after_help = text(
        "What was there is kept in before-restore-TIME of the data directory. At the next start, tasks that had not ended at the time\n\
         of the backup are held until their owner or an admin releases them: they may have run since. What runs goes on.\n\n\
         Examples:\n  danlu down\n  danlu restore /backup/danlu-2026-11-17.tar\n  danlu up",
        "原有内容保存在数据目录的 before-restore-时间 中。下次启动时，备份时尚未结束的任务会被扣住，\n\
         由其属主或管理员放行：它们此后可能已运行过。正在运行的任务继续。\n\n\
         示例：\n  danlu down\n  danlu restore /backup/danlu-2026-11-17.tar\n  danlu up",
    ),
)]
pub(crate) struct Arguments {
    #[arg(value_name = "FILE", help = text("A file of `danlu backup`; `-` is standard input", "`danlu backup` 的文件；`-` 为标准输入"))]
    file: PathBuf,

    #[arg(long, value_name = "DIR", help = text("The data directory", "数据目录"))]
    data: Option<PathBuf>,

    #[arg(long, value_name = "CONFIG", help = text("The configuration file of the server", "服务器的配置文件"))]
    config: Option<PathBuf>,

    #[arg(short, long, help = text("Do not ask", "不询问"))]
    yes: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { file, data, config, yes } = arguments;
    let config = configured(data.as_deref(), config.as_deref())?;
    let input: Box<dyn Read> = match file == Path::new("-") {
        true => Box::new(io::stdin().lock()),
        false => Box::new(BufReader::new(File::open(file).map_err(|error| {
            let shown = file.display();
            let message = say!("could not open {shown}: {error}", "无法打开 {shown}：{error}");
            Failure::new(Exit::NotFound, message)
        })?)),
    };
    let place = config.data.display();
    let question = say!(
        "replace the database, keys and archive in {place}?",
        "替换 {place} 中的数据库、密钥和归档？"
    );
    let empty = !config.data.join("danlu.db").exists();
    if !yes && !empty && !confirm(&question)? {
        return Ok(());
    }
    let done = restore::restore(input, &config.data, config.file())
        .map_err(|error| Failure::new(Exit::Refused, error.to_string()).hint(error.hint()))?;
    screen::print(&told(&done))
}

fn told(done: &Restored) -> String {
    let Restored { backup_at, contents, aside, configuration } = done;
    let (tasks, open) = (contents.tasks, contents.open_tasks);
    let mut out = say!(
        "restored the backup of {backup_at}: {tasks} tasks, {open} of them open (held at the next start)\n",
        "已恢复 {backup_at} 的备份：{tasks} 个任务，其中 {open} 个未结束（下次启动时会被扣住）\n"
    );
    if let Some(aside) = aside {
        let aside = aside.display();
        out += &say!("what was there is in {aside}\n", "原有内容在 {aside}\n");
    }
    for file in configuration {
        let file = file.display();
        out += &say!("configuration of the backup: {file}\n", "备份中的配置：{file}\n");
    }
    out
}

/// Where a server that is started with these has its data.
pub(super) fn configured(data: Option<&Path>, config: Option<&Path>) -> Result<Config, Failure> {
    let (data, config) = (data.map(Path::to_owned), config.map(Path::to_owned));
    Config::load(Flags { data, config, ..Flags::default() })
        .map_err(|error| Failure::new(Exit::Refused, error.to_string()))
}
