//! Limits what an agent sends before it is stored or shown: short texts in one line without control characters, bounded
//! lists.

use danlu_core::gpu::{GpuCondition, GpuReport};
use danlu_core::input::NodeReport;
use danlu_core::limits;
use danlu_core::run::{Ending, Exit, ReportedState};
use danlu_core::{GpuId, Trouble};
use danlu_wire::agent::{
    Facts, LogPiece, LogProblem, Machine, PathProblem, PathsChecked, PathsSeen,
};
use danlu_wire::gpu::GpuDetails;
use danlu_wire::samples::{ProbeFailure, Samples};
use danlu_wire::{FromAgent, Hello};

/// Maximum length of a sentence, in characters.
const SENTENCE: usize = 300;
/// Maximum length of a name, in characters.
const NAME: usize = 128;
/// Maximum length of lists such as processes on a GPU.
const LIST: usize = 1_000;
/// Maximum number of runs in a report.
const RUNS: usize = 200_000;

/// Maximum number of probes of the administrator's own.
const PROBES: usize = 16;

/// Cleans a sentence that a machine sent.
pub(super) fn line(words: &str) -> String {
    cut(words, SENTENCE)
}

/// An error if the message exceeds limits that no real agent exceeds.
pub(super) fn clean(said: FromAgent) -> Result<FromAgent, String> {
    Ok(match said {
        FromAgent::Hello(hello) => FromAgent::Hello(clean_hello(hello)),
        FromAgent::Report(report) => FromAgent::Report(clean_report(report)?),
        FromAgent::Ended { run, ending, used } => {
            FromAgent::Ended { run, ending: clean_ending(ending), used }
        }
        FromAgent::Gpus(gpus) => FromAgent::Gpus(clean_gpus(gpus)?),
        FromAgent::Details(details) => FromAgent::Details(clean_details(details)?),
        FromAgent::Fitness { trouble } => {
            FromAgent::Fitness { trouble: trouble.as_ref().map(clean_trouble) }
        }
        FromAgent::Facts(facts) => FromAgent::Facts(clean_facts(facts)),
        FromAgent::Log(LogPiece { ask, content: Err(LogProblem::Other(what)) }) => {
            FromAgent::Log(LogPiece { ask, content: Err(LogProblem::Other(line(&what))) })
        }
        FromAgent::Paths(PathsChecked { ask, seen }) => {
            FromAgent::Paths(PathsChecked { ask, seen: clean_seen(seen) })
        }
        FromAgent::Samples(samples) => FromAgent::Samples(Box::new(clean_samples(*samples)?)),
        // Numbers only, or output of runs, which is shown unchanged.
        said @ (FromAgent::Started { .. }
        | FromAgent::LogDropped { .. }
        | FromAgent::Memory { .. }
        | FromAgent::Log(_)) => said,
    })
}

fn clean_hello(hello: Hello) -> Hello {
    let machine = hello.machine.map(|Machine { id, host_name, login, is_root, now }| Machine {
        id: cut(&id, 2 * NAME),
        host_name: name(&host_name),
        login: name(&login),
        is_root,
        now,
    });
    let (version, boot_id) = (cut(&hello.version, 64), hello.boot_id.as_deref().map(name));
    // An agent must not send what only a server sends.
    Hello { version, boot_id, machine, station: None, ..hello }
}

fn clean_report(report: NodeReport) -> Result<NodeReport, String> {
    let trouble = report.trouble.as_ref().map(clean_trouble);
    let mut report = NodeReport { gpus: clean_gpus(report.gpus)?, trouble, ..report };
    if report.runs.len() > RUNS {
        return Err(format!("it says that it has {} runs", report.runs.len()));
    }
    for run in &mut report.runs {
        run.gpus.truncate(limits::GPUS_PER_NODE);
        run.gpus.iter().try_for_each(check_id)?;
        if let ReportedState::Ended(ending) = &mut run.state {
            *ending = clean_ending(ending.clone());
        }
    }
    Ok(report)
}

fn clean_ending(mut ending: Ending) -> Ending {
    match &mut ending.exit {
        Exit::Launch { message } => *message = line(message),
        Exit::Trouble(trouble) => *trouble = clean_trouble(trouble),
        Exit::Code(_)
        | Exit::Signal(_)
        | Exit::TimedOut
        | Exit::NeverStarted
        | Exit::Vanished { .. }
        | Exit::NoRecord
        | Exit::Abandoned => {}
    }
    if let Some(failure) = &mut ending.failure {
        failure.evidence = line(&failure.evidence);
    }
    ending
}

fn clean_trouble(trouble: &Trouble) -> Trouble {
    Trouble { kind: trouble.kind, detail: line(&trouble.detail) }
}

fn clean_gpus(mut gpus: Vec<GpuReport>) -> Result<Vec<GpuReport>, String> {
    count(gpus.len())?;
    for gpu in &mut gpus {
        check_id(&gpu.id)?;
        gpu.model = name(&gpu.model);
        gpu.broken = gpu.broken.as_deref().map(line);
        gpu.runs.truncate(LIST);
        gpu.neighbours.truncate(limits::GPUS_PER_NODE);
        gpu.neighbours.iter().try_for_each(check_id)?;
        if let GpuCondition::Foreign { processes } = &mut gpu.condition {
            processes.truncate(LIST);
            processes.iter_mut().for_each(|process| process.user = name(&process.user));
        }
    }
    Ok(gpus)
}

