//! `danlu sim`: replays a recorded trace under other policies.

mod comparison;
mod failures;
mod lab_week;
mod progress_bar;
mod show;
mod workload;

use std::{
    fs::{self, File},
    num::NonZeroU32,
    path::{Path, PathBuf},
};

use clap::{Args, ValueEnum};
use danlu_messages::cli::sim as msg;
use danlu_sim::trace::{
    Evaluation, Policy, Sizes, Trace,
    cluster::{PlacementRule, Unit, clusters},
    evaluate, per_job, plot, read_trace, report,
};

use crate::failure::{Exit, Failure};
use progress_bar::ProgressBar;

#[derive(Debug, Args)]
#[command(
    about = msg::about(),
    override_usage = msg::usage(),
    after_help = msg::notes(),
)]
pub(crate) struct SimArguments {
    #[arg(long, value_name = "FILE", required_unless_present_any = ["lab_week", "workload"], help = msg::trace_file())]
    trace: Option<PathBuf>,

    #[arg(long, exclusive = true, help = msg::lab_week())]
    lab_week: bool,

    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "fifo",
        hide_default_value = true,
        help = msg::policies(),
    )]
    policy: Vec<String>,

    #[arg(long, value_name = "LIST", value_parser = parse_sizes, help = msg::node_count())]
    nodes: Option<Sizes>,

    #[arg(long, value_name = "N", default_value = "8", hide_default_value = true, help = msg::gpus_per_node())]
    gpus_per_node: NonZeroU32,

    #[command(flatten)]
    packing: workload::WorkloadOptions,

    #[arg(
        long,
        value_name = "RULE",
        value_enum,
        hide_possible_values = true,
        help = msg::placement_rule(),
    )]
    placement: Option<Placement>,

    #[arg(long, value_name = "N", conflicts_with = "nodes", value_parser = parse_sizes, help = msg::gpu_count())]
    gpus: Option<Sizes>,

    #[arg(long, help = msg::print_json())]
    json: bool,

    #[arg(long, help = msg::by_cluster())]
    per_vc: bool,

    #[arg(long, value_name = "OUT.csv", help = msg::write_jobs())]
    per_job: Option<PathBuf>,

    #[arg(long, value_name = "OUT.svg", help = msg::draw_plot())]
    plot: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Placement {
    #[value(alias = "pack")]
    Consolidate,
    Spread,
    Count,
    Frag,
    Lowest,
}

impl Placement {
    fn rule(self) -> PlacementRule {
        match self {
            Placement::Consolidate => PlacementRule::Consolidate,
            Placement::Spread => PlacementRule::Spread,
            Placement::Count => PlacementRule::Count,
            Placement::Frag => PlacementRule::Frag,
            Placement::Lowest => PlacementRule::Lowest,
        }
    }
}

pub(crate) fn run(arguments: &SimArguments) -> Result<(), Failure> {
    if let Some(list) = &arguments.packing.workload {
        return workload::run(list, &arguments.packing, arguments.placement, arguments.json);
    }
    let Some(trace) = &arguments.trace else {
        return lab_week::run();
    };
    let policies = policies(arguments)?;
    let (sizes, unit) = size(arguments)?;
    let trace = read_trace(trace).map_err(|error| failures::trace(&error))?;
    let clusters = clusters(&trace, sizes, unit).map_err(|error| failures::cluster(&error))?;
    show::unused_sizes(&sizes.unused(&trace));
    let mut evaluations = Vec::new();
    for (place, policy) in policies.iter().enumerate() {
        let mut bar = ProgressBar::new(*policy, place, policies.len());
        let evaluation = evaluate(&trace, &clusters, *policy, &mut |progress| bar.draw(progress));
        bar.clear();
        evaluations.push(evaluation.map_err(|error| failures::replay(&error))?);
    }
    write_per_job(arguments, &trace, &evaluations)?;
    write_plot(arguments, &trace, &evaluations)?;
    if arguments.json {
        show::stdout(|out| report::write_json(out, &trace, &evaluations, arguments.per_vc))
    } else {
        let tables = show::tables(&trace, &evaluations, arguments.per_vc);
        show::stdout(|out| out.write_all(tables.as_bytes()))
    }
}

