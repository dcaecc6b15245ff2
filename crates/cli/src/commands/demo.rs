//! `danlu demo`: a server of its own with a few tasks, to look at and to play with; nothing of it stays.

mod children;
mod lab;
mod leaving;
mod news;
mod people;
mod server;
mod starting;
mod tour;

use std::{
    env,
    ffi::{OsStr, OsString},
    io::{self, Write as _},
    os::unix::{ffi::OsStrExt as _, process::CommandExt as _},
    process::{Command, ExitCode},
};

use clap::Args;

use crate::{
    failure::{Exit, Failure},
    language::{say, text},
    screen,
};
use leaving::{Leaving, Stop};

#[derive(Debug, Args)]
#[command(
    about = text("See it at work, with nothing to set up", "无需任何准备，看看它如何工作"),
    override_usage = text("danlu demo [OPTIONS]", "danlu demo [选项]"),
    after_help = text(
        "Starts a server of its own in a temporary directory, with simulated GPUs where the\n\
         machine has none, submits some tasks and shows what happens to them. It then stays\n\
         for you to play with until Ctrl-C, which ends every task and the server and removes\n\
         the directory. A server that runs already is not touched.\n\n\
         Examples:\n  \
           danlu demo            look, and play with it from another terminal\n  \
           danlu demo --once     the tour alone, as in scripts: ends by itself\n\n\
         danlu sim --lab-week shows how policies compare.",
        "在临时目录中启动一个单独的服务器，机器没有 GPU 时用模拟的 GPU，提交若干任务并显示\n\
         它们的经过。之后服务器会留着供您试用，直到 Ctrl-C：结束所有任务和服务器，删除该目录。\n\
         不影响已在运行的服务器。\n\n\
         示例：\n  \
           danlu demo            看演示，并在另一个终端里试用\n  \
           danlu demo --once     只看演示，看完自动结束（供脚本使用）\n\n\
         danlu sim --lab-week 可比较各种调度策略。",
    ),
)]
pub(crate) struct Arguments {
    #[arg(long, help = text("End by itself after the tour", "演示完后自动结束"))]
    once: bool,
}

/// When it was interrupted before everything had been shown, as a shell would tell it.
const INTERRUPTED: u8 = 130;

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    forget_other_servers()?;
    let leaving = Leaving::watch().map_err(|cause| {
        Failure::new(
            Exit::Internal,
            say!("could not wait for signals: {cause}", "无法等待信号：{cause}"),
        )
    })?;
    let mut seen_all = false;
    let shown = tour::show(&leaving, arguments.once, &mut seen_all);
    match shown {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(Stop::Left) if seen_all => Ok(ExitCode::SUCCESS),
        Err(Stop::Left) => Ok(ExitCode::from(INTERRUPTED)),
        Err(Stop::Failed(failure)) => Err(failure),
    }
}

/// Variables of ours that say something about this person and the machine, not about another server.
const KEPT: [&str; 3] = ["DANLU_LANG", "DANLU_NVML_PATH", "DANLU_FAKE_NVML"];

/// Starts again without the variables that name another server, its data or its settings: whatever is started from
/// here inherits them.
fn forget_other_servers() -> Result<(), Failure> {
    let misleading: Vec<OsString> =
        env::vars_os().map(|(name, _)| name).filter(|name| misleads(name)).collect();
    if misleading.is_empty() {
        return Ok(());
    }
    let mut again = Command::new(children::THIS_PROGRAM);
    again.args(env::args_os().skip(1));
    for name in &misleading {
        again.env_remove(name);
    }
    let cause = again.exec();
    Err(Failure::new(
        Exit::Internal,
        say!("could not start danlu again: {cause}", "无法重新启动 danlu：{cause}"),
    ))
}

fn misleads(name: &OsStr) -> bool {
    name.as_bytes().starts_with(b"DANLU_") && !KEPT.iter().any(|kept| name == *kept)
}

/// To stdout. A reader that is gone wants nothing more.
fn tell(words: &str) -> Result<(), Stop> {
    let mut out = io::stdout().lock();
    match screen::written(out.write_all(words.as_bytes()).and_then(|()| out.flush())) {
        Ok(true) => Ok(()),
        Ok(false) => Err(Stop::Left),
        Err(failure) => Err(Stop::Failed(failure)),
    }
}
