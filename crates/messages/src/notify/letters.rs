//! Words of the messages that people are sent.

messages! {
    task_name(id, name) = "Task {id} ({name})", "任务 {id}（{name}）";
    task(id) = "Task {id}", "任务 {id}";
    started(task) = "{task} has started", "{task} 已开始";
    started_again(task, attempt) = "{task} has started, attempt {attempt}", "{task} 已开始，第 {attempt} 次尝试";
    succeeded(task) = "{task} has succeeded", "{task} 已成功";
    failed(task) = "{task} has failed", "{task} 已失败";
    failed_class(task, class) = "{task} has failed: {class}", "{task} 已失败：{class}";
    cancelled(task) = "{task} was cancelled", "{task} 已取消";
    timed_out(task) = "{task} has reached its time limit", "{task} 已达到时限";
    ended(task) = "{task} has ended", "{task} 已结束";
    requeued_failed(task) = "{task} has failed and will be tried again", "{task} 失败，将重试";
    requeued_lost(task) = "{task} was lost with its machine and is queued again", "{task} 随机器丢失，已重新排队";
    requeued_preempted(task) = "{task} was preempted and is queued again", "{task} 被抢占，已重新排队";
    requeued(task) = "{task} is queued again", "{task} 已重新排队";
    requeued_idle(task) =
        "{task} was stopped and is queued again: its GPUs were held and not used",
        "{task} 占用 GPU 却不使用，已停止并重新排队";
    ended_idle(task) =
        "{task} was ended: its GPUs were held and not used",
        "{task} 占用 GPU 却不使用，已被结束";
    idle_told(task, time) = "{task} has not used its GPUs for {time}", "{task} 已有 {time} 未使用其 GPU";
    idle_asked(task, time) =
        "{task} has not used its GPUs for {time}: does it still need them?",
        "{task} 已有 {time} 未使用其 GPU：还需要吗？";
    idle_why = "Idle", "闲置";
    idle_since = "Idle since", "闲置起始";
    idle_ends_at = "Will be ended at", "将被结束于";
    idle_requeued_at = "Will be stopped and queued again at", "将被停止并重新排队于";
    keep_with(command) = "To keep them for 2 h: {command}", "保留 2 小时：{command}";
    foreign(node, gpu) = "A process outside Danlu uses GPU {gpu} of {node}", "丹炉之外的进程在使用 {node} 的 GPU {gpu}";
    foreign_yours(node, gpu) =
        "Your process uses GPU {gpu} of {node}, which is allocated to a task",
        "您的进程在使用 {node} 的 GPU {gpu}，而它已分配给一个任务";
    process = "Process", "进程";
    holder = "Allocated to", "已分配给";
    lost(task, node) = "{task} is lost: machine {node} cannot be reached", "{task} 失联：无法连接机器 {node}";
    expiring(task, left) = "{task} reaches its time limit in {left}", "{task} 将在 {left} 后达到时限";
    in_doubt(task) = "{task} is held: it may have run already", "{task} 已扣住：它可能已经运行过";
    array(id) = "Array {id}", "数组 {id}";
    array_name(id, name) = "Array {id} ({name})", "数组 {id}（{name}）";
    your_tasks = "Your tasks", "您的任务";
    digest(what, counts) = "{what}: {counts}", "{what}：{counts}";
    count_of(count, state) = "{count} {state}", "{count} 个{state}";
    count_started = "started", "已开始";
    count_requeued = "queued again", "重新排队";
    count_warnings = "other", "其他";
    first_failures = "First failures", "最先失败的";
    announcement = "Announcement", "公告";
    quarantined(gpu, node) = "GPU {gpu} of {node} is quarantined", "{node} 的 GPU {gpu} 已隔离";
    node_lost(node) = "Machine {node} cannot be reached", "无法连接机器 {node}";
    quota_reached(used, most) =
        "Your GPU time of this period is used up: {used} of {most} GPU-hours",
        "本周期的 GPU 时间已用完：{used} / {most} GPU 小时";
    gpus_free(count, wanted) = "{count} GPUs are free: {wanted}", "有 {count} 块 GPU 空闲：{wanted}";
    monthly(month, hours, users) =
        "{month}: {hours} GPU-hours by {users} users",
        "{month}：{users} 位用户共使用 {hours} GPU 小时";
    csv_at(address) = "As CSV: {address}", "CSV：{address}";
    tasks_and_failed(tasks, failed) = "{tasks}, {failed} of them failed", "{tasks} 个，其中失败 {failed} 个";
    median_and_p90(median, p90) = "median {median}, 90 % at most {p90}", "中位数 {median}，90 % 不超过 {p90}";
    used_most = "Used most", "使用最多";
    person_used(name, hours, tasks, used) = "{name}: {hours} GPU-hours, {tasks} tasks{used}", "{name}：{hours} GPU 小时，{tasks} 个任务{used}";
    at_percent(percent) = ", GPU use {percent} %", "，GPU 利用率 {percent} %";
    most_idle = "Idle for longest", "空闲最久";
    person_idle(name, hours) = "{name} {hours} h", "{name} {hours} 小时";
    test = "Test message from Danlu", "来自丹炉的测试消息";
    test_text(user) = "{user} asked for it. It arrives: messages will, too.", "由 {user} 发送。能收到它，就能收到通知。";
    dropped(count) = "{count} messages were dropped: too many were waiting", "已丢弃 {count} 条消息：等待发送的过多";

    owner = "Owner", "所有者";
    command = "Command", "命令";
    machine = "Machine", "机器";
    machine_gpus(node, gpus) = "{node}, GPU {gpus}", "{node}，GPU {gpus}";
    started_at = "Started", "开始时间";
    ended_at = "Ended", "结束时间";
    ran_for = "Ran for", "运行时长";
    waited_for = "Waited", "等待时长";
    exit = "Exit", "退出";
    failure = "Failure", "失败类别";
    evidence = "Evidence", "依据";
    last_lines = "Last lines", "最后几行";
    reason = "Reason", "原因";
    tasks_there = "Tasks there", "其上的任务";
    ends_at = "Time limit", "时限";
    model = "Model", "型号";
    free_now = "Free now", "目前空闲";
    more_with(command) = "More: {command}", "详情：{command}";
    more_time_with(command) = "More time: {command}", "延长：{command}";
    release_with(command) = "To run it again: {command}", "再次运行：{command}";
    enable_with(command) = "When it is mended: {command}", "修复后：{command}";
    why_you(user) = "You get this because of {user}'s settings. Change them on the page Me, or with --notify.", "您收到此消息是因为 {user} 的设置。可在“我的”页面或用 --notify 更改。";
    as_admin = "You get this because you are told about this server.", "您收到此消息是因为您负责此服务器。";
    open = "Open in Danlu", "在丹炉中打开";
    brand = "Danlu", "丹炉";
}
