//! Users and programs that exhaust resources: others are hardly slowed down, and no task fails because of them.

use std::{
    env, fs,
    io::{Read as _, Write as _},
    net::TcpStream,
    os::unix::{fs::PermissionsExt as _, net::UnixStream},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::support::daemon::{Daemon, Setup, until};
use crate::support::http::{Connection, Reply};
use crate::support::os_user::{OsUser, open_to_all};
use crate::support::{danlu, http};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use serde_json::{Value, json};

/// A request that never ends.
const HALF: &[u8] = b"POST /api/v1/tasks HTTP/1.1\r\nhost: danlu\r\nx-half: ";

/// A server with this in its configuration file, and no more than so many descriptors.
fn start(config: &str, descriptors: usize) -> Daemon {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("danlu.toml");
    fs::write(&file, config).expect("it can be written");
    let program = directory.path().join("few-descriptors");
    let danlu = open_to_all(directory.path());
    let script = format!("#!/bin/sh\nulimit -n {descriptors}\nexec {} \"$@\"\n", danlu.display());
    fs::write(&program, script).expect("it can be written");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let mut setup = Setup::simulated(4);
    setup.program = program;
    setup.arguments.extend(["--config".to_owned(), file.display().to_string()]);
    Daemon::start_in(directory, setup)
}

fn with_many_descriptors() {
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE).expect("there is a limit");
    setrlimit(Resource::RLIMIT_NOFILE, most, most).expect("up to the limit");
}

fn admin(daemon: &Daemon) -> String {
    let token = daemon.say(&["token", "new", "t", "-q", "--scope", "admin"]);
    format!("authorization: Bearer {}\r\n", token.trim())
}

/// An account with a password, and its session.
fn account(daemon: &Daemon, admin: &str, name: &str) -> String {
    let me = daemon.json(&["user", "list", "--json"])["users"][0]["name"].clone();
    let body = json!({ "name": name, "password": "correct horse", "os_user": me });
    let made = send(daemon, "POST /api/v1/users", admin, &body);
    assert_eq!(made.status, 201, "{made:?}");
    let reply = log_in(daemon, name, "correct horse");
    let cookie = reply.header("set-cookie").and_then(|it| it.split(';').next()).expect("a cookie");
    let csrf = reply.body["csrf"].as_str().expect("it is told");
    format!("cookie: {cookie}\r\nx-csrf-token: {csrf}\r\n")
}

fn log_in(daemon: &Daemon, name: &str, password: &str) -> Reply {
    let body = json!({ "user": name, "password": password });
    Connection::to(daemon.address()).json("POST /api/v1/session", &body)
}

fn send(daemon: &Daemon, request: &str, headers: &str, body: &Value) -> Reply {
    Connection::to(daemon.address()).ask(request, headers, body.to_string().as_bytes())
}

/// In MB.
fn memory(daemon: &Daemon) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", daemon.pid())).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("it has some");
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
    kilobytes / 1024
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Commands of somebody else's, and a task of theirs that comes to its end.
#[track_caller]
fn others_are_served(daemon: &Daemon, user: &OsUser, danlu: &Path) {
    let mut times = Vec::new();
    for _ in 0..5 {
        for words in [&["ls"][..], &["submit", "-q", "--", "true"]] {
            let since = Instant::now();
            let said = user.ask(danlu, daemon.socket(), words);
            assert_eq!(said.status, 0, "{words:?}: {said:?}");
            times.push(since.elapsed());
        }
    }
    let (median, most) = (median(times), Duration::from_millis(100 * slowness()));
    println!("others are answered within {median:?} (median)");
    assert!(median < most, "{median:?}");
    assert_eq!(user.ask(danlu, daemon.socket(), &["wait", "--all"]).status, 0);
    let listed = daemon.json(&["ls", "-a", "--user", &user.name, "--json"]);
    assert_eq!(listed["tasks"].as_array().map(Vec::len), Some(5), "{listed}");
    for task in listed["tasks"].as_array().expect("a list") {
        assert_eq!(task["state"], "succeeded", "{task}");
    }
}

/// Several tests run at a time on few processors, with a program that was built to be debugged.
fn slowness() -> u64 {
    10
}

