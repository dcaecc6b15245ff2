//! `sacct`: jobs of the past and the present.

use std::process::ExitCode;

use danlu_slurm::{
    Program,
    columns::Line,
    formats::{Format, SACCT, SACCT_BRIEF, Table, names},
    getopt::CommandLine,
    json,
    options::Act,
    queries::JobFilter,
};
use danlu_spec::input_error::InputError;

use super::{
    SlurmError, client, has, jobs, now, operands, print, value, variable, warn_of_ignored,
};
use crate::client::Query;

const LONG: &str = "jobid,jobidraw,jobname,partition,maxrss,alloccpus,elapsed,state,exitcode,start,end,timelimit,nodelist,user,submit,reqmem,totalcpu,alloctres";

pub(super) fn run(line: &CommandLine) -> Result<ExitCode, SlurmError> {
    let options = &line.options;
    warn_of_ignored(Program::Sacct, options)?;
    if has(options, Act::HelpFormat) {
        print(&(names().collect::<Vec<_>>().join("\n") + "\n"));
        return Ok(ExitCode::SUCCESS);
    }
    let client = client()?;
    let mut filter = JobFilter::of(options, operands(line))?;
    // Without a name, one's own; those that are named by an id are whoever's.
    let is_root = nix::unistd::geteuid().is_root();
    let everybody = has(options, Act::AllUsers) || is_root || !filter.jobs.is_empty();
    if filter.users.is_none() && !everybody {
        filter.me = true;
    }
    jobs::with_me(&client, &mut filter)?;
    let zone = now();
    let time = |act| value(options, act).map(|text| read_time(text, &zone)).transpose();
    let (since, until) = (time(Act::StartTime)?, time(Act::EndTime)?);
    // From midnight, unless jobs are named.
    let midnight =
        || zone.at.to_zoned(zone.zone.clone()).start_of_day().ok().map(|it| it.timestamp());
    let since =
        since.or_else(|| midnight().filter(|_| filter.jobs.is_empty() && filter.states.is_none()));
    let mut tasks = match filter.jobs.is_empty() {
        true => jobs::since(&client, &filter, since)?,
        false => jobs::chosen(&client, &filter, &Query::default())?,
    };
    tasks.retain(|task| {
        let at = |text: &str| danlu_slurm::times::read(text);
        let ended = task.ended_at.as_deref().and_then(at);
        let begun = task.started_at.as_deref().and_then(at).or_else(|| at(&task.submitted_at));
        since.is_none_or(|since| ended.is_none_or(|ended| ended >= since))
            && until.is_none_or(|until| begun.is_none_or(|begun| begun <= until))
    });
    if has(options, Act::Json) {
        let tasks = jobs::with_details(&client, tasks)?;
        print(&format!("{:#}\n", json::sacct(&tasks, &zone)));
        return Ok(ExitCode::SUCCESS);
    }
    let usual = variable("SACCT_FORMAT");
    let wanted = match value(options, Act::Format) {
        Some(format) => format,
        None if has(options, Act::Summarize) => SACCT_BRIEF,
        None if has(options, Act::Long) => LONG,
        None => usual.as_deref().unwrap_or(SACCT),
    };
    let format = Format::of_sacct(wanted).map_err(InputError::usage)?;
    if format.needs_details() {
        tasks = jobs::with_details(&client, tasks)?;
    }
    let by = value(options, Act::Delimiter).unwrap_or("|").to_owned();
    let table = match (has(options, Act::Parsable2), has(options, Act::Parsable)) {
        (true, _) => Table::Separated { by, at_the_end: false },
        (false, true) => Table::Separated { by, at_the_end: true },
        (false, false) => Table::Aligned,
    };
    let mut out = String::new();
    if !has(options, Act::NoHeader) {
        out += &table.header(&format);
    }
    for task in &tasks {
        let line = Line::of(task, &zone);
        out += &table.row(&format, &format.cells(&line));
        if task.started_at.is_some() && !has(options, Act::Allocations) {
            let step = Line { is_batch_step: true, ..line };
            out += &table.row(&format, &format.cells(&step));
        }
    }
    print(&out);
    Ok(ExitCode::SUCCESS)
}

/// `2026-11-18`, `2026-11-18T10:00[:00]`, `10:00`, `now-2hours`, `today`, `now`, a number of seconds since 1970.
fn read_time(text: &str, now: &danlu_slurm::times::Now) -> Result<jiff::Timestamp, SlurmError> {
    let wrong = || SlurmError::new(danlu_messages::spec::what_is_not_supported(&text));
    let local = |civil: jiff::civil::DateTime| {
        civil.to_zoned(now.zone.clone()).ok().map(|it| it.timestamp())
    };
    let today = now.at.to_zoned(now.zone.clone()).date();
    let lower = text.to_ascii_lowercase();
    let found = match lower.as_str() {
        "now" => Some(now.at),
        "today" | "midnight" => local(today.at(0, 0, 0, 0)),
        "noon" => local(today.at(12, 0, 0, 0)),
        _ if lower.starts_with("now-") => {
            let amount = &lower[4..];
            let digits: String = amount.chars().take_while(char::is_ascii_digit).collect();
            let factor = match amount[digits.len()..].trim_end_matches('s') {
                "" | "second" => 1,
                "minute" => 60,
                "hour" => 3_600,
                "day" => 86_400,
                "week" => 604_800,
                _ => return Err(wrong()),
            };
            let seconds = digits.parse::<i64>().ok().and_then(|count| count.checked_mul(factor));
            seconds.and_then(|it| now.at.checked_sub(jiff::SignedDuration::from_secs(it)).ok())
        }
        _ => {
            let date_time = text.parse::<jiff::civil::DateTime>().ok();
            let date = || text.parse::<jiff::civil::Date>().ok().map(|date| date.at(0, 0, 0, 0));
            let time =
                || text.parse::<jiff::civil::Time>().ok().map(|time| today.to_datetime(time));
            date_time.or_else(date).or_else(time).and_then(local)
        }
    };
    found.ok_or_else(wrong)
}
