//! `danlu agent install`: the agent as a service of systemd.

use std::{
    fs,
    path::{Path, PathBuf},
};

use clap::Args;
use danlu_node::private;

use super::{Server, place::Place};
use crate::{
    commands::service::unit::{Kind, Unit, failed, own_program, quoted},
    failure::Failure,
    language::{say, text},
    screen,
};

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
    let unit = unit(&install.server)?;
    if install.dry_run {
        return screen::print(&unit.text());
    }
    let token = match place.token.fingerprint {
        Some(bytes) => {
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("{}.{digits}\n", place.token.secret)
        }
        None => format!("{}\n", place.token.secret),
    };
    let secret = install.root.join(TOKEN);
    if let Some(parent) = secret.parent() {
        fs::create_dir_all(parent).map_err(failed("create", parent))?;
    }
    private::replace_durably(&secret, token.as_bytes()).map_err(failed("write", &secret))?;
    let shown = unit.write(&install.root)?;
    let started = install.root == Path::new("/")
        && unit.systemctl(&[&["daemon-reload"], &["enable", "--now", "danlu-agent"]])?;
    if started {
        return screen::print(text(
            "installed and started; how it does: systemctl status danlu-agent\n",
            "已安装并启动；查看状态：systemctl status danlu-agent\n",
        ));
    }
    let shown = shown.display();
    screen::print(&say!(
        "wrote {shown}; systemd does not run here, so start it by: systemctl enable --now danlu-agent\n",
        "已写入 {shown}；此处没有运行 systemd，请用以下命令启动：systemctl enable --now danlu-agent\n"
    ))
}

fn unit(server: &Server) -> Result<Unit, Failure> {
    let mut start =
        format!("{} agent join {} --token-file /{TOKEN}", own_program()?, quoted(&server.url));
    if let Some(ca) = &server.ca {
        let ca = std::path::absolute(ca).unwrap_or_else(|_| ca.clone());
        start += &format!(" --ca {}", quoted(&ca.display().to_string()));
    }
    if server.plain {
        start += " --plain";
    }
    Ok(Unit {
        name: "danlu-agent",
        description: format!("Danlu agent: this machine works for {}", server.url),
        start,
        kind: Kind::Agent,
        more: Vec::new(),
    })
}
