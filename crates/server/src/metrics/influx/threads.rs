//! The threads: one takes points at their times, one for each database sends what waits.

use super::points::points;
use super::request::Written;
use super::schedule::{self, FAILURES};
use super::{InfluxRun, InfluxSink, SinkTrouble};
use crate::api::{Api, WeakApi};
use crate::daemon::clock;
use crate::daemon::notices::{self, NoticeKind};
use crate::metrics::collect::collect;
use crate::metrics::snapshot::MetricsSnapshot;
use danlu_core::{Span, Time};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use std::io::{Read as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tracing::{info, warn};

/// Of one request.
const MOST_LINES: usize = 5_000;

pub(super) fn start(run: &Arc<InfluxRun>, api: &Api) {
    let (weak, runtime) = (api.downgrade(), tokio::runtime::Handle::current());
    let collector = Arc::clone(run);
    let taken = weak.clone();
    spawn("influx", move || take(&collector, &taken));
    for sink in &run.sinks {
        let (run, sink, api, runtime) =
            (Arc::clone(run), Arc::clone(sink), weak.clone(), runtime.clone());
        spawn("influx-send", move || send(&run, &sink, &api, &runtime));
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().name(name.to_owned()).spawn(work);
    let _ = thread.inspect_err(|cause| warn!(%cause, "nothing is sent to InfluxDB"));
}

/// Takes points at their times. Whether a database is there makes no difference here.
fn take(run: &InfluxRun, api: &WeakApi) {
    let mut last: Vec<Option<Time>> = vec![None; run.sinks.len()];
    loop {
        let now = clock::now();
        let mut snapshot: Option<MetricsSnapshot> = None;
        for (sink, last) in run.sinks.iter().zip(&mut last) {
            let Some(slot) = schedule::due(now, *last, sink.target.config.interval) else {
                continue;
            };
            if snapshot.is_none() {
                let Some(api) = api.upgrade() else { return };
                snapshot = Some(collect(&api, api.metrics.per_user()));
            }
            snapshot.iter().for_each(|snapshot| keep(run, sink, snapshot, slot));
            *last = Some(slot);
        }
        if snapshot.is_some() {
            run.tell();
        }
        let waits = run
            .sinks
            .iter()
            .map(|sink| schedule::until_next(clock::now(), sink.target.config.interval));
        let wait = waits.min().unwrap_or(Span::from_secs(1));
        if !run.rest(Duration::from_millis(wait.0)) {
            return;
        }
    }
}

fn keep(run: &InfluxRun, sink: &InfluxSink, snapshot: &MetricsSnapshot, at: Time) {
    let lines = points(snapshot, sink.target.config.names);
    for part in lines.chunks(MOST_LINES) {
        let mut text = String::new();
        part.iter().for_each(|line| line.write(at, &mut text));
        let body = compressed(&text);
        let count = u32::try_from(part.len()).unwrap_or(u32::MAX);
        let dropped = run.buffer.add(&sink.label, at, count, &body);
        run.count(sink);
        if dropped > 0 && sink.dropped.fetch_add(dropped, Ordering::Relaxed) == 0 {
            warn!(database = sink.label, "too many points wait for it: the oldest are dropped");
        }
    }
}

fn send(run: &InfluxRun, sink: &InfluxSink, api: &WeakApi, runtime: &tokio::runtime::Handle) {
    while let Some(batch) = run.next(sink) {
        let plain = sink.plain.load(Ordering::Relaxed);
        let body = if plain { plain_text(&batch.body) } else { batch.body };
        let written = sink.target.send(body, !plain);
        if run.is_stopped() && !matches!(written, Written::Yes) {
            return;
        }
        match written {
            Written::Yes => {
                run.buffer.remove(batch.number);
                run.count(sink);
                sink.sent.fetch_add(batch.points.into(), Ordering::Relaxed);
                recovered(sink, api, runtime);
            }
            Written::NotCompressed => sink.plain.store(true, Ordering::Relaxed),
            Written::Refused { answer } => {
                warn!(database = sink.label, answer, points = batch.points, "points were refused");
                run.buffer.remove(batch.number);
                run.count(sink);
                sink.refused.fetch_add(batch.points.into(), Ordering::Relaxed);
                failed(sink, answer, api, runtime);
            }
            Written::Later { answer } => {
                let failures = failed(sink, answer, api, runtime);
                if !run.rest(Duration::from_millis(schedule::pause(failures).0)) {
                    return;
                }
            }
        }
    }
}

/// How many times in a row now.
fn failed(
    sink: &InfluxSink,
    answer: String,
    api: &WeakApi,
    runtime: &tokio::runtime::Handle,
) -> u32 {
    let failures = {
        let mut trouble = sink.trouble();
        let failures = trouble.failures.saturating_add(1);
        if failures == 1 {
            warn!(database = sink.label, answer, "points cannot be written; they are kept");
        }
        *trouble = SinkTrouble { failures, answer };
        failures
    };
    if failures == FAILURES
        && let Some(api) = api.upgrade()
    {
        let target = sink.label.clone();
        notices::raise(&api.handle, runtime, NoticeKind::ExportFailing { target });
    }
    failures
}

fn recovered(sink: &InfluxSink, api: &WeakApi, runtime: &tokio::runtime::Handle) {
    let before = std::mem::take(&mut *sink.trouble());
    if before.failures == 0 {
        return;
    }
    info!(database = sink.label, "points are written again");
    if before.failures >= FAILURES
        && let Some(api) = api.upgrade()
    {
        notices::withdraw(
            &api.handle,
            runtime,
            |kind| matches!(kind, NoticeKind::ExportFailing { target } if *target == sink.label),
        );
    }
}

fn compressed(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    // Writing to memory does not fail.
    let _ = encoder.write_all(text.as_bytes());
    encoder.finish().unwrap_or_default()
}

fn plain_text(body: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    let _ = GzDecoder::new(body).read_to_end(&mut text);
    text
}
