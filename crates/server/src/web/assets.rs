//! Styles and scripts: embedded in the program, at addresses that change with their content.

use crate::api::encoding::{ContentNegotiation, EncodedBody, FOR_EVER};
use axum::body::Bytes;
use axum::extract::Path;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use sha2::{Digest as _, Sha256};
use std::sync::{Arc, LazyLock};

struct Asset {
    name: &'static str,
    hash: String,
    forms: Arc<EncodedBody>,
}

const STYLES: &str = concat!(
    include_str!("assets/base.css"),
    include_str!("assets/layout.css"),
    include_str!("assets/parts.css"),
    include_str!("assets/gpus.css"),
    include_str!("assets/nodes.css"),
    include_str!("assets/tasks.css"),
    include_str!("assets/reports.css"),
    include_str!("assets/forms.css"),
    include_str!("assets/log.css"),
    include_str!("assets/accounts.css"),
    include_str!("assets/manual.css"),
);
const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

static ASSETS: LazyLock<Vec<Asset>> = LazyLock::new(|| {
    let files = [
        ("style.css", STYLE, STYLES),
        ("icon.svg", "image/svg+xml", include_str!("assets/icon.svg")),
        ("key.js", SCRIPT, include_str!("assets/key.js")),
        ("times.js", SCRIPT, include_str!("assets/times.js")),
        ("session.js", SCRIPT, include_str!("assets/session.js")),
        ("morph.js", SCRIPT, include_str!("assets/morph.js")),
        ("live.js", SCRIPT, include_str!("assets/live.js")),
        ("choice.js", SCRIPT, include_str!("assets/choice.js")),
        ("terminal.js", SCRIPT, include_str!("assets/terminal.js")),
        ("log.js", SCRIPT, include_str!("assets/log.js")),
        ("charts.js", SCRIPT, include_str!("assets/charts.js")),
        ("reports.js", SCRIPT, include_str!("assets/reports.js")),
        ("new.js", SCRIPT, include_str!("assets/new.js")),
        ("htmx.js", SCRIPT, include_str!("assets/vendor/htmx.js")),
        ("uplot.js", SCRIPT, include_str!("assets/vendor/uplot.js")),
        ("uplot.css", STYLE, include_str!("assets/vendor/uplot.css")),
    ];
    let asset = |(name, kind, content): (&'static str, &'static str, &'static str)| {
        let digest = Sha256::digest(content.as_bytes());
        let hash = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
        let forms = EncodedBody::new(kind, FOR_EVER, Bytes::from_static(content.as_bytes()));
        Asset { name, hash, forms: Arc::new(forms) }
    };
    files.into_iter().map(asset).collect()
});

/// Where a page finds it.
pub(super) fn address(name: &str) -> String {
    let asset = ASSETS.iter().find(|asset| asset.name == name);
    let hash = asset.map(|asset| asset.hash.as_str()).unwrap_or_default();
    format!("/assets/{name}?v={hash}")
}

pub(super) async fn asset(Path(name): Path<String>, headers: HeaderMap) -> Response {
    let Some(asset) = ASSETS.iter().find(|asset| asset.name == name) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    asset.forms.answer(&ContentNegotiation::of(&headers)).await
}
