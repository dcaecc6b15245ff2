//! Sentences of cli/sim.

messages! {
    about =
        "Replay a trace with the production scheduler and compare policies",
        "用真实的调度器回放任务记录，比较各种策略";
    usage =
        "danlu sim --trace FILE --nodes LIST [OPTIONS]\n       danlu sim --trace FILE --placement count --gpus N [OPTIONS]\n       danlu sim --lab-week",
        "danlu sim --trace 文件 --nodes 列表 [选项]\n      danlu sim --trace 文件 --placement count --gpus 数量 [选项]\n      danlu sim --lab-week";
    trace_file = "The trace: a CSV file with one row per job", "任务记录：CSV 文件，每行一个作业";
    lab_week =
        "Instead of a trace: a made-up week of a lab under six policies",
        "不用任务记录：回放虚构的实验室一周，比较六种策略";
    policies =
        "Policies to compare, separated by commas (default: fifo)",
        "要比较的策略，用逗号分隔（默认 fifo）";
    node_count =
        "How many nodes there are: `4`, or for each cluster of the trace `VC=4,VC=10`",
        "节点数量：`4`；记录中有多个集群时写 `VC=4,VC=10`";
    gpus_per_node = "GPUs per node (default: 8)", "每个节点的 GPU 数量（默认 8）";
    placement_rule =
        "`consolidate` keeps a job on as few nodes as it can (the default); `spread` takes the emptiest; `count` takes any free GPUs; `frag` leaves most for those that usually come; `lowest` is first fit",
        "`consolidate` 让作业占用尽可能少的节点（默认）；`spread` 用最空的；`count` 使用任意空闲 GPU；`frag` 为常见任务留出最多空间；`lowest` 首次适配";
    gpu_count =
        "How many GPUs there are in all (or `VC=128,VC=64`), with `--placement count`",
        "GPU 总数（或 `VC=128,VC=64`），与 `--placement count` 一起使用";
    print_json = "Print one JSON document instead of a table", "输出一个 JSON 文档，而不是表格";
    by_cluster = "Also show each cluster of the trace on its own", "同时单独显示每个集群";
    write_jobs =
        "Also write submission, first start and end of every job to this file",
        "同时把每个作业的提交、首次开始和结束时间写入该文件";
    draw_plot =
        "Also draw completion and queueing times of the policies into this file",
        "同时把各策略的完成时间和排队时间画成图，写入该文件";
    gpus_without_nodes =
        "`--gpus` says nothing about nodes, and this placement needs them",
        "`--gpus` 没有说明节点，而这种放置方式需要节点";
    no_cluster_size = "the size of the cluster is missing", "没有说明集群的大小";
    add_cluster_size =
        "add `--nodes 4`, or `--placement count --gpus 128`",
        "请加上 `--nodes 4`，或 `--placement count --gpus 128`";
    mean_completion_time_hours = "mean completion time, hours", "平均完成时间（小时）";
    queueing_time_of_99_hours = "queueing time of 99 %, hours", "99 % 的作业排队不超过（小时）";
    jobs_that_waited_at_most_as_long = "jobs that waited at most as long", "等待不超过该时长的作业";
    not_vc_size = "is not of the form VC=4", "不是 VC=4 的形式";
    not_above_zero = "is not a number above 0", "不是大于 0 的数";
    larger_cluster =
        "give it a larger cluster (`--nodes`, `--gpus-per-node`, `--gpus`), or leave the job out of the trace",
        "请给出更大的集群（`--nodes`、`--gpus-per-node`、`--gpus`），或从记录中删去该作业";
    fill_in_column = "fill in the column, or leave `@column` out", "请填写该列，或去掉 `@column`";
    could_not_write = "could not write", "无法写入";
    choose_directory = "choose a directory that exists and has room", "请选择存在且有空间的目录";
    lab_week_legend =
        "\nBounded slowdown: how many times longer a job took than alone.\nFairness: 1 when all six people were slowed down equally.\n\nTry it with your own jobs (columns submit_time,num_gpus,duration):\n  danlu sim --trace jobs.csv --nodes 4 --policy fifo,fifo+easy,srtf\n  danlu sim --help\n",
        "\n有界减速比：作业用时是独占运行的几倍。公平性：六个人受到同样的拖延时为 1。\n\n可用自己的作业试试（列：submit_time,num_gpus,duration）：\n  danlu sim --trace jobs.csv --nodes 4 --policy fifo,fifo+easy,srtf\n  danlu sim --help\n";
    no_jobs_of = "note: the trace has no jobs of", "注意：记录中没有这些集群的作业：";
    workload_file =
        "Instead of a trace: a CSV file of tasks that come and never leave; `openb` is openb_default.csv beside the nodes",
        "不用任务记录：CSV 任务列表，任务到达后不离开；`openb` 指节点文件旁的 openb_default.csv";
    nodes_file =
        "The machines for --workload: a CSV file with cpu_milli, memory_mib, gpu, model",
        "--workload 的机器：CSV 文件，列为 cpu_milli、memory_mib、gpu、model";
    draws =
        "With --workload: number of random draws (default: 10)",
        "配合 --workload：重新抽取任务的次数（默认 10）";
    until_percent =
        "With --workload: stop when tasks ask for this percentage of all GPUs (default: 130)",
        "配合 --workload：直到任务需求达到全部 GPU 的百分比（默认 130）";
    no_machines = "the machines are missing", "没有说明机器";
    gpus_given_out_mean_deviation = "allocated GPUs, mean ± deviation", "已分配的 GPU，均值 ± 标准差";
    placement = "placement", "放置";
    notes =
        "\
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
  danlu sim --workload openb --nodes-file openb_gpu_nodes.csv",
        "\
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
    policy_fifo = "first come, first served; the first in the queue blocks the others", "先来先服务；队首放不下时，后面都得等";
    policy_fifo_skip =
        "whatever fits starts; a large job may wait for ever",
        "放得下的就开始；大作业可能一直等";
    policy_fifo_easy =
        "later jobs may start if they do not delay the first one",
        "只要不推迟队首，后面的作业可以先开始";
    policy_sjf_skip =
        "the shortest jobs first, and whatever fits",
        "最短的作业优先，放得下的就开始";
    policy_srtf =
        "the least remaining work first; preempts running jobs for it",
        "剩余时间最短者优先，必要时抢占正在运行的作业";
    policy_las =
        "who has had little GPU time first; preempts, needs no durations",
        "已用 GPU 时间少者优先，可抢占；不需要知道时长";
    lab_week_introduction(jobs, nodes, gpus_per_node, gpus) =
        "A made-up week of a lab: {jobs} jobs of six people on {nodes} machines with {gpus_per_node} GPUs each\n\
             ({gpus} GPUs), replayed by Danlu's own scheduler under six policies:\n\n",
        "虚构的实验室一周：六个人的 {jobs} 个作业，{nodes} 台机器，每台 {gpus_per_node} 块 GPU（共 {gpus} 块），\n\
             由丹炉真正的调度器按六种策略回放：\n\n";
}
