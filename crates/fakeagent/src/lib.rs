//! A fake agent for tests: it dials in over a WebSocket and sends the messages that the test gives it.

use danlu_core::gpu::GpuReport;
use danlu_core::input::NodeReport;
use danlu_core::node::Capacity;
use danlu_core::run::{Ending, Exit, RunUsage};
use danlu_core::{RunId, SessionId, Time};
use danlu_wire::agent::{Facts, Machine};
use danlu_wire::frame::{Decoder, encode};
use danlu_wire::{FromAgent, Hello, ToAgent};
use std::io;
use std::net::TcpStream;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tungstenite::client::IntoClientRequest as _;
use tungstenite::{Message, WebSocket};

/// A connection, from the agent's side.
#[derive(Debug)]
pub struct FakeAgent {
    socket: WebSocket<TcpStream>,
    decoder: Decoder,
    pub session: SessionId,
}

impl FakeAgent {
    /// `address` is host and port of a server without encryption. The status of the answer where that is no.
    pub fn dial(address: &str, token: &str) -> Result<FakeAgent, u16> {
        let stream = TcpStream::connect(address).map_err(|_| 0_u16)?;
        let _ = stream.set_nodelay(true);
        let request = format!("ws://{address}/agent").into_client_request();
        let mut request = request.map_err(|_| 0_u16)?;
        let token = format!("Bearer {token}").parse().map_err(|_| 0_u16)?;
        request.headers_mut().insert("authorization", token);
        match tungstenite::client(request, stream) {
            Ok((socket, _)) => {
                Ok(FakeAgent { socket, decoder: Decoder::default(), session: SessionId(0) })
            }
            Err(tungstenite::HandshakeError::Failure(tungstenite::Error::Http(answer))) => {
                Err(answer.status().as_u16())
            }
            Err(_) => Err(0),
        }
    }

    /// Dials, and says that it is this machine.
    pub fn join(address: &str, token: &str, machine: &str) -> Result<FakeAgent, u16> {
        let mut agent = FakeAgent::dial(address, token)?;
        agent.greet(machine).map_err(|_| 0_u16)?;
        Ok(agent)
    }

    pub fn greet(&mut self, machine: &str) -> io::Result<()> {
        self.greet_as(machine, |_| ())
    }

    /// With a hello that is somehow different.
    pub fn greet_as(&mut self, machine: &str, change: impl FnOnce(&mut Hello)) -> io::Result<()> {
        let Some(ToAgent::Hello(hello)) = self.hear()? else {
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        self.session = hello.session;
        let mut answer = Hello::new("0.0.0-fake", hello.session, Some("boot".to_owned()));
        answer.machine = Some(Machine {
            id: machine.to_owned(),
            host_name: machine.to_owned(),
            login: "root".to_owned(),
            is_root: true,
            now: now(),
        });
        change(&mut answer);
        self.say(&FromAgent::Hello(answer))
    }

    /// The next order; `None` when the server has closed the connection.
    pub fn hear(&mut self) -> io::Result<Option<ToAgent>> {
        loop {
            if let Some(order) = self.decoder.next_message().map_err(io::Error::other)? {
                return Ok(Some(order));
            }
            match self.socket.read() {
                Ok(Message::Binary(bytes)) => self.decoder.feed(&bytes),
                Ok(Message::Close(_)) | Err(tungstenite::Error::ConnectionClosed) => {
                    return Ok(None);
                }
                Ok(_) => {}
                Err(tungstenite::Error::Io(error)) => return Err(error),
                Err(error) => return Err(io::Error::other(error)),
            }
        }
    }

    /// How long `hear` waits at most.
    pub fn wait_at_most(&self, wait: Duration) -> io::Result<()> {
        self.socket.get_ref().set_read_timeout(Some(wait))
    }

    pub fn say(&mut self, message: &FromAgent) -> io::Result<()> {
        self.say_all(std::slice::from_ref(message))
    }

    pub fn say_all(&mut self, messages: &[FromAgent]) -> io::Result<()> {
        let mut bytes = Vec::new();
        for message in messages {
            bytes.extend(encode(message).map_err(io::Error::other)?);
        }
        self.send(bytes)
    }

    /// Whatever this is.
    pub fn send(&mut self, bytes: Vec<u8>) -> io::Result<()> {
        self.socket.send(Message::Binary(bytes.into())).map_err(io::Error::other)
    }

    pub fn send_text(&mut self, text: &str) -> io::Result<()> {
        self.socket.send(Message::Text(text.into())).map_err(io::Error::other)
    }
}

/// What a machine with so many GPUs reports when it runs nothing.
pub fn idle(machine: &str, gpus: u32) -> NodeReport {
    let gpu = |index| {
        let id = format!("GPU-{machine}-{index}");
        GpuReport::new(id.as_str().into(), index, "Fake", 24 << 30)
    };
    NodeReport {
        capacity: Capacity { cpus: 64, memory: 256 << 30 },
        free_memory: None,
        gpus: (0..gpus).map(gpu).collect(),
        runs: Vec::new(),
        trouble: None,
    }
}

pub fn ended(run: RunId, code: i32) -> FromAgent {
    let (exit, at) = (Exit::Code(code), now());
    let ending = Ending { started_at: Some(at), ..Ending::new(exit, at) };
    FromAgent::Ended { run, ending, used: RunUsage::default() }
}

pub fn started(run: RunId) -> FromAgent {
    FromAgent::Started { run, at: now(), leader: 1 }
}

pub fn facts() -> FromAgent {
    FromAgent::Facts(Facts { now: now(), ..Facts::default() })
}

fn now() -> Time {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Time(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
