//! `danlu slurm-shims`: links with the names of Slurm's commands.

use std::{
    env, fs, io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use clap::Args;
use danlu_messages::slurm as msg;
use danlu_slurm::Program;

use crate::{
    failure::{Exit, Failure},
    screen,
};

#[derive(Debug, Args)]
#[command(
    about = msg::about_shims(),
    override_usage = msg::shims_usage(),
    after_help = msg::shims_help(),
)]
pub(crate) struct ShimArguments {
    #[arg(value_name = "DIR", help = msg::shims_directory())]
    directory: PathBuf,

    #[arg(long, help = msg::shims_force())]
    force: bool,
}

/// All or none: what is in the way is found before anything is made.
pub(crate) fn run(arguments: &ShimArguments) -> Result<(), Failure> {
    let directory = std::path::absolute(&arguments.directory)
        .map_err(|cause| failed(&arguments.directory, &cause))?;
    let program = env::current_exe().map_err(|cause| failed(&directory, &cause))?;
    fs::create_dir_all(&directory).map_err(|cause| failed(&directory, &cause))?;
    let links = Program::ALL.map(|program| directory.join(program.name()));
    for link in &links {
        if !arguments.force && link.symlink_metadata().is_ok() && !is_ours(link) {
            return Err(Failure::new(Exit::Refused, msg::foreign_file(&link.display()))
                .hint(msg::choose_or_force()));
        }
    }
    for link in &links {
        match fs::remove_file(link) {
            Ok(()) => {}
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => {}
            Err(cause) => return Err(failed(link, &cause)),
        }
        symlink(&program, link).map_err(|cause| failed(link, &cause))?;
    }
    let shown = directory.display();
    screen::print(&(msg::made_links(&links.len(), &shown) + "\n"))?;
    screen::note(&msg::put_it_in_path(&shown));
    Ok(())
}

/// A link to a program that is called danlu, wherever it was.
fn is_ours(link: &Path) -> bool {
    fs::read_link(link).is_ok_and(|target| target.file_name().is_some_and(|name| name == "danlu"))
}

fn failed(file: &Path, cause: &io::Error) -> Failure {
    Failure::new(Exit::Refused, msg::could_not_link(&file.display(), cause))
}
