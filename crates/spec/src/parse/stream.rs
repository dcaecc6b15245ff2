//! `--stdout FILE`, `--stderr FILE`: where a stream of the task goes.

use danlu_core::task::Stream;

/// gpuman's words: empty, `devnull` and `/dev/null` discard; `stdout` merges, which is `None`.
pub fn target(given: &str) -> Option<Stream> {
    match given {
        "" | "/dev/null" | "devnull" | "null" => Some(Stream::Discard),
        "stdout" | "&1" => None,
        path => Some(Stream::Append { path: path.to_owned() }),
    }
}
