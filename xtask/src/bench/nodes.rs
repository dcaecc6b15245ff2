//! `cargo xtask bench nodes`: one server and many machines that dial in.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use super::{
    figure::{Figure, Target, Unit},
    http::Connection,
    measuring::{self, Peers, go_on},
    server::{Gpus, Programs, Server},
};
use crate::shell;

const GPUS_EACH: u32 = 8;

#[derive(Clone, Copy, Debug)]
struct Size {
    machines: usize,
    tasks: usize,
    /// Machines beside the one that hangs, and starts that are timed.
    others: usize,
    starts: usize,
}

const FULL: Size = Size { machines: 200, tasks: 100_000, others: 49, starts: 500 };
/// To see that it works; the figures say little.
const QUICK: Size = Size { machines: 10, tasks: 1_000, others: 4, starts: 50 };

pub(super) fn run(options: &[&str]) -> Result<bool, String> {
    measuring::run("nodes", options, (FULL, QUICK), measure, Peers::Left)
}

fn measure(programs: &Programs, size: Size) -> Result<Vec<Figure>, String> {
    if !shell::succeeds(&mut shell::cargo("build --quiet --profile dist --package danlu-fakeagent"))
    {
        return Err("the build failed".to_owned());
    }
    let mut figures = many(programs, size)?;
    figures.extend(one_hangs(programs, size)?);
    Ok(figures)
}

/// A queue is drained by many machines, and the server's share of it is taken.
fn many(programs: &Programs, size: Size) -> Result<Vec<Figure>, String> {
    let Size { machines, tasks, .. } = size;
    let server = Server::start(programs, Gpus::Simulated(0))?;
    let mut fleet = Fleet::start(&server)?;
    eprintln!("{machines} machines of {GPUS_EACH} GPUs dial in");
    let tokens = add(&server, 0..machines)?;
    let since = Instant::now();
    for (name, token) in &tokens {
        fleet.tell(&format!("join {name} {token}"))?;
    }
    wait_until_ready(&server, machines)?;
    let joined = since.elapsed();
    let idle = server.daemon().memory()?;
    eprintln!("{tasks} tasks");
    let before = server.daemon().processor_time()?;
    let since = Instant::now();
    server.say(&["submit", "-q", "-g", "1", "-a", &format!("0-{}", tasks - 1), "--", "true"])?;
    let mut most: f64 = 0.0;
    loop {
        go_on()?;
        most = most.max(server.daemon().memory()?);
        let status = server.json(&["status", "--json"])?;
        if status["tasks"]["succeeded"].as_u64() == u64::try_from(tasks).ok() {
            break;
        }
        if since.elapsed() > Duration::from_secs(600) {
            return Err(format!("the queue is not drained: {}", status["tasks"]));
        }
        thread::sleep(Duration::from_millis(200));
    }
    let took = since.elapsed().as_secs_f64();
    let worked = (server.daemon().processor_time()? - before) as f64 / 1e9;
    let figure = |name, what: String, unit, value| Figure {
        name,
        what,
        unit,
        target: Target::None,
        rounds: vec![value],
    };
    let gpus = u64::from(GPUS_EACH) * machines as u64;
    Ok(vec![
        figure("join", format!("{machines} machines dial in"), Unit::Seconds, joined.as_secs_f64()),
        figure("idle", format!("memory of the server, {gpus} GPUs, idle"), Unit::Megabytes, idle),
        figure("drain", format!("{tasks} tasks drained"), Unit::Seconds, took),
        figure(
            "rate",
            "tasks, from submit to end".to_owned(),
            Unit::PerSecond,
            tasks as f64 / took,
        ),
        figure("memory", "memory of the server, at its peak".to_owned(), Unit::Megabytes, most),
        figure("processor", "processor time of the server".to_owned(), Unit::Seconds, worked),
        figure(
            "each",
            "  for each task".to_owned(),
            Unit::Milliseconds,
            worked * 1e3 / tasks as f64,
        ),
    ])
}

