//! How large the clusters are on which a trace is replayed: one for each VC, none shared.

use super::read::{Job, Trace};
use danlu_core::limits;
pub use danlu_core::settings::PlacementRule;
use danlu_messages::sim as msg;
use thiserror::Error;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cluster {
    /// The GPUs of each node.
    pub nodes: Vec<u32>,
    pub placement: PlacementRule,
}

/// A size for each VC of a trace, in nodes or in GPUs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sizes {
    /// For a trace with one VC, or without the column.
    Single(u32),
    PerVc(Vec<(String, u32)>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Nodes {
        gpus_each: u32,
        placement: PlacementRule,
    },
    /// No nodes at all: any free GPUs will do.
    Gpus,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ClusterError {
    #[error("{}", msg::no_size(&list(.missing)))]
    NoSize { missing: Vec<(String, usize)>, flag: String },
    #[error("{}", msg::two_sizes(vc))]
    TwoSizes { vc: String },
    #[error("{}", .what.too_many(*.most))]
    TooLarge { what: Amount, most: usize },
}

/// What there is too much of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Amount {
    Nodes,
    Gpus,
    GpusPerNode,
}

impl Amount {
    fn too_many(self, most: usize) -> String {
        match self {
            Amount::Nodes => msg::too_many_nodes(&most),
            Amount::Gpus => msg::too_many_gpus(&most),
            Amount::GpusPerNode => msg::too_many_gpus_per_node(&most),
        }
    }
}

/// One cluster for each VC of the trace, in the order of [`Trace::vcs`].
pub fn clusters(trace: &Trace, sizes: &Sizes, unit: Unit) -> Result<Vec<Cluster>, ClusterError> {
    let found: Vec<Option<u32>> =
        trace.vcs.iter().map(|vc| sizes.of(vc, trace.vcs.len())).collect::<Result<_, _>>()?;
    let missing: Vec<usize> = (0..found.len()).filter(|vc| found[*vc].is_none()).collect();
    if !missing.is_empty() {
        let count = |vc: usize| trace.jobs.iter().filter(|job| job.vc == vc).count();
        return Err(ClusterError::NoSize {
            missing: missing.into_iter().map(|vc| (trace.vcs[vc].clone(), count(vc))).collect(),
            flag: flag(trace, &found, unit),
        });
    }
    found.into_iter().flatten().map(|size| Cluster::new(size, unit)).collect()
}

impl Sizes {
    fn of(&self, vc: &str, vcs: usize) -> Result<Option<u32>, ClusterError> {
        match self {
            Sizes::Single(size) => Ok((vcs == 1).then_some(*size)),
            Sizes::PerVc(list) => {
                let mut sizes = list.iter().filter(|(name, _)| name == vc).map(|(_, size)| *size);
                match (sizes.next(), sizes.next()) {
                    (_, Some(_)) => Err(ClusterError::TwoSizes { vc: vc.to_owned() }),
                    (size, None) => Ok(size),
                }
            }
        }
    }

    /// Names for which the trace has no jobs: perhaps a mistake in writing.
    pub fn unused<'a>(&'a self, trace: &Trace) -> Vec<&'a str> {
        match self {
            Sizes::Single(_) => Vec::new(),
            Sizes::PerVc(list) => {
                let names = list.iter().map(|(name, _)| name.as_str());
                names.filter(|name| !trace.vcs.iter().any(|vc| vc == name)).collect()
            }
        }
    }
}

impl Cluster {
    pub fn new(size: u32, unit: Unit) -> Result<Cluster, ClusterError> {
        let most_gpus = u32::try_from(limits::GPUS_PER_NODE).expect("a small number");
        let too_large = |what, most| Err(ClusterError::TooLarge { what, most });
        let cluster = match unit {
            Unit::Nodes { gpus_each, .. } if gpus_each > most_gpus => {
                return too_large(Amount::GpusPerNode, limits::GPUS_PER_NODE);
            }
            Unit::Nodes { .. } if size as usize > limits::NODES => {
                return too_large(Amount::Nodes, limits::NODES);
            }
            Unit::Nodes { gpus_each, placement } => {
                Cluster { nodes: vec![gpus_each; size as usize], placement }
            }
            // With `count` it does not matter how the GPUs are cut into nodes.
            Unit::Gpus if size.div_ceil(most_gpus) as usize > limits::NODES => {
                return too_large(Amount::Gpus, limits::NODES * limits::GPUS_PER_NODE);
            }
            Unit::Gpus => {
                let rest = size % most_gpus;
                let full = vec![most_gpus; (size / most_gpus) as usize];
                let nodes = full.into_iter().chain((rest > 0).then_some(rest)).collect();
                Cluster { nodes, placement: PlacementRule::Count }
            }
        };
        Ok(cluster)
    }

