//! `danlu slurm`: one of Slurm's commands without a link of its name.

use std::process::ExitCode;

use clap::Args;
use danlu_messages::slurm as msg;
use danlu_slurm::Program;

use crate::failure::{Exit, Failure};

#[derive(Debug, Args)]
#[command(
    about = msg::about_slurm(),
    override_usage = msg::slurm_usage(),
    after_help = msg::slurm_help(),
)]
pub(crate) struct SlurmArguments {
    #[arg(value_name = "COMMAND", trailing_var_arg = true, allow_hyphen_values = true, help = msg::words())]
    words: Vec<String>,
}

pub(crate) fn run(arguments: &SlurmArguments) -> Result<ExitCode, Failure> {
    let [name, words @ ..] = arguments.words.as_slice() else {
        return Err(unknown(""));
    };
    let program = Program::named(name).ok_or_else(|| unknown(name))?;
    Ok(crate::slurm::run(program, words))
}

fn unknown(name: &str) -> Failure {
    Failure::new(Exit::Usage, msg::unknown_program(&name)).hint(msg::known_programs())
}
