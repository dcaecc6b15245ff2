//! `danlu restore`: replaces the data of a stopped server with a backup.

use std::{
    fs::File,
    io::{self, BufReader, Read},
    path::{Path, PathBuf},
};

use clap::Args;
use danlu_messages::cli::restore as msg;
use danlu_server::daemon::{
    config::{Config, Flags},
    restore::{self, Restored},
};

use crate::{
    failure::{Exit, Failure},
    screen::{self, confirm::confirm},
};

#[derive(Debug, Args)]
#[command(
    about = msg::about(),
    override_usage = msg::danlu_restore_file_options(),
    after_help = msg::help(),
)]
pub(crate) struct RestoreArguments {
    #[arg(value_name = "FILE", help = msg::file())]
    file: PathBuf,

    #[arg(long, value_name = "DIR", help = msg::data_directory())]
    data: Option<PathBuf>,

    #[arg(long, value_name = "CONFIG", help = msg::configuration_file())]
    config: Option<PathBuf>,

    #[arg(short, long, help = msg::do_not_ask())]
    yes: bool,
}

pub(crate) fn run(arguments: &RestoreArguments) -> Result<(), Failure> {
    let RestoreArguments { file, data, config, yes } = arguments;
    let config = configured(data.as_deref(), config.as_deref())?;
    let input: Box<dyn Read> = match file == Path::new("-") {
        true => Box::new(io::stdin().lock()),
        false => Box::new(BufReader::new(File::open(file).map_err(|error| {
            let shown = file.display();
            let message = msg::could_not_open_shown_error(&shown, &error);
            Failure::new(Exit::NotFound, message)
        })?)),
    };
    let place = config.data.display();
    let question = msg::confirm(&place);
    let empty = !config.data.join("danlu.db").exists();
    if !yes && !empty && !confirm(&question)? {
        return Ok(());
    }
    let done = restore::restore(input, &config.data, config.file())
        .map_err(|error| Failure::new(Exit::Refused, error.to_string()).hint(error.hint()))?;
    screen::print(&told(&done))
}

fn told(done: &Restored) -> String {
    let Restored { backup_at, contents, aside, configuration } = done;
    let (tasks, open) = (contents.tasks, contents.open_tasks);
    let mut out = msg::restored(&backup_at, &tasks, &open);
    if let Some(aside) = aside {
        let aside = aside.display();
        out += &msg::what_was_there_is_in_aside(&aside);
    }
    for file in configuration {
        let file = file.display();
        out += &msg::configuration_of_the_backup_file(&file);
    }
    out
}

/// Where a server that is started with these has its data.
pub(super) fn configured(data: Option<&Path>, config: Option<&Path>) -> Result<Config, Failure> {
    let (data, config) = (data.map(Path::to_owned), config.map(Path::to_owned));
    Config::load(Flags { data, config, ..Flags::default() })
        .map_err(|error| Failure::new(Exit::Refused, error.to_string()))
}
