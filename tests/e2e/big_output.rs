//! Large output: a gigabyte costs the server no memory, is followed to its last byte, and its tail is read at once.

use std::{
    fs,
    io::Read as _,
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use crate::support::daemon::{Daemon, Setup, in_memory};
use crate::support::danlu::Watchdog;
use crate::support::http::Connection;

const GIGABYTE: u64 = 1 << 30;
const MEGABYTE: u64 = 1 << 20;
/// What may be needed to hand out a log, however long it is.
const MOST_GROWTH: u64 = 24 * MEGABYTE;

#[test]
fn a_log_is_kept_within_its_limit_with_its_beginning_and_end() {
    let daemon = Daemon::start_in(in_memory(), Setup::simulated(1));
    daemon.say(&["set", "limits.log_size", "100000"]);
    let id = daemon.submit("", "echo the beginning; seq 1000000; echo the end");
    assert_eq!(daemon.ask(&["wait", &id]).status, 0);
    let log = daemon.say(&["logs", &id]);
    assert!(log.len() < 110_000, "{} bytes", log.len());
    assert!(log.starts_with("the beginning\n1\n") && log.ends_with("\n1000000\nthe end\n"));
    assert!(log.contains("bytes of output were dropped here"), "it says so");

    daemon.say(&["set", "limits.log_size", "null"]);
    let id = daemon.submit("", "seq 100000");
    assert_eq!(daemon.ask(&["wait", &id]).status, 0);
    assert_eq!(daemon.say(&["logs", &id]).lines().count(), 100_000);
}

#[test]
fn a_gigabyte_costs_no_memory_and_has_a_tail_at_once() {
    let daemon = Daemon::start_in(in_memory(), Setup::simulated(1));
    let before = peak_memory(&daemon);
    let line = "a line of output that is as long as such lines usually are, if not longer";
    let id = daemon.submit("", &format!("yes '{line}' | head -c {GIGABYTE}; echo; echo the end"));
    assert_eq!(daemon.ask(&["wait", &id]).status, 0);

    let since = Instant::now();
    let tail = daemon.say(&["logs", &id, "--tail", "5"]);
    let took = since.elapsed();
    assert_eq!(tail.lines().count(), 5);
    assert!(tail.ends_with("\nthe end\n"), "{tail}");
    assert!(took < Duration::from_secs(2), "a tail took {took:?}");
    // Who asks for all of it at once gets a part.
    let all = format!("GET /api/v1/tasks/{id}/logs?offset=0&limit={}", 1_u64 << 40);
    assert_eq!(Connection::open(daemon.socket()).ask(&all, "", b"").status, 200);
    let grown = peak_memory(&daemon) - before;
    assert!(grown < MOST_GROWTH, "{} MB more memory", grown / MEGABYTE);
    println!("tail {took:?}, {} MB more memory", grown / MEGABYTE);
}

/// Fewer bytes here: what is slow is the debug build of our own two ends.
#[test]
fn follow_keeps_up_to_the_last_byte() {
    const BYTES: u64 = 40 * MEGABYTE;
    let daemon = Daemon::start_in(in_memory(), Setup::simulated(1));
    let before = peak_memory(&daemon);
    let id = daemon.submit("--hold", &format!("yes | head -c {BYTES}; echo; echo the end"));
    let mut command = daemon.command(&["logs", "-f", "--raw", &id]);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
    let _watchdog = Watchdog::on(&child);
    let mut out = child.stdout.take().expect("it was piped");
    daemon.say(&["release", &id]);
    let since = Instant::now();
    let (mut count, mut last) = (0, Vec::new());
    let mut buffer = vec![0; 1 << 20];
    loop {
        let read = out.read(&mut buffer).expect("it can be read");
        if read == 0 {
            break;
        }
        count += read as u64;
        last = buffer[..read].to_vec();
    }
    assert!(child.wait().expect("it ends").success());
    println!(
        "{} MB/s",
        count / MEGABYTE * 1000 / u64::try_from(since.elapsed().as_millis()).unwrap_or(1)
    );
    assert_eq!(count, BYTES + "\nthe end\n".len() as u64);
    assert!(last.ends_with(b"the end\n"));
    let grown = peak_memory(&daemon) - before;
    assert!(grown < MOST_GROWTH, "{} MB more memory", grown / MEGABYTE);
    println!("{} MB more memory", grown / MEGABYTE);
}

/// A sparse file: as long as one likes, and at no cost for whoever has made it.
#[test]
fn a_log_without_lines_holds_up_nobody() {
    let mut daemon = Daemon::start();
    let log = daemon.directory().join("sparse.log");
    fs::File::create(&log).and_then(|file| file.set_len(64 * GIGABYTE)).expect("a sparse file");
    let id = daemon.submit(&format!("--output {}", log.display()), "true");
    assert_eq!(daemon.ask(&["wait", &id]).status, 0);
    let mut tail = daemon.command(&["logs", &id, "--tail", "5"]);
    let mut tail = tail.stdout(Stdio::null()).spawn().expect("it starts");
    // Within a few rounds the other request has come, and is being answered.
    let since = Instant::now();
    let patience = Duration::from_secs(30);
    let answered = (0..20).all(|_| {
        let mut other = daemon.command(&["gpus"]);
        let mut other = other.stdout(Stdio::null()).spawn().expect("it starts");
        while other.try_wait().expect("it is ours").is_none() && since.elapsed() < patience {
            thread::sleep(Duration::from_millis(5));
        }
        other.kill().and_then(|()| other.wait()).expect("it is ours").success()
    });
    tail.kill().and_then(|()| tail.wait()).expect("it is ours");
    if !answered {
        daemon.crash();
    }
    assert!(answered, "others were not answered within {patience:?}");
}

/// The most memory that the server has had so far.
fn peak_memory(daemon: &Daemon) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", daemon.pid())).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    let kilobytes = line.trim().trim_end_matches(" kB");
    kilobytes.parse::<u64>().expect("a number") << 10
}
