//! What can be wrong with a trace file, said with file, line and column.

use super::read::{MOST_BYTES, MOST_JOBS};
use std::io;
use std::path::PathBuf;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum TraceError {
    #[error("could not read `{path}`: {cause}")]
    Unreadable { path: PathBuf, cause: io::Error },
    #[error("`{path}` has no column `{column}`; its columns are: {found}")]
    MissingColumn { path: PathBuf, column: &'static str, found: String },
    #[error("`{path}` has two columns `{column}`")]
    RepeatedColumn { path: PathBuf, column: &'static str },
    #[error("`{path}` has no jobs")]
    Empty { path: PathBuf },
    #[error("`{path}` line {line}: {problem}")]
    BadRow { path: PathBuf, line: u64, problem: RowProblem },
    #[error("`{path}` is too large: at most {MOST_JOBS} jobs, and {} MiB", MOST_BYTES >> 20)]
    TooLarge { path: PathBuf },
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RowProblem {
    #[error("column `{column}`: `{value}` {wrong}")]
    BadValue { column: &'static str, value: String, wrong: Wrong },
    #[error("{found} values, but the header has {wanted} columns")]
    UnequalLength { found: usize, wanted: usize },
    #[error("is not UTF-8 text")]
    NotText,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Wrong {
    #[error("is not a number")]
    NotANumber,
    #[error("is not a whole number")]
    NotWhole,
    #[error("is negative")]
    Negative,
    #[error("is less than 1")]
    Zero,
    #[error("is more than {most}")]
    TooLarge { most: u64 },
    #[error("is empty")]
    Empty,
    #[error("is longer than {most} bytes")]
    TooLong { most: usize },
}

impl TraceError {
    /// What to change in the file, or to type.
    pub fn hint(&self) -> String {
        match self {
            TraceError::Unreadable { path, .. } => format!("ls -l {}", path.display()),
            TraceError::MissingColumn { .. } | TraceError::RepeatedColumn { .. } => {
                "the first line names the columns: submit_time,num_gpus,duration and, where there are any, job_id,vc,user,est_duration".to_owned()
            }
            TraceError::Empty { .. } => "write one row for each job below the header".to_owned(),
            TraceError::TooLarge { .. } => "replay a part of it".to_owned(),
            TraceError::BadRow { path, line, problem } => match problem {
                RowProblem::BadValue { wrong, .. } => wrong.hint(),
                RowProblem::UnequalLength { .. } | RowProblem::NotText => {
                    format!("sed -n {line}p {}", path.display())
                }
            },
        }
    }
}

impl Wrong {
    fn hint(self) -> String {
        match self {
            Wrong::NotANumber | Wrong::NotWhole => "times are whole seconds, GPUs whole numbers",
            Wrong::Negative => {
                "times count from the start of the trace: add the same number to every submit_time"
            }
            Wrong::Zero => "the trace replays GPU jobs only: leave out rows without GPUs",
            Wrong::TooLarge { .. } => "times are in seconds, not in milliseconds",
            Wrong::Empty => "fill it in, or leave the whole column out",
            Wrong::TooLong { .. } => "use a shorter name",
        }
        .to_owned()
    }
}
