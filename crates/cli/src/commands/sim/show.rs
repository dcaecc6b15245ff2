//! Prints evaluations, in the user's language.

use std::io::{self, ErrorKind, Write};

use danlu_messages::cli::sim as msg;
use danlu_sim::trace::{Evaluation, Metrics, Trace};

use super::{
    comparison::{PolicyColumn, comparison},
    failures,
};
use crate::failure::Failure;

/// What every terminal has.
const TERMINAL_WIDTH: usize = 80;

/// The table of the whole trace and, where asked, one for each VC.
pub(crate) fn tables(trace: &Trace, evaluations: &[Evaluation], per_vc: bool) -> String {
    let mut out = columns(evaluations, |evaluation| &evaluation.all, true);
    if per_vc {
        for (place, vc) in trace.vcs.iter().enumerate() {
            let columns = columns(evaluations, |evaluation| &evaluation.per_vc[place], false);
            out += &format!("\n{vc}\n{columns}");
        }
    }
    out
}

fn columns(
    evaluations: &[Evaluation],
    metrics: impl Fn(&Evaluation) -> &Metrics,
    speed: bool,
) -> String {
    let columns: Vec<PolicyColumn<'_>> = evaluations
        .iter()
        .map(|evaluation| PolicyColumn {
            heading: evaluation.policy.to_string(),
            metrics: metrics(evaluation),
            jobs_per_second: speed.then(|| {
                let wall = evaluation.wall.as_secs_f64().max(f64::MIN_POSITIVE);
                evaluation.all.jobs as f64 / wall
            }),
        })
        .collect();
    comparison(&columns, TERMINAL_WIDTH)
}

/// A size for a VC that has no jobs is harmless, but perhaps a slip.
pub(crate) fn unused_sizes(names: &[&str]) {
    if !names.is_empty() {
        let note = msg::no_jobs_of();
        eprintln!("{note} {}", names.join(", "));
    }
}

pub(crate) fn stdout(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        // A reader that is gone (`danlu sim … | head -1`) has seen enough.
        Err(cause) if cause.kind() != ErrorKind::BrokenPipe => {
            Err(failures::unwritable("stdout".as_ref(), &cause))
        }
        _ => Ok(()),
    }
}
