//! `GET /server/logs`: the server's own log, filtered, so far or as it is written.

use super::caller::Caller;
use super::filter::moment;
use super::logs::unreadable;
use super::streams::StreamPermit;
use super::{Api, ApiError};
use crate::daemon::config::LogLevel;
use crate::daemon::log_filter::LogFilter;
use crate::daemon::{clock, logging};
use crate::fleet::run_logs::RunLog;
use axum::body::Body;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use danlu_core::Refusal;
use danlu_messages::errors;
use futures_core::Stream;
use schemars::JsonSchema;
use serde::Deserialize;
use std::convert::Infallible;
use std::pin::pin;
use std::time::Duration;

/// Bytes that are looked at for one answer.
const PIECE: u64 = 1 << 20;
/// Bytes that are looked at for the last lines.
const LOOKED_AT: u64 = 8 << 20;
/// A file that was put aside is noticed so late at the most.
const ROTATED: Duration = Duration::from_secs(5);

#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ServerLogQuery {
    pub(crate) offset: Option<u64>,
    /// The last so many lines.
    pub(crate) tail: Option<u64>,
    pub(crate) limit: Option<u64>,
    /// This level and more important ones: error, warn, info, debug or trace.
    #[schemars(regex(pattern = r"^(error|warn|info|debug|trace)?$"))]
    pub(crate) level: Option<String>,
    /// Records that contain this, in any case of letters.
    #[schemars(length(max = 200))]
    pub(crate) text: Option<String>,
    /// From this time (RFC 3339) on, or since so long ago (`2h`).
    #[schemars(regex(pattern = r"^([0-9]{1,5}[smhd])?$"))]
    pub(crate) since: Option<String>,
    /// Of the file that was put aside when it was full: 1 is the newest of those.
    pub(crate) older: Option<u8>,
}

pub(super) async fn of_server(
    State(api): State<Api>,
    caller: Caller,
    query: Result<Query<ServerLogQuery>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    if !caller.admin {
        return Err(Refusal::AdminOnly.into());
    }
    let Query(query) = query?;
    let filter = query.filter()?;
    let log = open(&api, query.older).await?;
    if headers.get(header::ACCEPT).is_some_and(|accept| accept == "text/event-stream") {
        let last = headers.get("last-event-id").and_then(|id| id.to_str().ok()?.parse().ok());
        let permit = api.streams.open(&caller)?;
        let follow = follow(api, (caller, permit), log, query, filter, last);
        return Ok(Sse::new(follow).keep_alive(KeepAlive::default()).into_response());
    }
    let older = older_files(&api, &filter).await;
    let part = read(&api, log, &query, &filter).await?;
    let answer = Response::builder()
        .header("x-danlu-older", u16::from(older))
        .header(header::CONTENT_TYPE, "text/plain; charset=utf-8")
        .header("x-danlu-offset", part.offset)
        .header("x-danlu-size", part.size)
        .header("x-danlu-ended", "false")
        .body(Body::from(part.text));
    Ok(answer.unwrap_or_default())
}

/// The last lines that the filter lets through, for the page of administrators.
pub(crate) async fn last_lines(api: &Api, query: &ServerLogQuery) -> Result<String, ApiError> {
    let filter = query.filter()?;
    Ok(read(api, open(api, None).await?, query, &filter).await?.text)
}

impl ServerLogQuery {
    fn filter(&self) -> Result<LogFilter, ApiError> {
        let given = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        let level = given(&self.level).map(|name| {
            LogLevel::named(&name).ok_or_else(|| {
                ApiError::bad_request(errors::bad_log_level(&name), errors::log_levels())
            })
        });
        let since = given(&self.since).map(|since| moment(&since, clock::now())).transpose()?;
        let since = since.and_then(|time| jiff::Timestamp::from_millisecond(time.0).ok());
        let text = self.text.clone().unwrap_or_default();
        if text.chars().count() > super::filter::LONGEST_TEXT {
            let words = errors::search_too_long(&super::filter::LONGEST_TEXT);
            return Err(ApiError::bad_request(words, errors::search_fewer_words()));
        }
        Ok(LogFilter { level: level.transpose()?, since, text })
    }
}

/// A part of the log, as far as the filter lets it through.
struct LogPart {
    text: String,
    /// Where it ends in the file.
    offset: u64,
    size: u64,
}

async fn open(api: &Api, older: Option<u8>) -> Result<RunLog, ApiError> {
    let path = logging::path(&api.config.data, &api.config.log);
    let path = older.map_or_else(|| path.clone(), |number| logging::older(&path, number));
    RunLog::file(path).await.map_err(unreadable)
}

/// How many of the files that were put aside may have records of interest.
async fn older_files(api: &Api, filter: &LogFilter) -> u8 {
    let path = logging::path(&api.config.data, &api.config.log);
    let (keep, since) = (api.config.log.keep, filter.since.map(std::time::SystemTime::from));
    let is_wanted = move |number: &u8| {
        let changed = logging::older_changed_at(&path, *number);
        changed.is_some_and(|at| since.is_none_or(|since| at >= since))
    };
    let count = move || (1..=keep).take_while(is_wanted).last().unwrap_or(0);
    tokio::task::spawn_blocking(count).await.unwrap_or(0)
}

