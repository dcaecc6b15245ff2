//! Every option of Slurm's commands (22.05), and what becomes of it here. The table in `docs/slurm.md` is made of this.

/// One of Slurm's commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    Sbatch,
    Srun,
    Salloc,
    Squeue,
    Scancel,
    Sinfo,
    Sacct,
    Scontrol,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakesValue {
    No,
    Required,
    Optional,
}

/// What an option does here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    Does(Act),
    /// Its effect is as Slurm's without doing anything: said to nobody.
    Silent,
    /// No effect here; who gives it is told once.
    Ignored,
    /// It would change the meaning: an error that names it.
    Refused,
}

impl Support {
    pub fn is_done(self) -> bool {
        matches!(self, Support::Does(_))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OptionRow {
    pub long: &'static str,
    pub short: Option<char>,
    pub value: TakesValue,
    pub support: Support,
    /// The end of the variable that says the same: `SBATCH_` or `SALLOC_` comes before it.
    pub variable: &'static str,
}

/// What an option is for, in all commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    Account,
    Allocations,
    AllUsers,
    Array,
    Batch,
    Begin,
    Chdir,
    Comment,
    CpusPerGpu,
    CpusPerTask,
    Delimiter,
    Dependency,
    EndTime,
    Error,
    Export,
    Format,
    Full,
    Gpus,
    GpusPerNode,
    GpusPerTask,
    Gres,
    Help,
    HelpFormat,
    Hold,
    Input,
    Interactive,
    JobName,
    Jobs,
    Json,
    KillOnBadExit,
    Label,
    Long,
    LongFormat,
    MailType,
    MailUser,
    Me,
    Mem,
    MemPerCpu,
    MemPerGpu,
    Name,
    NodeLines,
    NodeList,
    Nodes,
    NoHeader,
    NoRequeue,
    NoShell,
    Ntasks,
    NtasksPerNode,
    OneLine,
    OpenMode,
    Output,
    Parsable,
    Parsable2,
    Partition,
    Pty,
    Quiet,
    Signal,
    Sort,
    Start,
    StartTime,
    States,
    Summarize,
    TestOnly,
    Time,
    Unfold,
    Usage,
    User,
    Verbose,
    Version,
    Wait,
    Wrap,
}

use Act as A;
use Support::{Does, Ignored, Refused, Silent};
use TakesValue::{No, Optional, Required};

const fn row(
    short: &'static str,
    long: &'static str,
    value: TakesValue,
    support: Support,
    variable: &'static str,
) -> OptionRow {
    let short = if short.is_empty() { None } else { Some(short.as_bytes()[0] as char) };
    OptionRow { long, short, value, support, variable }
}

impl Program {
    pub const ALL: [Program; 8] = [
        Program::Sbatch,
        Program::Srun,
        Program::Salloc,
        Program::Squeue,
        Program::Scancel,
        Program::Sinfo,
        Program::Sacct,
        Program::Scontrol,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Program::Sbatch => "sbatch",
            Program::Srun => "srun",
            Program::Salloc => "salloc",
            Program::Squeue => "squeue",
            Program::Scancel => "scancel",
            Program::Sinfo => "sinfo",
            Program::Sacct => "sacct",
            Program::Scontrol => "scontrol",
        }
    }

    pub fn named(name: &str) -> Option<Program> {
        Program::ALL.into_iter().find(|program| program.name() == name)
    }

    /// The options end where a command begins.
    pub fn starts_programs(self) -> bool {
        match self {
            Program::Sbatch | Program::Srun | Program::Salloc => true,
            Program::Squeue
            | Program::Scancel
            | Program::Sinfo
            | Program::Sacct
            | Program::Scontrol => false,
        }
    }

