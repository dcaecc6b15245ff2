//! `danlu sim`: what a policy would have done with a recorded trace.

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
use danlu_sim::trace::{
    Evaluation, Policy, Sizes, Trace,
    cluster::{PlacementRule, Unit, clusters},
    evaluate, per_job, plot, read_trace, report,
};

use crate::{
    failure::{Exit, Failure},
    language::text,
};
use progress_bar::ProgressBar;

#[derive(Debug, Args)]
#[command(
    about = text(
        "Replay a trace with the production scheduler and compare policies",
        "用真实的调度器回放任务记录，比较各种策略",
    ),
    override_usage = text(
        "danlu sim --trace FILE --nodes LIST [OPTIONS]\n       danlu sim --trace FILE --placement count --gpus N [OPTIONS]\n       danlu sim --lab-week",
        "danlu sim --trace 文件 --nodes 列表 [选项]\n      danlu sim --trace 文件 --placement count --gpus 数量 [选项]\n      danlu sim --lab-week",
    ),
    after_help = text(ENGLISH_NOTES, CHINESE_NOTES),
)]
pub(crate) struct Arguments {
    #[arg(long, value_name = "FILE", required_unless_present_any = ["lab_week", "workload"], help = text(
        "The trace: a CSV file with one row per job",
        "任务记录：CSV 文件，每行一个作业",
    ))]
    trace: Option<PathBuf>,

    #[arg(long, exclusive = true, help = text(
        "Instead of a trace: a made-up week of a lab under six policies",
        "不用任务记录：回放虚构的实验室一周，比较六种策略",
    ))]
    lab_week: bool,

    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "fifo",
        hide_default_value = true,
        help = text(
            "The policies to compare, separated by commas (fifo unless told)",
            "要比较的策略，用逗号分隔（默认 fifo）",
        ),
    )]
    policy: Vec<String>,

    #[arg(long, value_name = "LIST", value_parser = parse_sizes, help = text(
        "How many nodes there are: `4`, or for each cluster of the trace `VC=4,VC=10`",
        "节点数量：`4`；记录中有多个集群时写 `VC=4,VC=10`",
    ))]
    nodes: Option<Sizes>,

    #[arg(long, value_name = "N", default_value = "8", hide_default_value = true, help = text(
        "How many GPUs each node has (8 unless told)",
        "每个节点的 GPU 数量（默认 8）",
    ))]
    gpus_per_node: NonZeroU32,

    #[command(flatten)]
    packing: workload::Options,

    #[arg(
        long,
        value_name = "RULE",
        value_enum,
        hide_possible_values = true,
        help = text(
            "`consolidate` keeps a job on as few nodes as it can (the default); `spread` takes the emptiest; `count` takes any free GPUs; `frag` leaves most for those that usually come; `lowest` is first fit",
            "`consolidate` 让作业占用尽可能少的节点（默认）；`spread` 用最空的；`count` 使用任意空闲 GPU；`frag` 为常见任务留出最多空间；`lowest` 首次适配",
        ),
    )]
    placement: Option<Placement>,

    #[arg(long, value_name = "N", conflicts_with = "nodes", value_parser = parse_sizes, help = text(
        "How many GPUs there are in all (or `VC=128,VC=64`), with `--placement count`",
        "GPU 总数（或 `VC=128,VC=64`），与 `--placement count` 一起使用",
    ))]
    gpus: Option<Sizes>,

    #[arg(long, help = text(
        "Print one JSON document instead of a table",
        "输出一个 JSON 文档，而不是表格",
    ))]
    json: bool,

    #[arg(long, help = text(
        "Also show each cluster of the trace on its own",
        "同时单独显示每个集群",
    ))]
    per_vc: bool,

    #[arg(long, value_name = "OUT.csv", help = text(
        "Also write submission, first start and end of every job to this file",
        "同时把每个作业的提交、首次开始和结束时间写入该文件",
    ))]
    per_job: Option<PathBuf>,

    #[arg(long, value_name = "OUT.svg", help = text(
        "Also draw completion and queueing times of the policies into this file",
        "同时把各策略的完成时间和排队时间画成图，写入该文件",
    ))]
    plot: Option<PathBuf>,
}

const ENGLISH_NOTES: &str = "\
A policy is NAME, NAME+BACKFILL or NAME+BACKFILL@column:
  NAME      fifo (first come, first served), balance and fair (users in turn), sjf (shortest
            first), srtf (shortest remaining first, preemptive), las (least attained service,
            preemptive), auto (knows no durations, learns from jobs that have ended; alone,
            without +BACKFILL)
  BACKFILL  none (the first in the queue blocks the others), skip (whatever fits starts),
            easy (a later job starts if it does not delay the first one)
  @column   durations are estimated by the column est_duration instead of known
  @history  … from jobs that have ended

