//! Keeps the log of a run below its limit, and notes in it where output was lost.
//!
//! The command appends to the log directly. So a shim can only check from time to time, and remove a part afterwards.

use crate::rundir::{OUTPUT, RunDir};
use danlu_wire::launch::{ErrorSink, LaunchOrder, Sink};
use nix::fcntl::OFlag;
use nix::sys::statvfs::fstatvfs;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::time::{Duration, Instant};

pub(super) struct LogWatch {
    limit: Option<u64>,
    /// At the last check.
    size: u64,
    /// The disk was seen to be full, and the log does not say so yet.
    lost: bool,
    look_at: Instant,
}

/// While it grows towards a limit.
const SOON: Duration = Duration::from_secs(1);
const SELDOM: Duration = Duration::from_secs(10);
/// A limit below this is taken for this.
const LEAST_LIMIT: u64 = 64 << 10;
/// Of the end, not more is kept: it has to be copied.
const MOST_KEPT: u64 = 64 << 20;
/// With less free space than this the disk counts as full.
const NOTHING_FREE: u64 = 16 << 10;
/// There is room again.
const ROOM: u64 = 1 << 20;

impl LogWatch {
    /// `None` for a command that prints to files of the user's own.
    pub(super) fn new(order: &LaunchOrder, now: Instant) -> Option<LogWatch> {
        let here = order.output.stdout == Sink::Log
            || matches!(&order.output.stderr, ErrorSink::Own(Sink::Log));
        let limit = order.log_limit.map(|limit| limit.max(LEAST_LIMIT));
        let look_at = now + if limit.is_some() { SOON } else { SELDOM };
        here.then_some(LogWatch { limit, size: 0, lost: false, look_at })
    }

    pub(super) fn look_at(&self) -> Instant {
        self.look_at
    }

    pub(super) fn look(&mut self, dir: &RunDir, now: Instant) {
        if now < self.look_at {
            return;
        }
        // What cannot be done now is done the next time.
        let _ = self.keep_in_bounds(dir);
        let grows = size(dir).is_ok_and(|size| std::mem::replace(&mut self.size, size) != size);
        self.look_at = now + if grows && self.limit.is_some() { SOON } else { SELDOM };
    }

    /// The command has ended, and all of its output is there.
    pub(super) fn end(&mut self, dir: &RunDir) {
        let _ = self.keep_in_bounds(dir);
        if self.lost {
            let _ = mark_the_end(dir);
        }
    }

    fn keep_in_bounds(&mut self, dir: &RunDir) -> io::Result<()> {
        let free = free(dir)?;
        self.lost |= free < NOTHING_FREE;
        if self.limit.is_some_and(|limit| size(dir).is_ok_and(|size| size > limit)) {
            shorten(dir, self.limit.unwrap_or(u64::MAX))?;
        }
        if self.lost && free >= ROOM {
            let log = dir.open_to_write(OUTPUT, OFlag::O_APPEND)?;
            io::Write::write_all(&mut &log, LOST.as_bytes())?;
            self.lost = false;
        }
        Ok(())
    }
}

const LOST: &str = "\ndanlu: output may be missing here: the disk was full\n";

fn size(dir: &RunDir) -> io::Result<u64> {
    Ok(dir.open(OUTPUT)?.metadata()?.len())
}

/// Free bytes for unprivileged users.
fn free(dir: &RunDir) -> io::Result<u64> {
    let facts = fstatvfs(dir)?;
    Ok(facts.blocks_available().saturating_mul(facts.fragment_size()))
}

/// There may be no room for a word more, so that it takes the place of the last ones.
fn mark_the_end(dir: &RunDir) -> io::Result<()> {
    let log = dir.open_to_write(OUTPUT, OFlag::empty())?;
    let size = log.metadata()?.len();
    if log.write_all_at(LOST.as_bytes(), size).is_err() {
        log.set_len(size)?;
        log.write_all_at(LOST.as_bytes(), size.saturating_sub(LOST.len() as u64))?;
    }
    Ok(())
}

/// Keeps a quarter of the limit from the beginning and as much from the end, at line boundaries. Output that arrives
/// meanwhile is kept, except between the last two steps.
fn shorten(dir: &RunDir, limit: u64) -> io::Result<()> {
    let (reader, log) = (dir.open(OUTPUT)?, dir.open_to_write(OUTPUT, OFlag::empty())?);
    let head = after_a_line(&reader, limit / 4)?;
    let whole = reader.metadata()?.len();
    let tail = after_a_line(&reader, whole - (limit / 4).min(MOST_KEPT))?;
    let dropped = tail.saturating_sub(head);
    let words = format!(
        "danlu: {dropped} bytes of output were dropped here: the log is limited to {limit}\n"
    );
    // Over what is dropped, which is longer than this.
    log.write_all_at(words.as_bytes(), head)?;
    let (mut from, mut to) = (tail, head + words.len() as u64);
    let mut block = vec![0; 1 << 20];
    loop {
        match reader.read_at(&mut block, from)? {
            0 => break,
            count => {
                log.write_all_at(&block[..count], to)?;
                from += count as u64;
                to += count as u64;
            }
        }
    }
    log.set_len(to)
}

/// The first line that begins there or later, if it is near.
fn after_a_line(log: &File, from: u64) -> io::Result<u64> {
    let mut near = [0; 4096];
    let count = log.read_at(&mut near, from)?;
    let end = near[..count].iter().position(|&byte| byte == b'\n');
    Ok(from + end.map_or(0, |end| end as u64 + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rundir::RunRoot;
    use danlu_core::{Epoch, RunId, TaskId};
    use danlu_wire::launch::Command;
    use std::io::{Read as _, Write as _};

    const RUN: RunId = RunId { epoch: Epoch(1), number: 1 };

    #[test]
    fn the_middle_of_a_long_log_goes() {
        let directory = tempfile::tempdir().unwrap();
        let root = RunRoot::open(&directory.path().join("node")).unwrap();
        let dir = root.create(RUN).unwrap().unwrap();
        let mut log = dir.create(OUTPUT, OFlag::O_APPEND, 0o600).unwrap();
        let mut order = LaunchOrder::new(RUN, TaskId(1), Command::Argv(vec![]), "/");
        order.log_limit = Some(100_000);
        let mut watch = LogWatch::new(&order, Instant::now()).unwrap();
        for number in 0..30_000 {
            writeln!(log, "line {number}").unwrap();
            if number % 1_000 == 0 {
                watch.look(&dir, Instant::now() + Duration::from_secs(100));
            }
        }
        watch.end(&dir);
        writeln!(log, "the last one").unwrap();
        let mut text = String::new();
        dir.open(OUTPUT).unwrap().read_to_string(&mut text).unwrap();
        assert!(text.len() < 120_000, "{}", text.len());
        assert!(text.starts_with("line 0\nline 1\n"));
        assert!(text.ends_with("line 29998\nline 29999\nthe last one\n"));
        let notes: Vec<&str> = text.lines().filter(|line| line.starts_with("danlu: ")).collect();
        assert!(
            !notes.is_empty() && notes.iter().all(|note| note.contains("dropped")),
            "{notes:?}"
        );
        assert!(text.lines().all(|line| line.starts_with("line ") || line.contains(' ')));
        order.log_limit = None;
        order.output.stdout = Sink::Discard;
        assert!(LogWatch::new(&order, Instant::now()).is_none());
    }
}
