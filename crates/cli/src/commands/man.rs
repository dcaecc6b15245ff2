//! `danlu man`: writes the manual pages.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use clap::{Args, Command};
use clap_mangen::Man;
use danlu_messages::cli::man as msg;

use crate::{
    failure::{Exit, Failure},
    help, screen,
};

#[derive(Debug, Args)]
#[command(
    about = msg::manual_pages(),
    override_usage = msg::danlu_man_verb_dir_dir(),
    after_help = msg::help(),
)]
pub(crate) struct ManArguments {
    #[arg(value_name = "VERB", help = msg::verb())]
    verb: Option<String>,

    #[arg(long, value_name = "DIR", conflicts_with = "verb", help = msg::write_all_pages_into_this_directory())]
    dir: Option<PathBuf>,
}

pub(crate) fn run(arguments: &ManArguments) -> Result<(), Failure> {
    let command = help::command();
    if let Some(directory) = &arguments.dir {
        return write_all(&command, directory);
    }
    let (name, command) = match &arguments.verb {
        None => ("danlu".to_owned(), command),
        Some(verb) => match command.find_subcommand(verb) {
            Some(found) => (format!("danlu-{}", found.get_name()), found.clone()),
            None => {
                return Err(
                    Failure::new(Exit::Usage, msg::unknown_verb_verb(&verb)).hint("danlu --help")
                );
            }
        },
    };
    screen::print(&String::from_utf8_lossy(&page(&name, command)))
}

fn write_all(command: &Command, directory: &Path) -> Result<(), Failure> {
    let unwritable = |cause: io::Error| {
        let path = directory.display();
        Failure::new(Exit::Refused, msg::could_not_write_to_path_cause(&path, &cause))
    };
    fs::create_dir_all(directory).map_err(unwritable)?;
    let write = |name: &str, command: &Command| {
        fs::write(directory.join(format!("{name}.1")), page(name, command.clone()))
    };
    write("danlu", command).map_err(unwritable)?;
    for verb in command.get_subcommands().filter(|verb| !verb.is_hide_set()) {
        write(&format!("danlu-{}", verb.get_name()), verb).map_err(unwritable)?;
    }
    Ok(())
}

fn page(name: &str, command: Command) -> Vec<u8> {
    let mut out = Vec::new();
    let command = command.display_name(name).bin_name(name.replacen('-', " ", 1));
    let page = Man::new(command).title(name.to_uppercase());
    page.render(&mut out).expect("memory can be written");
    out
}
