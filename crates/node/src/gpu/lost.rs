//! Attributes errors that name no GPU to the GPUs that are missing.

use super::error::ProbeError;
use super::sample::GpuFacts;
use std::sync::Arc;

/// A GPU that does not report its UUID must be one that was known before and is missing now. Gives these with
/// their errors, and in words what is left: errors of GPUs never seen.
pub(crate) fn attribute(
    errors: &[(String, ProbeError)],
    before: &[Arc<GpuFacts>],
    is_there: impl Fn(&GpuFacts) -> bool,
) -> (Vec<(Arc<GpuFacts>, ProbeError)>, Vec<String>) {
    let Some((_, first)) = errors.first() else { return (Vec::new(), Vec::new()) };
    let missing = before.iter().filter(|facts| !is_there(facts)).enumerate().map(|(at, facts)| {
        let error = errors.get(at).map_or(first, |(_, error)| error);
        (Arc::clone(facts), error.clone())
    });
    let missing: Vec<_> = missing.collect();
    let rest = errors.iter().skip(missing.len());
    (missing, rest.map(|(place, error)| format!("{place}: {error}")).collect())
}
