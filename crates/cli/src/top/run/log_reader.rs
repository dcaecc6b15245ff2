//! Reads the output of one run as it is written, until it is no longer wanted.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::SyncSender,
    },
    thread,
    time::Duration,
};

use danlu_wire::api::ErrorCode;

use super::{Happening, TopInput};
use crate::{
    client::{Client, Event, Events, Problem, bytes_of},
    commands::decode_log_piece,
    failure::Failure,
    top::model::{LogNews, LogSubject},
};

/// The file of a run is made a moment after the run.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(250);

/// Hangs up when it is dropped.
#[derive(Debug)]
pub(super) struct LogReader {
    client: Arc<Client>,
    is_wanted: Arc<AtomicBool>,
}

impl Drop for LogReader {
    fn drop(&mut self) {
        self.is_wanted.store(false, Ordering::SeqCst);
        self.client.hang_up();
    }
}

impl LogReader {
    pub(super) fn start(
        server: Option<&str>,
        subject: LogSubject,
        told: SyncSender<Happening>,
    ) -> Result<LogReader, Failure> {
        // A client of its own: to hang up ends all that it does.
        let client = Arc::new(Client::new(server)?);
        let is_wanted = Arc::new(AtomicBool::new(true));
        let reader = LogReader { client: Arc::clone(&client), is_wanted: Arc::clone(&is_wanted) };
        thread::spawn(move || {
            let tell = |news| {
                let happening = Happening::Input(TopInput::Log(subject, news));
                is_wanted.load(Ordering::SeqCst) && told.send(happening).is_ok()
            };
            for _ in 0..TRIES {
                match read(&client, subject, &tell) {
                    Err(problem) if problem.code() == Some(ErrorCode::NotFound) => {
                        thread::sleep(PAUSE);
                    }
                    // It is read again when the server is back.
                    Err(Problem::Unreachable(_) | Problem::Lost { .. }) | Ok(()) => return,
                    Err(problem) => {
                        let words = Failure::from(problem).message().to_owned();
                        tell(LogNews::Refused(words));
                        return;
                    }
                }
                if !is_wanted.load(Ordering::SeqCst) {
                    return;
                }
            }
        });
        Ok(reader)
    }
}

fn read(
    client: &Client,
    subject: LogSubject,
    tell: &dyn Fn(LogNews) -> bool,
) -> Result<(), Problem> {
    let LogSubject { task, attempt, lines } = subject;
    let path = format!("/tasks/{task}/logs?run={attempt}&tail={lines}");
    let mut events = Events::new(bytes_of(client.open(&path, "text/event-stream")?));
    loop {
        let event = events.next().map_err(|cause| Problem::Lost { cause: cause.to_string() })?;
        let Some(Event { name, data }) = event else { return Ok(()) };
        let goes_on = match name.as_str() {
            "data" => tell(LogNews::Bytes(decode_log_piece(&data)?)),
            "end" => {
                tell(LogNews::Ended);
                false
            }
            // Something newer than this program.
            _ => true,
        };
        if !goes_on {
            return Ok(());
        }
    }
}
