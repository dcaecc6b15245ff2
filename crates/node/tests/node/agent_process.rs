//! An agent in its own process, which tests can kill; they talk to it in frames of the wire protocol.

use crate::world::{DEADLINE, kill, settings};
use danlu_node::Agent;
use danlu_wire::frame::{Decoder, encode};
use danlu_wire::{FromAgent, ToAgent};
use nix::sys::signal::Signal;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

const ARGUMENT: &str = "__agent";

pub(crate) fn dispatch() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != ARGUMENT {
        return None;
    }
    let root = PathBuf::from(arguments.next().unwrap());
    let agent = Agent::start(settings(&root, true, |notice| {
        let _ = std::io::stdout().write_all(&encode(&notice).unwrap());
        let _ = std::io::stdout().flush();
    }))
    .unwrap();
    let mut decoder = Decoder::default();
    let mut buffer = [0; 4096];
    while let Ok(count) = std::io::stdin().read(&mut buffer)
        && count > 0
    {
        decoder.feed(&buffer[..count]);
        while let Some(order) = decoder.next_message::<ToAgent>().unwrap() {
            agent.send(order).unwrap();
        }
    }
    Some(ExitCode::SUCCESS)
}

pub(crate) struct AgentProcess {
    child: Child,
    orders: ChildStdin,
    notices: Receiver<FromAgent>,
}

impl AgentProcess {
    pub(crate) fn start(root: &Path) -> AgentProcess {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .arg(ARGUMENT)
            .arg(root)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdout = child.stdout.take().unwrap();
        let (said, notices) = channel();
        std::thread::spawn(move || {
            let mut decoder = Decoder::default();
            let mut buffer = [0; 4096];
            while let Ok(count) = stdout.read(&mut buffer)
                && count > 0
            {
                decoder.feed(&buffer[..count]);
                while let Ok(Some(notice)) = decoder.next_message::<FromAgent>() {
                    let _ = said.send(notice);
                }
            }
        });
        AgentProcess { orders: child.stdin.take().unwrap(), child, notices }
    }

    pub(crate) fn send(&mut self, order: &ToAgent) {
        self.orders.write_all(&encode(order).unwrap()).unwrap();
    }

    pub(crate) fn next(&self) -> FromAgent {
        self.next_within(DEADLINE).expect("the agent says something in time")
    }

    pub(crate) fn next_within(&self, wait: Duration) -> Option<FromAgent> {
        self.notices.recv_timeout(wait).ok()
    }

    /// The process id of its launcher, which is its only child.
    pub(crate) fn launcher(&self) -> u32 {
        let agent = format!("\nPPid:\t{}\n", self.child.id());
        std::fs::read_dir("/proc")
            .unwrap()
            .filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok())
            .find(|pid: &u32| {
                std::fs::read_to_string(format!("/proc/{pid}/status"))
                    .is_ok_and(|status| status.contains(&agent))
            })
            .unwrap()
    }

    /// As by `kill -9`.
    pub(crate) fn kill(mut self) {
        kill(self.child.id(), Signal::SIGKILL);
        self.child.wait().unwrap();
    }
}
