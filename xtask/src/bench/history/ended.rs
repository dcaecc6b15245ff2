//! Ended tasks, from none to a million: start, memory, lists, search and pages.

use std::time::{Duration, Instant};

use serde_json::Value;

use super::{Size, command, lines, typical};
use crate::bench::{
    figure::{Figure, Target, Unit, median},
    http::Connection,
    measuring::go_on,
    server::{Gpus, Programs, Server},
};

const GPUS: Gpus = Gpus::Simulated(4);
/// Beyond an empty server, in seconds and megabytes.
const START: f64 = 0.3;
const MEMORY: f64 = 40.0;
/// Of what an empty server takes, or of the first page.
const AS_LONG: f64 = 1.2;
const SEARCH: f64 = 100.0;
/// Tasks that have ended a moment ago, in every server.
const RECENT: usize = 20;
/// The first id.
const FIRST: u64 = 1;
/// A million lines are imported in this time, or something is wrong.
const LONGEST_IMPORT: Duration = Duration::from_secs(900);

/// What all others are compared with.
#[derive(Clone, Copy, Debug)]
struct Empty {
    start: f64,
    memory: f64,
    list: f64,
    list_all: f64,
}

pub(super) fn measure(programs: &Programs, size: Size) -> Result<Vec<Figure>, String> {
    let mut figures = Vec::new();
    let mut empty = None;
    for count in size.ended {
        go_on()?;
        let server = Server::start(programs, GPUS)?;
        // Rows would be removed as too old while they are measured.
        server.say(&["set", "history.keep", "0"])?;
        for user in lines::users() {
            server.say(&["user", "add", &user])?;
        }
        if count > 0 {
            figures.push(import(&server, count)?);
        }
        // Every list has the same lines to show.
        for _ in 0..RECENT {
            server.say(&["run", "-g", "0", "--", "true"])?;
        }
        let measured = one(programs, size, server, count, empty)?;
        let of = |name: &str| {
            measured.iter().find(|figure| figure.name == name).map_or(f64::NAN, Figure::median)
        };
        if empty.is_none() {
            let (start, memory) = (of("start"), of("memory"));
            empty = Some(Empty { start, memory, list: of("ls"), list_all: of("ls_all") });
        }
        figures.extend(measured);
    }
    Ok(figures)
}

fn import(server: &Server, count: usize) -> Result<Figure, String> {
    eprintln!("{count} ended tasks are imported");
    let file = server.directory().join("lines.jsonl");
    lines::write(&file, count, FIRST)?;
    let path = file.to_str().ok_or("a path that is not UTF-8")?;
    let since = Instant::now();
    server.say(&["archive", "--import", path])?;
    let took = since.elapsed();
    if took > LONGEST_IMPORT {
        return Err(format!("importing {count} tasks took {} s", took.as_secs()));
    }
    std::fs::remove_file(&file).map_err(|error| error.to_string())?;
    Ok(Figure {
        name: "import",
        what: format!("{count} ended tasks imported"),
        unit: Unit::PerSecond,
        target: Target::None,
        rounds: vec![count as f64 / took.as_secs_f64()],
    })
}

