//! How long another client waits at most while a large array is submitted and cancelled.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use crate::bench::{http::Connection, server::Server};

/// A held task, a list and one task, over and over, while `act` is done. The longest answer.
pub(super) fn longest_wait<T>(
    server: &Server,
    token: &str,
    act: impl FnOnce() -> Result<T, String>,
) -> Result<(T, Duration), String> {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let bystander = scope.spawn(|| {
            let mut connection = Connection::open(server.address())?;
            let mut longest = Duration::ZERO;
            while !over.load(Ordering::Relaxed) {
                for request in [Asked::Submit, Asked::List, Asked::Show] {
                    let since = Instant::now();
                    request.send(&mut connection, token)?;
                    longest = longest.max(since.elapsed());
                }
            }
            Ok::<Duration, String>(longest)
        });
        let done = act();
        over.store(true, Ordering::Relaxed);
        let longest = bystander.join().map_err(|_| "the other client panicked".to_owned())?;
        Ok((done?, longest?))
    })
}

#[derive(Clone, Copy, Debug)]
enum Asked {
    Submit,
    List,
    Show,
}

impl Asked {
    fn send(self, connection: &mut Connection, token: &str) -> Result<(), String> {
        match self {
            Asked::Submit => {
                let body = r#"{"command":["true"],"directory":"/","hold":true}"#;
                connection.post("/api/v1/tasks", token, body)
            }
            Asked::List => connection.get("/api/v1/tasks?limit=20", token),
            Asked::Show => connection.get("/api/v1/tasks/1", token),
        }
    }
}
