//! `danlu agent --stdio`: a host that talks to its server by standard input and output.
//!
//! It ends with the connection. Its runs continue, and the host of the next connection adopts them.

use super::takeover::{self, NoPlace};
use super::{Host, HostConfig, facts, logs};
use crate::agent::AgentError;
use crate::gpu::ProbeConfig;
use crate::private;
use crate::rundir::RunRoot;
use crate::user_files::UserFiles;
use danlu_wire::agent::{CheckPaths, Machine, PROTOCOL, PathsChecked, StationOrder};
use danlu_wire::frame::{Decoder, FrameError, encode};
use danlu_wire::{FromAgent, ToAgent};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::Duration;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum StdioError {
    #[error("the server did not say how to work: its first message must be a hello")]
    NoHello,
    #[error("the server speaks protocol {0}, and this agent speaks {PROTOCOL}")]
    Protocol(u32),
    #[error(transparent)]
    Place(#[from] NoPlace),
    #[error(transparent)]
    Agent(#[from] AgentError),
    #[error(transparent)]
    Frame(#[from] FrameError),
    #[error("the connection is broken: {0}")]
    Connection(#[from] io::Error),
}

/// Messages that may wait for a slow server. A server with more is stuck, and this process ends:
/// the next connection hears everything anew.
const UNSAID: usize = 16_384;

/// The time limit for checking the paths of a task; the server waits for less.
const LOOK: Duration = Duration::from_secs(2);

/// Until the other side closes the connection.
pub fn serve(input: impl Read, output: impl Write + Send + 'static) -> Result<(), StdioError> {
    let mut orders = Orders { input, decoder: Decoder::default() };
    let Some(ToAgent::Hello(hello)) = orders.next()? else { return Err(StdioError::NoHello) };
    if !hello.is_compatible() {
        return Err(StdioError::Protocol(hello.protocol));
    }
    let order = hello.station.clone().unwrap_or_default();
    let root = takeover::place(&order)?;
    takeover::take_over(&root)?;
    let config = HostConfig {
        root: root.clone(),
        cgroups: !order.without_cgroups,
        gpus: probe_config(&order, &root),
    };
    let (said, unsaid) = sync_channel(UNSAID);
    let sink = ServerSink { said, machine: facts::machine() };
    let speaker = sink.clone();
    let host = Host::start(&config, move |said| speaker.say(said))?;
    let files = UserFiles::default();
    let runs = RunRoot::open(&root).map_err(AgentError::from)?;
    let logs = logs::start(runs, files.clone(), sink.clone());
    let writer = std::thread::Builder::new()
        .name("to-server".into())
        .spawn(move || write_all(&unsaid, output))?;
    drop(writer);
    let send = |order| host.send(order).map_err(io::Error::other);
    send(ToAgent::Hello(hello))?;
    while let Some(order) = orders.next()? {
        match order {
            ToAgent::AskFacts => {
                sink.say(FromAgent::Facts(facts::facts(&root, &host.probe_in_words())));
            }
            ToAgent::ReadLog(wanted) => logs.read(wanted),
            ToAgent::CheckPaths(CheckPaths { ask, owner, paths }) => {
                let sink = sink.clone();
                files.check(Some(owner), paths, LOOK, move |seen| {
                    sink.say(FromAgent::Paths(PathsChecked { ask, seen }));
                });
            }
            order @ (ToAgent::Hello(_)
            | ToAgent::Launch(_)
            | ToAgent::Stop { .. }
            | ToAgent::Pause { .. }
            | ToAgent::Resume { .. }
            | ToAgent::SetLimit { .. }
            | ToAgent::Forget { .. }
            | ToAgent::DropLog { .. }
            | ToAgent::AskReport
            | ToAgent::Sampling(_)
            | ToAgent::EndForeign(_)) => send(order)?,
        }
    }
    Ok(())
}

fn probe_config(order: &StationOrder, root: &Path) -> ProbeConfig {
    if let Some(count) = order.sim_gpus {
        let script = root.join("simulated").join("gpus.json");
        let _ = private::directory(&root.join("simulated"), private::PRIVATE);
        let sim_load = order.sim_load;
        return ProbeConfig { sim_load, ..ProbeConfig::simulated(count, Some(script)) };
    }
    let usual = ProbeConfig::from_environment();
    match &order.probe {
        Some(probe) => ProbeConfig { smi: PathBuf::from(probe), ..usual },
        None => usual,
    }
}

/// Where the host, the log reader and the path checks send their messages.
#[derive(Debug, Clone)]
pub(super) struct ServerSink {
    said: SyncSender<FromAgent>,
    machine: Machine,
}

impl ServerSink {
    pub(super) fn say(&self, mut said: FromAgent) {
        if let FromAgent::Hello(hello) = &mut said {
            hello.machine = Some(Machine { now: crate::clock::now(), ..self.machine.clone() });
        }
        if let Err(TrySendError::Full(_)) = self.said.try_send(said) {
            eprintln!("danlu: the server is too slow to listen");
            std::process::exit(1);
        }
    }
}

/// Ends the process when the other side no longer reads.
fn write_all(unsaid: &Receiver<FromAgent>, mut output: impl Write) {
    while let Ok(said) = unsaid.recv() {
        let mut lines = encode(&said).unwrap_or_default();
        for said in unsaid.try_iter().take(256) {
            lines.extend(encode(&said).unwrap_or_default());
        }
        if output.write_all(&lines).and_then(|()| output.flush()).is_err() {
            std::process::exit(0);
        }
    }
}

struct Orders<R> {
    input: R,
    decoder: Decoder,
}

impl<R: Read> Orders<R> {
    /// `None` at the end of the connection.
    fn next(&mut self) -> Result<Option<ToAgent>, StdioError> {
        let mut piece = [0; 64 * 1024];
        loop {
            if let Some(order) = self.decoder.next_message()? {
                return Ok(Some(order));
            }
            match self.input.read(&mut piece) {
                Ok(0) => return Ok(None),
                Ok(count) => self.decoder.feed(&piece[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}
