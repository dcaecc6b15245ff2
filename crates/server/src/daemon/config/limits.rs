//! `[limits]`: how much of the server one user or one address may use at a time.

use super::ConfigError;
use crate::parse::amount::parse_bytes;
use danlu_core::Span;
use danlu_wire::api::MOST_BODY_BYTES;
use serde::Deserialize;
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Over the network, from all addresses.
    pub connections: usize,
    pub connections_per_address: usize,
    /// On the machine's own socket, by OS user.
    pub connections_per_user: usize,
    /// Answers that go on for long (events, followed logs, waits), of all accounts.
    pub streams: usize,
    pub streams_per_user: usize,
    /// Request bodies that are being received or read, in total.
    pub request_bytes: u64,
    /// Of one OS user on the socket, or one address.
    pub request_bytes_per_user: u64,
    /// Long responses that are being sent, in total and of one OS user or address.
    pub answer_bytes: u64,
    pub answer_bytes_per_user: u64,
    /// A connection that has not sent a complete request header for this long is closed.
    pub idle: Span,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections: 4_096,
            connections_per_address: 512,
            connections_per_user: 512,
            streams: 2_048,
            streams_per_user: 256,
            request_bytes: 64 << 20,
            request_bytes_per_user: 32 << 20,
            answer_bytes: 128 << 20,
            answer_bytes_per_user: 32 << 20,
            idle: Span::from_secs(30),
        }
    }
}

/// More descriptors than any system hands out.
const MOST_CONNECTIONS: usize = 1 << 20;
const MOST_BYTES: u64 = 1 << 40;
const SHORTEST_IDLE: Span = Span::from_secs(1);
const LONGEST_IDLE: Span = Span::from_secs(86_400);

/// `[limits] connections_per_user = 512`, `request_bytes = "64M"`, `idle = "30s"` and so on.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct LimitsInFile {
    connections: Option<usize>,
    connections_per_address: Option<usize>,
    connections_per_user: Option<usize>,
    streams: Option<usize>,
    streams_per_user: Option<usize>,
    request_bytes: Option<String>,
    request_bytes_per_user: Option<String>,
    answer_bytes: Option<String>,
    answer_bytes_per_user: Option<String>,
    idle: Option<String>,
}

impl LimitsInFile {
    /// The keys that the file sets.
    pub(super) fn said(&self) -> [(&'static str, bool); 10] {
        [
            ("limits.connections", self.connections.is_some()),
            ("limits.connections_per_address", self.connections_per_address.is_some()),
            ("limits.connections_per_user", self.connections_per_user.is_some()),
            ("limits.streams", self.streams.is_some()),
            ("limits.streams_per_user", self.streams_per_user.is_some()),
            ("limits.request_bytes", self.request_bytes.is_some()),
            ("limits.request_bytes_per_user", self.request_bytes_per_user.is_some()),
            ("limits.answer_bytes", self.answer_bytes.is_some()),
            ("limits.answer_bytes_per_user", self.answer_bytes_per_user.is_some()),
            ("limits.idle", self.idle.is_some()),
        ]
    }

    pub(super) fn parse(self, from: &str) -> Result<Limits, ConfigError> {
        let usual = Limits::default();
        let wrong = |key, value: String, expect| ConfigError::Limit {
            path: PathBuf::from(from),
            key,
            value,
            expect,
        };
        let count = |key, given: Option<usize>, usual| match given {
            None => Ok(usual),
            Some(given) if (1..=MOST_CONNECTIONS).contains(&given) => Ok(given),
            Some(given) => Err(wrong(key, given.to_string(), "a number from 1 to 1048576")),
        };
        let bytes = |key, given: Option<String>, usual| {
            let Some(given) = given else { return Ok(usual) };
            let parsed = parse_bytes(&given).ok();
            // A single request of the maximum size must fit.
            let sound = |bytes: &u64| (MOST_BODY_BYTES as u64..=MOST_BYTES).contains(bytes);
            parsed.filter(sound).ok_or_else(|| wrong(key, given, "a size such as 64M, at least 8M"))
        };
        let idle = match self.idle {
            None => usual.idle,
            Some(given) => crate::parse::duration::parse_span(&given)
                .filter(|span| (SHORTEST_IDLE..=LONGEST_IDLE).contains(span))
                .ok_or_else(|| wrong("idle", given, "a length of time from 1s to 1d"))?,
        };
        Ok(Limits {
            connections: count("connections", self.connections, usual.connections)?,
            connections_per_address: count(
                "connections_per_address",
                self.connections_per_address,
                usual.connections_per_address,
            )?,
            connections_per_user: count(
                "connections_per_user",
                self.connections_per_user,
                usual.connections_per_user,
            )?,
            streams: count("streams", self.streams, usual.streams)?,
            streams_per_user: count(
                "streams_per_user",
                self.streams_per_user,
                usual.streams_per_user,
            )?,
            request_bytes: bytes("request_bytes", self.request_bytes, usual.request_bytes)?,
            request_bytes_per_user: bytes(
                "request_bytes_per_user",
                self.request_bytes_per_user,
                usual.request_bytes_per_user,
            )?,
            answer_bytes: bytes("answer_bytes", self.answer_bytes, usual.answer_bytes)?,
            answer_bytes_per_user: bytes(
                "answer_bytes_per_user",
                self.answer_bytes_per_user,
                usual.answer_bytes_per_user,
            )?,
            idle,
        })
    }
}

impl Limits {
    /// As `danlu config` lists them.
    pub(super) fn entries(&self) -> [(&'static str, String); 10] {
        [
            ("limits.connections", self.connections.to_string()),
            ("limits.connections_per_address", self.connections_per_address.to_string()),
            ("limits.connections_per_user", self.connections_per_user.to_string()),
            ("limits.streams", self.streams.to_string()),
            ("limits.streams_per_user", self.streams_per_user.to_string()),
            ("limits.request_bytes", self.request_bytes.to_string()),
            ("limits.request_bytes_per_user", self.request_bytes_per_user.to_string()),
            ("limits.answer_bytes", self.answer_bytes.to_string()),
            ("limits.answer_bytes_per_user", self.answer_bytes_per_user.to_string()),
            ("limits.idle", self.idle.to_string()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Limits, ConfigError> {
        toml::from_str::<LimitsInFile>(text).expect("it is TOML").parse("danlu.toml")
    }

    #[test]
    fn what_is_not_said_is_as_usual() {
        let limits = parsed("connections_per_user = 9\nrequest_bytes = \"1G\"\nidle = \"2m\"");
        let expect = Limits {
            connections_per_user: 9,
            request_bytes: 1 << 30,
            idle: Span::from_secs(120),
            ..Limits::default()
        };
        assert_eq!(limits.expect("they are sound"), expect);
    }

    #[test]
    fn limits_that_would_keep_everybody_out_are_refused() {
        for text in ["streams = 0", "request_bytes = \"1M\"", "idle = \"0s\"", "idle = \"soon\""] {
            let error = parsed(text).expect_err(text).to_string();
            assert!(error.contains("[limits]"), "{error}");
        }
    }
}
