//! `cargo xtask bench http`: the server under many requests, with a queue of 10,000 tasks.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    thread,
    time::{Duration, Instant},
};

use super::{
    figure::{Figure, Target, Unit},
    measuring::{self, Peers, go_on},
    server::{Gpus, Programs, Server},
};

const QUEUED: usize = 10_000;
const READERS: usize = 8;
const SUBMITTERS: usize = 16;

#[derive(Clone, Copy, Debug)]
struct Size {
    rounds: usize,
    time: Duration,
}

const FULL: Size = Size { rounds: 5, time: Duration::from_secs(3) };
/// To see that it works; the figures say little.
const QUICK: Size = Size { rounds: 2, time: Duration::from_millis(300) };

pub(super) fn run(options: &[&str]) -> Result<bool, String> {
    measuring::run("http", options, (FULL, QUICK), measure, Peers::Left)
}

fn measure(programs: &Programs, size: Size) -> Result<Vec<Figure>, String> {
    let server = Server::start(programs, Gpus::Simulated(4))?;
    server.hold_gpus(4)?;
    server.say(&["set", "limits.open_tasks_per_user", "1000000"])?;
    server.say(&["submit", "-q", "-a", &format!("0-{}", QUEUED - 1), "--", "true"])?;
    let token = server.say(&["token", "new", "bench", "-q"])?;
    let head = format!("authorization: Bearer {token}\r\nhost: danlu\r\n");
    let get = |path: &str| format!("GET {path} HTTP/1.1\r\n{head}\r\n");
    let (list, page) = (get("/api/v1/tasks?limit=100"), get("/"));
    let body = r#"{"command":["true"],"directory":"/"}"#;
    let length = body.len();
    let submit = format!(
        "POST /api/v1/tasks HTTP/1.1\r\n{head}content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    let mut figures = Vec::new();
    figures.extend(load(
        &server,
        size,
        ("tasks", "GET /api/v1/tasks?limit=100", 20_000.0),
        (READERS, &list),
    )?);
    figures.extend(load(
        &server,
        size,
        ("overview", "the overview page", 5_000.0),
        (READERS, &page),
    )?);
    figures.extend(load(&server, size, ("submit", "submits", 2_000.0), (SUBMITTERS, &submit))?);
    Ok(figures)
}

/// How many requests are answered in a second, and how long 99 of 100 take at most.
fn load(
    server: &Server,
    size: Size,
    (name, what, least): (&'static str, &str, f64),
    (connections, request): (usize, &str),
) -> Result<Vec<Figure>, String> {
    let (mut rates, mut slow) = (Vec::new(), Vec::new());
    for round in 1..=size.rounds {
        eprintln!("{what}, round {round} of {}", size.rounds);
        go_on()?;
        let mut times = together(server.address(), connections, request, size.time)?;
        rates.push(times.len() as f64 / size.time.as_secs_f64());
        times.sort_unstable();
        let at = times.len() * 99 / 100;
        slow.push(times.get(at).map_or(0.0, |time| time.as_secs_f64() * 1e3));
    }
    // Only what is read is to be quick; a submit waits for the disk.
    let most = if name == "submit" { Target::None } else { Target::AtMost(5.0) };
    Ok(vec![
        Figure {
            name,
            what: format!("{what}, {connections} connections"),
            unit: Unit::PerSecond,
            target: Target::AtLeast(least),
            rounds: rates,
        },
        Figure {
            name: "slowest",
            what: String::from("  99 of 100 answered within"),
            unit: Unit::Milliseconds,
            target: most,
            rounds: slow,
        },
    ])
}

fn together(
    address: &str,
    connections: usize,
    request: &str,
    time: Duration,
) -> Result<Vec<Duration>, String> {
    thread::scope(|scope| {
        let all: Vec<_> = (0..connections)
            .map(|_| scope.spawn(|| ask_for(address, request.as_bytes(), time)))
            .collect();
        let mut times = Vec::new();
        for one in all {
            times.extend(one.join().map_err(|_| "a client panicked".to_owned())??);
        }
        Ok(times)
    })
}

fn ask_for(address: &str, request: &[u8], time: Duration) -> Result<Vec<Duration>, String> {
    let mut connection = Connection::open(address)?;
    let (start, mut times) = (Instant::now(), Vec::new());
    while start.elapsed() < time {
        let since = Instant::now();
        connection.ask(request)?;
        times.push(since.elapsed());
    }
    Ok(times)
}

/// Kept open from one request to the next.
pub(super) struct Connection {
    stream: BufReader<TcpStream>,
    body: Vec<u8>,
}

impl Connection {
    pub(super) fn open(address: &str) -> Result<Connection, String> {
        let problem = |error: std::io::Error| error.to_string();
        let stream = TcpStream::connect(address).map_err(problem)?;
        stream.set_nodelay(true).map_err(problem)?;
        Ok(Connection { stream: BufReader::with_capacity(256 << 10, stream), body: Vec::new() })
    }

    fn ask(&mut self, request: &[u8]) -> Result<(), String> {
        self.stream.get_mut().write_all(request).map_err(|error| error.to_string())?;
        answer(&mut self.stream, &mut self.body)
    }

    /// What it answers is in `body` then.
    pub(super) fn get(&mut self, path: &str, token: &str) -> Result<(), String> {
        let request =
            format!("GET {path} HTTP/1.1\r\nauthorization: Bearer {token}\r\nhost: danlu\r\n\r\n");
        self.ask(request.as_bytes())
    }

    /// Of the last answer.
    pub(super) fn body(&self) -> &[u8] {
        &self.body
    }

    pub(super) fn post(&mut self, path: &str, token: &str, body: &str) -> Result<(), String> {
        let length = body.len();
        let request = format!(
            "POST {path} HTTP/1.1\r\nauthorization: Bearer {token}\r\nhost: danlu\r\n\
             content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        self.ask(request.as_bytes())
    }
}

fn answer(stream: &mut BufReader<TcpStream>, body: &mut Vec<u8>) -> Result<(), String> {
    let (mut line, mut length, mut first) = (String::new(), 0, true);
    loop {
        line.clear();
        stream.read_line(&mut line).map_err(|error| error.to_string())?;
        let words = line.trim_end();
        if first && !words.contains(" 200 ") && !words.contains(" 201 ") {
            return Err(format!("the server says: {words}"));
        }
        first = false;
        if words.is_empty() {
            break;
        }
        if let Some(number) = words.to_ascii_lowercase().strip_prefix("content-length: ") {
            length = number.parse().map_err(|_| format!("odd length: {number}"))?;
        }
    }
    body.resize(length, 0);
    stream.read_exact(body).map_err(|error| error.to_string())
}
