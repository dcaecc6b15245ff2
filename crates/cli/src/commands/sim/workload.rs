//! `danlu sim --workload`: how full a cluster gets with tasks that share GPUs.

use std::{
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::Mutex,
    thread,
};

use clap::Args;
use danlu_messages::cli::sim as msg;
use danlu_sim::{
    packing::{Filled, Machine, PackingError, Pod, Spread, fill, read_machines, read_pods},
    trace::cluster::PlacementRule,
};
use serde_json::{Value, json};

use super::{Placement, show};
use crate::failure::{Exit, Failure};

#[derive(Debug, Args)]
pub(super) struct WorkloadOptions {
    #[arg(long, value_name = "FILE", requires = "nodes_file", conflicts_with_all = ["trace", "lab_week"], help = msg::workload_file())]
    pub(super) workload: Option<String>,

    #[arg(long, value_name = "FILE", requires = "workload", help = msg::nodes_file())]
    nodes_file: Option<PathBuf>,

    #[arg(long, value_name = "N", default_value = "10", hide_default_value = true, help = msg::draws())]
    seeds: u64,

    #[arg(long, value_name = "PERCENT", default_value = "130", hide_default_value = true,
        value_parser = clap::value_parser!(u32).range(1..=1000), help = msg::until_percent())]
    demand: u32,
}

/// One placement over all seeds.
struct WorkloadOutcome {
    placement: PlacementRule,
    runs: Vec<Filled>,
}

pub(super) fn run(
    workload: &str,
    options: &WorkloadOptions,
    placement: Option<Placement>,
    as_json: bool,
) -> Result<(), Failure> {
    let Some(nodes) = &options.nodes_file else {
        return Err(Failure::new(Exit::Usage, msg::no_machines()).hint("--nodes-file FILE"));
    };
    let list = match workload {
        "openb" => nodes.with_file_name("openb_default.csv"),
        path => PathBuf::from(path),
    };
    let (pods, machines) = (read(&list, read_pods)?, read(nodes, read_machines)?);
    let rules = match placement {
        Some(placement) => vec![placement.rule()],
        None => vec![PlacementRule::Consolidate, PlacementRule::Frag],
    };
    let mut outcomes = Vec::new();
    for placement in rules {
        let runs = all_seeds(&pods, &machines, placement, options).map_err(|it| failure(&it))?;
        outcomes.push(WorkloadOutcome { placement, runs });
    }
    let shown = match as_json {
        true => format!("{}\n", document(workload, options, &outcomes)),
        false => table(options, &outcomes),
    };
    show::stdout(|out| out.write_all(shown.as_bytes()))
}

fn read<T>(
    path: &Path,
    read: impl Fn(&Path) -> Result<Vec<T>, PackingError>,
) -> Result<Vec<T>, Failure> {
    read(path).map_err(|error| failure(&error))
}

fn failure(error: &PackingError) -> Failure {
    let exit = match error {
        PackingError::Unreadable { .. } => Exit::NotFound,
        PackingError::NoColumn { .. }
        | PackingError::BadValue { .. }
        | PackingError::Empty { .. }
        | PackingError::NoGpus
        | PackingError::Refused(_) => Exit::Refused,
    };
    Failure::new(exit, error.to_string()).hint("danlu sim --help")
}

/// On all cores: seeds do not depend on each other.
fn all_seeds(
    pods: &[Pod],
    machines: &[Machine],
    placement: PlacementRule,
    options: &WorkloadOptions,
) -> Result<Vec<Filled>, PackingError> {
    let next = Mutex::new(0..options.seeds);
    let done = Mutex::new(Vec::new());
    let work = || {
        while let Some(seed) = next.lock().ok().and_then(|mut seeds| seeds.next()) {
            let filled = fill(pods, machines, placement, options.demand, seed);
            if let Ok(mut done) = done.lock() {
                done.push(filled);
            }
        }
    };
    let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    let done = done.into_inner().unwrap_or_default();
    let mut runs = done.into_iter().collect::<Result<Vec<Filled>, _>>()?;
    runs.sort_by_key(|run| run.seed);
    Ok(runs)
}

fn name(placement: PlacementRule) -> &'static str {
    match placement {
        PlacementRule::Consolidate => "best fit",
        PlacementRule::Spread => "spread",
        PlacementRule::Count => "count",
        PlacementRule::Frag => "frag",
        PlacementRule::Lowest => "lowest",
    }
}

fn at_100(outcome: &WorkloadOutcome) -> Spread {
    Spread::of(outcome.runs.iter().map(|run| run.at_100))
}

fn at_end(outcome: &WorkloadOutcome) -> Spread {
    Spread::of(outcome.runs.iter().map(|run| run.at_end))
}

fn table(options: &WorkloadOptions, outcomes: &[WorkloadOutcome]) -> String {
    let demand = options.demand;
    let title = msg::gpus_given_out_mean_deviation();
    let mut out = format!("{title} ({} seeds)\n", options.seeds);
    let head = msg::placement();
    out += &format!("{head:<12}{:>17}{:>17}\n", "100 %", format!("{demand} %"));
    for outcome in outcomes {
        let cell = |spread: Spread| format!("{:.2} ± {:.2} %", spread.mean, spread.deviation);
        let (half, whole) = (cell(at_100(outcome)), cell(at_end(outcome)));
        out += &format!("{:<12}{half:>17}{whole:>17}\n", name(outcome.placement));
    }
    out
}

fn document(workload: &str, options: &WorkloadOptions, outcomes: &[WorkloadOutcome]) -> Value {
    let spread = |it: Spread| json!({ "mean": it.mean, "deviation": it.deviation });
    let run = |run: &Filled| {
        json!({
            "seed": run.seed,
            "allocation_at_100": run.at_100,
            "allocation": run.at_end,
            "tasks": run.tasks,
            "unplaced": run.unplaced,
        })
    };
    let outcome = |it: &WorkloadOutcome| {
        json!({
            "placement": it.placement,
            "allocation_at_100": spread(at_100(it)),
            "allocation": spread(at_end(it)),
            "runs": it.runs.iter().map(run).collect::<Vec<_>>(),
        })
    };
    json!({
        "v": 1,
        "workload": workload,
        "demand": options.demand,
        "seeds": options.seeds,
        "placements": outcomes.iter().map(outcome).collect::<Vec<_>>(),
    })
}
