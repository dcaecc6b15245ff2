//! `danlu man`: manual pages.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use clap::{Args, Command};
use clap_mangen::Man;

use crate::{
    failure::{Exit, Failure},
    help,
    language::{say, text},
    screen,
};

#[derive(Debug, Args)]
#[command(
    about = text("Manual pages", "生成手册页"),
    override_usage = text("danlu man [VERB] [--dir DIR]", "danlu man [动词] [--dir 目录]"),
    after_help = text(
        "Examples:\n  \
           danlu man submit | man -l -                       read one\n  \
           danlu man --dir ~/.local/share/man/man1           write them all",
        "示例：\n  \
           danlu man submit | man -l -                       阅读一页\n  \
           danlu man --dir ~/.local/share/man/man1           写出全部",
    ),
)]
pub(crate) struct Arguments {
    #[arg(value_name = "VERB", help = text("The verb to write about", "要生成的动词"))]
    verb: Option<String>,

    #[arg(long, value_name = "DIR", conflicts_with = "verb", help = text(
        "Write all pages into this directory",
        "把所有手册页写入该目录",
    ))]
    dir: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let command = help::command();
    if let Some(directory) = &arguments.dir {
        return write_all(&command, directory);
    }
    let (name, command) = match &arguments.verb {
        None => ("danlu".to_owned(), command),
        Some(verb) => match command.find_subcommand(verb) {
            Some(found) => (format!("danlu-{}", found.get_name()), found.clone()),
            None => {
                return Err(Failure::new(
                    Exit::Usage,
                    say!("unknown verb `{verb}`", "未知的动词 `{verb}`"),
                )
                .hint("danlu --help"));
            }
        },
    };
    screen::print(&String::from_utf8_lossy(&page(&name, command)))
}

fn write_all(command: &Command, directory: &Path) -> Result<(), Failure> {
    let unwritable = |cause: io::Error| {
        let path = directory.display();
        Failure::new(
            Exit::Refused,
            say!("could not write to {path}: {cause}", "无法写入 {path}：{cause}"),
        )
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
