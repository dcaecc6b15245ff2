//! `danlu backup`: writes database, keys and configuration of a running server to one file.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use clap::Args;
use danlu_messages::cli::backup as msg;
use danlu_node::private;
use danlu_server::daemon::restore;

use crate::{
    client::Client,
    failure::{Exit, Failure},
    screen,
};

#[derive(Debug, Args)]
#[command(
    about = msg::back_up_the_server_while_it_runs(),
    override_usage = msg::danlu_backup_file_options(),
    after_help = msg::help(),
)]
pub(crate) struct BackupArguments {
    #[arg(value_name = "FILE", help = msg::output_file())]
    file: PathBuf,

    #[arg(long, help = msg::include_what_tasks_have_printed())]
    logs: bool,
}

pub(crate) fn run(client: &Client, arguments: &BackupArguments) -> Result<(), Failure> {
    let BackupArguments { file, logs } = arguments;
    let address = format!("/server/backup?logs={logs}");
    if file == Path::new("-") {
        let mut body = client.open(&address, "application/x-tar")?.into_body().into_reader();
        let mut out = io::stdout().lock();
        return io::copy(&mut body, &mut out)
            .and_then(|_| out.flush())
            .map_err(|error| incomplete(&error));
    }
    if file.symlink_metadata().is_ok() {
        let shown = file.display();
        let message = msg::shown_exists_already(&shown);
        return Err(Failure::new(Exit::Refused, message).hint(msg::give_another_name()));
    }
    let body = client.open(&address, "application/x-tar")?.into_body().into_reader();
    let made = make(body, file);
    if made.is_err() {
        let _ = fs::remove_file(file);
    }
    let bytes = made?;
    let (shown, megabytes) = (file.display(), bytes.div_ceil(1 << 20));
    screen::print(&msg::backed_up_to_shown_megabytes_mb(&shown, &megabytes))
}

/// Not before all of it has been read again is it a backup.
fn make(mut body: impl io::Read, file: &Path) -> Result<u64, Failure> {
    let unwritable = |error: &io::Error| {
        let shown = file.display();
        let message = msg::could_not_write_shown_error(&shown, &error);
        Failure::new(Exit::Refused, message).hint(msg::give_a_file_that_you_may_create())
    };
    let created = private::create_new(file).map_err(|error| unwritable(&error))?;
    let mut out = BufWriter::with_capacity(1 << 20, created);
    let bytes = io::copy(&mut body, &mut out).map_err(|error| incomplete(&error))?;
    let written = out.into_inner().map_err(io::IntoInnerError::into_error);
    written.and_then(|written| written.sync_all()).map_err(|error| unwritable(&error))?;
    let read = File::open(file).map_err(|error| unwritable(&error))?;
    restore::verify(io::BufReader::new(read)).map_err(|error| {
        Failure::new(Exit::Internal, error.to_string()).hint("danlu logs server")
    })?;
    Ok(bytes)
}

fn incomplete(error: &io::Error) -> Failure {
    let message = msg::incomplete_backup(&error);
    Failure::new(Exit::Unreachable, message).hint("danlu logs server")
}
