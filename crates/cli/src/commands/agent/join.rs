//! `danlu agent join`: connects to the server, and reconnects whenever the connection is lost.

use std::{env, os::unix::process::CommandExt as _, process::Command, sync::Arc, time::Duration};

use danlu_messages::cli::agent as msg;
use tokio::signal::unix::{SignalKind, signal};

use super::{
    ServerOptions, certificate,
    connection::{self, Ended},
    server_access::{ServerAccess, TOKEN_VARIABLE},
};
use crate::failure::{Exit, Failure};

/// Between two tries: little at first, more while the server stays away.
const LEAST_WAIT: Duration = Duration::from_millis(500);
const MOST_WAIT: Duration = Duration::from_secs(30);

pub(super) fn run(server: &ServerOptions) -> Result<(), Failure> {
    let place = ServerAccess::of(server)?;
    if server.token.is_some() {
        return Err(hide_token(server));
    }
    let trust = Arc::new(certificate::config(&place)?);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::new(Exit::Internal, error.to_string()))?;
    runtime.block_on(async {
        let failed = |error: std::io::Error| Failure::new(Exit::Internal, error.to_string());
        let mut terminate = signal(SignalKind::terminate()).map_err(failed)?;
        let mut interrupt = signal(SignalKind::interrupt()).map_err(failed)?;
        tokio::select! {
            refused = stay(&place, &trust) => Err(refused),
            _ = terminate.recv() => Ok(()),
            _ = interrupt.recv() => Ok(()),
        }
    })
}

/// Everybody can read what a process was started with; its environment only its owner. Returns where that fails.
fn hide_token(server: &ServerOptions) -> Failure {
    let mut again = Command::new("/proc/self/exe");
    let token = server.token.as_deref().unwrap_or_default();
    again.args(["agent", "join", &server.url]).env(TOKEN_VARIABLE, token);
    if let Some(ca) = &server.ca {
        again.arg("--ca").arg(ca);
    }
    if server.plain {
        again.arg("--plain");
    }
    again.arg0(env::args_os().next().unwrap_or_else(|| "danlu".into()));
    Failure::new(Exit::Internal, again.exec().to_string())
}

/// Returns when the server does not want us.
async fn stay(place: &ServerAccess, trust: &Arc<rustls::ClientConfig>) -> Failure {
    let mut wait = LEAST_WAIT;
    loop {
        let why = match connection::once(place, trust).await {
            Ended::Refused => {
                let message = msg::unknown_token();
                return Failure::new(Exit::NotPermitted, message)
                    .hint(msg::on_the_server_danlu_node_token_name());
            }
            Ended::Lost(why) => {
                wait = LEAST_WAIT;
                why
            }
            Ended::Never(why) => {
                wait = (wait * 2).min(MOST_WAIT);
                why
            }
        };
        let (host, port) = (&place.host, place.port);
        eprintln!("{}", msg::danlu_host_port_why_trying_again(&host, &port, &why));
        // Not all machines at once after the server was away.
        tokio::time::sleep(wait.mul_f64(0.5 + jitter())).await;
    }
}

/// From 0 to 1.
fn jitter() -> f64 {
    let mut bytes = [0; 2];
    // Without randomness all wait equally long.
    let _ = getrandom::fill(&mut bytes);
    f64::from(u16::from_le_bytes(bytes)) / f64::from(u16::MAX)
}
