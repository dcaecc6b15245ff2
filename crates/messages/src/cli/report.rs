//! Sentences of cli/report.

messages! {
    about = "GPU-hours, waiting, use, failures and energy", "GPU 小时、等待、利用率、失败与能耗";
    usage = "danlu report [OPTIONS]", "danlu report [选项]";
    help =
        "Of a run that began before or ends after this time, only the part within it counts; what runs counts so far.\n\
         WAIT is the median from submission to the first start; nine of ten waited no longer than P90.\n\
         Use and energy are those of GPUs that could be measured. Every attempt counts, also of removed tasks.\n\n\
         Examples:\n  \
         danlu report                               by user, the last 30 days\n  \
         danlu report --by node --since 7d          by machine, the last week\n  \
         danlu report --by day --user alice --plot  one user, day by day, as bars\n  \
         danlu report --by user,month --since 2026-01 --until 2026-06 --csv > use.csv\n  \
         danlu report --by user,day --plot use.svg  as a picture\n  \
         danlu report --predictions                 how good predictions were",
        "跨越时间范围边界的运行只计范围内的部分；正在运行的计到目前为止。\n\
         等待是从提交到首次启动的中位数；十个任务中有九个不超过 P90。\n\
         利用率与能耗只统计能够测量的 GPU。每次尝试都计入，包括已移除的任务。\n\n\
         示例：\n  \
         danlu report                               按用户，最近 30 天\n  \
         danlu report --by node --since 7d          按机器，最近一周\n  \
         danlu report --by day --user alice --plot  某用户逐日的条形图\n  \
         danlu report --by user,month --since 2026-01 --until 2026-06 --csv > use.csv\n  \
         danlu report --by user,day --plot use.svg  写成图片\n  \
         danlu report --predictions                 预测的准确程度";
    by =
        "user, project, node, model, day, week, month, or up to three of them with commas (default: user)",
        "user、project、node、model、day、week、month，或以逗号分隔的至多三项（默认：user）";
    since =
        "From a day, a month, a time, or so long ago: 2026-11-18, 2026-11, 7d (default: 30d)",
        "起点：某日、某月、某时刻或多久以前，如 2026-11-18、2026-11、7d（默认：30d）";
    until =
        "Up to and including a day or a month, or until a time (default: now)",
        "终点：包含该日或该月，或到某时刻（默认：现在）";
    user = "Only tasks of this user", "只看该用户的任务";
    project = "Only tasks of this project; an empty one: of none", "只看该项目的任务；空值表示无项目";
    node = "Only what ran on this machine", "只看在该机器上运行的";
    model = "Only what held GPUs of this model", "只看占用该型号 GPU 的";
    tz = "Whose days these are, such as Asia/Shanghai or +08:00 (default: yours)", "按哪个时区分日，如 Asia/Shanghai 或 +08:00（默认：本机时区）";
    csv = "Print CSV, a line for each group", "输出 CSV，每组一行";
    plot = "Print bars, or write a picture to a file that ends in .svg", "输出条形图，或把图片写入以 .svg 结尾的文件";
    not_svg(path) = "`{path}`: pictures are written as SVG", "`{path}`：图片只能写成 SVG";
    end_in_svg = "name a file that ends in .svg, or no file for bars", "请指定以 .svg 结尾的文件，或不带文件名以输出条形图";
    could_not_write(path, cause) = "could not write {path}: {cause}", "无法写入 {path}：{cause}";
    wrote(path) = "Wrote {path}\n", "已写入 {path}\n";
    user_heading = "USER", "用户";
    project_heading = "PROJECT", "项目";
    node_heading = "NODE", "机器";
    model_heading = "MODEL", "型号";
    day_heading = "DAY", "日期";
    week_heading = "WEEK", "周";
    month_heading = "MONTH", "月份";
    gpu_hours = "GPU-HOURS", "GPU 小时";
    share = "SHARE", "占比";
    tasks = "TASKS", "任务";
    failed = "FAILED", "失败";
    median_wait = "WAIT", "等待";
    p90_wait = "WAIT P90", "等待 P90";
    used = "GPU USE", "利用率";
    idle = "IDLE H", "空闲小时";
    energy = "KWH", "千瓦时";
    cpu_hours = "CPU-HOURS", "CPU 小时";
    total = "total", "合计";
    from_to(since, until, zone) = "{since} to {until} ({zone})\n", "{since} 至 {until}（{zone}）\n";
    failures(list) = "Failed attempts: {list}\n", "失败的尝试：{list}\n";
    predictions =
        "How long tasks ran and waited, and what was predicted",
        "任务实际运行与等待多久，以及当时的预测";
    print_one_json_document = "Print one JSON document", "输出一个 JSON 文档";
    how_long_tasks_run = "how long tasks run", "运行时长";
    how_long_tasks_wait = "how long tasks wait", "等待时长";
    what_nothing_to_compare_yet(what) = "{what}: nothing to compare yet\n", "{what}：还没有可比较的任务\n";
    compared(what, compared, percent, bias) =
        "{what}: {compared} predictions, {percent:.0} % within ± 25 %{bias}\n",
        "{what}：{compared} 次预测，{percent:.0} % 误差在 ± 25 % 以内{bias}\n";
    percent_too_short_in_sum(percent) = ", {percent:.0} % too short in sum", "，总体偏短 {percent:.0} %";
    percent_too_long_in_sum(percent) = ", {percent:.0} % too long in sum", "，总体偏长 {percent:.0} %";
}