    pub fn options(self) -> impl Iterator<Item = &'static OptionRow> + Clone {
        let (own, shared): (&'static [OptionRow], &'static [OptionRow]) = match self {
            Program::Sbatch => (SBATCH, JOB),
            Program::Srun => (SRUN, JOB),
            Program::Salloc => (SALLOC, JOB),
            Program::Squeue => (SQUEUE, GENERAL),
            Program::Scancel => (SCANCEL, GENERAL),
            Program::Sinfo => (SINFO, GENERAL),
            Program::Sacct => (SACCT, GENERAL),
            Program::Scontrol => (SCONTROL, GENERAL),
        };
        let general: &'static [OptionRow] = if self.starts_programs() { GENERAL } else { &[] };
        own.iter().chain(shared).chain(general)
    }

    /// Before the names of the variables that stand for options.
    pub fn variable_prefix(self) -> Option<&'static str> {
        match self {
            Program::Sbatch => Some("SBATCH_"),
            Program::Salloc => Some("SALLOC_"),
            // What an allocation sets has the same names.
            Program::Srun
            | Program::Squeue
            | Program::Scancel
            | Program::Sinfo
            | Program::Sacct
            | Program::Scontrol => None,
        }
    }
}

const GENERAL: &[OptionRow] = &[
    row("", "help", No, Does(A::Help), ""),
    row("", "usage", No, Does(A::Usage), ""),
    row("v", "verbose", No, Does(A::Verbose), ""),
    row("V", "version", No, Does(A::Version), ""),
    row("M", "clusters", Required, Ignored, "CLUSTERS"),
];