    pub fn gpus(&self) -> u64 {
        self.nodes.iter().map(|gpus| u64::from(*gpus)).sum()
    }
}

impl ClusterError {
    pub fn hint(&self) -> String {
        match self {
            ClusterError::NoSize { flag, .. } => flag.clone(),
            ClusterError::TwoSizes { vc } => msg::write_once(vc),
            ClusterError::TooLarge { .. } => msg::smaller_cluster().to_owned(),
        }
    }
}

/// The flag to type: what was given, and for the other VCs a size that their jobs would fill to two thirds.
fn flag(trace: &Trace, found: &[Option<u32>], unit: Unit) -> String {
    let (flag, gpus_each) = match unit {
        Unit::Nodes { gpus_each, .. } => ("--nodes", gpus_each),
        Unit::Gpus => ("--gpus", 1),
    };
    let sizes = trace.vcs.iter().enumerate().map(|(vc, name)| {
        let size = found[vc].map_or_else(|| suggestion(trace, vc, gpus_each), u64::from);
        format!("{name}={size}")
    });
    format!("{flag} {}", sizes.collect::<Vec<_>>().join(","))
}

fn suggestion(trace: &Trace, vc: usize, gpus_each: u32) -> u64 {
    let jobs = || trace.jobs.iter().filter(|job| job.vc == vc);
    let largest = jobs().map(|job| u64::from(job.gpus)).max().unwrap_or(1);
    let work: u128 = jobs().map(gpu_time).sum();
    let first = jobs().map(|job| job.submit_at).min().unwrap_or_default();
    let last = jobs().map(|job| job.submit_at + job.duration).max().unwrap_or_default();
    let busy = work * 3 / (2 * u128::from(last.since(first).0.max(1)));
    let gpus = u64::try_from(busy).unwrap_or(u64::MAX).max(largest);
    gpus.div_ceil(u64::from(gpus_each))
}

fn gpu_time(job: &Job) -> u128 {
    u128::from(job.gpus) * u128::from(job.duration.0)
}

fn list(missing: &[(String, usize)]) -> String {
    let shown = missing.iter().map(|(vc, jobs)| msg::jobs_of_vc(vc, jobs));
    shown.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::read::read_from;
    use std::path::Path;

    const EIGHT: Unit = Unit::Nodes { gpus_each: 8, placement: PlacementRule::Consolidate };

    fn trace() -> Trace {
        let rows = "submit_time,num_gpus,duration,vc\n0,4,100,a\n0,24,300,b\n100,1,10,b\n";
        read_from(rows.as_bytes(), Path::new("t.csv")).unwrap()
    }

    #[test]
    fn every_vc_needs_a_size_and_the_hint_is_the_flag_to_type() {
        let sizes = Sizes::PerVc(vec![("a".to_owned(), 2)]);
        let error = clusters(&trace(), &sizes, EIGHT).unwrap_err();
        assert_eq!(error.to_string(), "no size is given for these VCs of the trace: b (2 jobs)");
        // 24 × 300 + 10 GPU seconds in 300 seconds: 24 GPUs busy, of 36.
        assert_eq!(error.hint(), "--nodes a=2,b=5");
        let error = clusters(&trace(), &Sizes::Single(4), Unit::Gpus).unwrap_err();
        assert!(error.hint().starts_with("--gpus a="), "{}", error.hint());
    }

    #[test]
    fn gpus_without_nodes_are_cut_into_nodes_of_the_largest_size() {
        let cluster = Cluster::new(300, Unit::Gpus).unwrap();
        assert_eq!(cluster.nodes, [128, 128, 44]);
        assert_eq!(cluster.gpus(), 300);
        assert_eq!(Cluster::new(2, EIGHT).unwrap().nodes, [8, 8]);
    }

    #[test]
    fn sizes_have_limits() {
        let wide = Unit::Nodes { gpus_each: 129, placement: PlacementRule::Count };
        assert!(Cluster::new(1, wide).is_err());
        assert!(Cluster::new(10_001, EIGHT).is_err());
        assert!(Cluster::new(u32::MAX, Unit::Gpus).is_err());
    }

    #[test]
    fn names_without_jobs_are_told() {
        let sizes = Sizes::PerVc(vec![("a".to_owned(), 2), ("c".to_owned(), 2)]);
        assert_eq!(sizes.unused(&trace()), ["c"]);
    }
}
