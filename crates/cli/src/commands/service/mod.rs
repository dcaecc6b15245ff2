//! `danlu service`: the server as a service of systemd.

pub(super) mod unit;

use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use clap::{Args, Subcommand, ValueEnum};

use crate::{
    failure::Failure,
    language::{say, text},
    screen,
};
use unit::{Kind, Unit, failed, own_program, quoted};

#[derive(Debug, Args)]
#[command(
    about = text("Run the server as a service of systemd", "将服务器作为 systemd 服务运行"),
    override_usage = "danlu service [install | uninstall]",
    after_help = text(
        "Examples:\n  danlu service install --print        show the unit, change nothing\n  \
           danlu service install --nice 5\n  danlu service uninstall               tasks and data stay",
        "示例：\n  danlu service install --print        只显示单元文件\n  \
           danlu service install --nice 5\n  danlu service uninstall               任务和数据保留",
    ),
    arg_required_else_help = true,
    disable_help_subcommand = true,
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    #[command(about = text("Write the unit, enable and start it", "写入单元文件，启用并启动"), override_usage = text("danlu service install [OPTIONS]", "danlu service install [选项]"))]
    Install(Box<Install>),
    #[command(about = text("Stop it and remove the unit; tasks and data stay", "停止并删除单元文件；任务和数据保留"), override_usage = text("danlu service uninstall [OPTIONS]", "danlu service uninstall [选项]"))]
    Uninstall(Place),
}

#[derive(Debug, Args)]
struct Place {
    #[arg(long, help = text("For this user alone, without root", "仅为当前用户，无需 root"))]
    user: bool,

    #[arg(long, value_name = "DIR", default_value = "/", hide_default_value = true, help = text("Write below this directory, and start nothing", "写入该目录之下，且不启动任何服务"))]
    root: PathBuf,
}

#[derive(Debug, Args)]
struct Install {
    #[command(flatten)]
    place: Place,

    #[arg(long, help = text("Show the unit, and change nothing", "只显示单元文件，不做任何更改"))]
    print: bool,

    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = clap::value_parser!(i32).range(-20..=19), help = text("Nice level of the server and its tasks, -20 to 19", "服务器及其任务的 nice 值，-20 到 19"))]
    nice: Option<i32>,

    #[arg(long, value_name = "CLASS", hide_possible_values = true, help = text("I/O scheduling class of the server and its tasks: best-effort, idle or realtime", "服务器及其任务的 I/O 调度类别：best-effort、idle 或 realtime"))]
    io_class: Option<IoClass>,

    #[arg(long, value_name = "ADDR:PORT", help = text("As for `danlu up`", "同 `danlu up`"))]
    listen: Vec<SocketAddr>,

    #[arg(long, value_name = "DIR", help = text("As for `danlu up`", "同 `danlu up`"))]
    data: Option<PathBuf>,

    #[arg(long, value_name = "FILE", help = text("As for `danlu up`", "同 `danlu up`"))]
    config: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum IoClass {
    Realtime,
    BestEffort,
    Idle,
}

impl IoClass {
    fn word(self) -> &'static str {
        match self {
            IoClass::Realtime => "realtime",
            IoClass::BestEffort => "best-effort",
            IoClass::Idle => "idle",
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.what {
        What::Install(install) => self::install(install),
        What::Uninstall(place) => uninstall(place),
    }
}

fn install(install: &Install) -> Result<(), Failure> {
    let unit = server(install)?;
    if install.print {
        return screen::print(&unit.text());
    }
    let path = unit.write(&install.place.root)?;
    let shown = path.display();
    let started = install.place.root == Path::new("/")
        && unit.systemctl(&[&["daemon-reload"], &["enable", "--now", "danlu"]])?;
    let user = if install.place.user { " --user" } else { "" };
    let mut out = match started {
        true => say!(
            "installed and started: {shown}; how it does: systemctl{user} status danlu\n",
            "已安装并启动：{shown}；查看状态：systemctl{user} status danlu\n"
        ),
        false => say!(
            "wrote {shown}; systemd does not run here, so start it by: systemctl{user} enable --now danlu\n",
            "已写入 {shown}；此处没有运行 systemd，请用以下命令启动：systemctl{user} enable --now danlu\n"
        ),
    };
    if install.place.user {
        out += text(
            "to keep it while nobody is logged in: loginctl enable-linger\n",
            "要在未登录时也保持运行：loginctl enable-linger\n",
        );
    }
    screen::print(&out)
}

fn server(install: &Install) -> Result<Unit, Failure> {
    let Install { place, nice, io_class, listen, data, config, .. } = install;
    let mut start = format!("{} up", own_program()?);
    for address in listen {
        start += &format!(" --listen {}", quoted(&address.to_string()));
    }
    for (option, path) in [("--data", data), ("--config", config)] {
        if let Some(path) = path {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            start += &format!(" {option} {}", quoted(&path.display().to_string()));
        }
    }
    let nice = nice.map(|nice| format!("Nice={nice}"));
    let io_class = io_class.map(|class| format!("IOSchedulingClass={}", class.word()));
    Ok(Unit {
        name: "danlu",
        description: "Danlu, the GPU task manager".into(),
        start,
        kind: Kind::Server { for_user: place.user },
        more: nice.into_iter().chain(io_class).collect(),
    })
}

fn uninstall(place: &Place) -> Result<(), Failure> {
    let unit = Unit {
        name: "danlu",
        description: String::new(),
        start: String::new(),
        kind: Kind::Server { for_user: place.user },
        more: Vec::new(),
    };
    let path = unit.path(&place.root)?;
    let here = place.root == Path::new("/");
    if here && path.exists() {
        unit.systemctl(&[&["disable", "--now", "danlu"]])?;
    }
    fs::remove_file(&path).map_err(failed("remove", &path))?;
    if here {
        unit.systemctl(&[&["daemon-reload"]])?;
    }
    let shown = path.display();
    screen::print(&say!(
        "removed {shown}; tasks and data stay\n",
        "已删除 {shown}；任务和数据保留\n"
    ))
}