/// What another user does to the socket, in a process of their own.
fn hold_half_sent_requests(socket: &Path) {
    let count: usize = env::var("DANLU_CONNECTIONS").expect("how many").parse().expect("a number");
    with_many_descriptors();
    let held: Vec<UnixStream> = (0..count)
        .filter_map(|_| {
            let mut stream = UnixStream::connect(socket).ok()?;
            stream.write_all(HALF).ok()?;
            Some(stream)
        })
        .collect();
    println!("\nholding {}", held.len());
    // Until whoever started us closes our input.
    let _ = std::io::stdin().read(&mut [0]);
}

struct Attacker(Child);

impl Attacker {
    /// This program, as another user, with so many half-sent requests.
    fn start(daemon: &Daemon, user: &OsUser, connections: usize) -> Attacker {
        let program = daemon.directory().join("attacker");
        fs::copy(env::current_exe().expect("it runs"), &program).expect("it can be copied");
        let mut command = user.command(&program);
        command.args(["--exact", &danlu::test_name(), "--nocapture"]);
        command.env("DANLU_ATTACKED_SOCKET", daemon.socket());
        command.env("DANLU_CONNECTIONS", connections.to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("it starts");
        let mut said = String::new();
        let mut out = child.stdout.take().expect("piped");
        while !said.contains("holding ") {
            let mut piece = [0; 256];
            let count = out.read(&mut piece).expect("it speaks");
            assert!(count > 0, "it ended: {said}");
            said += &String::from_utf8_lossy(&piece[..count]);
        }
        Attacker(child)
    }
}

impl Drop for Attacker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn half_sent_requests_keep_nobody_out_and_no_task_fails() {
    // This program, started again as another user.
    if let Some(socket) = env::var_os("DANLU_ATTACKED_SOCKET") {
        return hold_half_sent_requests(Path::new(&socket));
    }
    let Some(user) = OsUser::new() else { return };
    let Some(bad) = OsUser::new() else { return };
    let daemon = start("", 1_024);
    let danlu = daemon.directory().join("danlu");
    with_many_descriptors();
    // Due while all of them are there.
    let later = daemon.submit("--begin now+2s", "true");
    let on_network: Vec<TcpStream> = (0..2_000)
        .filter_map(|_| {
            let mut stream = TcpStream::connect(daemon.address()).ok()?;
            stream.write_all(HALF).ok()?;
            Some(stream)
        })
        .collect();
    assert!(on_network.len() > 1_500, "{}", on_network.len());
    let _on_socket = Attacker::start(&daemon, &bad, 2_000);
    others_are_served(&daemon, &user, &danlu);
    assert_eq!(Connection::to(daemon.address()).ask("GET /healthz", "", b"").status, 200);
    daemon.wait_until(&later, "succeeded");
    let open = fs::read_dir(format!("/proc/{}/fd", daemon.pid())).expect("it runs").count();
    assert!(open < 1_024 * 3 / 4 + 100, "{open} descriptors are open");
    println!("{} MB, {open} descriptors", memory(&daemon));
}

#[test]
fn a_request_that_is_not_sent_to_its_end_is_given_up() {
    let daemon = start("[limits]\nidle = \"1s\"\n", 1_024);
    let ends = |mut stream: Box<dyn http::Stream>, sent: &[u8]| {
        stream.write_all(sent).expect("somebody reads");
        let since = Instant::now();
        let _ = stream.read_to_end(&mut Vec::new());
        let time = since.elapsed();
        assert!(time > Duration::from_millis(500) && time < Duration::from_secs(20), "{time:?}");
    };
    let tcp = || Box::new(TcpStream::connect(daemon.address()).expect("somebody listens"));
    ends(tcp(), HALF);
    ends(tcp(), b"");
    ends(tcp(), b"GET /healthz HTTP/1.1\r\nhost: danlu\r\n\r\n");
    ends(Box::new(UnixStream::connect(daemon.socket()).expect("somebody listens")), HALF);
}

#[test]
fn streams_and_connections_beyond_the_limits_are_refused_with_the_number() {
    let config = "[limits]\nstreams_per_user = 3\nconnections_per_address = 8\n";
    let daemon = start(config, 4_096);
    let admin = admin(&daemon);
    let ann = account(&daemon, &admin, "ann");
    let stream = |headers: &str| {
        let mut connection = Connection::to(daemon.address());
        let status = connection.status_of("GET /api/v1/events", headers, b"");
        (connection, status)
    };
    let open: Vec<_> = (0..3).map(|_| stream(&ann)).collect();
    assert!(open.iter().all(|(_, status)| *status == 200));
    let refused = send(&daemon, "GET /api/v1/events", &ann, &json!({}));
    assert_eq!(refused.status, 429, "{refused:?}");
    let words = refused.body["error"].to_string();
    assert!(words.contains("at most 3") && words.contains("limits.streams_per_user"), "{words}");
    // Others have their own, until the address has all that it may have.
    let others: Vec<_> = (0..3).map(|_| stream(&admin)).collect();
    assert!(others.iter().all(|(_, status)| *status == 200));
    let bo = account(&daemon, &admin, "bo");
    let last: Vec<_> = (0..2).map(|_| stream(&bo)).collect();
    assert!(last.iter().all(|(_, status)| *status == 200));
    let refused = send(&daemon, "GET /api/v1/me", &ann, &json!({}));
    assert_eq!(refused.status, 429, "{refused:?}");
    let words = refused.body["error"].to_string();
    assert!(words.contains("127.0.0.1: at most 8"), "{words}");
    // One that ends makes room, and so does a file that says so.
    drop(last);
    until("there is room", || {
        Connection::to(daemon.address()).status_of("GET /api/v1/me", &ann, b"") == 200
    });
    let file = daemon.directory().join("danlu.toml");
    fs::write(file, "[limits]\nstreams_per_user = 4\n").expect("it can be written");
    daemon.say(&["reload"]);
    assert_eq!(stream(&ann).1, 200);
}

#[test]
fn logins_with_names_without_end_cost_nothing() {
    let daemon = start("", 1_024);
    let before = memory(&daemon);
    let name = "x".repeat(7 << 20);
    let body = json!({ "user": name, "password": "a wrong guess" }).to_string();
    let address = daemon.address().to_owned();
    let logins: Vec<_> = (0..60)
        .map(|_| {
            let (body, address) = (body.clone(), address.clone());
            thread::spawn(move || {
                let mut connection = Connection::to(&address);
                connection.status_of("POST /api/v1/session", "", body.as_bytes())
            })
        })
        .collect();
    for login in logins {
        // Who hangs up before it has read all of it may not be heard.
        if let Ok(status) = login.join() {
            assert_eq!(status, 413);
        }
    }
    let after = memory(&daemon);
    println!("{before} MB before, {after} MB after");
    assert!(after < before + 50 && after < 150, "{before} MB before, {after} MB after");
    let long = log_in(&daemon, &"x".repeat(300), "a wrong guess");
    assert_eq!(long.status, 400, "{long:?}");
}

#[test]
fn request_bodies_of_one_user_have_a_limit_and_others_theirs() {
    let Some(user) = OsUser::new() else { return };
    let config = "[limits]\nrequest_bytes_per_user = \"8M\"\nrequest_bytes = \"64M\"\n";
    let daemon = start(config, 1_024);
    let danlu = daemon.directory().join("danlu");
    // Two halves of a request that is as large as one may be, and a third.
    let mut held: Vec<UnixStream> = (0..3)
        .map(|_| {
            let mut stream = UnixStream::connect(daemon.socket()).expect("somebody listens");
            let head = "POST /api/v1/tasks HTTP/1.1\r\nhost: danlu\r\ncontent-type: application/json\r\ncontent-length: 8000000\r\n\r\n{\"name\":\"";
            stream.write_all(head.as_bytes()).expect("sent");
            let _ = stream.write_all(&vec![b'x'; 4 << 20]);
            stream
        })
        .collect();
    let answers: Vec<String> = held
        .iter_mut()
        .filter_map(|stream| {
            stream.set_read_timeout(Some(Duration::from_secs(2))).expect("it can be set");
            let mut answer = [0; 4096];
            let count = stream.read(&mut answer).ok()?;
            Some(String::from_utf8_lossy(&answer[..count]).into_owned())
        })
        .collect();
    let refused = answers.iter().any(|it| it.starts_with("HTTP/1.1 429") && it.contains("8388608"));
    assert!(refused, "{answers:?}");
    let said = user.ask(&danlu, daemon.socket(), &["submit", "-q", "--", "true"]);
    assert_eq!(said.status, 0, "{said:?}");
}

#[test]
fn who_guesses_is_slowed_down_and_nobody_is_locked_out() {
    let daemon = start("", 1_024);
    let admin = admin(&daemon);
    account(&daemon, &admin, "ann");
    account(&daemon, &admin, "bo");
    let since = Instant::now();
    let guesses: Vec<u16> =
        (0..8).map(|_| log_in(&daemon, "ann", "a wrong guess").status).collect();
    assert_eq!(guesses, [401; 8]);
    assert!(since.elapsed() > Duration::from_millis(1_500), "it got slower");
    let address = daemon.address().to_owned();
    // Many at a time: few of them wait, and the rest is told to.
    let guess = |_| {
        let address = address.clone();
        thread::spawn(move || {
            let body = json!({ "user": "ann", "password": "another guess" });
            Connection::to(&address).json("POST /api/v1/session", &body).status
        })
    };
    let statuses: Vec<u16> = (0..60)
        .map(guess)
        .collect::<Vec<_>>()
        .into_iter()
        .map(|guess| guess.join().expect("answered"))
        .collect();
    assert!(statuses.iter().all(|status| [401, 429].contains(status)), "{statuses:?}");
    for name in ["ann", "bo"] {
        let since = Instant::now();
        assert_eq!(log_in(&daemon, name, "correct horse").status, 201);
        assert!(since.elapsed() < Duration::from_secs(15), "{:?}", since.elapsed());
    }
}

#[test]
fn many_event_streams_do_not_slow_down_writes() {
    let daemon = start("", 16_384);
    with_many_descriptors();
    let admin = admin(&daemon);
    let both = [account(&daemon, &admin, "ann"), admin];
    let submits = || {
        let mut connection = Connection::open(daemon.socket());
        let body = json!({ "command": ["true"], "directory": "/", "hold": true });
        let since = Instant::now();
        for _ in 0..50 {
            assert_eq!(connection.json("POST /api/v1/tasks", &body).status, 201);
        }
        since.elapsed()
    };
    submits();
    let before = submits();
    let streams: Vec<Connection> = (0..300)
        .map(|number| {
            let mut connection = Connection::to(daemon.address());
            let who = &both[number % 2];
            assert_eq!(connection.status_of("GET /api/v1/events", who, b""), 200);
            connection
        })
        .collect();
    let during = submits();
    println!("50 submits: {before:?} alone, {during:?} with {} streams", streams.len());
    assert!(during < before * 5, "{before:?} alone, {during:?} with 300 streams");
    // All of them are told.
    for mut stream in streams {
        while !stream.next_line().contains("task_submitted") {}
    }
}

#[test]
fn answers_that_nobody_reads_have_a_limit() {
    let daemon = start("", 4_096);
    let id = daemon.submit("", "yes | head -c 2000000");
    assert_eq!(daemon.ask(&["wait", &id]).status, 0);
    let before = memory(&daemon);
    let request = format!("GET /api/v1/tasks/{id}/logs HTTP/1.1\r\nhost: danlu\r\n\r\n");
    let mut unread: Vec<UnixStream> = (0..200)
        .map(|_| {
            let mut stream = UnixStream::connect(daemon.socket()).expect("somebody listens");
            stream.write_all(request.as_bytes()).expect("sent");
            stream
        })
        .collect();
    let first = |stream: &mut UnixStream| {
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).expect("an answer");
        String::from_utf8_lossy(&answer).into_owned()
    };
    let statuses: Vec<String> = unread.iter_mut().map(first).collect();
    let count = |status: &str| statuses.iter().filter(|it| it.ends_with(status)).count();
    let after = memory(&daemon);
    println!("{} given, {} refused; {before} MB, {after} MB", count("200"), count("429"));
    assert!(count("200") >= 20 && count("429") >= 100, "{statuses:?}");
    // Pieces that are being handed over stand in memory twice for a moment.
    until("what nobody reads stays within its limit", || memory(&daemon) < before + 90);
    drop(unread);
    until("it is given out again", || daemon.ask(&["logs", &id]).status == 0);
}

/// What a file says that is not sensible is refused with its line.
#[test]
fn limits_that_would_keep_everybody_out_are_refused_at_the_start() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("danlu.toml");
    fs::write(&file, "[limits]\nstreams = 0\n").expect("it can be written");
    let mut command: Command = danlu::command("en");
    command.args(["up", "--listen", "127.0.0.1:0", "--data"]).arg(directory.path().join("data"));
    let said = danlu::said(command.arg("--config").arg(&file));
    assert!(said.status != 0 && said.stderr.contains("[limits] streams"), "{said:?}");
}
