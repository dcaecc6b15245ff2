//! `danlu archive`: writes ended tasks as JSON lines, and reads such lines again.

use std::{
    fs::File,
    io::{self, BufRead as _, BufReader, BufWriter, IsTerminal as _, Read as _, Write as _},
    path::{Path, PathBuf},
};

use clap::Args;
use danlu_messages::cli::archive as msg;
use danlu_node::private;
use danlu_wire::api::{Archive, ArchiveImport, ArchiveLines, Archived, Document, Imported};

use crate::{
    client::{Client, read},
    failure::{Exit, Failure},
    parse::{
        task_ids::{TaskNames, parse_task_names},
        time_limit::{TimeLimit, parse_time_limit},
    },
    screen::{self, confirm::confirm},
    selection::resolve_names,
};

/// Sent together.
const LINES: usize = 1_000;
const BYTES: usize = 1 << 20;
/// A longer line is no task.
const LONGEST_LINE: u64 = 4 << 20;

#[derive(Debug, Args)]
#[command(
    about = msg::about(),
    override_usage = msg::danlu_archive_id_options(),
    after_help = msg::help(),
)]
pub(crate) struct ArchiveArguments {
    #[arg(value_name = "ID", value_parser = parse_task_names, help = msg::task_ids())]
    ids: Vec<TaskNames>,

    #[arg(long, value_name = "TIME", value_parser = parse_time_limit, help = msg::older_than())]
    older_than: Option<TimeLimit>,

    #[arg(long, value_name = "N", help = msg::all_but_the_newest_n())]
    keep: Option<usize>,

    #[arg(long, value_name = "NAME", conflicts_with = "ids", help = msg::of_this_user_for_everybody())]
    user: Option<String>,

    #[arg(long, conflicts_with = "ids", help = msg::all_of_mine())]
    all: bool,

    #[arg(short, long, value_name = "FILE", help = msg::output_file())]
    output: Option<PathBuf>,

    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["ids", "older_than", "keep", "user", "all", "output"],
        help = msg::import_file()
    )]
    import: Option<PathBuf>,

    #[arg(short, long, help = msg::do_not_ask())]
    yes: bool,

    #[arg(long, help = msg::print_one_json_document())]
    json: bool,
}

pub(crate) fn run(client: &Client, arguments: &ArchiveArguments) -> Result<(), Failure> {
    let ArchiveArguments { ids, older_than, keep, user, all, output, import, yes, json } =
        arguments;
    if let Some(file) = import {
        return import_lines(client, file, *json);
    }
    if ids.is_empty() && older_than.is_none() && keep.is_none() && user.is_none() && !all {
        let message = msg::which_tasks();
        return Err(Failure::new(Exit::Usage, message).hint("danlu archive --older-than 30d"));
    }
    if ids.is_empty() && output.is_none() && !yes && !confirm(msg::confirm())? {
        return Ok(());
    }
    let body = Archive {
        ids: resolve_names(client, ids.iter().flat_map(|names| &names.0))?.ids,
        user: user.clone(),
        older_than: older_than.and_then(TimeLimit::seconds),
        keep: *keep,
        first: None,
        after: None,
    };
    let archived = match output {
        Some(file) => write_lines(client, body, file)?,
        None => {
            let document = client.send("POST", "/archive", &body)?;
            read::<Document<Archived>>(&document)?.content.archived
        }
    };
    if *json {
        return screen::print_document(&document(&Archived { archived }));
    }
    screen::print(&msg::archived_count_tasks(&archived))
}

fn document<T: serde::Serialize + Clone>(content: &T) -> String {
    serde_json::to_string(&Document::new(content.clone())).unwrap_or_default()
}

/// As the caller, who names the file.
fn write_lines(client: &Client, mut body: Archive, file: &Path) -> Result<usize, Failure> {
    let unwritable = |error: io::Error| {
        let message = msg::could_not_write(&file.display(), &error);
        Failure::new(Exit::Refused, message).hint(msg::give_another_file())
    };
    let created = private::create_new(file).map_err(unwritable)?;
    let mut out = BufWriter::with_capacity(1 << 20, created);
    let mut count = 0;
    loop {
        let document = client.send("POST", "/archive/lines", &body)?;
        let ArchiveLines { lines, next } = read::<Document<ArchiveLines>>(&document)?.content;
        for line in &lines {
            writeln!(out, "{line}").map_err(unwritable)?;
        }
        count += lines.len();
        if next.is_none() {
            break;
        }
        body.after = next;
    }
    out.into_inner()
        .map_err(|error| unwritable(error.into_error()))?
        .sync_all()
        .map_err(unwritable)?;
    Ok(count)
}

fn import_lines(client: &Client, file: &Path, json: bool) -> Result<(), Failure> {
    let unreadable = |error: io::Error| {
        let message = msg::could_not_read(&file.display(), &error);
        Failure::new(Exit::Refused, message).hint(msg::give_an_archive())
    };
    let mut input = BufReader::with_capacity(1 << 20, File::open(file).map_err(unreadable)?);
    let mut sum = Imported { imported: 0, skipped: 0 };
    let mut part = ArchiveImport { first_line: 1, lines: Vec::new() };
    let (mut bytes, mut ended) = (0, false);
    while !ended {
        let mut line = Vec::new();
        let limited = (&mut input).take(LONGEST_LINE).read_until(b'\n', &mut line);
        limited.map_err(unreadable)?;
        ended = line.is_empty();
        let number = part.first_line + part.lines.len() as u64;
        if line.len() as u64 == LONGEST_LINE {
            let message = msg::line_too_long(&file.display(), &number);
            return Err(Failure::new(Exit::Refused, message).hint(msg::give_an_archive()));
        }
        if !ended {
            bytes += line.len();
            let text = String::from_utf8(line).map_err(|_| {
                let message = msg::line_not_text(&file.display(), &number);
                Failure::new(Exit::Refused, message).hint(msg::give_an_archive())
            })?;
            part.lines.push(text.trim_end().to_owned());
        }
        if !part.lines.is_empty() && (ended || part.lines.len() == LINES || bytes >= BYTES) {
            let document = client.send("POST", "/archive/import", &part)?;
            let Imported { imported, skipped } = read::<Document<Imported>>(&document)?.content;
            sum.imported += imported;
            sum.skipped += skipped;
            part.first_line += part.lines.len() as u64;
            part.lines.clear();
            bytes = 0;
            if !json && io::stderr().is_terminal() && (part.first_line - 1).is_multiple_of(50_000) {
                screen::aside(&msg::read_count_lines(&(part.first_line - 1)));
            }
        }
    }
    if json {
        return screen::print_document(&document(&sum));
    }
    screen::print(&msg::imported_count_tasks(&sum.imported, &sum.skipped))
}
