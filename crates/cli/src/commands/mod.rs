//! The verbs of `danlu`, one file each.

mod demo;
mod sim;
mod version;

use clap::Subcommand;

use crate::failure::Failure;

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    Demo(demo::Arguments),
    Sim(sim::Arguments),
    Version(version::Arguments),
}

pub(crate) fn run(verb: Verb) -> Result<(), Failure> {
    match verb {
        Verb::Demo(arguments) => demo::run(&arguments),
        Verb::Sim(arguments) => sim::run(&arguments),
        Verb::Version(arguments) => version::run(&arguments),
    }
}