Columns of the trace: submit_time, num_gpus, duration; and, where there are any, vc, user,
est_duration. Times are in seconds.

Examples:
  danlu sim --lab-week
  danlu sim --trace jobs.csv --nodes 4
  danlu sim --trace jobs.csv --nodes vision=4,speech=10 --policy fifo,fifo+easy,sjf+skip,srtf
  danlu sim --trace jobs.csv --placement count --gpus 128 --policy fifo+easy@column --json
  danlu sim --workload openb --nodes-file openb_gpu_nodes.csv";

const CHINESE_NOTES: &str = "\
策略的写法是 名称、名称+回填 或 名称+回填@column：
  名称      fifo（先来先服务）、balance 和 fair（用户轮流）、sjf（最短优先）、
            srtf（剩余最短优先，可抢占）、
            las（已得服务最少优先，可抢占）、auto（不知道时长，从已结束的作业学习；
            单独使用，不加回填）
  回填      none（队首挡住后面的作业）、skip（放得下的就开始）、
            easy（不推迟队首的作业可以先开始）
  @column   时长取自 est_duration 列的估计，而不是真实值
  @history  时长由已结束的作业预测

记录的列：submit_time、num_gpus、duration；可选 vc、user、est_duration。时间单位为秒。

示例：
  danlu sim --lab-week
  danlu sim --trace jobs.csv --nodes 4
  danlu sim --trace jobs.csv --nodes vision=4,speech=10 --policy fifo,fifo+easy,sjf+skip,srtf
  danlu sim --trace jobs.csv --placement count --gpus 128 --policy fifo+easy@column --json";

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

pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
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

fn policies(arguments: &Arguments) -> Result<Vec<Policy>, Failure> {
    let parsed = arguments.policy.iter().map(|name| name.parse());
    parsed.collect::<Result<_, _>>().map_err(|error| failures::policy(&error))
}

/// How large the cluster is, and in what that is counted.
fn size(arguments: &Arguments) -> Result<(&Sizes, Unit), Failure> {
    let chosen = arguments.placement.unwrap_or(Placement::Consolidate);
    let placement = chosen.rule();
    let gpus_each = arguments.gpus_per_node.get();
    let complaint = match (chosen, &arguments.nodes, &arguments.gpus) {
        (_, Some(nodes), _) => {
            return Ok((nodes, Unit::Nodes { gpus_each, placement }));
        }
        (Placement::Count, None, Some(gpus)) => return Ok((gpus, Unit::Gpus)),
        (_, None, Some(_)) => text(
            "`--gpus` says nothing about nodes, and this placement needs them",
            "`--gpus` 没有说明节点，而这种放置方式需要节点",
        ),
        (_, None, None) => text("the size of the cluster is missing", "没有说明集群的大小"),
    };
    Err(Failure::new(Exit::Usage, complaint).hint(text(
        "add `--nodes 4`, or `--placement count --gpus 128`",
        "请加上 `--nodes 4`，或 `--placement count --gpus 128`",
    )))
}

fn write_per_job(
    arguments: &Arguments,
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
    arguments: &Arguments,
    trace: &Trace,
    evaluations: &[Evaluation],
) -> Result<(), Failure> {
    let Some(path) = &arguments.plot else {
        return Ok(());
    };
    let name = arguments.trace.as_deref().and_then(Path::file_stem);
    let title = name.map(|name| name.to_string_lossy()).unwrap_or_default();
    let labels = plot::Labels {
        completion: text("mean completion time, hours", "平均完成时间（小时）"),
        unlucky: text("queueing time of 99 %, hours", "99 % 的作业排队不超过（小时）"),
        waited: text("jobs that waited at most as long", "等待不超过该时长的作业"),
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
            return Err(format!(
                "`{entry}` {}",
                text("is not of the form VC=4", "不是 VC=4 的形式")
            ));
        };
        Ok((name.to_owned(), parse_count(count)?))
    });
    sizes.collect::<Result<_, _>>().map(Sizes::PerVc)
}

fn parse_count(count: &str) -> Result<u32, String> {
    count
        .parse()
        .map(NonZeroU32::get)
        .map_err(|_| format!("`{count}` {}", text("is not a number above 0", "不是大于 0 的数")))
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
