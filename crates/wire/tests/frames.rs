//! Messages survive the wire, whole or in pieces, and nothing without a limit is kept.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use danlu_core::run::RunUsage;
use danlu_core::run::{Ending, Exit};
use danlu_core::{Epoch, Failure, FailureClass, RunId, SessionId, Span, TaskId, Time};
use danlu_wire::frame::{Decoder, FRAME_BYTES, FrameError, encode};
use danlu_wire::launch::{Command, Environment};
use danlu_wire::{FromAgent, Hello, LaunchOrder, StopWhy, ToAgent};

const RUN: RunId = RunId { epoch: Epoch(1), number: 7 };

fn order() -> LaunchOrder {
    let command = Command::Argv(vec!["echo".into(), "多\nline {gpu_list}".into()]);
    let mut order = LaunchOrder::new(RUN, TaskId(3), command, "/tmp");
    order.environment = Environment(vec!["TOKEN=s3cret".into(), "EMPTY=".into()]);
    order
}

fn messages() -> Vec<ToAgent> {
    vec![
        ToAgent::Hello(Hello::new("0.1.0", SessionId(4), None)),
        ToAgent::Launch(Box::new(order())),
        ToAgent::Stop { run: RUN, why: StopWhy::Preempted, grace: Span::from_secs(3) },
        ToAgent::Pause { run: RUN },
        ToAgent::Resume { run: RUN },
        ToAgent::Forget { run: RUN },
        ToAgent::DropLog { run: RUN },
        ToAgent::AskReport,
    ]
}

fn drain<T: serde::de::DeserializeOwned>(decoder: &mut Decoder) -> Vec<T> {
    std::iter::from_fn(|| decoder.next_message().unwrap()).collect()
}

#[test]
fn messages_come_back_from_any_pieces() {
    let stream: Vec<u8> = messages().iter().flat_map(|message| encode(message).unwrap()).collect();
    for size in [1, 2, 3, 7, 64, stream.len()] {
        let mut decoder = Decoder::default();
        let mut seen: Vec<ToAgent> = Vec::new();
        for piece in stream.chunks(size) {
            decoder.feed(piece);
            seen.extend(drain::<ToAgent>(&mut decoder));
        }
        assert_eq!(seen, messages(), "in pieces of {size}");
    }
}

#[test]
fn answers_come_back() {
    let ending = Ending {
        exit: Exit::Signal(9),
        stopped: true,
        failure: Some(Failure::new(FailureClass::Killed, "ended by signal 9")),
        started_at: Some(Time(5)),
        ended_at: Time(9),
        used: RunUsage { log_bytes: 5, ..RunUsage::default() },
    };
    let message = FromAgent::Ended { run: RUN, ending, used: RunUsage::default() };
    let mut decoder = Decoder::default();
    decoder.feed(&encode(&message).unwrap());
    assert_eq!(drain::<FromAgent>(&mut decoder), [message]);
}

#[test]
fn one_message_is_one_line() {
    let line = encode(&ToAgent::Launch(Box::new(order()))).unwrap();
    assert_eq!(line.iter().filter(|&&byte| byte == b'\n').count(), 1);
    assert!(line.ends_with(b"\n"));
}

#[test]
fn empty_lines_are_nothing() {
    let mut decoder = Decoder::default();
    decoder.feed(b"\n \r\n\"ask_report\"\n");
    assert_eq!(drain::<ToAgent>(&mut decoder), [ToAgent::AskReport]);
}

#[test]
fn endless_line_is_refused_before_it_fills_memory() {
    let mut decoder = Decoder::default();
    let piece = vec![b'x'; 1024 * 1024];
    let mut fed = 0;
    let error = loop {
        decoder.feed(&piece);
        fed += piece.len();
        match decoder.next_message::<ToAgent>() {
            Ok(None) => assert!(fed <= FRAME_BYTES),
            Ok(Some(message)) => panic!("{message:?}"),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, FrameError::TooLong));
}

#[test]
fn too_long_message_is_not_sent() {
    let mut order = order();
    order.environment.0.push(format!("BIG={}", "x".repeat(FRAME_BYTES)));
    assert!(matches!(encode(&ToAgent::Launch(Box::new(order))), Err(FrameError::TooLong)));
}

#[test]
fn damage_is_an_error() {
    let mut decoder = Decoder::default();
    decoder.feed(b"{\"stop\":{}}\n");
    assert!(matches!(decoder.next_message::<ToAgent>(), Err(FrameError::Damaged(_))));
}

#[test]
fn secrets_are_not_in_debug() {
    let shown = format!("{:?}", ToAgent::Launch(Box::new(order())));
    assert!(!shown.contains("s3cret"), "{shown}");
    assert!(shown.contains("2 variables"), "{shown}");
}