/// Of `sbatch`, `srun` and `salloc`.
#[rustfmt::skip]
const JOB: &[OptionRow] = &[
    row("A", "account", Required, Does(A::Account), "ACCOUNT"),
    row("", "acctg-freq", Required, Ignored, "ACCTG_FREQ"),
    row("", "bb", Required, Refused, "BURST_BUFFER"),
    row("", "bbf", Required, Refused, ""),
    row("b", "begin", Required, Does(A::Begin), ""),
    row("D", "chdir", Required, Does(A::Chdir), ""),
    row("", "cluster-constraint", Required, Ignored, "CLUSTER_CONSTRAINT"),
    row("", "comment", Required, Does(A::Comment), ""),
    row("C", "constraint", Required, Ignored, "CONSTRAINT"),
    row("", "container", Required, Refused, "CONTAINER"),
    row("", "contiguous", No, Ignored, ""),
    row("S", "core-spec", Required, Ignored, "CORE_SPEC"),
    row("", "cores-per-socket", Required, Ignored, ""),
    row("", "cpu-freq", Required, Ignored, ""),
    row("", "cpus-per-gpu", Required, Does(A::CpusPerGpu), "CPUS_PER_GPU"),
    row("c", "cpus-per-task", Required, Does(A::CpusPerTask), ""),
    row("", "deadline", Required, Refused, ""),
    row("", "delay-boot", Required, Ignored, "DELAY_BOOT"),
    row("d", "dependency", Required, Does(A::Dependency), ""),
    row("m", "distribution", Required, Ignored, "DISTRIBUTION"),
    row("x", "exclude", Required, Refused, ""),
    row("B", "extra-node-info", Required, Ignored, ""),
    row("", "gid", Required, Refused, ""),
    row("", "gpu-bind", Required, Ignored, "GPU_BIND"),
    row("", "gpu-freq", Required, Ignored, "GPU_FREQ"),
    row("G", "gpus", Required, Does(A::Gpus), "GPUS"),
    row("", "gpus-per-node", Required, Does(A::GpusPerNode), "GPUS_PER_NODE"),
    row("", "gpus-per-socket", Required, Refused, ""),
    row("", "gpus-per-task", Required, Does(A::GpusPerTask), "GPUS_PER_TASK"),
    row("", "gres", Required, Does(A::Gres), "GRES"),
    row("", "gres-flags", Required, Ignored, "GRES_FLAGS"),
    row("h", "", No, Does(A::Help), ""),
    row("", "hint", Required, Ignored, "HINT"),
    row("H", "hold", No, Does(A::Hold), ""),
    row("J", "job-name", Required, Does(A::JobName), "JOB_NAME"),
    row("L", "licenses", Required, Refused, ""),
    row("", "mail-type", Required, Does(A::MailType), ""),
    row("", "mail-user", Required, Does(A::MailUser), ""),
    row("", "mcs-label", Required, Ignored, ""),
    row("", "mem", Required, Does(A::Mem), "MEM_PER_NODE"),
    row("", "mem-bind", Required, Ignored, "MEM_BIND"),
    row("", "mem-per-cpu", Required, Does(A::MemPerCpu), "MEM_PER_CPU"),
    row("", "mem-per-gpu", Required, Does(A::MemPerGpu), "MEM_PER_GPU"),
    row("", "mincpus", Required, Ignored, ""),
    row("", "network", Required, Ignored, "NETWORK"),
    row("", "nice", Optional, Ignored, ""),
    row("k", "no-kill", Optional, Ignored, "NO_KILL"),
    row("F", "nodefile", Required, Refused, ""),
    row("w", "nodelist", Required, Does(A::NodeList), ""),
    row("N", "nodes", Required, Does(A::Nodes), ""),
    row("n", "ntasks", Required, Does(A::Ntasks), ""),
    row("", "ntasks-per-core", Required, Ignored, ""),
    row("", "ntasks-per-gpu", Required, Refused, ""),
    row("", "ntasks-per-node", Required, Does(A::NtasksPerNode), ""),
    row("", "ntasks-per-socket", Required, Ignored, ""),
    row("O", "overcommit", No, Ignored, "OVERCOMMIT"),
    row("s", "oversubscribe", No, Ignored, ""),
    row("p", "partition", Required, Ignored, "PARTITION"),
    row("", "power", Required, Ignored, "POWER"),
    row("", "prefer", Required, Ignored, ""),
    row("", "priority", Required, Ignored, ""),
    row("", "profile", Required, Ignored, "PROFILE"),
    row("q", "qos", Required, Ignored, "QOS"),
    row("Q", "quiet", No, Does(A::Quiet), ""),
    row("", "reboot", No, Refused, ""),
    row("", "reservation", Required, Ignored, "RESERVATION"),
    row("", "sockets-per-node", Required, Ignored, ""),
    row("", "spread-job", No, Ignored, "SPREAD_JOB"),
    row("", "switches", Required, Ignored, "REQ_SWITCH"),
    row("", "thread-spec", Required, Ignored, "THREAD_SPEC"),
    row("", "threads-per-core", Required, Ignored, "THREADS_PER_CORE"),
    row("t", "time", Required, Does(A::Time), "TIMELIMIT"),
    row("", "time-min", Required, Ignored, ""),
    row("", "tmp", Required, Ignored, ""),
    row("", "uid", Required, Refused, ""),
    row("", "use-min-nodes", No, Ignored, "USE_MIN_NODES"),
    row("", "wckey", Required, Silent, "WCKEY"),
];

#[rustfmt::skip]
const SBATCH: &[OptionRow] = &[
    row("a", "array", Required, Does(A::Array), "ARRAY_INX"),
    row("", "batch", Required, Ignored, ""),
    row("e", "error", Required, Does(A::Error), "ERROR"),
    row("", "exclusive", Optional, Refused, "EXCLUSIVE"),
    row("", "export", Required, Does(A::Export), "EXPORT"),
    row("", "export-file", Required, Refused, ""),
    row("", "get-user-env", Optional, Ignored, "GET_USER_ENV"),
    row("", "ignore-pbs", No, Silent, "IGNORE_PBS"),
    row("i", "input", Required, Does(A::Input), "INPUT"),
    row("", "kill-on-invalid-dep", Required, Ignored, ""),
    row("", "no-requeue", No, Does(A::NoRequeue), "NO_REQUEUE"),
    row("", "open-mode", Required, Does(A::OpenMode), "OPEN_MODE"),
    row("o", "output", Required, Does(A::Output), "OUTPUT"),
    row("", "parsable", No, Does(A::Parsable), ""),
    row("", "propagate", Optional, Ignored, ""),
    row("", "requeue", No, Silent, "REQUEUE"),
    row("", "signal", Required, Does(A::Signal), "SIGNAL"),
    row("", "test-only", No, Does(A::TestOnly), ""),
    row("W", "wait", No, Does(A::Wait), "WAIT"),
    row("", "wait-all-nodes", Required, Silent, "WAIT_ALL_NODES"),
    row("", "wrap", Required, Does(A::Wrap), ""),
];