fn policies(arguments: &SimArguments) -> Result<Vec<Policy>, Failure> {
    let parsed = arguments.policy.iter().map(|name| name.parse());
    parsed.collect::<Result<_, _>>().map_err(|error| failures::policy(&error))
}

/// How large the cluster is, and in what that is counted.
fn size(arguments: &SimArguments) -> Result<(&Sizes, Unit), Failure> {
    let chosen = arguments.placement.unwrap_or(Placement::Consolidate);
    let placement = chosen.rule();
    let gpus_each = arguments.gpus_per_node.get();
    let complaint = match (chosen, &arguments.nodes, &arguments.gpus) {
        (_, Some(nodes), _) => {
            return Ok((nodes, Unit::Nodes { gpus_each, placement }));
        }
        (Placement::Count, None, Some(gpus)) => return Ok((gpus, Unit::Gpus)),
        (_, None, Some(_)) => msg::gpus_without_nodes(),
        (_, None, None) => msg::no_cluster_size(),
    };
    Err(Failure::new(Exit::Usage, complaint).hint(msg::add_cluster_size()))
}

fn write_per_job(
    arguments: &SimArguments,
    trace: &Trace,
    evaluations: &[Evaluation],
) -> Result<(), Failure> {
    let Some(path) = &arguments.per_job else {
        return Ok(());
    };
    File::create(path)
        .and_then(|file| per_job::write_per_job(file, trace, evaluations))
        .map_err(|cause| failures::unwritable(path, &cause))
}

fn write_plot(
    arguments: &SimArguments,
    trace: &Trace,
    evaluations: &[Evaluation],
) -> Result<(), Failure> {
    let Some(path) = &arguments.plot else {
        return Ok(());
    };
    let name = arguments.trace.as_deref().and_then(Path::file_stem);
    let title = name.map(|name| name.to_string_lossy()).unwrap_or_default();
    let labels = plot::Labels {
        completion: msg::mean_completion_time_hours(),
        unlucky: msg::queueing_time_of_99_hours(),
        waited: msg::jobs_that_waited_at_most_as_long(),
    };
    fs::write(path, plot::svg(&title, &labels, trace, evaluations))
        .map_err(|cause| failures::unwritable(path, &cause))
}

/// `4`, or `VC=4,VC=10`.
fn parse_sizes(list: &str) -> Result<Sizes, String> {
    if !list.contains('=') {
        return parse_count(list).map(Sizes::Single);
    }
    let sizes = list.split(',').map(|entry| {
        // The name may contain `=` itself.
        let Some((name, count)) = entry.rsplit_once('=').filter(|(name, _)| !name.is_empty())
        else {
            return Err(format!("`{entry}` {}", msg::not_vc_size()));
        };
        Ok((name.to_owned(), parse_count(count)?))
    });
    sizes.collect::<Result<_, _>>().map(Sizes::PerVc)
}

fn parse_count(count: &str) -> Result<u32, String> {
    count.parse().map(NonZeroU32::get).map_err(|_| format!("`{count}` {}", msg::not_above_zero()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_one_number_or_one_for_each_cluster() {
        assert_eq!(parse_sizes("4"), Ok(Sizes::Single(4)));
        let sizes = vec![("a".to_owned(), 4), ("b".to_owned(), 10)];
        assert_eq!(parse_sizes("a=4,b=10"), Ok(Sizes::PerVc(sizes)));
        for wrong in ["", "0", "a", "a=", "=4", "a=4,", "a=4,10", "a=-1"] {
            assert!(parse_sizes(wrong).is_err(), "{wrong} is accepted");
        }
    }
}
