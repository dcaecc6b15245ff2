//! What the server has of everything at one moment: memory, descriptors, threads, processes, directories.

use std::{fs, path::Path};

use crate::bench::{figure::median, process::Process, server::Server};

#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    /// Tasks that have ended by then.
    pub(super) ended: usize,
    values: [f64; Series::ALL.len()],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Series {
    Memory,
    Descriptors,
    Threads,
    /// The launcher, idle shims and shims with a run.
    Processes,
    MemoryOfProcesses,
    RunDirectories,
    SpareDirectories,
    ControlGroups,
    Files,
    Database,
}

impl Series {
    pub(super) const ALL: [Series; 10] = [
        Series::Memory,
        Series::Descriptors,
        Series::Threads,
        Series::Processes,
        Series::MemoryOfProcesses,
        Series::RunDirectories,
        Series::SpareDirectories,
        Series::ControlGroups,
        Series::Files,
        Series::Database,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Series::Memory => "memory",
            Series::Descriptors => "descriptors",
            Series::Threads => "threads",
            Series::Processes => "processes",
            Series::MemoryOfProcesses => "memory_of_processes",
            Series::RunDirectories => "run_directories",
            Series::SpareDirectories => "spare_directories",
            Series::ControlGroups => "control_groups",
            Series::Files => "files",
            Series::Database => "database",
        }
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            Series::Memory => "memory of the daemon (MB)",
            Series::Descriptors => "descriptors of the daemon",
            Series::Threads => "threads of the daemon",
            Series::Processes => "launcher and shims",
            Series::MemoryOfProcesses => "memory of launcher and shims (MB)",
            Series::RunDirectories => "run directories",
            Series::SpareDirectories => "spare directories",
            Series::ControlGroups => "control groups of runs",
            Series::Files => "files in the data directory, without logs",
            Series::Database => "database (MB)",
        }
    }

    /// What comes and goes with the tasks of a moment: so many pieces are no growth.
    pub(super) fn slack(self) -> f64 {
        match self {
            Series::Memory | Series::Database => 0.0,
            // Those that read files for a request end when they are idle.
            Series::Threads => 4.0,
            // Some shims more or less.
            Series::MemoryOfProcesses => 20.0,
            Series::Descriptors | Series::Processes | Series::ControlGroups => 8.0,
            Series::RunDirectories | Series::SpareDirectories => 16.0,
            // Four of each run.
            Series::Files => 64.0,
        }
    }

    /// The database holds the history: it is meant to grow.
    pub(super) fn is_judged(self) -> bool {
        self != Series::Database
    }
}

impl Sample {
    pub(super) fn take(server: &Server, ended: usize) -> Result<Sample, String> {
        let daemon = server.daemon();
        let node = server.directory().join("data/node");
        let (processes, memory) = below(daemon);
        let data = server.directory().join("data");
        let bytes = |name: &str| fs::metadata(data.join(name)).map_or(0, |it| it.len());
        let values = Series::ALL.map(|series| match series {
            Series::Memory => daemon.memory().unwrap_or(f64::NAN),
            Series::Descriptors => entries(format!("/proc/{}/fd", daemon.pid)),
            Series::Threads => entries(format!("/proc/{}/task", daemon.pid)),
            Series::Processes => processes as f64,
            Series::MemoryOfProcesses => memory,
            Series::RunDirectories => entries(node.join("runs")),
            Series::SpareDirectories => entries(node.join("spare")),
            Series::ControlGroups => control_groups() as f64,
            Series::Files => files(&data) as f64,
            Series::Database => (bytes("danlu.db") + bytes("danlu.db-wal")) as f64 / 1e6,
        });
        if values[0].is_nan() {
            return Err("the daemon has ended".to_owned());
        }
        Ok(Sample { ended, values })
    }

    pub(super) fn of(&self, series: Series) -> f64 {
        let at = Series::ALL.iter().position(|it| *it == series).unwrap_or_default();
        self.values[at]
    }
}

/// The median of the second tenth of all tasks, and the largest of those that follow. The first tenth is for growing into.
pub(super) fn first_and_most(series: Series, samples: &[Sample]) -> (f64, f64) {
    let all = samples.last().map_or(0, |sample| sample.ended);
    let part = |tenth: usize| {
        let within = |sample: &&Sample| {
            sample.ended * 10 >= all * tenth && sample.ended * 10 <= all * (tenth + 1)
        };
        let values: Vec<f64> =
            samples.iter().filter(within).map(|sample| sample.of(series)).collect();
        median(&values)
    };
    let most = (2..10).map(part).filter(|value| !value.is_nan()).fold(f64::NEG_INFINITY, f64::max);
    (part(1), most)
}

/// Everything that descends from it, without the commands of tasks: how many, and their memory.
fn below(process: Process) -> (usize, f64) {
    let (mut count, mut memory) = (0, 0.0);
    let mut left = process.children().unwrap_or_default();
    while let Some(process) = left.pop() {
        let ours = fs::read_to_string(format!("/proc/{}/comm", process.pid))
            .is_ok_and(|name| name.starts_with("danlu"));
        if ours {
            count += 1;
            memory += process.memory().unwrap_or(0.0);
            left.extend(process.children().unwrap_or_default());
        }
    }
    (count, memory)
}

fn entries(path: impl AsRef<Path>) -> f64 {
    fs::read_dir(path).map_or(0, Iterator::count) as f64
}

/// Of all runs on this machine.
fn control_groups() -> usize {
    let home = ["/sys/fs/cgroup/danlu", "/sys/fs/cgroup/unified/danlu"];
    let groups = |path: &&str| {
        let entries = fs::read_dir(path).into_iter().flatten().filter_map(Result::ok);
        entries.filter(|entry| entry.path().is_dir() && entry.file_name() != "shims").count()
    };
    home.iter().map(groups).sum()
}

/// Logs are what tasks have said, and stay.
fn files(directory: &Path) -> usize {
    let entries = fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok);
    let count = |entry: fs::DirEntry| match entry.file_type() {
        Ok(kind) if kind.is_dir() && entry.file_name() != "logs" => files(&entry.path()),
        Ok(kind) if kind.is_dir() => 0,
        _ => 1,
    };
    entries.map(count).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(value: impl Fn(usize) -> f64) -> Vec<Sample> {
        let sample = |number: usize| {
            let values = [value(number); Series::ALL.len()];
            Sample { ended: number * 1_000, values }
        };
        (0..=100).map(sample).collect()
    }

    #[test]
    fn growth_is_against_the_second_tenth() {
        let flat = samples(|_| 30.0);
        assert_eq!(first_and_most(Series::Memory, &flat), (30.0, 30.0));
        // What it grows into at first is no growth, one high moment neither.
        let settled = samples(|number| if number < 9 || number == 50 { 90.0 } else { 30.0 });
        assert_eq!(first_and_most(Series::Memory, &settled), (30.0, 30.0));
        let rising = samples(|number| number as f64);
        assert_eq!(first_and_most(Series::Memory, &rising), (15.0, 95.0));
    }
}
