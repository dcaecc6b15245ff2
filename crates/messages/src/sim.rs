//! What the simulator says about traces, policies and clusters.

messages! {
    unreadable(path, cause) = "could not read `{path}`: {cause}", "无法读取 `{path}`：{cause}";
    missing_column(path, column, found) =
        "`{path}` has no column `{column}`; its columns are: {found}",
        "`{path}` 没有 `{column}` 列；现有的列：{found}";
    repeated_column(path, column) =
        "`{path}` has two columns `{column}`",
        "`{path}` 有两个 `{column}` 列";
    no_jobs(path) = "`{path}` has no jobs", "`{path}` 中没有作业";
    bad_row(path, line, problem) =
        "`{path}` line {line}: {problem}",
        "`{path}` 第 {line} 行：{problem}";
    trace_too_large(path, jobs, mib) =
        "`{path}` is too large: at most {jobs} jobs, and {mib} MiB",
        "`{path}` 太大：最多 {jobs} 个作业、{mib} MiB";
    bad_value(column, value, wrong) =
        "column `{column}`: `{value}` {wrong}",
        "`{column}` 列的 `{value}` {wrong}";
    unequal_length(found, wanted) =
        "{found} values, but the header has {wanted} columns",
        "有 {found} 个值，而表头有 {wanted} 列";
    not_text = "is not UTF-8 text", "不是 UTF-8 文本";
    not_a_number = "is not a number", "不是数字";
    not_whole = "is not a whole number", "不是整数";
    negative = "is negative", "是负数";
    less_than_one = "is less than 1", "小于 1";
    more_than(most) = "is more than {most}", "大于 {most}";
    empty = "is empty", "是空的";
    longer_than(most) = "is longer than {most} bytes", "长于 {most} 字节";

    hint_columns =
        "the first line names the columns: submit_time,num_gpus,duration and, where there are any, job_id,vc,user,est_duration",
        "首行是列名：submit_time,num_gpus,duration，可选 job_id,vc,user,est_duration";
    hint_rows = "write one row for each job below the header", "请在表头之下为每个作业写一行";
    hint_part = "replay a part of it", "请只回放其中一部分";
    hint_whole_numbers = "times are whole seconds, GPUs whole numbers", "时间是整数秒，GPU 是整数";
    hint_negative =
        "times count from the start of the trace: add the same number to every submit_time",
        "时间从记录开始算起：请给每个 submit_time 加上同一个数";
    hint_gpu_jobs_only =
        "the trace replays GPU jobs only: leave out rows without GPUs",
        "只回放 GPU 作业：请删去不用 GPU 的行";
    hint_seconds = "times are in seconds, not in milliseconds", "时间的单位是秒，不是毫秒";
    hint_fill_in = "fill it in, or leave the whole column out", "请填写，或删去整列";
    hint_shorter_name = "use a shorter name", "请用较短的名称";

    unknown_policy(name) = "there is no policy `{name}`", "没有策略 `{name}`";
    unknown_backfill(name) = "there is no backfill `{name}`", "没有回填方式 `{name}`";
    unknown_estimates(name) = "there are no estimates `{name}`", "没有估计方式 `{name}`";
    preemptive_backfill(name) =
        "`{name}` takes no backfill: it preempts instead",
        "`{name}` 不用回填，它直接抢占";
    auto_has_its_own =
        "`auto` takes no backfill and no estimates: it has its own",
        "`auto` 自带回填和预测，不能另外指定";
    known_policies(names, others) = "policies: {names}; also {others}", "策略：{names}；另有 {others}";
    known_backfills(names) = "backfills: {names}", "回填方式：{names}";
    known_estimates(names) = "estimates: {names}", "估计方式：{names}";
    write_alone(name) = "write `{name}` alone", "请只写 `{name}`";

    no_size(missing) =
        "no size is given for these VCs of the trace: {missing}",
        "没有给出这些集群的大小：{missing}";
    jobs_of_vc(vc, jobs) = "{vc} ({jobs} jobs)", "{vc}（{jobs} 个作业）";
    two_sizes(vc) = "VC `{vc}` has two sizes", "集群 `{vc}` 有两个大小";
    too_many_nodes(most) = "too many nodes: at most {most}", "节点过多：最多 {most}";
    too_many_gpus(most) = "too many GPUs: at most {most}", "GPU 过多：最多 {most}";
    too_many_gpus_per_node(most) =
        "too many GPUs per node: at most {most}",
        "每个节点的 GPU 过多：最多 {most}";
    write_once(vc) = "write `{vc}=` once", "`{vc}=` 只能写一次";
    smaller_cluster = "replay on a smaller cluster", "请用较小的集群回放";

    job_refused(job, line, refusal) =
        "job `{job}` (line {line}): {refusal}",
        "作业 `{job}`（第 {line} 行）无法运行：{refusal}";
    no_estimate(job, line) =
        "job `{job}` (line {line}) has no estimate in the column `est_duration`",
        "作业 `{job}`（第 {line} 行）在 `est_duration` 列中没有估计";
    no_cluster(refusal) =
        "the cluster could not be set up: {refusal}",
        "无法建立集群：{refusal}";

    jobs = "jobs", "作业数";
    completion = "completion", "完成时间";
    queueing = "queueing", "排队时间";
    mean = "mean", "平均";
    makespan = "makespan", "总时长";
    utilization = "utilisation", "利用率";
    slowdown = "bounded slowdown", "有界减速比";
    fairness = "fairness (Jain)", "公平性 (Jain)";
    preemptions = "preemptions", "抢占次数";
    speed = "replayed jobs/s", "回放速度 作业/秒";
}