fn clean_details(mut details: Vec<GpuDetails>) -> Result<Vec<GpuDetails>, String> {
    count(details.len())?;
    for gpu in &mut details {
        check_id(&gpu.uuid)?;
        if let Some(mig) = &gpu.mig {
            check_id(&mig.parent)?;
        }
        gpu.pci_bus_id = name(&gpu.pci_bus_id);
        gpu.model = name(&gpu.model);
        gpu.fault = gpu.fault.as_deref().map(line);
        gpu.utilization_history.truncate(LIST);
        gpu.own.truncate(LIST);
        gpu.neighbours.truncate(limits::GPUS_PER_NODE);
        gpu.neighbours.iter().try_for_each(check_id)?;
        gpu.foreign.truncate(LIST);
        for process in &mut gpu.foreign {
            process.user = name(&process.user);
            process.command = line(&process.command);
            process.container = process.container.as_deref().map(name);
        }
    }
    Ok(details)
}

fn clean_samples(mut samples: Samples) -> Result<Samples, String> {
    count(samples.gpus.len())?;
    samples.gpus.iter().try_for_each(|reading| check_id(&reading.gpu))?;
    samples.runs.truncate(LIST);
    for reading in &mut samples.runs {
        reading.gpus.truncate(limits::GPUS_PER_NODE);
        reading.gpus.iter().try_for_each(|one| check_id(&one.gpu))?;
    }
    samples.custom.truncate(LIST);
    for reading in &mut samples.custom {
        reading.metric = name(&reading.metric);
        reading.gpu.iter().try_for_each(check_id)?;
    }
    samples.failed_probes.truncate(PROBES);
    for failed in &mut samples.failed_probes {
        failed.metric = name(&failed.metric);
        failed.why = match &failed.why {
            ProbeFailure::NotStarted(why) => ProbeFailure::NotStarted(line(why)),
            ProbeFailure::TimedOut => ProbeFailure::TimedOut,
            ProbeFailure::Status(status) => ProbeFailure::Status(line(status)),
            ProbeFailure::Output(output) => ProbeFailure::Output(line(output)),
        };
    }
    Ok(samples)
}

/// A correct agent returns the paths unchanged; they are cut all the same.
fn clean_seen(seen: PathsSeen) -> PathsSeen {
    let path = |path: &str| cut(path, limits::PATH_BYTES);
    match seen {
        PathsSeen::Wrong(PathProblem::NoDirectory { path: it }) => {
            PathsSeen::Wrong(PathProblem::NoDirectory { path: path(&it) })
        }
        PathsSeen::Wrong(PathProblem::IsDirectory { path: it }) => {
            PathsSeen::Wrong(PathProblem::IsDirectory { path: path(&it) })
        }
        PathsSeen::Wrong(PathProblem::NoDirectoryFor { file, directory }) => {
            let (file, directory) = (path(&file), path(&directory));
            PathsSeen::Wrong(PathProblem::NoDirectoryFor { file, directory })
        }
        seen @ (PathsSeen::Good | PathsSeen::Silent | PathsSeen::Unseen) => seen,
    }
}

fn clean_facts(mut facts: Facts) -> Facts {
    facts.probe = line(&facts.probe);
    facts.system = name(&facts.system);
    facts.directory = cut(&facts.directory, limits::PATH_BYTES);
    facts.file_system = name(&facts.file_system);
    facts.driver = facts.driver.as_deref().map(name);
    facts
}

/// More than a machine can have is an error of the agent, which only its own connection pays for.
fn count(gpus: usize) -> Result<(), String> {
    if gpus > limits::GPUS_PER_NODE {
        return Err(format!("it says that it has {gpus} GPUs"));
    }
    Ok(())
}

/// Rules and holds refer to the id, so an invalid one is refused instead of changed.
fn check_id(id: &GpuId) -> Result<(), String> {
    if id.0.is_empty() || id.0.len() > NAME || !id.0.chars().all(is_plain) {
        return Err("it has a GPU whose id is not one".to_owned());
    }
    Ok(())
}

fn name(words: &str) -> String {
    cut(words, NAME)
}

fn cut(words: &str, most: usize) -> String {
    let mut kept: String =
        words.chars().take(most).map(|it| if is_plain(it) { it } else { '·' }).collect();
    if words.len() > kept.len() && words.chars().nth(most).is_some() {
        kept.pop();
        kept.push('…');
    }
    kept
}

/// No control sequences, no line breaks, no reversed text.
fn is_plain(character: char) -> bool {
    let reorders = matches!(character, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    !character.is_control() && !reorders && !matches!(character, '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_short_and_plain() {
        assert_eq!(line("a\x1b[31mb\nc\u{202e}"), "a·[31mb·c·");
        assert_eq!(line("训练"), "训练");
        assert_eq!(line(&"x".repeat(300)), "x".repeat(300));
        let long = line(&"任".repeat(10_000));
        assert_eq!(long.chars().count(), 300);
        assert!(long.ends_with('…'));
    }

    #[test]
    fn ids_of_gpus_are_not_changed_but_refused() {
        for bad in ["", "a\nb", "\u{1b}[2J", &"x".repeat(129)] {
            let gpu = GpuReport::new(bad.into(), 0, "Fake", 1);
            assert!(clean_gpus(vec![gpu]).is_err(), "{bad:?}");
        }
    }
}
