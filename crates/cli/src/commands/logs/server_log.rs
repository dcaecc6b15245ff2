//! `danlu logs server`: the server's own log, filtered, so far or as it is written.

use danlu_messages::cli::logs as msg;
use danlu_wire::api::ErrorCode;

use super::{LogsArguments, Printer, so_far};
use crate::{
    client::{Client, Event, Events, Patience, Problem, bytes_of, path_segment},
    commands::decode_log_piece,
    failure::{Exit, Failure},
};

pub(super) fn print(client: &Client, arguments: &LogsArguments) -> Result<(), Failure> {
    let filters = filters(arguments);
    let mut printer = Printer::new(arguments.raw, false);
    if arguments.follow {
        return follow(client, arguments, &filters, &mut printer);
    }
    let look = [&filters[..], &["offset=0".to_owned(), "limit=0".to_owned()]].concat().join("&");
    let answer = client.open(&format!("/server/logs?{look}"), "text/plain").map_err(failure)?;
    // What was asked for by its age may be in files that were put aside; the last lines are found by the server.
    if arguments.since.is_some() && arguments.tail.is_none() {
        let count =
            answer.headers().get("x-danlu-older").and_then(|it| it.to_str().ok()?.parse().ok());
        let count: u8 = count.unwrap_or(0);
        for older in (1..=count).rev() {
            let filters = [&filters[..], &[format!("older={older}")]].concat();
            so_far(client, arguments, "/server/logs", &filters, &mut printer)?;
        }
    }
    so_far(client, arguments, "/server/logs", &filters, &mut printer)
}

fn filters(arguments: &LogsArguments) -> Vec<String> {
    let mut filters = Vec::new();
    filters.extend(arguments.level.as_ref().map(|level| format!("level={level}")));
    filters.extend(arguments.text.as_ref().map(|text| format!("text={}", path_segment(text))));
    let since = arguments.since.map(|past| path_segment(&past.0.to_string()));
    filters.extend(since.map(|since| format!("since={since}")));
    filters
}

/// Until it is interrupted; a server that restarts goes on where it was.
fn follow(
    client: &Client,
    arguments: &LogsArguments,
    filters: &[String],
    printer: &mut Printer,
) -> Result<(), Failure> {
    let mut patience = Patience::default();
    let mut place = format!("tail={}", arguments.tail.unwrap_or(LAST_LINES));
    loop {
        let query = [filters, &[place.clone()]].concat().join("&");
        let answer = match client.open(&format!("/server/logs?{query}"), "text/event-stream") {
            Ok(answer) => answer,
            Err(problem @ (Problem::Unreachable(_) | Problem::Lost { .. })) => {
                patience.wait(problem)?;
                continue;
            }
            Err(problem) => return Err(failure(problem)),
        };
        patience.renew();
        let mut events = Events::new(bytes_of(answer));
        while let Ok(Some(Event { name, data })) = events.next() {
            if name != "data" {
                continue;
            }
            // What has been read is not shown again after a restart.
            if let Some(offset) = offset_of(&data) {
                place = format!("offset={offset}");
            }
            if !printer.print(&decode_log_piece(&data)?)? {
                return Ok(());
            }
        }
    }
}

/// Unless another number is asked for.
const LAST_LINES: u64 = 20;

fn offset_of(data: &str) -> Option<u64> {
    let piece: serde_json::Value = serde_json::from_str(data).ok()?;
    piece["offset"].as_u64()
}

fn failure(problem: Problem) -> Failure {
    if problem.code() == Some(ErrorCode::NotFound) {
        return Failure::new(Exit::Refused, msg::no_server_log_file()).hint("journalctl -u danlu");
    }
    problem.into()
}
