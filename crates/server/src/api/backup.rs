//! Streams a backup of the server, and checks the integrity of its database.

use super::body::Json;
use super::caller::Caller;
use super::{Api, ApiError};
use crate::daemon::backup::{self, BackupError, Spool};
use crate::store::Deed;
use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use danlu_messages::acts::Act;
use danlu_wire::api::{DatabaseCheck, Document, ErrorCode};
use schemars::JsonSchema;
use serde::Deserialize;
use std::io::{self, BufWriter, Write};
use tokio::sync::mpsc;
use tracing::{info, warn};

/// Chunks on their way to the client.
const PIECE: usize = 256 << 10;
const MOST_PIECES: usize = 4;

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "BackupWanted")]
pub(super) struct BackupQuery {
    /// With what tasks have printed.
    logs: bool,
}

pub(super) async fn backup(
    State(api): State<Api>,
    caller: Caller,
    query: Result<Query<BackupQuery>, QueryRejection>,
) -> Result<Response, ApiError> {
    caller.require_admin()?;
    let Query(BackupQuery { logs }) = query?;
    let spool = backup::spool(&api.handle, &api.config.data).await?;
    let asker = caller.asker();
    let deed = Deed {
        user: asker.name,
        origin: asker.origin,
        act: Act::BackUp,
        target: "server".into(),
        detail: if logs { "with logs".into() } else { String::new() },
    };
    api.handle.keep(Vec::new(), Some(deed)).await?;
    let (sender, mut pieces) = mpsc::channel(MOST_PIECES);
    tokio::task::spawn_blocking(move || write(&api, &spool, logs, &sender));
    let stream = async_stream::stream! {
        while let Some(piece) = pieces.recv().await {
            yield piece;
        }
    };
    let headers = [
        (header::CONTENT_TYPE, "application/x-tar"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"danlu-backup.tar\""),
        (header::CACHE_CONTROL, "no-store"),
    ];
    Ok((headers, Body::from_stream(stream)).into_response())
}

fn write(api: &Api, spool: &Spool, logs: bool, sender: &mpsc::Sender<io::Result<Vec<u8>>>) {
    let out = BufWriter::with_capacity(PIECE, Pieces(sender.clone()));
    match spool.write_archive(out, &api.config, logs) {
        Ok(()) => info!("a backup was made"),
        Err(cause) => {
            warn!(%cause, "a backup could not be made to its end");
            // The client notices that the archive is incomplete.
            let _ = sender.blocking_send(Err(cause));
        }
    }
}

struct Pieces(mpsc::Sender<io::Result<Vec<u8>>>);

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let sent = self.0.blocking_send(Ok(bytes.to_vec()));
        sent.map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub(super) async fn check(
    State(api): State<Api>,
    caller: Caller,
) -> Result<Json<Document<DatabaseCheck>>, ApiError> {
    caller.require_admin()?;
    let spool = backup::spool(&api.handle, &api.config.data).await?;
    let checked = tokio::task::spawn_blocking(move || spool.check()).await;
    let found = checked.map_err(io::Error::other).map_err(BackupError::from)?;
    let found = found.map_err(BackupError::from)?;
    Ok(Json(Document::new(DatabaseCheck {
        tasks: found.tasks,
        open_tasks: found.open_tasks,
        runs: found.runs,
        users: found.users,
        nodes: found.nodes,
        events: found.events,
    })))
}

impl From<BackupError> for ApiError {
    fn from(error: BackupError) -> ApiError {
        ApiError::new(ErrorCode::Unavailable, error.to_string(), error.hint())
    }
}
