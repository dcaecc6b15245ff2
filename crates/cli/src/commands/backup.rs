//! `danlu backup`: database, keys and configuration of a running server, in one file.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use clap::Args;
use danlu_node::private;
use danlu_server::restore;

use crate::{
    client::Client,
    failure::{Exit, Failure},
    language::{say, text},
    screen,
};

#[derive(Debug, Args)]
#[command(
    about = text("Back up the server while it runs", "在服务器运行时备份"),
    override_usage = text("danlu backup FILE [OPTIONS]", "danlu backup 文件 [选项]"),
    after_help = text(
        "The file is a tar archive with the database, keys and configuration: keep it as secret as the server itself.\n\
         It is readable by its owner alone. `danlu restore` puts it back.\n\n\
         Examples:\n  danlu backup /backup/danlu-$(date +%F).tar\n  danlu backup --logs full.tar\n  danlu backup - | ssh other 'cat > danlu.tar'",
        "该文件是 tar 归档，包含数据库、密钥和配置：请像服务器本身一样保密。\n\
         仅属主可读。用 `danlu restore` 恢复。\n\n\
         示例：\n  danlu backup /backup/danlu-$(date +%F).tar\n  danlu backup --logs full.tar\n  danlu backup - | ssh other 'cat > danlu.tar'",
    ),
)]
pub(crate) struct Arguments {
    #[arg(value_name = "FILE", help = text("The file to create; `-` is standard output", "要创建的文件；`-` 为标准输出"))]
    file: PathBuf,

    #[arg(long, help = text("Include what tasks have printed", "包含任务的输出日志"))]
    logs: bool,
}

pub(crate) fn run(client: &Client, arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { file, logs } = arguments;
    let address = format!("/server/backup?logs={logs}");
    if file == Path::new("-") {
        let mut body = client.open(&address, "application/x-tar")?.into_body().into_reader();
        let mut out = io::stdout().lock();
        return io::copy(&mut body, &mut out)
            .and_then(|_| out.flush())
            .map_err(|error| incomplete(&error));
    }
    if file.symlink_metadata().is_ok() {
        let shown = file.display();
        let message = say!("{shown} exists already", "{shown} 已存在");
        return Err(
            Failure::new(Exit::Refused, message).hint(text("give another name", "请换一个文件名"))
        );
    }
    let body = client.open(&address, "application/x-tar")?.into_body().into_reader();
    let made = make(body, file);
    if made.is_err() {
        let _ = fs::remove_file(file);
    }
    let bytes = made?;
    let (shown, megabytes) = (file.display(), bytes.div_ceil(1 << 20));
    screen::print(&say!(
        "backed up to {shown} ({megabytes} MB)\n",
        "已备份到 {shown}（{megabytes} MB）\n"
    ))
}

/// Not before all of it has been read again is it a backup.
fn make(mut body: impl io::Read, file: &Path) -> Result<u64, Failure> {
    let unwritable = |error: &io::Error| {
        let shown = file.display();
        let message = say!("could not write {shown}: {error}", "无法写入 {shown}：{error}");
        Failure::new(Exit::Refused, message)
            .hint(text("give a file that you may create", "请指定您可以创建的文件"))
    };
    let created = private::create_new(file).map_err(|error| unwritable(&error))?;
    let mut out = BufWriter::with_capacity(1 << 20, created);
    let bytes = io::copy(&mut body, &mut out).map_err(|error| incomplete(&error))?;
    let written = out.into_inner().map_err(io::IntoInnerError::into_error);
    written.and_then(|written| written.sync_all()).map_err(|error| unwritable(&error))?;
    let read = File::open(file).map_err(|error| unwritable(&error))?;
    restore::verify(io::BufReader::new(read)).map_err(|error| {
        Failure::new(Exit::Internal, error.to_string()).hint("danlu logs server")
    })?;
    Ok(bytes)
}

fn incomplete(error: &io::Error) -> Failure {
    let message = say!("the backup is not complete: {error}", "备份不完整：{error}");
    Failure::new(Exit::Unreachable, message).hint("danlu logs server")
}
