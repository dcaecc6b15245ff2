//! Translates messages of this agent for servers that speak an older protocol.

use crate::agent::{CONFIRMS_LOGS, FromAgent, TELLS_SAMPLES};
use danlu_core::run::{Ending, Exit, ReportedState};

impl FromAgent {
    /// As a peer with this protocol version understands it; `None` for a message that it does not know.
    pub fn for_protocol(self, protocol: u32) -> Option<FromAgent> {
        if protocol < CONFIRMS_LOGS && matches!(self, FromAgent::LogDropped { .. }) {
            return None;
        }
        if protocol < TELLS_SAMPLES && matches!(self, FromAgent::Samples(_)) {
            return None;
        }
        if protocol >= 2 {
            return Some(self);
        }
        match self {
            FromAgent::Fitness { .. }
            | FromAgent::Paths(_)
            | FromAgent::LogDropped { .. }
            | FromAgent::Samples(_) => None,
            FromAgent::Ended { run, ending, used } => {
                Some(FromAgent::Ended { run, ending: in_protocol_1(ending), used })
            }
            FromAgent::Report(mut report) => {
                for run in &mut report.runs {
                    if let ReportedState::Ended(ending) = &mut run.state {
                        *ending = in_protocol_1(ending.clone());
                    }
                }
                Some(FromAgent::Report(report))
            }
            said @ (FromAgent::Hello(_)
            | FromAgent::Started { .. }
            | FromAgent::Gpus(_)
            | FromAgent::Details(_)
            | FromAgent::Memory { .. }
            | FromAgent::Facts(_)
            | FromAgent::Log(_)) => Some(said),
        }
    }
}

/// Protocol 1 knows fewer ways to end.
fn in_protocol_1(ending: Ending) -> Ending {
    let exit = match ending.exit {
        // A server of that release shows it as it is, in the language that it has.
        Exit::Trouble(trouble) => {
            let message = format!("the machine could not start it: {}", trouble.detail);
            Exit::Launch { message }
        }
        Exit::NoRecord => Exit::Vanished { rebooted: false },
        exit @ (Exit::Code(_)
        | Exit::Signal(_)
        | Exit::TimedOut
        | Exit::Launch { .. }
        | Exit::NeverStarted
        | Exit::Vanished { .. }
        | Exit::Abandoned) => exit,
    };
    Ending { exit, ..ending }
}
