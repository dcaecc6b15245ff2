//! Somebody else, who submits and lists all the time, and how long that person waits at most.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use crate::bench::{http::Connection, server::Server};

pub(super) struct Bystander {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<Waits, String>>,
}

/// The longest of each, in milliseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waits {
    pub(super) submit: f64,
    pub(super) list: f64,
}

const PAUSE: Duration = Duration::from_millis(1);

impl Bystander {
    pub(super) fn start(server: &Server, token: &str) -> Result<Bystander, String> {
        let stop = Arc::new(AtomicBool::new(false));
        let mut connection = Connection::open(server.address())?;
        let (told, token) = (Arc::clone(&stop), token.to_owned());
        let thread = thread::spawn(move || {
            let mut waits = Waits::default();
            let mut number = 0_u64;
            while !told.load(Ordering::Relaxed) {
                number += 1;
                let body = r#"{"command":["true"],"directory":"/","gpus":1}"#;
                let submit = timed(|| connection.post("/api/v1/tasks", &token, body))?;
                // Not the same question twice, whose answer would be kept.
                let path = format!("/api/v1/tasks?limit={}", 20 + number % 20);
                let list = timed(|| connection.get(&path, &token))?;
                waits = Waits { submit: waits.submit.max(submit), list: waits.list.max(list) };
                thread::sleep(PAUSE);
            }
            Ok(waits)
        });
        Ok(Bystander { stop, thread })
    }

    pub(super) fn end(self) -> Result<Waits, String> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().map_err(|_| "a client panicked".to_owned())?
    }
}

fn timed(act: impl FnOnce() -> Result<(), String>) -> Result<f64, String> {
    let since = Instant::now();
    act()?;
    Ok(since.elapsed().as_secs_f64() * 1e3)
}
