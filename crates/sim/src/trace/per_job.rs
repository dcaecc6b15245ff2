//! What became of every job, as CSV: one row for each, in the order of submission. Times are in seconds.

use super::evaluate::Evaluation;
use super::metrics::{Measured, seconds_at};
use super::read::Trace;
use std::io::{self, Write};

const COLUMNS: [&str; 6] = ["job_id", "vc", "submit_time", "first_start", "end", "queue"];

/// With several policies the first column says which.
pub fn write_per_job(out: impl Write, trace: &Trace, evaluations: &[Evaluation]) -> io::Result<()> {
    let mut out = csv::Writer::from_writer(out);
    let several = evaluations.len() > 1;
    out.write_record(several.then_some("policy").into_iter().chain(COLUMNS))?;
    for evaluation in evaluations {
        let policy = evaluation.policy.to_string();
        for (job, result) in trace.jobs.iter().zip(&evaluation.jobs) {
            if several {
                out.write_field(&policy)?;
            }
            out.write_field(&job.id)?;
            out.write_field(&trace.vcs[job.vc])?;
            let numbers = [
                seconds_at(job.submit_at),
                seconds_at(result.first_start_at),
                seconds_at(result.end_at),
                Measured { job, result }.queue(),
            ];
            out.write_record(numbers.map(|number| number.to_string()))?;
        }
    }
    out.flush()
}
