//! Submits exactly once, also when the connection breaks while the request is under way.

use std::{fs::File, io::Read as _};

use danlu_messages::cli::client as msg;
use danlu_spec::Patch;

use super::{Client, PATIENCE, Patience, Problem, text_of};
use crate::failure::{Exit, Failure};

impl Client {
    /// The answer as the server sent it. It comes when the task is durable.
    pub(crate) fn submit(&self, task: &Patch) -> Result<String, Failure> {
        let key = fresh_key()?;
        let mut patience = Patience::default();
        let mut sent = false;
        loop {
            let request = self.request("POST", "/tasks").header("idempotency-key", &key);
            match self.ask_with_body(request, task, PATIENCE).and_then(text_of) {
                Ok(document) => return Ok(document),
                // Nothing has been sent so far: say so at once.
                Err(problem @ Problem::Unreachable(_)) if !sent => return Err(problem.into()),
                Err(problem @ (Problem::Unreachable(_) | Problem::Lost { .. })) => {
                    // The server knows the key, so that asking again queues nothing twice.
                    sent = true;
                    patience.wait(problem).map_err(|failure| failure.hint(msg::maybe_queued()))?;
                }
                Err(problem) => return Err(problem.into()),
            }
        }
    }
}

fn fresh_key() -> Result<String, Failure> {
    let mut bytes = [0; 16];
    File::open("/dev/urandom").and_then(|mut random| random.read_exact(&mut bytes)).map_err(
        |cause| {
            Failure::new(Exit::Internal, msg::could_not_read_dev_urandom_cause(&cause))
                .hint(msg::is_dev_mounted())
        },
    )?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
