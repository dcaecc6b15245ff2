//! `danlu logs`: prints the output of a task, or the server's own log.

mod server_log;

use std::io::{self, IsTerminal as _, Read as _, Write as _};

use clap::Args;
use danlu_messages::cli::logs as msg;
use ureq::{Body, http::Response};

use super::task_output::{FollowEvent, FollowTarget, follow};
use crate::{
    client::{Client, Problem, bytes_of, path_segment},
    failure::{Exit, Failure},
    parse::{
        past::{Past, parse_past},
        task_ids::{TaskName, parse_one_task},
    },
    screen::{clock, escapes::Escapes, progress_lines::ProgressLines, written},
    selection::resolve_one,
};

#[derive(Clone, Debug, Args)]
#[command(
    about = msg::show_what_a_task_has_printed(),
    override_usage = msg::danlu_logs_id_options(),
    after_help = msg::help(),
)]
pub(crate) struct LogsArguments {
    #[arg(value_name = "ID", value_parser = parse_subject, help = msg::task_or_server())]
    id: LogSource,

    #[arg(short, long, help = msg::go_on_until_the_task_has_ended())]
    follow: bool,

    #[arg(long, value_name = "K", help = msg::attempt())]
    run: Option<u32>,

    #[arg(long, value_name = "NAME", help = msg::on_node())]
    node: Option<String>,

    #[arg(short = 'n', long, value_name = "N", help = msg::only_the_last_n_lines())]
    tail: Option<u64>,

    #[arg(long, conflicts_with = "stderr", help = msg::only_standard_output())]
    stdout: bool,

    #[arg(long, help = msg::standard_error_only())]
    stderr: bool,

    #[arg(long, help = msg::every_byte_as_it_was_written())]
    raw: bool,

    #[arg(long, value_name = "LEVEL", value_parser = parse_level, help = msg::server_level())]
    level: Option<String>,

    #[arg(long, value_name = "TEXT", help = msg::server_text())]
    text: Option<String>,

    #[arg(long, value_name = "TIME", value_parser = parse_past, help = msg::server_since())]
    since: Option<Past>,
}

#[derive(Clone, Copy, Debug)]
enum LogSource {
    Task(TaskName),
    Server,
}

fn parse_level(given: &str) -> Result<String, String> {
    const LEVELS: [&str; 5] = ["error", "warn", "info", "debug", "trace"];
    let level = given.to_ascii_lowercase();
    match LEVELS.contains(&level.as_str()) {
        true => Ok(level),
        false => Err(msg::one_of(&LEVELS.join(", "))),
    }
}

fn parse_subject(given: &str) -> Result<LogSource, String> {
    match given {
        "server" | "main" => Ok(LogSource::Server),
        _ => parse_one_task(given).map(LogSource::Task),
    }
}

impl LogsArguments {
    /// `danlu follow`.
    pub(crate) fn following(self) -> Self {
        Self { follow: true, ..self }
    }

    fn stream(&self) -> Option<&'static str> {
        match (self.stdout, self.stderr) {
            (true, _) => Some("stdout"),
            (_, true) => Some("stderr"),
            _ => None,
        }
    }
}

pub(crate) fn run(client: &Client, arguments: &LogsArguments) -> Result<(), Failure> {
    let name = match arguments.id {
        LogSource::Task(name) => name,
        LogSource::Server => return server_log::print(client, arguments),
    };
    if arguments.level.is_some() || arguments.text.is_some() || arguments.since.is_some() {
        let failure = Failure::new(Exit::Usage, msg::only_for_the_server());
        return Err(failure.hint("danlu logs server --level warn"));
    }
    let id = resolve_one(client, name)?;
    let mut printer = Printer::new(arguments.raw, arguments.follow);
    if !arguments.follow {
        return so_far(client, arguments, &format!("/tasks/{id}/logs"), &[], &mut printer);
    }
    let subject = FollowTarget {
        id,
        only_run: arguments.run,
        from_first: false,
        node: arguments.node.clone(),
        stream: arguments.stream(),
        tail: arguments.tail,
    };
    follow(client, &subject, &mut |news| match news {
        FollowEvent::Bytes(bytes) => printer.print(&bytes),
        FollowEvent::Task(_) => Ok(true),
    })?;
    printer.finish()
}

