//! What can be wrong with a trace file, said with file, line and column.

use super::read::{MOST_BYTES, MOST_JOBS};
use danlu_messages::sim as msg;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum TraceError {
    #[error("{}", msg::unreadable(&path.display(), cause))]
    Unreadable { path: PathBuf, cause: io::Error },
    #[error("{}", msg::missing_column(&path.display(), column, found))]
    MissingColumn { path: PathBuf, column: &'static str, found: String },
    #[error("{}", msg::repeated_column(&path.display(), column))]
    RepeatedColumn { path: PathBuf, column: &'static str },
    #[error("{}", msg::no_jobs(&path.display()))]
    Empty { path: PathBuf },
    #[error("{}", msg::bad_row(&path.display(), line, problem))]
    BadRow { path: PathBuf, line: u64, problem: RowProblem },
    #[error("{}", msg::trace_too_large(&path.display(), &MOST_JOBS, &(MOST_BYTES >> 20)))]
    TooLarge { path: PathBuf },
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RowProblem {
    #[error("{}", msg::bad_value(column, value, wrong))]
    BadValue { column: &'static str, value: String, wrong: Wrong },
    #[error("{}", msg::unequal_length(found, wanted))]
    UnequalLength { found: usize, wanted: usize },
    #[error("{}", msg::not_text())]
    NotText,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Wrong {
    #[error("{}", msg::not_a_number())]
    NotANumber,
    #[error("{}", msg::not_whole())]
    NotWhole,
    #[error("{}", msg::negative())]
    Negative,
    #[error("{}", msg::less_than_one())]
    Zero,
    #[error("{}", msg::more_than(most))]
    TooLarge { most: u64 },
    #[error("{}", msg::empty())]
    Empty,
    #[error("{}", msg::longer_than(most))]
    TooLong { most: usize },
}

impl TraceError {
    /// What to change in the file, or to type.
    pub fn hint(&self) -> String {
        match self {
            TraceError::Unreadable { path, .. } => format!("ls -l {}", path.display()),
            TraceError::MissingColumn { .. } | TraceError::RepeatedColumn { .. } => {
                msg::hint_columns().to_owned()
            }
            TraceError::Empty { .. } => msg::hint_rows().to_owned(),
            TraceError::TooLarge { .. } => msg::hint_part().to_owned(),
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
            Wrong::NotANumber | Wrong::NotWhole => msg::hint_whole_numbers(),
            Wrong::Negative => msg::hint_negative(),
            Wrong::Zero => msg::hint_gpu_jobs_only(),
            Wrong::TooLarge { .. } => msg::hint_seconds(),
            Wrong::Empty => msg::hint_fill_in(),
            Wrong::TooLong { .. } => msg::hint_shorter_name(),
        }
        .to_owned()
    }
}
