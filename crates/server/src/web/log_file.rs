//! The output of a run: as a download, and its end as plain text for browsers without JavaScript.

use super::page::PageResult;
use super::page_context::Visit;
use crate::api::logs;
use crate::api::{Api, ApiError, Caller};
use crate::fleet::run_logs::{RunLog, Which};
use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::header;
use axum::response::Response;
use danlu_core::{Refusal, TaskId};
use danlu_wire::agent::LogStart;
use serde::Deserialize;
use std::io;

const CHUNK: u64 = 256 << 10;
const TAIL_LINES: u64 = 200;
const TAIL_BYTES: u64 = 64 << 10;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct LogFileQuery {
    run: Option<u32>,
}

pub(super) async fn download(
    State(api): State<Api>,
    visit: Visit,
    Path(id): Path<u64>,
    Query(query): Query<LogFileQuery>,
) -> PageResult {
    let log = open(&api, &visit.caller, TaskId(id), query.run).await.map_err(visit.no())?;
    let file = format!("attachment; filename=\"danlu-{id}.log\"");
    let answer = Response::builder()
        .header(header::CONTENT_TYPE, "text/plain; charset=utf-8")
        .header(header::CONTENT_DISPOSITION, file)
        .body(Body::from_stream(chunks(log)));
    answer.map_err(|_| visit.no()(Refusal::NoSuchTask(TaskId(id))))
}

async fn open(
    api: &Api,
    caller: &Caller,
    id: TaskId,
    run: Option<u32>,
) -> Result<RunLog, ApiError> {
    let run = logs::find_run(api, caller, id, run).await?;
    logs::open(api, id, run, Which::default()).await
}

/// Up to where the file ends now, a part at a time.
fn chunks(mut log: RunLog) -> impl futures_core::Stream<Item = io::Result<Vec<u8>>> {
    async_stream::stream! {
        let mut offset = 0;
        loop {
            match log.read(offset, CHUNK).await {
                Ok((bytes, _)) if bytes.is_empty() => return,
                Ok((bytes, _)) => {
                    offset += bytes.len() as u64;
                    yield Ok(bytes);
                }
                Err(error) => {
                    yield Err(error);
                    return;
                }
            }
        }
    }
}

/// `None` where there is nothing, or nothing to be shown to this person.
pub(super) async fn tail(
    api: &Api,
    caller: &Caller,
    id: TaskId,
    run: Option<u32>,
) -> Option<String> {
    let mut log = open(api, caller, id, run).await.ok()?;
    let start = log.start(LogStart::Tail(TAIL_LINES)).await.ok()?;
    let (bytes, size) = log.read(start, TAIL_BYTES).await.ok()?;
    let end = start + bytes.len() as u64;
    // Long lines: its end, not its beginning.
    let bytes = if end < size {
        log.read(size.saturating_sub(TAIL_BYTES), TAIL_BYTES).await.ok()?.0
    } else {
        bytes
    };
    Some(plain(&String::from_utf8_lossy(&bytes)))
}

/// Without colours, and progress bars as they were last.
fn plain(text: &str) -> String {
    let last = |line: &str| {
        let line = line.strip_suffix('\r').unwrap_or(line);
        without_escapes(line.rsplit('\r').next().unwrap_or_default())
    };
    text.split('\n').map(last).collect::<Vec<_>>().join("\n")
}

fn without_escapes(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\u{1b}' => {
                // `ESC [ … letter`; other sequences are one letter long.
                if letters.next() == Some('[') {
                    let _ = letters.find(|letter| ('@'..='~').contains(letter));
                }
            }
            '\t' => out.push('\t'),
            letter if letter.is_control() => {}
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_and_progress_bars_are_left_out() {
        assert_eq!(plain("\u{1b}[31mred\u{1b}[0m\n 1%\r 50%\r100%\r\nend"), "red\n100%\nend");
        assert_eq!(plain("a\u{1b}[2K\u{7}b\t<i>"), "ab\t<i>");
    }
}
