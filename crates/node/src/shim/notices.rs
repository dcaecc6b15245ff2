//! Notifies the agent of starts and ends by a pipe. The agent may be slow or gone: `state.json` and the end of the shim say the same.

use danlu_core::{Epoch, RunId, Time};
use nix::unistd::Pid;
use std::fs::File;
use std::io::{self, Write as _};
use std::time::{Duration, Instant};

pub(super) struct Notices {
    pipe: File,
    unsent: Option<String>,
}

impl Notices {
    pub(super) fn new(pipe: File) -> Notices {
        Notices { pipe, unsent: None }
    }

    pub(super) fn send_started(&mut self, run: RunId, started_at: Time, leader: Pid) {
        self.unsent = Some(started_line(run, started_at, leader));
        self.send_rest();
    }

    /// The result is there to be read. Said once; where it could not be, only the end of the shim itself tells.
    pub(super) fn send_ended(mut self, run: RunId) -> bool {
        self.send_rest();
        self.unsent.is_none()
            && self.pipe.write(format!("{} {}\n", run.epoch, run.number).as_bytes()).is_ok()
    }

    pub(super) fn send_rest(&mut self) {
        let Some(line) = &self.unsent else { return };
        // So short a line is written whole or not at all.
        match self.pipe.write(line.as_bytes()) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            _ => self.unsent = None,
        }
    }

    pub(super) fn wake_at(&self, now: Instant) -> Option<Instant> {
        self.unsent.is_some().then(|| now + Duration::from_secs(1))
    }
}

fn started_line(run: RunId, started_at: Time, leader: Pid) -> String {
    format!("{} {} {} {leader}\n", run.epoch, run.number, started_at.0)
}

/// A notice of a shim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Notice {
    Started { run: RunId, at: Time, leader: u32 },
    Ended { run: RunId },
}

pub(crate) fn parse(line: &str) -> Option<Notice> {
    let mut words = line.split(' ');
    let epoch = Epoch(words.next()?.parse().ok()?);
    let run = RunId { epoch, number: words.next()?.parse().ok()? };
    let Some(at) = words.next() else { return Some(Notice::Ended { run }) };
    Some(Notice::Started { run, at: Time(at.parse().ok()?), leader: words.next()?.parse().ok()? })
}
