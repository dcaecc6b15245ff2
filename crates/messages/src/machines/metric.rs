//! Why a metric of the administrator's own cannot be measured.

use super::words;
use danlu_wire::samples::{FailedProbe, ProbeFailure};

pub fn failed_metric(failed: &FailedProbe) -> String {
    let name = &failed.metric;
    match &failed.why {
        ProbeFailure::NotStarted(error) => words::metric_not_started(name, error),
        ProbeFailure::TimedOut => words::metric_timed_out(name),
        ProbeFailure::Status(status) => words::metric_status(name, status),
        ProbeFailure::Output(line) => words::metric_output(name, line),
    }
}
