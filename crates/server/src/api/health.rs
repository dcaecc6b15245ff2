//! `GET /server/health`: what `danlu doctor` looks at where the server runs.

use super::body::Json;
use super::caller::Caller;
use super::view::rfc3339;
use super::{Api, ApiError};
use crate::daemon::{clock, host_health, tls};
use crate::metrics::InfluxFigures;
use crate::notify::Channels;
use axum::extract::State;
use danlu_messages::Language;
use danlu_messages::notify::channels as msg;
use danlu_node::network;
use danlu_wire::api::{Document, ErrorCode, ExportHealth, MailHealth, ServerHealth};
use nix::sys::resource::{Resource, getrlimit};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::spawn_blocking;

pub(super) async fn health(
    State(api): State<Api>,
    caller: Caller,
) -> Result<Json<Document<ServerHealth>>, ApiError> {
    caller.require_admin()?;
    let mail = mail(api.notifier.channels());
    let looked = spawn_blocking(move || look(&api));
    let (looked, mail) = tokio::join!(looked, mail);
    let health =
        looked.map_err(|error| ApiError::new(ErrorCode::Internal, error.to_string(), ""))?;
    Ok(Json(Document::new(ServerHealth { mail, ..health })))
}

/// However slow the mail server is: the rest is of interest, too.
const LONGEST_MAIL: Duration = Duration::from_secs(10);

async fn mail(channels: Arc<Channels>) -> Option<MailHealth> {
    let email = channels.config().email.as_ref()?;
    let server = format!("{}:{}", email.host, email.port);
    let language = Language::current();
    let checked = spawn_blocking(move || language.within(|| channels.check_mail()));
    let problem = match tokio::time::timeout(LONGEST_MAIL, checked).await {
        Ok(checked) => checked.unwrap_or_else(|error| Some(error.to_string())),
        Err(_) => Some(msg::timed_out().to_owned()),
    };
    Some(MailHealth { server, problem })
}

fn export(figures: InfluxFigures) -> ExportHealth {
    let InfluxFigures { target, waiting, sent: _, refused, dropped, failing } = figures;
    ExportHealth { target, waiting, refused, dropped, failing }
}

/// Disks may take a while.
fn look(api: &Api) -> ServerHealth {
    let config = &api.config;
    let facts = danlu_node::facts(&config.data, "");
    let (certificate, ends_at) = tls::presented(config).unzip();
    ServerHealth {
        now: rfc3339(clock::now()),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        data: config.data.display().to_string(),
        file_system: network(&config.data).ok().flatten().map(|kind| kind.to_string()),
        disk_free: facts.disk_free,
        disk_total: facts.disk_total,
        open_files: getrlimit(Resource::RLIMIT_NOFILE).ok().map(|(_, most)| most),
        configured: config.listen.iter().map(ToString::to_string).collect(),
        listening: api.addresses.get().cloned().unwrap_or_default(),
        certificate: certificate.map(|path| path.display().to_string()),
        certificate_ends_at: ends_at.flatten().map(|at| at.to_string()),
        host: Some(host_health::look()),
        mail: None,
        exports: api.metrics.influx().figures().into_iter().map(export).collect(),
    }
}