/// Prints the log up to its present end, piece by piece; what is added meanwhile is not read.
fn so_far(
    client: &Client,
    arguments: &LogsArguments,
    path: &str,
    more: &[String],
    printer: &mut Printer,
) -> Result<(), Failure> {
    let mut query = Vec::new();
    query.extend(arguments.run.map(|run| format!("run={run}")));
    query.extend(arguments.node.as_deref().map(|name| format!("node={}", path_segment(name))));
    query.extend(arguments.stream().map(|stream| format!("stream={stream}")));
    query.extend(more.iter().cloned());
    let mut place =
        arguments.tail.map_or_else(|| "offset=0".to_owned(), |tail| format!("tail={tail}"));
    let mut until = None;
    loop {
        let path = format!("{path}?{}", [query.as_slice(), &[place]].concat().join("&"));
        let answer = client.open(&path, "text/plain")?;
        let number = |name| header(&answer, name);
        let (reached, size) = (number("x-danlu-offset")?, number("x-danlu-size")?);
        let until = *until.get_or_insert(size);
        if let Some(at) = answer.headers().get("x-danlu-kept-at").and_then(|it| it.to_str().ok()) {
            let at = clock::read(at)
                .map_or_else(|| at.to_owned(), |at| clock::long(at, jiff::Timestamp::now()));
            eprintln!("{}", msg::machine_away(&at));
        }
        let mut bytes = bytes_of(answer);
        let mut buffer = vec![0; 64 << 10];
        loop {
            let count = bytes
                .read(&mut buffer)
                .map_err(|cause| Failure::from(Problem::Lost { cause: cause.to_string() }))?;
            if count == 0 {
                break;
            }
            if !printer.print(&buffer[..count])? {
                return Ok(());
            }
        }
        if reached >= until {
            return printer.finish();
        }
        place = format!("offset={reached}");
    }
}

fn header(answer: &Response<Body>, name: &str) -> Result<u64, Problem> {
    let value = answer.headers().get(name).and_then(|value| value.to_str().ok());
    value
        .and_then(|value| value.parse().ok())
        .ok_or_else(|| Problem::Odd(format!("the header {name} is missing")))
}

/// Output on its way to stdout.
struct Printer {
    bars: Option<ProgressLines>,
    /// On a terminal.
    escapes: Option<Escapes>,
    buffer: Vec<u8>,
}

impl Printer {
    /// A terminal draws progress bars itself while they move.
    fn new(raw: bool, live: bool) -> Self {
        let terminal = io::stdout().is_terminal();
        let drawn = live && terminal;
        let bars = !(raw || drawn);
        Self {
            bars: bars.then(ProgressLines::default),
            escapes: (terminal && !raw).then(Escapes::default),
            buffer: Vec::new(),
        }
    }

    /// `false` when the reader has closed the pipe.
    fn print(&mut self, bytes: &[u8]) -> Result<bool, Failure> {
        match &mut self.bars {
            None => write_to(&mut self.escapes, bytes),
            Some(bars) => {
                self.buffer.clear();
                bars.feed(bytes, &mut self.buffer);
                write_to(&mut self.escapes, &self.buffer)
            }
        }
    }

    fn finish(&mut self) -> Result<(), Failure> {
        let Some(bars) = &mut self.bars else { return Ok(()) };
        self.buffer.clear();
        bars.finish(&mut self.buffer);
        write_to(&mut self.escapes, &self.buffer).map(drop)
    }
}

fn write_to(escapes: &mut Option<Escapes>, bytes: &[u8]) -> Result<bool, Failure> {
    let Some(escapes) = escapes else { return write(bytes) };
    let mut shown = Vec::with_capacity(bytes.len());
    escapes.feed(bytes, &mut shown);
    write(&shown)
}

pub(super) fn write(bytes: &[u8]) -> Result<bool, Failure> {
    let mut out = io::stdout().lock();
    written(out.write_all(bytes).and_then(|()| out.flush()))
}
