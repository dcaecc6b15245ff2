//! How fast tasks are run: how many each second, and how long a GPU stands idle between two.

use std::{
    fs,
    path::Path,
    process::Stdio,
    time::{SystemTime, UNIX_EPOCH},
};

use serde_json::Value;

use super::{Size, go_on, progress};
use crate::bench::{
    figure::{Figure, Target, Unit, median},
    server::{Gpus, Programs, Server},
};

/// From the start of `submit` to the last end that the server has recorded.
pub(super) fn rate(programs: &Programs, size: Size) -> Result<Vec<Figure>, String> {
    let count = size.tasks;
    let mut rounds = Vec::new();
    for round in 1..=size.rounds {
        progress(&format!("{count} tasks on 4 GPUs, round {round} of {}", size.rounds));
        let server = Server::start(programs, Gpus::Simulated(4))?;
        let begin = now();
        let first: u64 = submit_array(&server, count, &["true"])?;
        let last = first + count as u64 - 1;
        wait_until_over(&server, last)?;
        let seconds = (last_end(&server)? - begin) as f64 / 1e3;
        rounds.push(count as f64 / seconds);
    }
    Ok(vec![Figure {
        name: "tasks_per_second",
        what: format!("{count} × true, 4 simulated GPUs"),
        unit: Unit::PerSecond,
        target: Target::AtLeast(700.0),
        rounds,
    }])
}

/// As the tasks themselves see it: the next one's first moment less the last one's last.
pub(super) fn gap(programs: &Programs, size: Size) -> Result<Vec<Figure>, String> {
    let mut rounds = Vec::new();
    for round in 1..=size.rounds {
        progress(&format!(
            "{} tasks one after another, round {round} of {}",
            size.chain, size.rounds
        ));
        let server = Server::start(programs, Gpus::Simulated(1))?;
        let times = server.directory().join("times");
        let (stamp, file) = (text(&programs.stamp)?, text(&times)?);
        let first = submit_array(&server, size.chain, &[stamp, file])?;
        wait_until_over(&server, first + size.chain as u64 - 1)?;
        let gaps = gaps(&times)?;
        if gaps.len() != size.chain - 1 {
            return Err(format!("{} of {} tasks told their times", gaps.len() + 1, size.chain));
        }
        rounds.push(median(&gaps));
    }
    Ok(vec![Figure {
        name: "gap",
        what: "from a task's end to the next one's start".to_owned(),
        unit: Unit::Milliseconds,
        target: Target::AtMost(3.0),
        rounds,
    }])
}

/// The id of the first.
pub(super) fn submit_array(server: &Server, count: usize, command: &[&str]) -> Result<u64, String> {
    let range = format!("0-{}", count - 1);
    let mut arguments = vec!["submit", "-q", "-g", "1", "--array", &range, "--"];
    arguments.extend(command);
    let said = server.say(&arguments)?;
    said.parse().map_err(|_| format!("submit said `{said}`"))
}

/// The last one starts last but need not end last.
fn wait_until_over(server: &Server, last: u64) -> Result<(), String> {
    let mut command = server.danlu(&["wait", &last.to_string()]);
    let status = command.stderr(Stdio::null()).status().map_err(|error| error.to_string())?;
    go_on()?;
    if !status.success() {
        return Err(format!("task {last} did not succeed: {status}"));
    }
    server.wait_for("the end of all tasks", || {
        let open = server.json(&["ls", "--json", "-n", "1", "--state", "open"])?;
        Ok(open["tasks"].as_array().is_some_and(Vec::is_empty))
    })?;
    let bad = server.json(&["ls", "--json", "-n", "1", "--state", "failed,cancelled,timed_out"])?;
    match bad["tasks"].as_array() {
        Some(bad) if bad.is_empty() => Ok(()),
        _ => Err(format!("not all tasks succeeded: {}", bad["tasks"][0])),
    }
}

/// In milliseconds since 1970, of the newest hundred.
fn last_end(server: &Server) -> Result<i64, String> {
    let ended = server.json(&["ls", "--json", "-n", "100"])?;
    let ends = ended["tasks"].as_array().into_iter().flatten();
    let latest = ends.filter_map(|task| task["ended_at"].as_str()).max().unwrap_or_default();
    milliseconds(latest).ok_or_else(|| format!("`{latest}` is no time"))
}

/// Of today or tomorrow, in UTC, as `…T23:59:01.123Z`: only differences of some minutes matter, so that the day is
/// taken from our own clock.
fn milliseconds(rfc3339: &str) -> Option<i64> {
    let (_, time) = rfc3339.split_once('T')?;
    let mut parts = time.strip_suffix('Z')?.split(':');
    let mut next = || parts.next()?.parse::<f64>().ok();
    let seconds = next()? * 3_600.0 + next()? * 60.0 + next()?;
    const DAY: i64 = 86_400_000;
    let now = now();
    let candidate = now - now.rem_euclid(DAY) + (seconds * 1e3).round() as i64;
    // An end is never later than now.
    Some(if candidate > now + DAY / 2 { candidate - DAY } else { candidate })
}

fn gaps(times: &Path) -> Result<Vec<f64>, String> {
    let text =
        fs::read_to_string(times).map_err(|error| format!("{}: {error}", times.display()))?;
    let mut pairs = Vec::new();
    for line in text.lines() {
        let pair = line
            .split_once(' ')
            .and_then(|(begin, end)| Some((begin.parse::<u64>().ok()?, end.parse::<u64>().ok()?)));
        pairs.push(pair.ok_or_else(|| format!("`{line}` is no pair of times"))?);
    }
    pairs.sort_unstable();
    // On one GPU nothing overlaps; if it did, the gap would be negative and the median would show it.
    Ok(pairs.windows(2).map(|pair| (pair[1].0 as f64 - pair[0].1 as f64) / 1e6).collect())
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

fn text(path: &Path) -> Result<&str, String> {
    path.to_str().ok_or_else(|| format!("{} is not UTF-8", path.display()))
}

/// How many tasks there are in these states.
pub(super) fn total(list: &Value) -> Option<u64> {
    list["total"].as_u64()
}