/// How long it takes from a submit to the launch at the machine: usually, while a machine hangs, and while machines come
/// and go.
fn one_hangs(programs: &Programs, size: Size) -> Result<Vec<Figure>, String> {
    let Size { others, starts, .. } = size;
    let server = Server::start(programs, Gpus::Simulated(0))?;
    let mut fleet = Fleet::start(&server)?;
    let tokens = add(&server, 0..others + 1)?;
    for (name, token) in &tokens {
        fleet.tell(&format!("join {name} {token}"))?;
    }
    wait_until_ready(&server, others + 1)?;
    // One that hangs is not told from one that is slow, until it has been silent for long. Nothing new is to be put there
    // meanwhile, so that all starts are on the others.
    let (hung, _) = &tokens[others];
    server.say(&["node", "drain", hung])?;
    let token = server.say(&["token", "new", "bench", "-q"])?;
    let mut connection = Connection::open(server.address())?;
    let mut timed = |fleet: &mut Fleet, what: &str| {
        eprintln!("{starts} starts, {what}");
        for _ in 0..starts {
            go_on()?;
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros();
            let body = format!(r#"{{"command":["at","{now}"],"directory":"/","gpus":1}}"#);
            connection.post("/api/v1/tasks", &token, &body)?;
        }
        server.wait_for("all of them to end", || {
            let tasks = &server.json(&["status", "--json"])?["tasks"];
            Ok(["queued", "starting", "running"]
                .iter()
                .all(|it| tasks[it].as_u64().unwrap_or(0) == 0))
        })?;
        fleet.launches()
    };
    // The first ones find everything cold.
    timed(&mut fleet, "to warm up")?;
    let usual = timed(&mut fleet, "all is well")?;
    fleet.tell(&format!("hang {hung}"))?;
    let hanging = timed(&mut fleet, "one machine hangs")?;
    let (name, token_of_it) = &tokens[0];
    fleet.tell(&format!("leave {name}"))?;
    let leaving = timed(&mut fleet, "one machine leaves")?;
    fleet.tell(&format!("join {name} {token_of_it}"))?;
    let joining = timed(&mut fleet, "it joins again")?;
    let figures = [
        ("usual", format!("from a submit to its launch, {others} machines"), usual),
        ("hanging", "  while one more hangs".to_owned(), hanging),
        ("leaving", "  while one leaves".to_owned(), leaving),
        ("joining", "  while it joins again".to_owned(), joining),
    ];
    Ok(figures
        .into_iter()
        .map(|(name, what, rounds)| Figure {
            name,
            what,
            unit: Unit::Milliseconds,
            target: Target::None,
            rounds,
        })
        .collect())
}

/// Their names and tokens.
fn add(server: &Server, numbers: std::ops::Range<usize>) -> Result<Vec<(String, String)>, String> {
    numbers
        .map(|number| {
            let name = format!("m{number:03}");
            let added = server.json(&["node", "add", &name, "--dial-in", "--json"])?;
            let token = added["token"].as_str().ok_or("a machine has no token")?;
            Ok((name, token.to_owned()))
        })
        .collect()
}

fn wait_until_ready(server: &Server, machines: usize) -> Result<(), String> {
    server.wait_for("the machines", || {
        let nodes = server.json(&["nodes", "--json"])?;
        let ready =
            |node: &&serde_json::Value| node["state"] == "ready" && node["gpus"] == GPUS_EACH;
        Ok(nodes["nodes"].as_array().is_some_and(|it| it.iter().filter(ready).count() == machines))
    })
}

/// The machines; gone when it is dropped.
struct Fleet {
    child: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Fleet {
    fn start(server: &Server) -> Result<Fleet, String> {
        let mut command = Command::new(shell::target().join("dist/fleet"));
        command.arg(server.address()).arg(GPUS_EACH.to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("fleet: {error}"))?;
        match (child.stdin.take(), child.stdout.take()) {
            (Some(orders), Some(answers)) => {
                Ok(Fleet { child, orders, answers: BufReader::new(answers) })
            }
            _ => Err("fleet has no input".to_owned()),
        }
    }

    fn tell(&mut self, line: &str) -> Result<(), String> {
        writeln!(self.orders, "{line}").map_err(|error| error.to_string())
    }

    /// Milliseconds each, since it was last asked.
    fn launches(&mut self) -> Result<Vec<f64>, String> {
        self.tell("launches")?;
        let mut line = String::new();
        self.answers.read_line(&mut line).map_err(|error| error.to_string())?;
        let number =
            |word: &str| word.parse::<f64>().map(|it| it / 1e3).map_err(|it| it.to_string());
        line.split_whitespace().map(number).collect()
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
