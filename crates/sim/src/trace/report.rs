//! Evaluations for programs: one JSON document. Its fields are a promise; new ones may be added.

use super::evaluate::Evaluation;
use super::metrics::Metrics;
use super::read::Trace;
use serde::Serialize;
use std::io::{self, Write};

#[derive(Serialize)]
struct Document<'a> {
    v: u32,
    results: Vec<PolicyResult<'a>>,
}

#[derive(Serialize)]
struct PolicyResult<'a> {
    policy: String,
    #[serde(flatten)]
    metrics: &'a Metrics,
    wall_seconds: f64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    per_vc: Vec<VcResult<'a>>,
}

#[derive(Serialize)]
struct VcResult<'a> {
    vc: &'a str,
    #[serde(flatten)]
    metrics: &'a Metrics,
}

pub fn write_json(
    out: &mut dyn Write,
    trace: &Trace,
    evaluations: &[Evaluation],
    per_vc: bool,
) -> io::Result<()> {
    let results = evaluations.iter().map(|evaluation| PolicyResult {
        policy: evaluation.policy.to_string(),
        metrics: &evaluation.all,
        wall_seconds: evaluation.wall.as_secs_f64(),
        per_vc: if per_vc { vc_results(trace, evaluation) } else { Vec::new() },
    });
    let document = Document { v: 1, results: results.collect() };
    serde_json::to_writer(&mut *out, &document)?;
    writeln!(out)
}

fn vc_results<'a>(trace: &'a Trace, evaluation: &'a Evaluation) -> Vec<VcResult<'a>> {
    let rows = trace.vcs.iter().zip(&evaluation.per_vc);
    rows.map(|(vc, metrics)| VcResult { vc, metrics }).collect()
}
