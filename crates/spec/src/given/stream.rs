//! `--stdout FILE`, `--stderr FILE`: where a stream of the task goes.

use std::convert::Infallible;

use danlu_core::task::Stream;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    File(String),
    Discard,
    /// `--stderr stdout`.
    WithStdout,
}

impl Target {
    /// `None` where the stream joins the other one.
    pub fn stream(&self, truncate: bool) -> Option<Stream> {
        match self {
            Self::File(path) if truncate => Some(Stream::Truncate { path: path.clone() }),
            Self::File(path) => Some(Stream::Append { path: path.clone() }),
            Self::Discard => Some(Stream::Discard),
            Self::WithStdout => None,
        }
    }
}

/// gpuman's words: empty, `devnull` and `/dev/null` discard; `stdout` merges.
pub fn parse_target(given: &str) -> Result<Target, Infallible> {
    Ok(match given {
        "" | "/dev/null" | "devnull" | "null" => Target::Discard,
        "stdout" | "&1" => Target::WithStdout,
        path => Target::File(path.to_owned()),
    })
}