fn one(
    programs: &Programs,
    size: Size,
    mut server: Server,
    count: usize,
    empty: Option<Empty>,
) -> Result<Vec<Figure>, String> {
    eprintln!("{count} ended tasks");
    let (mut starts, mut fresh) = (Vec::new(), Vec::new());
    for _ in 0..size.rounds {
        go_on()?;
        starts.push(server.restart(programs, GPUS)?.as_secs_f64());
        fresh.push(server.daemon().memory()?);
    }
    let list = typical(size, || command(&server, &["ls"]))?;
    let list_all = typical(size, || command(&server, &["ls", "-a"]))?;
    let within = |value: Option<f64>| value.map_or(Target::None, Target::AtMost);
    let figure = |name, what: &str, unit, target, rounds| Figure {
        name,
        what: format!("{what}, {count} ended"),
        unit,
        target,
        rounds,
    };
    let seconds = within(empty.map(|empty| empty.start + START));
    let megabytes = within(empty.map(|empty| empty.memory + MEMORY));
    let milliseconds = Unit::Milliseconds;
    let mut figures = vec![
        figure("start", "start until it can be reached", Unit::Seconds, seconds, starts),
        figure("memory", "memory of the daemon then", Unit::Megabytes, megabytes, fresh),
        figure("ls", "ls", milliseconds, within(empty.map(|it| it.list * AS_LONG)), list),
        figure(
            "ls_all",
            "ls -a",
            milliseconds,
            within(empty.map(|it| it.list_all * AS_LONG)),
            list_all,
        ),
    ];
    if count > 0 {
        let mut reader = Reader::new(&server)?;
        for word in lines::WORDS {
            let times = typical(size, || reader.search(&word))?;
            figures.push(figure(word.name, word.what, milliseconds, Target::AtMost(SEARCH), times));
        }
        let first = typical(size, || reader.page(None))?;
        let cursor = reader.cursor_of(size.page)?;
        let later = typical(size, || reader.page(Some(&cursor)))?;
        let same = Target::AtMost(median(&first) * AS_LONG);
        figures.push(figure("page_first", "page 1", milliseconds, Target::None, first));
        figures.push(figure(
            "page_later",
            &format!("page {}", size.page),
            milliseconds,
            same,
            later,
        ));
        let memory = vec![server.daemon().memory()?];
        figures.push(figure(
            "memory_read",
            "memory of the daemon after all that",
            Unit::Megabytes,
            megabytes,
            memory,
        ));
    }
    Ok(figures)
}

/// Reads lists over one connection.
struct Reader {
    connection: Connection,
    token: String,
    asked: usize,
}

impl Reader {
    fn new(server: &Server) -> Result<Reader, String> {
        let token = server.say(&["token", "new", "bench", "-q"])?;
        Ok(Reader { connection: Connection::open(server.address())?, token, asked: 0 })
    }

    fn search(&mut self, word: &lines::Word) -> Result<f64, String> {
        self.asked += 1;
        let text = (word.of)(self.asked);
        let (took, found) = self.timed(&format!("text={}", encoded(&text)))?;
        if found.is_empty() != (text == lines::NOWHERE) {
            return Err(format!("{} tasks have {text} in their text", found.len()));
        }
        Ok(took)
    }

    fn page(&mut self, cursor: Option<&str>) -> Result<f64, String> {
        self.asked += 1;
        let cursor = cursor.map(|cursor| format!("cursor={cursor}")).unwrap_or_default();
        let (took, tasks) = self.timed(&cursor)?;
        if tasks.is_empty() {
            return Err("a page of the history is empty".to_owned());
        }
        Ok(took)
    }

    fn timed(&mut self, query: &str) -> Result<(f64, Vec<Value>), String> {
        let path =
            format!("/api/v1/tasks?{}={}&{query}", self.spelt(0, "limit"), self.spelt(5, "100"));
        let since = Instant::now();
        self.connection.get(&path, &self.token)?;
        let took = since.elapsed().as_secs_f64() * 1e3;
        let document = self.document()?;
        Ok((took, document["tasks"].as_array().cloned().unwrap_or_default()))
    }

    /// The server keeps answers for a second. The same question is spelt in another way each time, so that none is a kept one.
    fn spelt(&self, first: usize, word: &str) -> String {
        let one = |(place, byte): (usize, u8)| match self.asked >> (first + place) & 1 {
            0 => char::from(byte).to_string(),
            _ => format!("%{byte:02X}"),
        };
        word.bytes().enumerate().map(one).collect()
    }

    /// Where a page of a hundred begins, as somebody finds it who goes there page by page.
    fn cursor_of(&mut self, page: usize) -> Result<String, String> {
        let mut cursor = String::new();
        for number in 2..=page {
            go_on()?;
            let path = match cursor.is_empty() {
                true => "/api/v1/tasks?limit=100".to_owned(),
                false => format!("/api/v1/tasks?limit=100&cursor={cursor}"),
            };
            self.connection.get(&path, &self.token)?;
            cursor = match &self.document()?["next"] {
                Value::String(next) => encoded(next),
                Value::Number(next) => next.to_string(),
                _ => return Err(format!("there is no page {number}")),
            };
        }
        Ok(cursor)
    }

    fn document(&self) -> Result<Value, String> {
        serde_json::from_slice(self.connection.body()).map_err(|error| error.to_string())
    }
}

/// For an address.
fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => {
                char::from(byte).to_string()
            }
            other => format!("%{other:02X}"),
        })
        .collect()
}
