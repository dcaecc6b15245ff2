//! `danlu agent install`: installs the agent as a systemd service.

use std::{
    fs,
    path::{Path, PathBuf},
};

use clap::Args;
use danlu_messages::cli::agent as msg;
use danlu_node::private;

use super::{ServerOptions, server_access::ServerAccess};
use crate::{
    commands::service::unit::{Unit, UnitKind, failed, own_program, quoted},
    failure::Failure,
    screen,
};

const TOKEN: &str = "etc/danlu/agent-token";

#[derive(Debug, Args)]
pub(super) struct AgentInstall {
    #[command(flatten)]
    server: ServerOptions,

    #[arg(long, help = msg::print_unit())]
    dry_run: bool,

    #[arg(long, value_name = "DIR", default_value = "/", hide_default_value = true, help = msg::write_below_directory())]
    root: PathBuf,
}

pub(super) fn run(install: &AgentInstall) -> Result<(), Failure> {
    let place = ServerAccess::of(&install.server)?;
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
        return screen::print(msg::installed_and_started());
    }
    let shown = shown.display();
    screen::print(&msg::wrote_unit(&shown))
}

fn unit(server: &ServerOptions) -> Result<Unit, Failure> {
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
        kind: UnitKind::Agent,
        more: Vec::new(),
    })
}
