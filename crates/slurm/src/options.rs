//! What an option of Slurm's commands is, and which ones each command has.

mod tables;

use tables::{GENERAL, JOB, SACCT, SALLOC, SBATCH, SCANCEL, SCONTROL, SINFO, SQUEUE, SRUN};

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
    Constraint,
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
    Overcommit,
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
