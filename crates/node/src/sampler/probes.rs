//! Runs the probes of the administrator's: one after the other, each with a time limit, in a thread of their own.

use super::probe_output;
use danlu_core::GpuId;
use danlu_wire::samples::{CustomReading, FailedProbe, MetricProbe, ProbeFailure};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::io::{self, PipeReader, Read as _};
use std::os::fd::AsFd as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A probe that prints more is wrong.
const MOST_OUTPUT: u64 = 64 << 10;

/// The GPUs of the machine, by index.
pub(super) type Cards = Vec<(u32, GpuId)>;

/// The thread, while there are probes. It ends when this is dropped.
#[derive(Debug)]
pub(super) struct ProbeRunner {
    shared: Arc<ProbeResults>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct ProbeResults {
    state: Mutex<ProbeState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct ProbeState {
    ended: bool,
    cards: Cards,
    fresh: Vec<CustomReading>,
    failed: Vec<FailedProbe>,
}

impl ProbeRunner {
    pub(super) fn start(probes: Vec<MetricProbe>, cards: Cards) -> ProbeRunner {
        let state = Mutex::new(ProbeState { cards, ..ProbeState::default() });
        let shared = Arc::new(ProbeResults { state, ..ProbeResults::default() });
        let results = Arc::clone(&shared);
        let run = move || run_all(&probes, &results);
        let thread = std::thread::Builder::new().name("metrics".into()).spawn(run).ok();
        ProbeRunner { shared, thread }
    }

    /// What was measured since the last time, and which probes fail.
    pub(super) fn take(&self, cards: Cards) -> (Vec<CustomReading>, Vec<FailedProbe>) {
        let mut state = self.shared.lock();
        state.cards = cards;
        (std::mem::take(&mut state.fresh), state.failed.clone())
    }
}

impl Drop for ProbeRunner {
    fn drop(&mut self) {
        self.shared.lock().ended = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl ProbeResults {
    fn lock(&self) -> MutexGuard<'_, ProbeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// False when it is time to end.
    fn wait_until(&self, at: Instant) -> bool {
        let mut state = self.lock();
        loop {
            let now = Instant::now();
            if state.ended || now >= at {
                return !state.ended;
            }
            let woken = self.changed.wait_timeout(state, at - now);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn note(&self, probe: &MetricProbe, result: Result<Vec<CustomReading>, ProbeFailure>) {
        let mut state = self.lock();
        state.failed.retain(|failed| failed.metric != probe.name);
        match result {
            Ok(readings) => state.fresh.extend(readings),
            Err(why) => state.failed.push(FailedProbe { metric: probe.name.clone(), why }),
        }
    }
}

fn run_all(probes: &[MetricProbe], results: &ProbeResults) {
    let mut due: Vec<Instant> = probes.iter().map(|_| Instant::now()).collect();
    while let Some((place, at)) = due.iter().copied().enumerate().min_by_key(|(_, at)| *at) {
        if !results.wait_until(at) {
            return;
        }
        let probe = &probes[place];
        let cards = results.lock().cards.clone();
        let ended = || results.lock().ended;
        let printed = output(probe, ended);
        results.note(probe, printed.and_then(|text| readings(probe, &text, &cards)));
        due[place] = Instant::now() + Duration::from_millis(probe.interval.0);
    }
}

fn readings(
    probe: &MetricProbe,
    output: &str,
    cards: &Cards,
) -> Result<Vec<CustomReading>, ProbeFailure> {
    let indices: Vec<u32> = cards.iter().map(|(index, _)| *index).collect();
    let values = probe_output::parse(output, probe.per, &indices)?;
    let reading = |(index, value): (Option<u32>, i64)| {
        let gpu = index.and_then(|index| cards.iter().find(|(one, _)| *one == index));
        CustomReading { metric: probe.name.clone(), gpu: gpu.map(|(_, id)| id.clone()), value }
    };
    Ok(values.into_iter().map(reading).collect())
}

/// All that it prints, if it ends in time and without an error. It and all that it has started are ended otherwise.
fn output(probe: &MetricProbe, ended: impl Fn() -> bool) -> Result<String, ProbeFailure> {
    let failed = |error: io::Error| ProbeFailure::NotStarted(error.to_string());
    let Some((program, arguments)) = probe.command.split_first() else {
        return Err(failed(io::ErrorKind::NotFound.into()));
    };
    let (pipe, input) = io::pipe().map_err(failed)?;
    let child = Command::new(program)
        .args(arguments)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(input)
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(failed)?;
    let mut running = RunningProbe { child };
    let deadline = Instant::now() + Duration::from_millis(probe.timeout.0);
    let text = read_until(&pipe, deadline, &ended)?;
    running.status(deadline, &ended)?;
    Ok(text)
}

struct RunningProbe {
    child: Child,
}

impl RunningProbe {
    fn status(&mut self, deadline: Instant, ended: &impl Fn() -> bool) -> Result<(), ProbeFailure> {
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) if status.success() => return Ok(()),
                Ok(Some(status)) => return Err(ProbeFailure::Status(status.to_string())),
                Ok(None) if Instant::now() < deadline && !ended() => {
                    // It has closed its output: it ends in a moment.
                    std::thread::sleep(Duration::from_millis(5));
                }
                Ok(None) => return Err(ProbeFailure::TimedOut),
                Err(error) => return Err(ProbeFailure::Status(error.to_string())),
            }
        }
    }
}

impl Drop for RunningProbe {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            // While the child is not reaped its id is its own.
            let _ = killpg(Pid::from_raw(self.child.id().cast_signed()), Signal::SIGKILL);
            let _ = self.child.wait();
        }
    }
}

fn read_until(
    mut pipe: &PipeReader,
    deadline: Instant,
    ended: &impl Fn() -> bool,
) -> Result<String, ProbeFailure> {
    /// How often it is looked whether the agent ends.
    const LOOK: Duration = Duration::from_millis(200);
    let mut read = Vec::new();
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || ended() {
            return Err(ProbeFailure::TimedOut);
        }
        let mut fds = [nix::poll::PollFd::new(pipe.as_fd(), nix::poll::PollFlags::POLLIN)];
        let wait = nix::poll::PollTimeout::try_from(left.min(LOOK));
        match nix::poll::poll(&mut fds, wait.unwrap_or(nix::poll::PollTimeout::ZERO)) {
            Ok(0) | Err(_) => continue,
            Ok(_) => {}
        }
        let mut piece = [0; 4_096];
        match pipe.read(&mut piece) {
            Ok(0) => return Ok(String::from_utf8_lossy(&read).into_owned()),
            Ok(count) => read.extend_from_slice(&piece[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(ProbeFailure::Output(error.to_string())),
        }
        if read.len() as u64 > MOST_OUTPUT {
            return Err(ProbeFailure::Output(format!("{MOST_OUTPUT} bytes and more")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use danlu_core::Span;
    use danlu_wire::samples::MetricScope;

    fn probe(script: &str) -> MetricProbe {
        MetricProbe {
            name: "flow".into(),
            command: ["sh", "-c", script].map(str::to_owned).to_vec(),
            per: MetricScope::Machine,
            interval: Span::from_secs(60),
            timeout: Span(300),
        }
    }

    #[test]
    fn a_probe_ends_in_time_with_all_that_it_started() {
        let running = || false;
        assert_eq!(output(&probe("echo 5"), running), Ok("5\n".to_owned()));
        assert_eq!(output(&probe("sleep 60 & sleep 60"), running), Err(ProbeFailure::TimedOut));
        assert_eq!(output(&probe("exec >&-; sleep 60"), running), Err(ProbeFailure::TimedOut));
        let failed = output(&probe("echo 5; exit 3"), running);
        assert!(matches!(failed, Err(ProbeFailure::Status(_))), "{failed:?}");
        let endless = output(&probe("yes"), running);
        assert!(matches!(endless, Err(ProbeFailure::Output(_))), "{endless:?}");
        let missing = MetricProbe { command: vec!["/no/such/probe".into()], ..probe("") };
        assert!(matches!(output(&missing, running), Err(ProbeFailure::NotStarted(_))));
    }

    #[test]
    fn what_fails_is_told_until_it_works() {
        let results = ProbeResults::default();
        results.note(&probe(""), Err(ProbeFailure::TimedOut));
        results.note(&probe(""), Err(ProbeFailure::TimedOut));
        assert_eq!(results.lock().failed.len(), 1);
        results.note(&probe(""), readings(&probe(""), "7", &Vec::new()));
        assert!(results.lock().failed.is_empty());
        assert_eq!(results.lock().fresh[0].value, 7_000);
    }
}