#[rustfmt::skip]
const SRUN: &[OptionRow] = &[
    row("", "accel-bind", Required, Ignored, ""),
    row("", "bcast", Optional, Refused, ""),
    row("", "bcast-exclude", Required, Ignored, ""),
    row("", "compress", Optional, Ignored, ""),
    row("", "cpu-bind", Required, Ignored, ""),
    row("X", "disable-status", No, Silent, ""),
    row("", "epilog", Required, Refused, ""),
    row("e", "error", Required, Does(A::Error), ""),
    row("", "exact", No, Silent, ""),
    row("", "exclusive", Optional, Ignored, ""),
    row("", "export", Required, Does(A::Export), ""),
    row("", "het-group", Required, Refused, ""),
    row("I", "immediate", Optional, Ignored, ""),
    row("i", "input", Required, Does(A::Input), ""),
    row("", "jobid", Required, Ignored, ""),
    row("K", "kill-on-bad-exit", Optional, Does(A::KillOnBadExit), ""),
    row("l", "label", No, Does(A::Label), ""),
    row("", "mpi", Required, Ignored, ""),
    row("", "msg-timeout", Required, Ignored, ""),
    row("", "multi-prog", No, Refused, ""),
    row("Z", "no-allocate", No, Refused, ""),
    row("", "open-mode", Required, Does(A::OpenMode), ""),
    row("o", "output", Required, Does(A::Output), ""),
    row("", "overlap", No, Silent, ""),
    row("E", "preserve-env", No, Silent, ""),
    row("", "prolog", Required, Refused, ""),
    row("", "propagate", Optional, Ignored, ""),
    row("", "pty", No, Refused, ""),
    row("", "quit-on-interrupt", No, Silent, ""),
    row("r", "relative", Required, Ignored, ""),
    row("", "resv-ports", Optional, Ignored, ""),
    row("", "send-libs", Optional, Ignored, ""),
    row("", "signal", Required, Ignored, ""),
    row("", "slurmd-debug", Required, Ignored, ""),
    row("", "task-epilog", Required, Refused, ""),
    row("", "task-prolog", Required, Refused, ""),
    row("", "test-only", No, Does(A::TestOnly), ""),
    row("T", "threads", Required, Ignored, ""),
    row("u", "unbuffered", No, Silent, ""),
    row("W", "wait", Required, Ignored, ""),
    row("", "x11", Optional, Refused, ""),
];

#[rustfmt::skip]
const SALLOC: &[OptionRow] = &[
    row("", "bell", No, Silent, "BELL"),
    row("", "exclusive", Optional, Refused, "EXCLUSIVE"),
    row("", "get-user-env", Optional, Ignored, ""),
    row("I", "immediate", Optional, Ignored, "IMMEDIATE"),
    row("K", "kill-command", Optional, Ignored, "KILL_CMD"),
    row("", "no-bell", No, Silent, "NO_BELL"),
    row("", "no-shell", No, Does(A::NoShell), ""),
    row("", "signal", Required, Ignored, "SIGNAL"),
    row("", "wait-all-nodes", Required, Silent, "WAIT_ALL_NODES"),
    row("", "x11", Optional, Refused, ""),
];

