//! Reads the list of tasks and the list of machines: CSV files, columns found by name.

use csv::StringRecord;
use danlu_core::Refusal;
use danlu_core::limits;
use danlu_messages::refusals::refusal;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// What one task asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pod {
    pub gpus: u32,
    /// Thousandths of each GPU.
    pub gpu_milli: u32,
    /// Thousandths of a CPU.
    pub cpu_milli: u32,
    pub memory_mib: u64,
    /// Part of the name of the GPU's model.
    pub model: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    pub cpu_milli: u32,
    pub memory_mib: u64,
    pub gpus: u32,
    pub model: String,
}

#[derive(Debug, Error)]
pub enum PackingError {
    #[error("could not read {}: {cause}", path.display())]
    Unreadable { path: PathBuf, cause: String },
    #[error("{} has no column {column}", path.display())]
    NoColumn { path: PathBuf, column: &'static str },
    #[error("{}:{line}: {column} cannot be `{value}`", path.display())]
    BadValue { path: PathBuf, line: u64, column: &'static str, value: String },
    #[error("{} has no rows", path.display())]
    Empty { path: PathBuf },
    #[error("no task of the list asks for a GPU, or no machine has one")]
    NoGpus,
    #[error("the scheduler refuses a task: {}", refusal(.0).0)]
    Refused(Refusal),
}

const MOST_BYTES: u64 = 1 << 28;
const MOST_MEBIBYTES: u64 = 1 << 40;
/// Of a CPU; a machine has at most a thousand of them.
const MOST_MILLI: u64 = 1_000_000;

pub fn read_pods(path: &Path) -> Result<Vec<Pod>, PackingError> {
    rows(path, |row| {
        let gpus = row.number("num_gpu", u64::from(limits::GPUS_PER_TASK))?;
        let gpu_milli = row.number("gpu_milli", 1000)?;
        let models = row.text("gpu_spec").unwrap_or_default();
        // A choice of models cannot be asked for; a part of a GPU is asked for one at a time.
        if models.contains('|') {
            return Err(row.bad("gpu_spec", models));
        }
        if gpus > 0 && gpu_milli == 0 || gpus > 1 && gpu_milli < 1000 {
            return Err(row.bad("gpu_milli", &gpu_milli.to_string()));
        }
        Ok(Pod {
            gpus: small(gpus),
            gpu_milli: small(gpu_milli),
            cpu_milli: small(row.number("cpu_milli", MOST_MILLI)?),
            memory_mib: row.number("memory_mib", MOST_MEBIBYTES)?,
            model: (!models.is_empty()).then(|| models.to_owned()),
        })
    })
}

pub fn read_machines(path: &Path) -> Result<Vec<Machine>, PackingError> {
    rows(path, |row| {
        Ok(Machine {
            cpu_milli: small(row.number("cpu_milli", MOST_MILLI)?),
            memory_mib: row.number("memory_mib", MOST_MEBIBYTES)?,
            gpus: small(row.number("gpu", limits::GPUS_PER_NODE as u64)?),
            model: row.text("model").unwrap_or("GPU").to_owned(),
        })
    })
}

fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// One row with the names of its columns.
struct Row<'a> {
    path: &'a Path,
    line: u64,
    header: &'a StringRecord,
    values: &'a StringRecord,
}

impl Row<'_> {
    fn text(&self, column: &str) -> Option<&str> {
        let at = self.header.iter().position(|name| name == column)?;
        self.values.get(at).map(str::trim)
    }

    fn number(&self, column: &'static str, most: u64) -> Result<u64, PackingError> {
        let Some(value) = self.text(column) else {
            return Err(PackingError::NoColumn { path: self.path.to_owned(), column });
        };
        let number = value.parse().ok().filter(|number| *number <= most);
        number.ok_or_else(|| self.bad(column, value))
    }

    fn bad(&self, column: &'static str, value: &str) -> PackingError {
        let value = value.chars().take(40).collect();
        PackingError::BadValue { path: self.path.to_owned(), line: self.line, column, value }
    }
}

fn rows<T>(
    path: &Path,
    take: impl Fn(&Row<'_>) -> Result<T, PackingError>,
) -> Result<Vec<T>, PackingError> {
    let unreadable = |cause: String| PackingError::Unreadable { path: path.to_owned(), cause };
    let file = File::open(path).map_err(|cause| unreadable(cause.to_string()))?;
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(file.take(MOST_BYTES));
    let header = reader.headers().map_err(|cause| unreadable(cause.to_string()))?.clone();
    let mut rows = Vec::new();
    for (line, values) in (2..).zip(reader.records()) {
        let values = values.map_err(|cause| unreadable(cause.to_string()))?;
        rows.push(take(&Row { path, line, header: &header, values: &values })?);
    }
    if rows.is_empty() {
        return Err(PackingError::Empty { path: path.to_owned() });
    }
    Ok(rows)
}
