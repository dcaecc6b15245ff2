//! `danlu version`: prints the version.

use clap::Args;
use danlu_messages::cli::version as msg;

use crate::{failure::Failure, screen};

#[derive(Debug, Args)]
#[command(
    about = msg::show_the_version(),
    override_usage = "danlu version",
)]
pub(crate) struct VersionArguments {}

pub(crate) fn run(_: &VersionArguments) -> Result<(), Failure> {
    screen::print(concat!("danlu ", env!("CARGO_PKG_VERSION"), "\n"))
}
