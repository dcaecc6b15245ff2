//! What monitoring systems are told: `GET /metrics` for Prometheus, points for InfluxDB.
//!
//! `collect.rs` takes a snapshot of plain values; `exposition.rs` makes text of it, `influx/` points. `counters.rs` counts what
//! happens.

mod access;
mod collect;
mod counters;
mod exposition;
mod histogram;
mod influx;
mod snapshot;
#[cfg(test)]
mod tests;

pub(crate) use access::MetricsAccess;
pub(crate) use counters::Counters;
pub(crate) use influx::{Influx, InfluxFigures, InfluxTarget};

use crate::api::Api;
use crate::api::encoding::{ContentNegotiation, EncodedBody};
use arc_swap::ArcSwap;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use std::net::IpAddr;
use std::sync::Arc;

/// Clones share the same settings.
#[derive(Debug, Clone, Default)]
pub struct Metrics {
    access: Arc<ArcSwap<MetricsAccess>>,
    influx: Influx,
}

impl Metrics {
    pub(crate) fn new(access: MetricsAccess) -> Metrics {
        Metrics { access: Arc::new(ArcSwap::from_pointee(access)), influx: Influx::default() }
    }

    /// From now on.
    pub(crate) fn configure(&self, access: MetricsAccess) {
        self.access.store(Arc::new(access));
    }

    /// The databases that points are sent to.
    pub(crate) fn influx(&self) -> &Influx {
        &self.influx
    }

    /// Users are named.
    pub(crate) fn per_user(&self) -> bool {
        self.access.load().per_user
    }

    pub(crate) fn admits(&self, bearer: Option<&str>, address: Option<IpAddr>) -> bool {
        self.access.load().admits(bearer, address)
    }
}

/// `GET /metrics`, for who was let in.
pub(crate) async fn page(State(api): State<Api>, headers: HeaderMap) -> Response {
    api.handle.reader().counters().begin();
    let snapshot = collect::collect(&api, api.metrics.per_user());
    let text = exposition::text(&snapshot).into();
    let body = Arc::new(EncodedBody::new(exposition::CONTENT_TYPE, "no-store", text));
    body.answer(&ContentNegotiation::of(&headers)).await
}
