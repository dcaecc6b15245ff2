//! A receiver of webhooks that a test can make fail, hang and come back. It counts a message once, by its id.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::support::danlu::LONGEST;

pub(crate) struct Receiver {
    pub(crate) address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    behaviour: Behaviour,
    /// Each message once, in the order of their arrival.
    messages: Vec<Received>,
    /// Requests, those that were not taken included.
    requests: usize,
    repeated: usize,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Behaviour {
    #[default]
    Takes,
    /// With this status.
    Refuses(u16),
    /// Reads the request and never answers.
    Hangs,
    /// Takes it and hangs up before it has said so.
    TakesAndHangsUp,
}

#[derive(Clone, Debug)]
pub(crate) struct Received {
    /// Method, address and version.
    pub(crate) request: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) text: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) body: Value,
}

impl Received {
    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(it, _)| it.eq_ignore_ascii_case(name));
        found.map_or("", |(_, value)| value)
    }

    pub(crate) fn kind(&self) -> &str {
        self.body["kind"].as_str().unwrap_or_default()
    }
}

impl Receiver {
    pub(crate) fn start() -> Receiver {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let shared = Arc::new(Shared { state: Mutex::default(), changed: Condvar::new() });
        let served = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&served);
                thread::spawn(move || drop(serve(stream, &shared)));
            }
        });
        Receiver { address, shared }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    pub(crate) fn set(&self, behaviour: Behaviour) {
        self.lock().behaviour = behaviour;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn messages(&self) -> Vec<Received> {
        self.lock().messages.clone()
    }

    pub(crate) fn repeated(&self) -> usize {
        self.lock().repeated
    }

    pub(crate) fn requests(&self) -> usize {
        self.lock().requests
    }

    /// What it has when that is enough.
    #[track_caller]
    pub(crate) fn wait_for(
        &self,
        what: &str,
        enough: impl Fn(&[Received]) -> bool,
    ) -> Vec<Received> {
        self.wait(what, |state| enough(&state.messages));
        self.messages()
    }

    #[track_caller]
    pub(crate) fn wait_for_requests(&self, count: usize) {
        self.wait("requests", |state| state.requests >= count);
    }

    #[track_caller]
    fn wait(&self, what: &str, enough: impl Fn(&State) -> bool) {
        let since = Instant::now();
        let mut state = self.lock();
        while !enough(&state) {
            let kinds: Vec<String> =
                state.messages.iter().map(|it| it.body["title"].to_string()).collect();
            assert!(since.elapsed() < LONGEST, "waited in vain for {what}: {kinds:?}");
            let waited = self.shared.changed.wait_timeout(state, Duration::from_secs(1));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

fn serve(stream: TcpStream, shared: &Shared) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut headers = Vec::new();
    let mut line = String::new();
    reader.read_line(&mut line)?;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            // The sender was killed while it spoke: that is no message.
            return Ok(());
        }
        let Some((name, value)) = line.trim_end().split_once(": ") else { break };
        headers.push((name.to_owned(), value.to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let length: usize = length.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let text = String::from_utf8_lossy(&body).into_owned();
    let received = Received {
        request: line.trim_end().to_owned(),
        headers,
        body: serde_json::from_str(&text).unwrap_or_default(),
        text,
        bytes: body,
    };
    let behaviour = {
        let mut state = shared.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.requests += 1;
        let takes = matches!(state.behaviour, Behaviour::Takes | Behaviour::TakesAndHangsUp);
        let id = received.header("danlu-id").to_owned();
        let known = !id.is_empty() && state.messages.iter().any(|it| it.header("danlu-id") == id);
        if takes && known {
            state.repeated += 1;
        } else if takes {
            state.messages.push(received);
        }
        state.behaviour
    };
    shared.changed.notify_all();
    let mut stream = stream;
    match behaviour {
        Behaviour::Takes => {
            stream.write_all(b"HTTP/1.1 204 No Content\r\ncontent-length: 0\r\n\r\n")
        }
        Behaviour::Refuses(status) => {
            let answer = format!("HTTP/1.1 {status} No\r\ncontent-length: 2\r\n\r\nno");
            stream.write_all(answer.as_bytes())
        }
        Behaviour::Hangs => {
            // Until the other side gives up.
            let mut rest = Vec::new();
            stream.read_to_end(&mut rest).map(drop)
        }
        Behaviour::TakesAndHangsUp => Ok(()),
    }
}
