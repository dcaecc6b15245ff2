//! `danlu report`: what was used, by whom and when; and how good predictions were.

mod bars;
mod predictions;
mod usage;
mod usage_table;

use std::path::PathBuf;

use clap::Args;
use danlu_messages::cli::report as msg;

use crate::{client::Client, failure::Failure};

#[derive(Debug, Args)]
#[command(about = msg::about(), override_usage = msg::usage(), after_help = msg::help())]
pub(crate) struct ReportArguments {
    #[arg(long, value_name = "WHAT", help = msg::by())]
    by: Option<String>,

    #[arg(long, value_name = "TIME", help = msg::since())]
    since: Option<String>,

    #[arg(long, value_name = "TIME", help = msg::until())]
    until: Option<String>,

    #[arg(long, short, value_name = "NAME", help = msg::user())]
    user: Option<String>,

    #[arg(long, value_name = "NAME", help = msg::project())]
    project: Option<String>,

    #[arg(long, value_name = "NAME", help = msg::node())]
    node: Option<String>,

    #[arg(long, value_name = "NAME", help = msg::model())]
    model: Option<String>,

    #[arg(long, value_name = "ZONE", allow_hyphen_values = true, help = msg::tz())]
    tz: Option<String>,

    #[arg(long, help = msg::print_one_json_document())]
    json: bool,

    #[arg(long, conflicts_with = "json", help = msg::csv())]
    csv: bool,

    /// `Some(None)`: as bars.
    #[arg(long, value_name = "FILE", num_args = 0..=1, conflicts_with_all = ["json", "csv"], help = msg::plot())]
    plot: Option<Option<PathBuf>>,

    #[arg(
        long,
        conflicts_with_all = ["by", "since", "until", "user", "project", "node", "model", "tz", "csv", "plot"],
        help = msg::predictions(),
    )]
    predictions: bool,
}

pub(crate) fn run(client: &Client, arguments: &ReportArguments) -> Result<(), Failure> {
    match arguments.predictions {
        true => predictions::run(client, arguments.json),
        false => usage::run(client, arguments),
    }
}