#[rustfmt::skip]
const SQUEUE: &[OptionRow] = &[
    row("A", "account", Required, Does(A::Account), ""),
    row("a", "all", No, Silent, ""),
    row("r", "array", No, Does(A::Unfold), ""),
    row("", "array-unique", No, Silent, ""),
    row("", "federation", No, Silent, ""),
    row("o", "format", Required, Does(A::Format), ""),
    row("O", "Format", Required, Does(A::LongFormat), ""),
    row("", "hide", No, Silent, ""),
    row("i", "iterate", Required, Refused, ""),
    row("j", "jobs", Required, Does(A::Jobs), ""),
    row("", "json", No, Does(A::Json), ""),
    row("L", "licenses", Required, Ignored, ""),
    row("", "local", No, Silent, ""),
    row("l", "long", No, Does(A::Long), ""),
    row("", "me", No, Does(A::Me), ""),
    row("n", "name", Required, Does(A::Name), ""),
    row("", "noconvert", No, Silent, ""),
    row("w", "nodelist", Required, Does(A::NodeList), ""),
    row("h", "noheader", No, Does(A::NoHeader), ""),
    row("p", "partition", Required, Does(A::Partition), ""),
    row("P", "priority", No, Silent, ""),
    row("q", "qos", Required, Ignored, ""),
    row("R", "reservation", Required, Ignored, ""),
    row("", "sibling", No, Silent, ""),
    row("S", "sort", Required, Does(A::Sort), ""),
    row("", "start", No, Does(A::Start), ""),
    row("t", "states", Required, Does(A::States), ""),
    row("s", "steps", Optional, Refused, ""),
    row("u", "user", Required, Does(A::User), ""),
    row("", "yaml", No, Refused, ""),
];

#[rustfmt::skip]
const SCANCEL: &[OptionRow] = &[
    row("A", "account", Required, Does(A::Account), ""),
    row("b", "batch", No, Does(A::Batch), ""),
    row("", "ctld", No, Silent, ""),
    row("f", "full", No, Does(A::Full), ""),
    row("H", "hurry", No, Silent, ""),
    row("i", "interactive", No, Does(A::Interactive), ""),
    row("n", "jobname", Required, Does(A::Name), ""),
    row("", "me", No, Does(A::Me), ""),
    row("", "name", Required, Does(A::Name), ""),
    row("w", "nodelist", Required, Does(A::NodeList), ""),
    row("p", "partition", Required, Does(A::Partition), ""),
    row("q", "qos", Required, Ignored, ""),
    row("Q", "quiet", No, Does(A::Quiet), ""),
    row("R", "reservation", Required, Ignored, ""),
    row("", "sibling", Required, Ignored, ""),
    row("s", "signal", Required, Does(A::Signal), ""),
    row("t", "state", Required, Does(A::States), ""),
    row("u", "user", Required, Does(A::User), ""),
    row("", "wckey", Required, Ignored, ""),
];

#[rustfmt::skip]
const SINFO: &[OptionRow] = &[
    row("a", "all", No, Silent, ""),
    row("d", "dead", No, Silent, ""),
    row("e", "exact", No, Silent, ""),
    row("", "federation", No, Silent, ""),
    row("o", "format", Required, Does(A::Format), ""),
    row("O", "Format", Required, Does(A::LongFormat), ""),
    row("", "hide", No, Silent, ""),
    row("i", "iterate", Required, Refused, ""),
    row("", "json", No, Does(A::Json), ""),
    row("R", "list-reasons", No, Refused, ""),
    row("", "local", No, Silent, ""),
    row("l", "long", No, Does(A::Long), ""),
    row("", "noconvert", No, Silent, ""),
    row("N", "Node", No, Does(A::NodeLines), ""),
    row("n", "nodes", Required, Does(A::NodeList), ""),
    row("h", "noheader", No, Does(A::NoHeader), ""),
    row("p", "partition", Required, Does(A::Partition), ""),
    row("T", "reservation", No, Refused, ""),
    row("r", "responding", No, Silent, ""),
    row("S", "sort", Required, Ignored, ""),
    row("t", "states", Required, Does(A::States), ""),
    row("s", "summarize", No, Does(A::Summarize), ""),
    row("", "yaml", No, Refused, ""),
];

