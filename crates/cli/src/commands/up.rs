//! `danlu up`: the server, in the foreground.

use crate::failure::{Exit, Failure};
use crate::language::{say, text};
use clap::Args;
use danlu_server::config::Flags;
use danlu_server::serve::{Ready, serve};
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    about = text("Run the server in the foreground", "在前台运行服务器"),
    after_help = text(
        "Examples:\n  \
           danlu up                               serve this machine\n  \
           danlu up --data ./try --sim-gpus 4     try it with four simulated GPUs\n\n\
         Ctrl-C or `danlu down` stops the server; running tasks go on.",
        "示例：\n  \
           danlu up                               为本机服务\n  \
           danlu up --data ./try --sim-gpus 4     用四块模拟的 GPU 试一试\n\n\
         Ctrl-C 或 `danlu down` 会停止服务器；正在运行的任务继续运行。",
    ),
)]
pub(crate) struct Arguments {
    #[arg(long, value_name = "ADDR:PORT", help = text(
        "Where to listen (127.0.0.1:8787 and [::1]:8787 unless told; port 0 picks a free one)",
        "监听地址（默认 127.0.0.1:8787 和 [::1]:8787；端口 0 表示任选空闲端口）",
    ))]
    listen: Vec<SocketAddr>,

    #[arg(long, value_name = "DIR", help = text(
        "Where to keep everything: a directory on a local disk",
        "数据目录，须在本地磁盘上",
    ))]
    data: Option<PathBuf>,

    #[arg(long, value_name = "N", help = text(
        "Simulate so many GPUs instead of looking for real ones",
        "模拟 N 块 GPU，而不查找真实的 GPU",
    ))]
    sim_gpus: Option<u32>,

    #[arg(long, value_name = "FILE", help = text("The configuration file", "配置文件"))]
    config: Option<PathBuf>,
}

pub(crate) fn run(arguments: Arguments) -> Result<(), Failure> {
    let Arguments { listen, data, sim_gpus, config } = arguments;
    serve(Flags { listen, data, sim_gpus, config }, announce)
        .map_err(|error| Failure::new(Exit::Refused, error.to_string()).hint(error.hint()))
}

/// Scripts wait for these lines.
fn announce(ready: &Ready) {
    let mut out = std::io::stdout().lock();
    for address in &ready.addresses {
        let _ = writeln!(out, "listening on {address}");
    }
    let _ = writeln!(out, "socket {}", ready.socket.display());
    for address in ready.addresses.iter().filter(|address| is_open_to_all(address)) {
        let note = say!(
            "warning: {address} is not encrypted: passwords and tokens can be read on the network",
            "警告：{address} 未加密：网络上可以读到密码和令牌"
        );
        let hint = text(
            "leave plain_http out for HTTPS, or listen on 127.0.0.1 behind a proxy that encrypts",
            "去掉 plain_http 以使用 HTTPS，或只监听 127.0.0.1 并由代理加密",
        );
        let _ = writeln!(out, "{note}\nhint: {hint}");
    }
    if ready.single_user {
        let note = text(
            "not root: serving this user only, tasks run as this user",
            "不是 root：只为当前用户服务，任务以当前用户身份运行",
        );
        let _ = writeln!(out, "{note}");
    }
    if let Some(link) = &ready.setup {
        let note = text(
            "no admin yet; make the first one here, once:",
            "尚无管理员；请在此创建第一个（一次有效）：",
        );
        let _ = writeln!(out, "{note} {link}");
    }
    let _ = out.flush();
}

/// Plain HTTP on an address that others reach.
fn is_open_to_all(address: &str) -> bool {
    let plain = address.strip_prefix("http://").and_then(|it| it.parse::<SocketAddr>().ok());
    plain.is_some_and(|address| !address.ip().is_loopback())
}
