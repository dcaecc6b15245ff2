//! `cargo xtask bench soak`: 200,000 short tasks of every kind, and whether anything of the server's grows with them.

mod driver;
mod plot;
mod samples;

use std::{
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use super::{
    figure::{Figure, Target, Unit},
    measuring::{self, Peers, go_on},
    plain,
    server::{Gpus, Programs, Server},
};
use crate::shell;
use driver::Driver;
use samples::{Sample, Series};

const GPUS: u32 = 8;
/// Beyond what it was after the first tenth: in percent, and for small counts in pieces.
const MORE_PERCENT: f64 = 10.0;

#[derive(Clone, Copy, Debug)]
struct Size {
    tasks: usize,
    every: Duration,
    /// It gives up then.
    longest: Duration,
}

const FULL: Size =
    Size { tasks: 200_000, every: Duration::from_millis(500), longest: Duration::from_secs(1_500) };
/// To see that it works; the figures say little.
const QUICK: Size =
    Size { tasks: 6_000, every: Duration::from_millis(100), longest: Duration::from_secs(120) };

/// `--plot FILE` keeps the picture; otherwise it is left where everything goes that is built.
pub(super) fn run(options: &[&str]) -> Result<bool, String> {
    let (path, rest) = match options {
        ["--plot", path, rest @ ..] => (shell::root().join(path), rest),
        rest => (shell::target().join("soak.svg"), rest),
    };
    measuring::run(
        "soak",
        rest,
        (FULL, QUICK),
        |programs, size| measure(programs, size, &path),
        Peers::Left,
    )
}

fn measure(programs: &Programs, size: Size, path: &Path) -> Result<Vec<Figure>, String> {
    let mut figures = vec![plain::processes(3, 500)?];
    let server = Server::start(programs, Gpus::Simulated(GPUS))?;
    eprintln!("{} tasks on {GPUS} GPUs", size.tasks);
    let since = Instant::now();
    let samples = soak(&server, size, since)?;
    let rate = size.tasks as f64 / since.elapsed().as_secs_f64();
    figures.push(Figure {
        name: "rate",
        what: format!("tasks, {} of every kind", size.tasks),
        unit: Unit::PerSecond,
        target: Target::None,
        rounds: vec![rate],
    });
    figures.extend(Series::ALL.map(|series| growth(series, &samples)));
    fs::write(path, plot::svg(&samples)).map_err(|error| format!("{}: {error}", path.display()))?;
    eprintln!("{}", path.display());
    Ok(figures)
}

fn soak(server: &Server, size: Size, since: Instant) -> Result<Vec<Sample>, String> {
    let driver = Driver::new(server, size.tasks)?;
    thread::scope(|scope| {
        let work = scope.spawn(|| driver.work());
        let mut samples = Vec::new();
        // Whatever happens here, the driver is told, so that its thread ends.
        let sampled = loop {
            if let Err(problem) = go_on() {
                break Err(problem);
            }
            if since.elapsed() > size.longest {
                break Err(format!("{:?} were not enough", size.longest));
            }
            let ended = work.is_finished();
            match Sample::take(server, driver.ended()) {
                Ok(sample) => samples.push(sample),
                Err(problem) => break Err(problem),
            }
            if ended {
                break Ok(());
            }
            thread::sleep(size.every);
        };
        driver.stop();
        work.join().map_err(|_| "the driver panicked".to_owned())??;
        sampled.map(|()| samples)
    })
}

/// How much more the largest of nine later parts is than the first: each part is the median of a tenth.
fn growth(series: Series, samples: &[Sample]) -> Figure {
    let (first, most) = samples::first_and_most(series, samples);
    let most = if most - first <= series.slack() { first } else { most };
    let percent = if first > 0.0 { (most / first - 1.0) * 100.0 } else { 0.0 };
    Figure {
        name: series.name(),
        what: format!("growth after the first tenth: {}, {first:.1} then", series.title()),
        unit: Unit::Percent,
        target: if series.is_judged() { Target::AtMost(MORE_PERCENT) } else { Target::None },
        rounds: vec![percent.max(0.0)],
    }
}
