//! `danlu up`: runs the server in the foreground.

use crate::failure::{Exit, Failure};
use clap::Args;
use danlu_messages::cli::up as msg;
use danlu_server::daemon::config::Flags;
use danlu_server::daemon::serve::{Ready, serve};
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;

#[derive(Debug, Args)]
#[command(
    about = msg::run_the_server_in_the_foreground(),
    after_help = msg::help(),
)]
pub(crate) struct UpArguments {
    #[arg(long, value_name = "ADDR:PORT", help = msg::listen())]
    listen: Vec<SocketAddr>,

    #[arg(long, value_name = "DIR", help = msg::data_directory())]
    data: Option<PathBuf>,

    #[arg(long, value_name = "N", help = msg::simulated_gpus())]
    sim_gpus: Option<u32>,

    #[arg(long, value_name = "FILE", help = msg::configuration_file())]
    config: Option<PathBuf>,

    #[arg(long, help = msg::accept_loss())]
    accept_loss: bool,
}

pub(crate) fn run(arguments: UpArguments) -> Result<(), Failure> {
    let UpArguments { listen, data, sim_gpus, config, accept_loss } = arguments;
    serve(Flags { listen, data, sim_gpus, config, accept_loss }, announce)
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
        let note = msg::not_encrypted(&address);
        let hint = msg::encrypt_or_localhost();
        let _ = writeln!(out, "{note}\n{}", danlu_messages::cli::program::hint_is(&hint));
    }
    if ready.single_user {
        let note = msg::not_root();
        let _ = writeln!(out, "{note}");
    }
    if let Some(link) = &ready.setup {
        let note = msg::first_admin();
        let _ = writeln!(out, "{note} {link}");
    }
    let _ = out.flush();
}

/// Plain HTTP on an address that others reach.
fn is_open_to_all(address: &str) -> bool {
    let plain = address.strip_prefix("http://").and_then(|it| it.parse::<SocketAddr>().ok());
    plain.is_some_and(|address| !address.ip().is_loopback())
}
