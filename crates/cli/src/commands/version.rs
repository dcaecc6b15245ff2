//! `danlu version`: which Danlu this is.

use clap::Args;

use crate::{failure::Failure, language::text, screen};

#[derive(Debug, Args)]
#[command(
    about = text("Show the version", "显示版本"),
    override_usage = "danlu version",
)]
pub(crate) struct Arguments {}

pub(crate) fn run(_: &Arguments) -> Result<(), Failure> {
    screen::print(concat!("danlu ", env!("CARGO_PKG_VERSION"), "\n"))
}
