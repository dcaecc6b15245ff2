//! A fake server: it answers as a test tells it, and records the requests.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    os::unix::net::{UnixListener, UnixStream},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    thread,
};

use tempfile::TempDir;

#[derive(Clone, Debug)]
pub(crate) struct ReceivedRequest {
    /// `GET /api/v1/tasks?limit=1`.
    pub(crate) line: String,
    /// In lower case, `name: value`.
    pub(crate) headers: Vec<String>,
    pub(crate) body: String,
}

impl ReceivedRequest {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let prefix = format!("{name}: ");
        self.headers.iter().find_map(|header| header.strip_prefix(&prefix))
    }
}

/// What to do with a request.
#[derive(Clone, Debug)]
pub(crate) enum CannedReply {
    Json(u16, String),
    Log {
        bytes: Vec<u8>,
        offset: u64,
        size: u64,
    },
    /// Events, after which the connection ends.
    Events(String),
    /// The connection breaks without an answer.
    HangUp,
}

pub(crate) fn ok(json: impl Into<String>) -> CannedReply {
    CannedReply::Json(200, json.into())
}

pub(crate) struct FakeServer {
    directory: TempDir,
    asked: Arc<Mutex<Vec<ReceivedRequest>>>,
}

impl FakeServer {
    /// `answer` gets the number of the request, from 0.
    pub(crate) fn start(
        answer: impl Fn(usize, &ReceivedRequest) -> CannedReply + Send + 'static,
    ) -> FakeServer {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let listener = UnixListener::bind(directory.path().join("danlu.sock")).expect("a socket");
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&asked);
        // It ends with the test.
        thread::spawn(move || {
            for (number, stream) in listener.incoming().flatten().enumerate() {
                let Some(request) = read(&stream) else { continue };
                log.lock().expect("nobody panics").push(request.clone());
                write(stream, answer(number, &request));
            }
        });
        FakeServer { directory, asked }
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.directory.path().join("danlu.sock")
    }

    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn asked(&self) -> Vec<ReceivedRequest> {
        self.asked.lock().expect("nobody panics").clone()
    }
}

fn read(stream: &UnixStream) -> Option<ReceivedRequest> {
    let mut reader = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|count| *count > 0)?;
        let line = line.trim_end().to_owned();
        if line.is_empty() {
            break;
        }
        lines.push(line);
    }
    let line = lines.remove(0).trim_end_matches(" HTTP/1.1").to_owned();
    let headers: Vec<String> = lines.iter().map(|line| line.to_lowercase()).collect();
    let mut request = ReceivedRequest { line, headers, body: String::new() };
    let length: usize =
        request.header("content-length").map_or(0, |it| it.parse().expect("a number"));
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    request.body = String::from_utf8(body).ok()?;
    Some(request)
}

fn write(mut stream: UnixStream, reply: CannedReply) {
    let (head, body) = match reply {
        CannedReply::Json(status, json) => (
            format!(
                "HTTP/1.1 {status} x\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                json.len()
            ),
            json.into_bytes(),
        ),
        CannedReply::Log { bytes, offset, size } => (
            format!(
                "HTTP/1.1 200 OK\r\nx-danlu-offset: {offset}\r\nx-danlu-size: {size}\r\nx-danlu-ended: true\r\ncontent-length: {}\r\n\r\n",
                bytes.len()
            ),
            bytes,
        ),
        CannedReply::Events(events) => (
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
                .to_owned(),
            events.into_bytes(),
        ),
        CannedReply::HangUp => return,
    };
    // The client may have gone, which is what some tests are about.
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
}

/// A task in JSON, with what differs from the plainest one.
pub(crate) fn task(id: u64, state: &str, fields: &str) -> String {
    let mut task: serde_json::Value = serde_json::from_str(&format!(
        r#"{{"id":{id},"name":"train","user":"ada","state":"{state}","why":null,"wait":null,"command":["train"],
            "shell":false,"gpus":1,"node":null,"gpu_ids":[],"submitted_at":"2026-11-15T10:00:00Z","started_at":null,
            "ended_at":null,"exit_code":null,"failure":null,"attempt":1,"array":null,"index":null,"priority":5,
            "urgent":false,"project":null,"labels":{{}},"time_limit":null}}"#
    ))
    .expect("it is JSON");
    let more: serde_json::Value =
        serde_json::from_str(&format!("{{{fields}}}")).expect("it is JSON");
    let fields = task.as_object_mut().expect("an object");
    fields.extend(more.as_object().expect("an object").clone());
    task.to_string()
}

/// The details that a single task has, as fields for [`task`].
pub(crate) fn details(runs: &str) -> String {
    format!(
        r#""description":"","directory":"/","request":{{"gpus":1}},"after":[],"retries":0,"preemptible":false,
           "output":{{}},"gpu_argument":null,"gpus_by_uuid":false,"variables":{{}},"runs":[{runs}]"#
    )
}

pub(crate) fn run(attempt: u32, state: &str) -> String {
    format!(
        r#"{{"run":"1-{attempt}","attempt":{attempt},"state":"{state}","nodes":["gpu1"],"gpu_ids":[0],
            "started_at":null,"ended_at":null,"exit_code":null,"exit":null}}"#
    )
}

pub(crate) fn list(tasks: &[String]) -> String {
    format!(r#"{{"v":1,"tasks":[{}],"total":{},"next":null}}"#, tasks.join(","), tasks.len())
}
