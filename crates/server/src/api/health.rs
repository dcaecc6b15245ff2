//! `GET /server/health`: what `danlu doctor` looks at where the server runs.

use super::body::Json;
use super::caller::Caller;
use super::view::rfc3339;
use super::{Api, ApiError};
use crate::daemon::{clock, tls};
use crate::metrics::InfluxFigures;
use axum::extract::State;
use danlu_node::network;
use danlu_wire::api::{Document, ErrorCode, ExportHealth, ServerHealth};
use nix::sys::resource::{Resource, getrlimit};

pub(super) async fn health(
    State(api): State<Api>,
    caller: Caller,
) -> Result<Json<Document<ServerHealth>>, ApiError> {
    caller.require_admin()?;
    let looked = tokio::task::spawn_blocking(move || look(&api)).await;
    let health =
        looked.map_err(|error| ApiError::new(ErrorCode::Internal, error.to_string(), ""))?;
    Ok(Json(Document::new(health)))
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
        exports: api.metrics.influx().figures().into_iter().map(export).collect(),
    }
}
