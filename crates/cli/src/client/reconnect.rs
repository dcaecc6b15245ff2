//! How long a verb that follows something keeps trying to reconnect: the server may be restarting.

use std::{
    thread,
    time::{Duration, Instant},
};

use super::Problem;
use crate::{failure::Failure, screen};
use danlu_messages::cli::client as msg;

const LONGEST: Duration = Duration::from_secs(30);
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub(crate) struct Patience {
    away: Option<Away>,
}

#[derive(Debug)]
struct Away {
    since: Instant,
    pause: Duration,
    told: bool,
}

impl Patience {
    /// The server has answered.
    pub(crate) fn renew(&mut self) {
        self.away = None;
    }

    /// Returns after a pause when it is worth another try.
    pub(crate) fn wait(&mut self, problem: Problem) -> Result<(), Failure> {
        if !matches!(problem, Problem::Unreachable(_) | Problem::Lost { .. }) {
            return Err(problem.into());
        }
        let away = self.away.get_or_insert_with(|| Away {
            since: Instant::now(),
            pause: FIRST_PAUSE,
            told: false,
        });
        if away.since.elapsed() > LONGEST {
            return Err(problem.into());
        }
        if !away.told && away.since.elapsed() > Duration::from_secs(1) {
            away.told = true;
            screen::aside(msg::server_away_retrying());
        }
        thread::sleep(away.pause);
        away.pause = (away.pause * 2).min(LONGEST_PAUSE);
        Ok(())
    }
}
