//! `danlu sim --lab-week`: a made-up week of a lab under six policies, with no trace at hand.

use std::fmt::Write as _;

use danlu_sim::trace::{
    Cluster,
    cluster::{PlacementRule, Unit},
    evaluate,
    lab_week::{GPUS_PER_NODE, NODES, lab_week},
};

use super::{failures, show};
use crate::{failure::Failure, language::text};

const SEED: u64 = 1;

/// Policy, and what it does, in English and in Chinese.
const POLICIES: [(&str, &str, &str); 6] = [
    (
        "fifo",
        "first come, first served; whoever is first blocks everybody behind",
        "先来先服务；队首放不下时，后面都得等",
    ),
    (
        "fifo+skip",
        "whatever fits starts; a large job may wait for ever",
        "放得下的就开始；大作业可能一直等",
    ),
    (
        "fifo+easy",
        "later jobs may start if they do not delay the first one",
        "只要不推迟队首，后面的作业可以先开始",
    ),
    ("sjf+skip", "the shortest jobs first, and whatever fits", "最短的作业优先，放得下的就开始"),
    (
        "srtf",
        "the least remaining work first; preempts running jobs for it",
        "剩余时间最短者优先，必要时抢占正在运行的作业",
    ),
    (
        "las",
        "who has had little GPU time first; preempts, needs no durations",
        "已用 GPU 时间少者优先，可抢占；不需要知道时长",
    ),
];

pub(super) fn run() -> Result<(), Failure> {
    let trace = lab_week(SEED);
    let unit = Unit::Nodes { gpus_each: GPUS_PER_NODE, placement: PlacementRule::Consolidate };
    let clusters = [Cluster::new(NODES, unit).map_err(|error| failures::cluster(&error))?];
    let mut evaluations = Vec::new();
    for (name, ..) in POLICIES {
        let policy = name.parse().map_err(|error| failures::policy(&error))?;
        let evaluation = evaluate(&trace, &clusters, policy, &mut |_| ());
        evaluations.push(evaluation.map_err(|error| failures::replay(&error))?);
    }
    let page = introduction(trace.jobs.len()) + &show::tables(&trace, &evaluations, false) + &end();
    show::stdout(|out| out.write_all(page.as_bytes()))
}

fn introduction(jobs: usize) -> String {
    let gpus = NODES * GPUS_PER_NODE;
    let mut out = text(
        &format!(
            "A made-up week of a lab: {jobs} jobs of six people on {NODES} machines with {GPUS_PER_NODE} GPUs each\n\
             ({gpus} GPUs), replayed by Danlu's own scheduler under six policies:\n\n"
        ),
        &format!(
            "虚构的实验室一周：六个人的 {jobs} 个作业，{NODES} 台机器，每台 {GPUS_PER_NODE} 块 GPU（共 {gpus} 块），\n\
             由丹炉真正的调度器按六种策略回放：\n\n"
        ),
    )
    .to_owned();
    for (name, english, chinese) in POLICIES {
        let _ = writeln!(out, "  {name:<10} {}", text(english, chinese));
    }
    out.push('\n');
    out
}

fn end() -> String {
    text(
        "\nBounded slowdown: how many times longer a job took than alone.\n\
         Fairness: 1 when all six people were slowed down equally.\n\n\
         Try it with your own jobs (columns submit_time,num_gpus,duration):\n  \
           danlu sim --trace jobs.csv --nodes 4 --policy fifo,fifo+easy,srtf\n  \
           danlu sim --help\n",
        "\n有界减速比：作业用时是独占运行的几倍。公平性：六个人受到同样的拖延时为 1。\n\n\
         用您自己的作业试试（列：submit_time,num_gpus,duration）：\n  \
           danlu sim --trace jobs.csv --nodes 4 --policy fifo,fifo+easy,srtf\n  \
           danlu sim --help\n",
    )
    .to_owned()
}
