//! What the machine can do at this moment without any server.

use std::{
    process::{Command, Stdio},
    time::Instant,
};

use super::{
    figure::{Figure, Target, Unit},
    measuring::go_on,
};

/// On a quiet machine it is far more than tasks can be.
pub(super) fn processes(rounds: usize, count: usize) -> Result<Figure, String> {
    let mut rates = Vec::new();
    eprintln!("{count} plain processes, {rounds} rounds");
    for _ in 0..rounds {
        go_on()?;
        let since = Instant::now();
        for _ in 0..count {
            let mut command = Command::new("true");
            command.stdin(Stdio::null()).stdout(Stdio::null());
            command.status().map_err(|error| format!("true: {error}"))?;
        }
        rates.push(count as f64 / since.elapsed().as_secs_f64());
    }
    Ok(Figure {
        name: "plain_processes",
        what: "true without any server, one at a time".to_owned(),
        unit: Unit::PerSecond,
        target: Target::None,
        rounds: rates,
    })
}
