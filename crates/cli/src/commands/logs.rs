//! `danlu logs`: what a task has printed.

use std::io::{self, IsTerminal as _, Read as _, Write as _};

use clap::Args;
use danlu_wire::api::ErrorCode;
use ureq::{Body, http::Response};

use super::{
    following::{News, Subject, follow},
    user::path_segment,
};
use crate::{
    client::{Client, Problem, bytes_of},
    failure::{Exit, Failure},
    given::task_ids::{TaskName, parse_one_task},
    language::{say, text},
    screen::{clock, escapes::Escapes, progress_lines::ProgressLines, written},
    selection::resolve_one,
};

#[derive(Clone, Debug, Args)]
#[command(
    about = text("Show what a task has printed", "显示任务的输出"),
    override_usage = text("danlu logs ID [OPTIONS]", "danlu logs 编号 [选项]"),
    after_help = text(
        "Progress bars are shown as one line. A terminal gets text and colours, and no other control\n\
         sequences. --raw shows every byte.\n\n\
         Examples:\n  \
           danlu logs -f @             follow my last task\n  \
           danlu logs 12 --tail 100\n  \
           danlu logs 12 --run 1       the first attempt of a task that was run again\n  \
           danlu logs 12 --node gpu2   of a task on several machines, what it printed there",
        "进度条只显示为一行；输出到终端时只保留文本和颜色，去掉其他控制序列；--raw 原样输出每个字节。\n\n\
         示例：\n  \
           danlu logs -f @             跟踪我最近的任务\n  \
           danlu logs 12 --tail 100\n  \
           danlu logs 12 --run 1       重试过的任务的第一次运行\n  \
           danlu logs 12 --node gpu2   多机任务在该机器上的输出",
    ),
)]
pub(crate) struct Arguments {
    #[arg(value_name = "ID", value_parser = parse_subject, help = text(
        "The task: its id, `@` or `@~1`; or `server`",
        "任务：编号、`@` 或 `@~1`；或 `server`",
    ))]
    id: Log,

    #[arg(short, long, help = text(
        "Go on until the task has ended",
        "持续输出，直到任务结束",
    ))]
    follow: bool,

    #[arg(long, value_name = "K", help = text(
        "The K-th attempt (the last unless told)",
        "第 K 次运行（默认最后一次）",
    ))]
    run: Option<u32>,

    #[arg(long, value_name = "NAME", help = text(
        "Of a task on several machines: what it printed there (on the first unless told)",
        "多机任务：在该机器上的输出（默认第一台）",
    ))]
    node: Option<String>,

    #[arg(short = 'n', long, value_name = "N", help = text("Only the last N lines", "只显示最后 N 行"))]
    tail: Option<u64>,

    #[arg(long, conflicts_with = "stderr", help = text("Only standard output", "只显示标准输出"))]
    stdout: bool,

    #[arg(long, help = text(
        "Only standard error, where it goes to a file of its own",
        "只显示标准错误（输出到单独文件时）",
    ))]
    stderr: bool,

    #[arg(long, help = text("Every byte as it was written", "原样输出每个字节"))]
    raw: bool,
}

#[derive(Clone, Copy, Debug)]
enum Log {
    Task(TaskName),
    Server,
}

fn parse_subject(given: &str) -> Result<Log, String> {
    match given {
        "server" | "main" => Ok(Log::Server),
        _ => parse_one_task(given).map(Log::Task),
    }
}

impl Arguments {
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

pub(crate) fn run(client: &Client, arguments: &Arguments) -> Result<(), Failure> {
    let name = match arguments.id {
        Log::Task(name) => name,
        Log::Server => return server(client, arguments),
    };
    let id = resolve_one(client, name)?;
    let mut printer = Printer::new(arguments.raw, arguments.follow);
    if !arguments.follow {
        return so_far(client, arguments, &format!("/tasks/{id}/logs"), &mut printer);
    }
    let subject = Subject {
        id,
        only_run: arguments.run,
        from_first: false,
        node: arguments.node.clone(),
        stream: arguments.stream(),
        tail: arguments.tail,
    };
    follow(client, &subject, &mut |news| match news {
        News::Bytes(bytes) => printer.print(&bytes),
        News::Task(_) => Ok(true),
    })?;
    printer.finish()
}

/// What is there now, piece by piece; what is added meanwhile is left for the next time.
fn so_far(
    client: &Client,
    arguments: &Arguments,
    path: &str,
    printer: &mut Printer,
) -> Result<(), Failure> {
    let mut query = Vec::new();
    query.extend(arguments.run.map(|run| format!("run={run}")));
    query.extend(arguments.node.as_deref().map(|name| format!("node={}", path_segment(name))));
    query.extend(arguments.stream().map(|stream| format!("stream={stream}")));
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
            eprintln!(
                "{}",
                say!(
                    "note: its machine is away; these are the last lines as of {at}",
                    "提示：其机器已失联；以下是截至 {at} 的最后几行"
                )
            );
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

fn server(client: &Client, arguments: &Arguments) -> Result<(), Failure> {
    let mut printer = Printer::new(arguments.raw, false);
    let failure = match client.open("/server/logs?offset=0", "text/plain") {
        Ok(_) => return so_far(client, arguments, "/server/logs", &mut printer),
        Err(problem) if problem.code() == Some(ErrorCode::NotFound) => Failure::new(
            Exit::Refused,
            text("the server does not keep its log in a file", "服务器没有把日志保存为文件"),
        )
        .hint("journalctl -u danlu"),
        Err(problem) => problem.into(),
    };
    Err(failure)
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

    /// Whether somebody still reads.
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