#[rustfmt::skip]
const SACCT: &[OptionRow] = &[
    row("A", "accounts", Required, Does(A::Account), ""),
    row("L", "allclusters", No, Silent, ""),
    row("X", "allocations", No, Does(A::Allocations), ""),
    row("a", "allusers", No, Does(A::AllUsers), ""),
    row("x", "associations", Required, Ignored, ""),
    row("B", "batch-script", No, Refused, ""),
    row("b", "brief", No, Does(A::Summarize), ""),
    row("c", "completion", No, Refused, ""),
    row("C", "constraints", Required, Ignored, ""),
    row("", "delimiter", Required, Does(A::Delimiter), ""),
    row("D", "duplicates", No, Silent, ""),
    row("E", "endtime", Required, Does(A::EndTime), ""),
    row("", "env-vars", No, Refused, ""),
    row("", "federation", No, Silent, ""),
    row("f", "file", Required, Refused, ""),
    row("F", "flags", Required, Ignored, ""),
    row("o", "format", Required, Does(A::Format), ""),
    row("g", "gid", Required, Ignored, ""),
    row("", "group", Required, Ignored, ""),
    row("h", "", No, Does(A::Help), ""),
    row("e", "helpformat", No, Does(A::HelpFormat), ""),
    row("j", "jobs", Required, Does(A::Jobs), ""),
    row("", "json", No, Does(A::Json), ""),
    row("", "local", No, Silent, ""),
    row("l", "long", No, Does(A::Long), ""),
    row("", "name", Required, Does(A::Name), ""),
    row("i", "nnodes", Required, Ignored, ""),
    row("I", "ncpus", Required, Ignored, ""),
    row("", "noconvert", No, Silent, ""),
    row("N", "nodelist", Required, Does(A::NodeList), ""),
    row("n", "noheader", No, Does(A::NoHeader), ""),
    row("p", "parsable", No, Does(A::Parsable), ""),
    row("P", "parsable2", No, Does(A::Parsable2), ""),
    row("r", "partition", Required, Does(A::Partition), ""),
    row("q", "qos", Required, Ignored, ""),
    row("R", "reason", Required, Ignored, ""),
    row("S", "starttime", Required, Does(A::StartTime), ""),
    row("s", "state", Required, Does(A::States), ""),
    row("K", "timelimit-max", Required, Ignored, ""),
    row("k", "timelimit-min", Required, Ignored, ""),
    row("T", "truncate", No, Ignored, ""),
    row("u", "uid", Required, Does(A::User), ""),
    row("", "user", Required, Does(A::User), ""),
    row("", "units", Required, Ignored, ""),
    row("", "use-local-uid", No, Silent, ""),
    row("W", "wckeys", Required, Ignored, ""),
    row("", "whole-hetjob", Optional, Silent, ""),
    row("", "yaml", No, Refused, ""),
];

#[rustfmt::skip]
const SCONTROL: &[OptionRow] = &[
    row("a", "all", No, Silent, ""),
    row("d", "details", No, Silent, ""),
    row("", "federation", No, Silent, ""),
    row("F", "future", No, Silent, ""),
    row("h", "", No, Does(A::Help), ""),
    row("", "hide", No, Silent, ""),
    row("", "local", No, Silent, ""),
    row("o", "oneliner", No, Does(A::OneLine), ""),
    row("Q", "quiet", No, Does(A::Quiet), ""),
    row("", "sibling", No, Silent, ""),
    row("u", "uid", Required, Refused, ""),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn an_option_stands_once_in_the_tables_of_its_command() {
        for program in Program::ALL {
            let (mut longs, mut shorts) = (BTreeSet::new(), BTreeSet::new());
            for row in program.options() {
                let name = program.name();
                assert!(row.long.is_empty() || longs.insert(row.long), "{name} --{}", row.long);
                let is_new = row.short.is_none_or(|letter| shorts.insert(letter));
                assert!(is_new, "{name} -{:?}", row.short);
            }
            assert_eq!(Program::named(program.name()), Some(program));
        }
    }
}
