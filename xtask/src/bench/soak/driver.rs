//! The people of a soak: arrays, single tasks, failures, chains, cancels, retries, and followers that disappear.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    process::{Child, Stdio},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
    time::Duration,
};

use crate::bench::{http::Connection, server::Server};

pub(super) struct Driver<'a> {
    server: &'a Server,
    token: String,
    tasks: usize,
    submitted: AtomicUsize,
    open: AtomicUsize,
    stopped: AtomicBool,
}

/// Tasks of one wave, of each kind.
const ARRAY: usize = 1_400;
const SINGLE: usize = 300;
const FAILING: usize = 100;
const CHAINED: usize = 100;
const CANCELLED: usize = 96;
const FOLLOWED: usize = 4;
const WAVE: usize = ARRAY + SINGLE + FAILING + CHAINED + CANCELLED + FOLLOWED;
/// Ended ones of the wave before that run once more.
const RETRIED: u64 = 20;
/// A wave begins when so few are left of the one before.
const LEFT: usize = 200;
const PAUSE: Duration = Duration::from_millis(20);

impl<'a> Driver<'a> {
    pub(super) fn new(server: &'a Server, tasks: usize) -> Result<Driver<'a>, String> {
        let token = server.say(&["token", "new", "soak", "-q"])?;
        Ok(Driver {
            server,
            token,
            tasks,
            submitted: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
        })
    }

    pub(super) fn ended(&self) -> usize {
        let open = self.open.load(Ordering::Relaxed);
        self.submitted.load(Ordering::Relaxed).saturating_sub(open)
    }

    pub(super) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Until all tasks have ended, or nobody wants to know any more.
    pub(super) fn work(&self) -> Result<(), String> {
        let mut before = None;
        for _ in 0..self.tasks.div_ceil(WAVE) {
            if self.is_stopped() {
                return Ok(());
            }
            before = Some(self.wave(before)?);
            self.wait_until_left(LEFT)?;
        }
        self.wait_until_left(0)
    }

    /// The id of the first of its array.
    fn wave(&self, before: Option<u64>) -> Result<u64, String> {
        let followers = self.follow()?;
        let first = self.array(ARRAY, &["-g", "1"], &["true"])?;
        self.array(FAILING, &["--retries", "1"], &["sh", "-c", "exit 3"])?;
        let after = format!("afterany:{first}");
        self.array(CHAINED, &["-g", "2", "-d", &after], &["true"])?;
        let long = self.array(CANCELLED, &["-g", "1"], &["sleep", "600"])?;
        self.singles()?;
        if let Some(before) = before {
            let again = format!("{before}-{}", before + RETRIED - 1);
            self.server.say(&["retry", &again])?;
        }
        let range = format!("{long}-{}", long + CANCELLED as u64 - 1);
        self.server.say(&["cancel", "--yes", &range])?;
        drop(followers);
        Ok(first)
    }

    fn array(&self, count: usize, options: &[&str], command: &[&str]) -> Result<u64, String> {
        let range = format!("0-{}", count - 1);
        let mut words = vec!["submit", "-q", "--array", &range];
        words.extend(options);
        words.push("--");
        words.extend(command);
        let said = self.server.say(&words)?;
        self.submitted.fetch_add(count, Ordering::Relaxed);
        said.parse().map_err(|_| format!("submit said `{said}`"))
    }

    fn singles(&self) -> Result<(), String> {
        let mut connection = Connection::open(self.server.address())?;
        for number in 0..SINGLE {
            let body = format!(
                r#"{{"command":["true","{number}"],"directory":"/","gpus":1,"name":"single-{number}"}}"#
            );
            connection.post("/api/v1/tasks", &self.token, &body)?;
            self.submitted.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Those who follow logs, wait, and listen to events; they are gone in the middle of it.
    fn follow(&self) -> Result<Followers, String> {
        let mut clients = Vec::new();
        for _ in 0..FOLLOWED {
            let line = "for i in 1 2 3; do echo $i; sleep 0.3; done";
            let id = self.server.say(&["submit", "-q", "--", "sh", "-c", line])?;
            self.submitted.fetch_add(1, Ordering::Relaxed);
            for words in [["logs", "-f", &id], ["wait", "--timeout=9s", &id]] {
                let mut command = self.server.danlu(&words);
                command.stdout(Stdio::null()).stderr(Stdio::null());
                clients.push(command.spawn().map_err(|error| error.to_string())?);
            }
        }
        let request = format!(
            "GET /api/v1/events HTTP/1.1\r\nhost: danlu\r\nauthorization: Bearer {}\r\n\r\n",
            self.token
        );
        let stream = |_| {
            let mut stream = TcpStream::connect(self.server.address())?;
            stream.set_read_timeout(Some(Duration::from_secs(10)))?;
            stream.write_all(request.as_bytes())?;
            stream.read_exact(&mut [0; 12])?;
            Ok(stream)
        };
        let streams: std::io::Result<Vec<TcpStream>> = (0..FOLLOWED).map(stream).collect();
        let streams = streams.map_err(|error| format!("no event stream: {error}"))?;
        Ok(Followers { clients, _streams: streams })
    }

    fn wait_until_left(&self, most: usize) -> Result<(), String> {
        while !self.is_stopped() {
            let status = self.server.json(&["status", "--json"])?;
            let tasks = &status["tasks"];
            let open = OPEN.iter().filter_map(|state| tasks[state].as_u64()).sum::<u64>();
            let open = usize::try_from(open).unwrap_or(usize::MAX);
            self.open.store(open, Ordering::Relaxed);
            if open <= most {
                return Ok(());
            }
            thread::sleep(PAUSE);
        }
        Ok(())
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}

const OPEN: [&str; 8] =
    ["held", "blocked", "queued", "starting", "running", "paused", "stopping", "lost"];

struct Followers {
    clients: Vec<Child>,
    _streams: Vec<TcpStream>,
}

impl Drop for Followers {
    fn drop(&mut self) {
        for client in &mut self.clients {
            let _ = client.kill();
            let _ = client.wait();
        }
    }
}
