//! `danlu report --predictions`: how good they were.

use danlu_messages::cli::report as msg;
use danlu_wire::api::{AccuracyView, Document, Predictions};

use crate::{
    client::{Client, read},
    failure::Failure,
    screen,
};

pub(super) fn run(client: &Client, json: bool) -> Result<(), Failure> {
    let document = client.get_document("/reports/predictions")?;
    if json {
        return screen::print_document(&document);
    }
    let told = read::<Document<Predictions>>(&document)?.content.predictions;
    let durations = line(msg::how_long_tasks_run(), &told.durations);
    let starts = line(msg::how_long_tasks_wait(), &told.starts);
    screen::print(&(durations + &starts))
}

fn line(what: &str, accuracy: &AccuracyView) -> String {
    let compared = accuracy.compared;
    let Some(share) = accuracy.within_25_percent else {
        return msg::what_nothing_to_compare_yet(&what);
    };
    let percent = share * 100.0;
    let bias = accuracy.bias.map(leaning).unwrap_or_default();
    msg::compared(&what, &compared, &percent, &bias)
}

fn leaning(bias: f64) -> String {
    let percent = bias.abs() * 100.0;
    if bias < 0.0 {
        msg::percent_too_short_in_sum(&percent)
    } else {
        msg::percent_too_long_in_sum(&percent)
    }
}
