//! Follows a task: its output as it is written, run after run, until the task has ended.

use std::{io, thread, time::Duration};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use danlu_wire::api::{ErrorCode, TaskView};
use serde::Deserialize;

use crate::{
    client::{Client, Event, Events, Patience, Problem, bytes_of, path_segment},
    failure::Failure,
};

/// What following brings, in order.
#[derive(Debug)]
pub(super) enum FollowEvent {
    /// As it is now; sent whenever it was looked at.
    Task(Box<TaskView>),
    Bytes(Vec<u8>),
}

/// What to follow.
#[derive(Clone, Debug)]
pub(super) struct FollowTarget {
    pub(super) id: u64,
    /// This run and no other.
    pub(super) only_run: Option<u32>,
    /// Every run from the first on, instead of the newest.
    pub(super) from_first: bool,
    /// Of a task on several machines; default: the first.
    pub(super) node: Option<String>,
    pub(super) stream: Option<&'static str>,
    /// Begin with the last so many lines.
    pub(super) tail: Option<u64>,
}

/// Whether to go on.
pub(super) type GoOn = Result<bool, Failure>;

const FIRST_PAUSE: Duration = Duration::from_millis(5);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// Returns the task when it has ended, `None` when the caller does not want to go on.
pub(super) fn follow(
    client: &Client,
    subject: &FollowTarget,
    tell: &mut dyn FnMut(FollowEvent) -> GoOn,
) -> Result<Option<TaskView>, Failure> {
    let mut patience = Patience::default();
    let mut pause = FIRST_PAUSE;
    let mut log: Option<RunLog> = None;
    loop {
        let task = match client.task(subject.id) {
            Ok(task) => task,
            Err(problem) => {
                patience.wait(problem)?;
                continue;
            }
        };
        patience.renew();
        if !tell(FollowEvent::Task(Box::new(task.clone())))? {
            return Ok(None);
        }
        let wanted = next_attempt(&task, subject, log.as_ref());
        let Some(attempt) = wanted else {
            let done = log.as_ref().is_some_and(|log| log.ended);
            if task.state.is_over() || (subject.only_run.is_some() && done) {
                return Ok(Some(task));
            }
            if task.state.is_waiting() {
                client.wait_until_running(subject.id);
            } else {
                // Another run than the one that is asked for.
                thread::sleep(pause);
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
            continue;
        };
        if log.as_ref().is_none_or(|log| log.attempt != attempt) {
            let tail = subject.tail.filter(|_| log.is_none());
            log = Some(RunLog { attempt, offset: None, tail, ended: false });
        }
        let current = log.as_mut().expect("it was made just now");
        match current.read(client, subject, tell) {
            Ok(true) => pause = FIRST_PAUSE,
            Ok(false) => return Ok(None),
            Err(ReadError::Failure(failure)) => return Err(failure),
            Err(ReadError::Problem(problem)) if problem.code() == Some(ErrorCode::NotFound) => {
                // The file is made a moment after the run; of an ended run it is gone for good.
                if task.state.is_over() {
                    return Ok(Some(task));
                }
                client.wait_until_running(subject.id);
                thread::sleep(pause);
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
            Err(ReadError::Problem(problem)) => patience.wait(problem)?,
        }
    }
}

/// The run to read from now; `None` when there is none that has not been read to its end.
fn next_attempt(task: &TaskView, subject: &FollowTarget, log: Option<&RunLog>) -> Option<u32> {
    let runs = task.details.as_ref().map(|details| details.runs.as_slice()).unwrap_or_default();
    let exists = |attempt: &u32| runs.iter().any(|run| run.attempt == *attempt);
    match (log, subject.only_run) {
        (Some(log), _) if !log.ended => Some(log.attempt),
        (Some(_), Some(_)) => None,
        (Some(log), None) => {
            runs.iter().map(|run| run.attempt).filter(|attempt| *attempt > log.attempt).min()
        }
        (None, Some(attempt)) => Some(attempt).filter(exists),
        (None, None) if subject.from_first => runs.iter().map(|run| run.attempt).min(),
        (None, None) => runs.iter().map(|run| run.attempt).max(),
    }
}

/// How far the output of a run has been read.
#[derive(Debug)]
struct RunLog {
    attempt: u32,
    /// `None` before the first piece.
    offset: Option<u64>,
    tail: Option<u64>,
    ended: bool,
}

enum ReadError {
    Problem(Problem),
    Failure(Failure),
}

#[derive(Deserialize)]
struct LogPiece {
    /// Where it ends.
    offset: u64,
    base64: String,
}

impl RunLog {
    /// Until the run has ended. `Ok(false)` when the caller does not want to go on.
    fn read(
        &mut self,
        client: &Client,
        subject: &FollowTarget,
        tell: &mut dyn FnMut(FollowEvent) -> GoOn,
    ) -> Result<bool, ReadError> {
        let answer = client.open(&self.path(subject), "text/event-stream");
        let mut events = Events::new(bytes_of(answer.map_err(ReadError::Problem)?));
        loop {
            let Event { name, data } = match events.next() {
                Ok(Some(event)) => event,
                Ok(None) => return Err(lost(&io::ErrorKind::UnexpectedEof.into())),
                Err(cause) => return Err(lost(&cause)),
            };
            match name.as_str() {
                "data" => {
                    let (offset, bytes) = decode(&data).map_err(ReadError::Problem)?;
                    self.offset = Some(offset);
                    if !tell(FollowEvent::Bytes(bytes)).map_err(ReadError::Failure)? {
                        return Ok(false);
                    }
                }
                "end" => {
                    self.ended = true;
                    return Ok(true);
                }
                // Something newer than this program.
                _ => {}
            }
        }
    }

    fn path(&self, subject: &FollowTarget) -> String {
        let mut path = format!("/tasks/{}/logs?run={}", subject.id, self.attempt);
        if let Some(stream) = subject.stream {
            path += &format!("&stream={stream}");
        }
        if let Some(node) = &subject.node {
            path += &format!("&node={}", path_segment(node));
        }
        match (self.offset, self.tail) {
            (Some(offset), _) => path += &format!("&offset={offset}"),
            (None, Some(lines)) => path += &format!("&tail={lines}"),
            (None, None) => {}
        }
        path
    }
}

/// The bytes of a piece of a log.
pub(crate) fn decode_piece(data: &str) -> Result<Vec<u8>, Problem> {
    decode(data).map(|(_, bytes)| bytes)
}

fn decode(data: &str) -> Result<(u64, Vec<u8>), Problem> {
    let piece: LogPiece = crate::client::read(data)?;
    let bytes = STANDARD.decode(piece.base64).map_err(|error| Problem::Odd(error.to_string()))?;
    Ok((piece.offset, bytes))
}

fn lost(cause: &io::Error) -> ReadError {
    ReadError::Problem(Problem::Lost { cause: cause.to_string() })
}
