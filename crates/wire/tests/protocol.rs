//! What agents and servers of protocol 1 say is understood by every release that still speaks with them.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use danlu_wire::agent::OLDEST_PROTOCOL;
use danlu_wire::frame::Decoder;
use danlu_wire::{FromAgent, Hello, ToAgent};
use serde::de::DeserializeOwned;
use std::collections::BTreeSet;

/// One message of each kind, as that protocol's first release has written them: these files are not to be changed. They
/// may go when nobody speaks it any more.
fn said<T: DeserializeOwned>(name: &str) -> (Vec<T>, BTreeSet<String>) {
    assert_eq!(OLDEST_PROTOCOL, 1, "keep the messages of the oldest protocol that is understood");
    let path = format!("{}/tests/v1/{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut decoder = Decoder::default();
    decoder.feed(text.as_bytes());
    let messages = std::iter::from_fn(|| decoder.next_message().unwrap()).collect();
    let kind = |line: &str| match serde_json::from_str(line).unwrap() {
        serde_json::Value::Object(message) => message.keys().next().unwrap().clone(),
        other => other.as_str().unwrap().to_owned(),
    };
    (messages, text.lines().map(kind).collect())
}

fn kinds(words: &str) -> BTreeSet<String> {
    words.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn orders_of_protocol_1_are_understood() {
    let (orders, seen) = said::<ToAgent>("to_agent.jsonl");
    assert_eq!(orders.len(), seen.len());
    let all =
        "hello launch stop pause resume set_limit forget drop_log ask_report ask_facts read_log";
    assert_eq!(seen, kinds(all));
    let ToAgent::Launch(order) = &orders[1] else { panic!("{:?}", orders[1]) };
    assert_eq!(order.environment.0, ["TOKEN=s3cret"]);
    assert!(order.ranks.is_some() && order.memory_limit == Some(1024));
}

#[test]
fn words_of_protocol_1_are_understood() {
    let (words, seen) = said::<FromAgent>("from_agent.jsonl");
    assert_eq!(words.len(), seen.len());
    assert_eq!(seen, kinds("hello report started ended gpus details memory facts log"));
    let FromAgent::Report(report) = &words[1] else { panic!("{:?}", words[1]) };
    assert_eq!((report.gpus.len(), report.runs.len()), (1, 2));
}

#[test]
fn neighbours_speak_with_each_other() {
    let hello = |protocol, oldest_protocol| Hello {
        protocol,
        oldest_protocol,
        ..Hello::new("0", danlu_core::SessionId(1), None)
    };
    for (protocol, oldest, good) in [
        (1, None, true),
        (1, Some(1), true),
        (2, Some(2), true),
        (3, Some(2), true),
        (3, Some(3), true),
        (4, Some(3), true),
        (4, Some(4), true),
        (5, Some(4), true),
        (5, Some(5), true),
        (6, Some(5), true),
        (6, Some(6), false),
        (0, None, false),
    ] {
        assert_eq!(hello(protocol, oldest).is_compatible(), good, "{protocol} {oldest:?}");
    }
}
