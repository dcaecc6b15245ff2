//! Reads a trace: one CSV row for each job, columns found by name, every value held to a limit.

use super::problem::{RowProblem, TraceError};
use super::value::{name, number, shortened};
use csv::{ErrorKind, StringRecord};
use danlu_core::limits;
use danlu_core::{Span, Time};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

#[derive(Debug, Clone)]
pub struct Trace {
    /// By time of submission, then in the order of the file.
    pub jobs: Vec<Job>,
    /// The values of the column `vc`, as they first appear; one without a name where there is no such column.
    pub vcs: Vec<String>,
    /// The values of the column `user`; where there is none, everybody in a VC is one user.
    pub users: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    pub id: String,
    /// Where it stands in the file.
    pub line: u64,
    /// Position in [`Trace::vcs`].
    pub vc: usize,
    /// Position in [`Trace::users`].
    pub user: usize,
    pub submit_at: Time,
    pub gpus: u32,
    /// How long it really runs when nobody disturbs it.
    pub duration: Span,
    /// How long it was said to run.
    pub estimate: Option<Span>,
}

/// Larger files are refused: a trace is held in memory.
pub const MOST_JOBS: usize = 5_000_000;
pub const MOST_BYTES: u64 = 1 << 30;
/// A hundred years of seconds: more is a mistake in the unit.
pub const MOST_SECONDS: u64 = 100 * 366 * 86_400;

pub fn read_trace(path: &Path) -> Result<Trace, TraceError> {
    let file = File::open(path).map_err(|cause| unreadable(path, cause))?;
    read_from(file, path)
}

/// `path` is only for messages.
pub fn read_from(source: impl Read, path: &Path) -> Result<Trace, TraceError> {
    // JobRows end at `\n` alone, the last one too, so that lines are counted as an editor counts them;
    // a `\r` before it is trimmed with the value.
    let mut reader = csv::ReaderBuilder::new()
        .terminator(csv::Terminator::Any(b'\n'))
        .flexible(true)
        .from_reader(source.take(MOST_BYTES + 1).chain(b"\n".as_slice()));
    let header = reader.headers().map_err(|error| from_csv(error, path, 1))?.clone();
    let columns = Columns::find(&header, path)?;
    let mut rows = JobRows::default();
    let mut row = StringRecord::new();
    loop {
        let more = reader.read_record(&mut row);
        // The reader stands behind the end of the row, which every row has.
        let line = reader.position().line() - 1;
        if !more.map_err(|error| from_csv(error, path, line))? {
            break;
        }
        if rows.jobs.len() == MOST_JOBS || reader.position().byte() > MOST_BYTES {
            return Err(TraceError::TooLarge { path: path.to_owned() });
        }
        rows.take(&columns, &row, line).map_err(|problem| TraceError::BadRow {
            path: path.to_owned(),
            line,
            problem,
        })?;
    }
    if rows.jobs.is_empty() {
        return Err(TraceError::Empty { path: path.to_owned() });
    }
    rows.jobs.sort_by_key(|job| job.submit_at);
    let JobRows { jobs, vcs, users } = rows;
    Ok(Trace { jobs, vcs: vcs.names, users: users.names })
}

/// Where each column stands in a row.
struct Columns {
    submit_time: usize,
    num_gpus: usize,
    duration: usize,
    job_id: Option<usize>,
    vc: Option<usize>,
    user: Option<usize>,
    est_duration: Option<usize>,
    count: usize,
}

impl Columns {
    fn find(header: &StringRecord, path: &Path) -> Result<Columns, TraceError> {
        let optional = |column: &'static str| {
            let mut places = header.iter().enumerate().filter(|(_, name)| name.trim() == column);
            match (places.next(), places.next()) {
                (_, Some(_)) => Err(TraceError::RepeatedColumn { path: path.to_owned(), column }),
                (first, None) => Ok(first.map(|(place, _)| place)),
            }
        };
        let required = |column: &'static str| {
            optional(column)?.ok_or_else(|| TraceError::MissingColumn {
                path: path.to_owned(),
                column,
                found: shortened(&header.iter().collect::<Vec<_>>().join(", "), 200),
            })
        };
        Ok(Columns {
            submit_time: required("submit_time")?,
            num_gpus: required("num_gpus")?,
            duration: required("duration")?,
            job_id: optional("job_id")?,
            vc: optional("vc")?,
            user: optional("user")?,
            est_duration: optional("est_duration")?,
            count: header.len(),
        })
    }
}

#[derive(Default)]
struct JobRows {
    jobs: Vec<Job>,
    vcs: Names,
    users: Names,
}

impl JobRows {
    fn take(&mut self, columns: &Columns, row: &StringRecord, line: u64) -> Result<(), RowProblem> {
        if row.len() == 1 && row[0].trim().is_empty() {
            return Ok(());
        }
        if row.len() != columns.count {
            return Err(RowProblem::UnequalLength { found: row.len(), wanted: columns.count });
        }
        let value = |place: usize| row.get(place).unwrap_or_default().trim();
        let seconds = |column, place| number(column, value(place), 0, MOST_SECONDS);
        let most_gpus = u64::from(limits::GPUS_PER_TASK);
        let gpus = number("num_gpus", value(columns.num_gpus), 1, most_gpus)?;
        let vc = columns.vc.map_or(Ok(""), |place| name("vc", value(place)))?;
        let user = columns.user.map_or(Ok(vc), |place| name("user", value(place)))?;
        let estimate = match columns.est_duration.map(|place| (place, value(place))) {
            None | Some((_, "")) => None,
            Some((place, _)) => Some(Span::from_secs(seconds("est_duration", place)?)),
        };
        let submit_time = seconds("submit_time", columns.submit_time)?;
        self.jobs.push(Job {
            id: match columns.job_id {
                Some(place) => name("job_id", value(place))?.to_owned(),
                None => self.jobs.len().to_string(),
            },
            line,
            submit_at: Time::from_secs(i64::try_from(submit_time).expect("checked above")),
            gpus: u32::try_from(gpus).expect("checked above"),
            duration: Span::from_secs(seconds("duration", columns.duration)?),
            estimate,
            vc: self.vcs.place(vc),
            user: self.users.place(user),
        });
        Ok(())
    }
}

/// Names as they first appear, each once.
#[derive(Default)]
struct Names {
    names: Vec<String>,
    places: BTreeMap<String, usize>,
}

impl Names {
    fn place(&mut self, name: &str) -> usize {
        if let Some(place) = self.places.get(name) {
            return *place;
        }
        let place = self.names.len();
        self.names.push(name.to_owned());
        self.places.insert(name.to_owned(), place);
        place
    }
}

fn unreadable(path: &Path, cause: io::Error) -> TraceError {
    TraceError::Unreadable { path: path.to_owned(), cause }
}

fn from_csv(error: csv::Error, path: &Path, line: u64) -> TraceError {
    match error.into_kind() {
        ErrorKind::Io(cause) => unreadable(path, cause),
        // JobRows of any length are allowed here, so only their text can be wrong.
        _ => TraceError::BadRow { path: path.to_owned(), line, problem: RowProblem::NotText },
    }
}
