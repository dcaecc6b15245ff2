//! A plain HTTP client, as any program could have.

use std::{
    io::{BufRead as _, BufReader, Read, Write},
    net::TcpStream,
    os::unix::net::UnixStream,
    path::Path,
};

use serde_json::Value;

/// One connection, which is kept for many requests.
pub(crate) struct Connection(BufReader<Box<dyn Stream>>);

pub(crate) trait Stream: Read + Write + Send {}

impl<T: Read + Write + Send> Stream for T {}

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<String>,
    pub(crate) body: Value,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let of = |line: &'_ String| {
            line.split_once(": ").is_some_and(|(it, _)| it.eq_ignore_ascii_case(name))
        };
        let line = self.headers.iter().find(|line| of(line))?;
        line.split_once(": ").map(|(_, value)| value)
    }
}

impl Connection {
    pub(crate) fn open(socket: &Path) -> Connection {
        Connection::over(UnixStream::connect(socket).expect("somebody listens"))
    }

    pub(crate) fn to(address: &str) -> Connection {
        Connection::over(TcpStream::connect(address).expect("somebody listens"))
    }

    pub(crate) fn over(stream: impl Stream + 'static) -> Connection {
        Connection(BufReader::new(Box::new(stream)))
    }

    /// `request` is a method and a path.
    pub(crate) fn ask(&mut self, request: &str, headers: &str, body: &[u8]) -> Reply {
        self.send(request, headers, body);
        self.reply()
    }

    fn send(&mut self, request: &str, headers: &str, body: &[u8]) {
        let length = body.len();
        let head = format!(
            "{request} HTTP/1.1\r\nhost: danlu\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n{headers}\r\n"
        );
        // Who refuses a long body may hang up before it has read all of it.
        let _ = self.0.get_mut().write_all(&[head.as_bytes(), body].concat());
    }

    /// For answers that may never end.
    pub(crate) fn status_of(&mut self, request: &str, headers: &str, body: &[u8]) -> u16 {
        self.send(request, headers, body);
        let line = self.line();
        let status = line.split(' ').nth(1).and_then(|word| word.parse().ok());
        status.unwrap_or_else(|| panic!("no status: {line:?}"))
    }

    /// A page.
    pub(crate) fn text(&mut self, request: &str, headers: &str) -> String {
        self.send(request, headers, b"");
        let (_, body) = self.head_and_body();
        String::from_utf8(body).expect("text")
    }

    pub(crate) fn json(&mut self, request: &str, body: &Value) -> Reply {
        self.ask(request, "", body.to_string().as_bytes())
    }

    fn reply(&mut self) -> Reply {
        let (mut reply, body) = self.head_and_body();
        reply.body = serde_json::from_slice(&body).unwrap_or(Value::Null);
        reply
    }

    /// An answer as it came.
    pub(crate) fn raw(&mut self, request: &str, headers: &str) -> (Reply, Vec<u8>) {
        self.send(request, headers, b"");
        self.head_and_body()
    }

    /// What a page's form sends; `headers` say of which kind. The status.
    pub(crate) fn form(&mut self, request: &str, headers: &str, body: &str) -> u16 {
        let length = body.len();
        let head = format!("{request} HTTP/1.1\r\nhost: danlu\r\ncontent-length: {length}\r\n");
        let all = format!("{head}{headers}\r\n{body}");
        self.0.get_mut().write_all(all.as_bytes()).expect("somebody reads");
        self.head_and_body().0.status
    }

    /// The next line of an answer that may never end.
    pub(crate) fn next_line(&mut self) -> String {
        self.line()
    }

    /// Of an answer that may never end.
    pub(crate) fn head_of(&mut self, request: &str, headers: &str) -> Reply {
        self.send(request, headers, b"");
        self.head()
    }

    fn head_and_body(&mut self) -> (Reply, Vec<u8>) {
        let reply = self.head();
        let length = reply.header("content-length");
        let mut body = vec![0; length.map_or(0, |value| value.parse().expect("a number"))];
        self.0.read_exact(&mut body).expect("the whole answer");
        (reply, body)
    }

    fn head(&mut self) -> Reply {
        let line = self.line();
        let status = line.split(' ').nth(1).and_then(|word| word.parse().ok());
        let mut headers = Vec::new();
        loop {
            match self.line() {
                line if line.is_empty() => break,
                line => headers.push(line),
            }
        }
        let status = status.unwrap_or_else(|| panic!("no status: {line:?}"));
        Reply { status, headers, body: Value::Null }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).expect("an answer");
        line.trim_end().to_owned()
    }
}
