//! `cargo xtask bench abuse`: what everybody else notices of 24,000 half-sent requests, logins with endless names and hundreds of event
//! streams, all from this machine and to a server of our own.

use std::{
    io::{Read as _, Write as _},
    net::TcpStream,
    os::unix::net::UnixStream,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use super::{
    figure::{Figure, Target, Unit},
    measuring::{self, Peers, go_on},
    server::{Gpus, Programs, Server},
};

#[derive(Clone, Copy, Debug)]
struct Size {
    /// Half over the network, half on the machine's socket.
    connections: usize,
    logins: usize,
    streams: usize,
    rounds: usize,
}

const FULL: Size = Size { connections: 24_000, logins: 60, streams: 300, rounds: 30 };
/// To see that it works; the figures say little.
const QUICK: Size = Size { connections: 4_000, logins: 20, streams: 100, rounds: 5 };

/// Of each attacking process, which has a limit of its own on descriptors.
const EACH: usize = 4_000;
const NAME_BYTES: usize = 7 << 20;
const MOST_MEGABYTES: f64 = 150.0;
const SLOWEST: f64 = 100.0;
const HALF: &[u8] = b"POST /api/v1/tasks HTTP/1.1\r\nhost: danlu\r\nx-half: ";

pub(super) fn run(options: &[&str]) -> Result<bool, String> {
    match options {
        ["hold-half-sent", place, count] => hold(place, count),
        options => measuring::run("abuse", options, (FULL, QUICK), measure, Peers::Left),
    }
}

fn measure(programs: &Programs, size: Size) -> Result<Vec<Figure>, String> {
    let server = Server::start(programs, Gpus::Simulated(4))?;
    let token = server.say(&["token", "new", "bench", "-q"])?;
    // Due while all of them are there.
    let later = server.say(&["submit", "-q", "--begin", "now+3s", "--", "true"])?;
    eprintln!("{} half-sent requests", size.connections);
    let mut holding = Vec::new();
    for place in [
        server.address().to_owned(),
        server.directory().join("data/danlu.sock").display().to_string(),
    ] {
        for count in pieces(size.connections / 2) {
            go_on()?;
            holding.push(Holding::start(&place, count)?);
        }
    }
    eprintln!("{} event streams", size.streams);
    let streams = follow(&server, &token, size.streams)?;
    let mut most = server.daemon().memory()?;
    eprintln!("{} logins with names of {} MB", size.logins, NAME_BYTES >> 20);
    let logins = log_in(server.address(), size.logins);
    let (mut listed, mut submitted) = (Vec::new(), Vec::new());
    for _ in 0..size.rounds {
        go_on()?;
        listed.push(server.time(&["ls"])?.as_secs_f64() * 1e3);
        submitted.push(server.time(&["submit", "-q", "--", "true"])?.as_secs_f64() * 1e3);
        most = most.max(server.daemon().memory()?);
    }
    logins.into_iter().for_each(|login| drop(login.join()));
    most = most.max(server.daemon().memory()?);
    // Who waits has a stream too, and these are all that one user may have.
    drop(streams);
    server.say(&["wait", "--all"])?;
    let tasks = server.json(&["ls", "-a", "--json"])?;
    let tasks = tasks["tasks"].as_array().cloned().unwrap_or_default();
    let failed = tasks.iter().filter(|task| task["state"] != "succeeded").count();
    let later: u64 = later.parse().map_err(|_| "that is no id".to_owned())?;
    if !tasks.iter().any(|task| task["id"] == later) {
        return Err(format!("task {later} is gone"));
    }
    drop(holding);
    let at_most = |name, what: &str, unit, most, rounds| Figure {
        name,
        what: what.to_owned(),
        unit,
        target: Target::AtMost(most),
        rounds,
    };
    Ok(vec![
        at_most(
            "memory",
            "the server's memory, at most",
            Unit::Megabytes,
            MOST_MEGABYTES,
            vec![most],
        ),
        at_most("ls", "danlu ls meanwhile", Unit::Milliseconds, SLOWEST, listed),
        at_most("submit", "danlu submit meanwhile", Unit::Milliseconds, SLOWEST, submitted),
        at_most("failed", "tasks that did not succeed", Unit::Count, 0.0, vec![failed as f64]),
    ])
}

fn pieces(all: usize) -> impl Iterator<Item = usize> {
    (0..all.div_ceil(EACH)).map(move |piece| EACH.min(all - piece * EACH))
}

/// A process of its own with so many half-sent requests, until it is dropped.
struct Holding(Child);

impl Holding {
    fn start(place: &str, count: usize) -> Result<Holding, String> {
        let me = std::env::current_exe().map_err(|error| error.to_string())?;
        // The shell raises the limit, so that this program needs no library for it.
        let words = "ulimit -n $(ulimit -Hn); exec \"$0\" \"$@\"";
        let mut command = Command::new("sh");
        command.args(["-c", words]).arg(me).args(["bench", "abuse", "hold-half-sent", place]);
        command.arg(count.to_string()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| error.to_string())?;
        // It says when all are there.
        let ready = child.stdout.as_mut().map(|out| out.read_exact(&mut [0]));
        match ready {
            Some(Ok(())) => Ok(Holding(child)),
            _ => Err("the half-sent requests could not be made".to_owned()),
        }
    }
}

impl Drop for Holding {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// In the process that is started for it: connects, sends half of a request each time, and waits until its input is closed.
fn hold(place: &str, count: &str) -> Result<bool, String> {
    let count: usize = count.parse().map_err(|_| "how many is a number".to_owned())?;
    let mut held: Vec<Box<dyn Send>> = Vec::with_capacity(count);
    for _ in 0..count {
        // One that is not let in is none.
        if place.starts_with('/') {
            let Ok(mut stream) = UnixStream::connect(place) else { continue };
            let _ = stream.write_all(HALF);
            held.push(Box::new(stream));
        } else {
            let Ok(mut stream) = TcpStream::connect(place) else { continue };
            let _ = stream.write_all(HALF);
            held.push(Box::new(stream));
        }
    }
    let mut out = std::io::stdout().lock();
    out.write_all(b".").and_then(|()| out.flush()).map_err(|error| error.to_string())?;
    let _ = std::io::stdin().read(&mut [0]);
    Ok(true)
}

fn follow(server: &Server, token: &str, count: usize) -> Result<Vec<TcpStream>, String> {
    // Those beyond what one account may have are refused; the rest is what others have to live with.
    let request = format!(
        "GET /api/v1/events HTTP/1.1\r\nhost: danlu\r\nauthorization: Bearer {token}\r\n\r\n"
    );
    let mut streams = Vec::new();
    for _ in 0..count {
        let stream = TcpStream::connect(server.address()).and_then(|mut stream| {
            stream.set_read_timeout(Some(Duration::from_secs(10)))?;
            stream.write_all(request.as_bytes())?;
            stream.read_exact(&mut [0; 12])?;
            Ok(stream)
        });
        streams.push(stream.map_err(|error| format!("no event stream: {error}"))?);
    }
    Ok(streams)
}

fn log_in(address: &str, count: usize) -> Vec<thread::JoinHandle<()>> {
    let body = format!("{{\"user\":\"{}\",\"password\":\"wrong\"}}", "x".repeat(NAME_BYTES));
    let head = format!(
        "POST /api/v1/session HTTP/1.1\r\nhost: danlu\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let request = std::sync::Arc::new(head + &body);
    let one = |_| {
        let (request, address) = (std::sync::Arc::clone(&request), address.to_owned());
        thread::spawn(move || {
            let Ok(mut stream) = TcpStream::connect(address) else { return };
            let _ = stream.set_read_timeout(Some(Duration::from_secs(30)));
            // Who refuses it may hang up in the middle.
            let _ = stream.write_all(request.as_bytes());
            let _ = stream.read(&mut [0; 512]);
        })
    };
    (0..count).map(one).collect()
}