async fn read(
    api: &Api,
    mut log: RunLog,
    query: &ServerLogQuery,
    filter: &LogFilter,
) -> Result<LogPart, ApiError> {
    let limit = query.limit.unwrap_or(PIECE).min(PIECE);
    let Some(lines) = query.tail.filter(|_| query.offset.is_none()) else {
        let start = query.offset.unwrap_or(0);
        return part(&mut log, start, limit, filter).await.map_err(unreadable);
    };
    let LogPart { mut text, offset, size } = end(&mut log, filter, LOOKED_AT).await?;
    // Where the file is new, they are in the one before it.
    let (mut looked_at, mut older) = (size, query.older.unwrap_or(0));
    let wanted = usize::try_from(lines).unwrap_or(usize::MAX);
    while text.lines().count() < wanted && looked_at < LOOKED_AT && older < api.config.log.keep {
        older += 1;
        let Ok(mut log) = open(api, Some(older)).await else { break };
        let before = end(&mut log, filter, LOOKED_AT - looked_at).await?;
        looked_at += before.size;
        text.insert_str(0, &before.text);
    }
    Ok(LogPart { text: last(&text, lines).to_owned(), offset, size })
}

/// As much of the end as that.
async fn end(log: &mut RunLog, filter: &LogFilter, most: u64) -> Result<LogPart, ApiError> {
    let (_, size) = log.read(0, 0).await.map_err(unreadable)?;
    let (mut offset, mut text) = (size.saturating_sub(most), String::new());
    while offset < size {
        let next = part(log, offset, PIECE, filter).await.map_err(unreadable)?;
        if next.offset == offset {
            break;
        }
        offset = next.offset;
        text += &next.text;
    }
    Ok(LogPart { text, offset, size })
}

/// Ends with a line.
async fn part(
    log: &mut RunLog,
    start: u64,
    limit: u64,
    filter: &LogFilter,
) -> std::io::Result<LogPart> {
    let (mut bytes, size) = log.read(start, limit).await?;
    let end = bytes.iter().rposition(|byte| *byte == b'\n').map(|at| at + 1);
    // A line that is longer than all this is passed on in pieces.
    let is_whole = end.is_some() || (bytes.len() as u64) < limit;
    if is_whole {
        bytes.truncate(end.unwrap_or(0));
    }
    let text = String::from_utf8_lossy(&bytes);
    let text = if filter.is_empty() { text.into_owned() } else { filter.keep(&text) };
    let ended = start + bytes.len() as u64;
    // What is being written comes with the next request.
    let size = if bytes.is_empty() { ended } else { size };
    Ok(LogPart { text, offset: ended, size })
}

fn last(text: &str, lines: u64) -> &str {
    let lines = usize::try_from(lines).unwrap_or(usize::MAX);
    let ends = text.trim_end_matches('\n').rmatch_indices('\n').map(|(at, _)| at + 1);
    match lines.checked_sub(1) {
        None => "",
        Some(skipped) => &text[ends.into_iter().nth(skipped).unwrap_or(0)..],
    }
}

fn follow(
    api: Api,
    (caller, permit): (Caller, StreamPermit),
    mut log: RunLog,
    query: ServerLogQuery,
    filter: LogFilter,
    known: Option<u64>,
) -> impl Stream<Item = Result<Event, Infallible>> {
    async_stream::stream! {
        let _permit = permit;
        let (watched, watching) = (api.clone(), caller.clone());
        let mut thrown_out = pin!(watching.thrown_out(&watched));
        let mut offset = match known.or(query.offset) {
            Some(offset) => offset,
            None => {
                let Ok(fresh) = open(&api, None).await else { return };
                let Ok(first) = read(&api, fresh, &query, &filter).await else { return };
                if let Some(event) = piece(&first) {
                    yield Ok(event);
                }
                first.offset
            }
        };
        loop {
            log.start_watching();
            while let Ok(next) = part(&mut log, offset, PIECE, &filter).await {
                if next.offset == offset {
                    break;
                }
                offset = next.offset;
                if let Some(event) = piece(&next) {
                    yield Ok(event);
                }
            }
            if !caller.is_still_in(&api) {
                return;
            }
            tokio::select! {
                () = log.changed(offset) => {}
                () = tokio::time::sleep(ROTATED) => {}
                () = &mut thrown_out => return,
            }
            if let Ok(mut now) = open(&api, None).await
                && let Ok((_, size)) = now.read(0, 0).await
                && size < offset
            {
                (log, offset) = (now, 0);
            }
        }
    }
}

fn piece(part: &LogPart) -> Option<Event> {
    if part.text.is_empty() {
        return None;
    }
    let text = base64::engine::general_purpose::STANDARD.encode(&part.text);
    let data = serde_json::json!({ "offset": part.offset, "base64": text });
    Event::default().event("data").id(part.offset.to_string()).json_data(data).ok()
}

#[cfg(test)]
mod tests {
    use super::last;

    #[test]
    fn the_last_lines_are_whole() {
        assert_eq!(last("a\nb\nc\n", 2), "b\nc\n");
        assert_eq!(last("a\nb\nc\n", 9), "a\nb\nc\n");
        assert_eq!(last("a\n", 0), "");
        assert_eq!(last("", 3), "");
    }
}
