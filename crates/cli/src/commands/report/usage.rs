//! What was used: a table, bars, CSV, JSON or a picture.

use std::{fs, io, path::Path};

use danlu_messages::{cli::report as msg, reports as words};
use danlu_wire::api::{Document, UsageReport, UsageReportView};
use jiff::{Timestamp, tz::TimeZone};

use super::{ReportArguments, bars::bars, usage_table::table};
use crate::{
    client::{Client, query_value, read},
    failure::{Exit, Failure},
    screen::{self, clock, colour, width},
};

/// Of bars where the width is not known.
const USUAL_WIDTH: usize = 80;

pub(super) fn run(client: &Client, arguments: &ReportArguments) -> Result<(), Failure> {
    let query = query(arguments);
    if let Some(Some(path)) = &arguments.plot {
        return picture(client, &query, path);
    }
    if arguments.csv {
        return screen::print(&client.get_document(&format!("/reports/usage.csv?{query}"))?);
    }
    let document = client.get_document(&format!("/reports/usage?{query}"))?;
    if arguments.json {
        return screen::print_document(&document);
    }
    let report = read::<Document<UsageReport>>(&document)?.content.report;
    let shown = match arguments.plot {
        Some(_) => bars(&report, width::of_stdout().unwrap_or(USUAL_WIDTH)),
        None => table(&report, width::of_stdout(), colour::wanted(&io::stdout())),
    };
    screen::print(&(range(&report) + &shown))?;
    if !report.complete {
        screen::note(words::not_complete_yet());
    }
    if report.own {
        screen::note(words::own_only());
    }
    Ok(())
}

/// Days are those of the person who asks.
fn query(arguments: &ReportArguments) -> String {
    let zone = arguments.tz.clone().unwrap_or_else(own_zone);
    let given = [
        ("by", arguments.by.as_ref()),
        ("since", arguments.since.as_ref()),
        ("until", arguments.until.as_ref()),
        ("user", arguments.user.as_ref()),
        ("project", arguments.project.as_ref()),
        ("node", arguments.node.as_ref()),
        ("model", arguments.model.as_ref()),
        ("tz", Some(&zone)),
    ];
    let given = given.into_iter().filter_map(|(name, value)| Some((name, value?)));
    given
        .map(|(name, value)| format!("{name}={}", query_value(value)))
        .collect::<Vec<_>>()
        .join("&")
}

fn own_zone() -> String {
    let zone = TimeZone::system();
    let offset = || Timestamp::now().to_zoned(zone.clone()).strftime("%:z").to_string();
    // A name that the server may not know is of no use; its rules are needed for days in other seasons.
    zone.iana_name().map_or_else(offset, str::to_owned)
}

fn picture(client: &Client, query: &str, path: &Path) -> Result<(), Failure> {
    let shown = path.display();
    if path.extension().is_none_or(|ending| !ending.eq_ignore_ascii_case("svg")) {
        return Err(Failure::new(Exit::Usage, msg::not_svg(&shown)).hint(msg::end_in_svg()));
    }
    let svg = client.get_document(&format!("/reports/usage.svg?{query}"))?;
    let failed =
        |cause: io::Error| Failure::new(Exit::Refused, msg::could_not_write(&shown, &cause));
    fs::write(path, svg).map_err(failed)?;
    screen::print(&msg::wrote(&shown))
}

fn range(report: &UsageReportView) -> String {
    let local = |time: &str| {
        let Some(time) = clock::read(time) else { return time.to_owned() };
        time.to_zoned(zone_of(&report.time_zone)).strftime("%Y-%m-%d %H:%M").to_string()
    };
    msg::from_to(&local(&report.since), &local(&report.until), &width::plain(&report.time_zone))
}

/// By its name, or from an offset.
fn zone_of(name: &str) -> TimeZone {
    let fixed = || format!("1970-01-01T00:00:00{name}[{name}]").parse::<jiff::Zoned>().ok();
    let named = TimeZone::get(name).ok();
    let zone = named.or_else(|| Some(fixed()?.time_zone().clone()));
    zone.unwrap_or_else(TimeZone::system)
}
