//! `danlu agent install`: the agent as a service of systemd.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use clap::Args;

use super::{Server, place::Place};
use crate::{
    failure::{Exit, Failure},
    language::{say, text},
    screen,
};

const UNIT: &str = "etc/systemd/system/danlu-agent.service";
const TOKEN: &str = "etc/danlu/agent-token";

#[derive(Debug, Args)]
pub(super) struct Install {
    #[command(flatten)]
    server: Server,

    #[arg(long, help = text("Show the unit file, and change nothing", "只显示单元文件，不做任何更改"))]
    dry_run: bool,

    #[arg(long, value_name = "DIR", default_value = "/", hide_default_value = true, help = text("Write below this directory, and start nothing", "写入该目录之下，且不启动任何服务"))]
    root: PathBuf,
}

pub(super) fn run(install: &Install) -> Result<(), Failure> {
    let place = Place::of(&install.server)?;
    let program = std::env::current_exe().map_err(failed("find", Path::new("/proc/self/exe")))?;
    let unit = unit(&program, &install.server);
    if install.dry_run {
        return screen::print(&unit);
    }
    let token = match place.token.fingerprint {
        Some(bytes) => {
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("{}.{digits}\n", place.token.secret)
        }
        None => format!("{}\n", place.token.secret),
    };
    write(&install.root.join(TOKEN), &token, 0o600)?;
    write(&install.root.join(UNIT), &unit, 0o644)?;
    if install.root == Path::new("/") && Path::new("/run/systemd/system").exists() {
        for arguments in [&["daemon-reload"][..], &["enable", "--now", "danlu-agent"]] {
            let done = Command::new("systemctl").args(arguments).status();
            let done = done.map_err(failed("run", Path::new("systemctl")))?;
            if !done.success() {
                let message = text("systemctl could not start the agent", "systemctl 无法启动代理");
                return Err(Failure::new(Exit::Refused, message).hint("journalctl -u danlu-agent"));
            }
        }
        return screen::print(text(
            "installed and started; how it does: systemctl status danlu-agent\n",
            "已安装并启动；查看状态：systemctl status danlu-agent\n",
        ));
    }
    let shown = install.root.join(UNIT);
    let shown = shown.display();
    screen::print(&say!(
        "wrote {shown}; systemd does not run here, so start it by: systemctl enable --now danlu-agent\n",
        "已写入 {shown}；此处没有运行 systemd，请用以下命令启动：systemctl enable --now danlu-agent\n"
    ))
}

fn unit(program: &Path, server: &Server) -> String {
    let quoted = |path: &Path| path.display().to_string().replace('%', "%%");
    let mut start = format!(
        "{} agent join {} --token-file /{TOKEN}",
        quoted(program),
        server.url.replace('%', "%%")
    );
    if let Some(ca) = &server.ca {
        let ca = std::path::absolute(ca).unwrap_or_else(|_| ca.clone());
        start += &format!(" --ca {}", quoted(&ca));
    }
    if server.plain {
        start += " --plain";
    }
    format!(
        "[Unit]\n\
         Description=Danlu agent: this machine works for {url}\n\
         Wants=network-online.target\n\
         After=network-online.target local-fs.target nss-user-lookup.target\n\
         \n\
         [Service]\n\
         ExecStart={start}\n\
         # Tasks live on while the agent restarts.\n\
         KillMode=process\n\
         Restart=always\n\
         RestartSec=30\n\
         # A task must not be counted to the agent.\n\
         Delegate=yes\n\
         OOMScoreAdjust=-500\n\
         \n\
         [Install]\n\
         WantedBy=multi-user.target\n",
        url = server.url.replace('%', "%%"),
    )
}

fn write(path: &Path, content: &str, mode: u32) -> Result<(), Failure> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(failed("create", parent))?;
    }
    let fresh = path.with_extension("new");
    let mut options = File::options();
    options.write(true).create(true).truncate(true).mode(mode);
    let mut file = options.open(&fresh).map_err(failed("write", &fresh))?;
    file.write_all(content.as_bytes()).map_err(failed("write", &fresh))?;
    fs::rename(&fresh, path).map_err(failed("write", path))
}

fn failed(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Failure {
    let path = path.display().to_string();
    move |cause| {
        let message = say!("could not {action} {path}: {cause}", "无法处理 {path}：{cause}");
        Failure::new(Exit::Refused, message).hint(text("run it as root", "请以 root 运行"))
    }
}
