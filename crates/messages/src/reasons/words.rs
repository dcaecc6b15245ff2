//! Words of wait reasons, conditions, needs and what cannot be.

messages! {
    whose_user(name) = "{name}'s", "用户 {name}";
    whose_project(name) = "project {name}'s", "项目 {name}";
    place_in_line(place, ending, of) = "{place}{ending} of {of} in line", "队列中第 {place} 位，共 {of} 个";
    one_other_task = "1 other task", "另外 1 个任务";
    others_other_tasks(others) = "{others} other tasks", "另外 {others} 个任务";
    all_ends(all) = "{all} ends", "{all}结束";
    all_have_ended(all) = "{all} have ended", "{all}全部结束";
    id_user_at(id, user, at) = "{id} ({user}, ≈{at})", "{id}（{user}，≈{at}）";
    id_user_end_unknown(id, user) = "{id} ({user}, end unknown)", "{id}（{user}，结束时间未知）";
    released = "it is released", "它被放行";
    released_restored =
        "it is released: it may have run after the restored backup was made",
        "它被放行：在所恢复的备份之后它可能已运行过";
    released_no_record =
        "it is released: the record of its run is missing, it may have ended",
        "它被放行：运行记录已丢失，它可能已经结束";
    on_ended_as_required(on) = "{on} ended as required", "任务 {on} 按要求结束";
    at_time(at) = "it is {at}", "到 {at}";
    retry_at_time(at) = "it is {at} (retry after a failure)", "到 {at}（失败后重试）";
    queue_resumed = "the queue is resumed", "队列恢复";
    array_below_limit(at_once) =
        "fewer than {at_once} tasks of its array are running",
        "数组中运行的任务少于 {at_once} 个";
    quota_allows(quota) = "the quota allows it ({quota})", "配额允许（{quota}）";
    memory_settled(task) = "the GPU memory of {task} has settled", "{task} 的显存用量稳定";
    keep_less_memory(percent) =
        "less than {percent} % of a shared GPU is kept free (setting keep_gpu_memory)",
        "共享 GPU 保留的显存少于 {percent} %（设置 keep_gpu_memory）";
    raise_tasks_per_gpu(most) =
        "more than {most} tasks may share a GPU (setting limits.max_tasks_per_gpu)",
        "允许超过 {most} 个任务共享一块 GPU（设置 limits.max_tasks_per_gpu）";
    older_tasks_started = "tasks that have waited longer have started", "等待更久的任务已开始";
    machine_added = "a machine is added", "添加机器";
    turn_after_count(ahead) =
        "it reaches the front of the queue ({ahead} ahead of it)",
        "排到队首（前面有 {ahead} 个）";
    turn_after_some(ahead, named) =
        "it reaches the front of the queue ({ahead} ahead of it: {named}, …)",
        "排到队首（前面有 {ahead} 个：{named}……）";
    turn_after(named) = "it reaches the front of the queue (after {named})", "排到队首（在 {named} 之后）";
    gpu_has_been_idle_for_idle_delay(gpu) = "{gpu} has been idle for idle_delay", "{gpu} 空闲时间达到 idle_delay";
    gpu_is_less_busy_percent_now(gpu, percent) =
        "{gpu} is less busy (now {percent} %)",
        "{gpu} 利用率下降（现为 {percent} %）";
    outside_memory_freed(size, gpu) =
        "the {size} used outside Danlu on {gpu} are freed",
        "{gpu} 上被外部占用的 {size} 显存释放";
    outside_use_ends(gpu, who) =
        "{gpu} is no longer used outside Danlu{who}",
        "{gpu} 不再被外部进程占用{who}";
    dirty_memory_freed(gpu) =
        "the memory of ended tasks on {gpu} is freed",
        "{gpu} 上已结束任务的显存释放";
    gpu_can_be_probed_again(gpu) = "{gpu} can be probed again", "{gpu} 恢复可探测";
    unknown_run_ends(gpu) =
        "the run from before the database was lost or restored ends on {gpu}",
        "{gpu} 上数据库丢失或恢复前的运行结束";
    gpu_is_enabled_again_error(gpu, error) = "{gpu} is enabled again ({error})", "{gpu} 重新启用（{error}）";
    gpu_is_enabled(gpu) = "{gpu} is enabled", "{gpu} 启用";
    disabled_elsewhere(gpu, names) =
        "{gpu} is disabled on {names}, which reports it too",
        "{gpu} 在同样报告它的 {names} 上停用";
    known(known) = " ({known})", "（{known}）";
    machine_memory_free(name, keeps, free) =
        "{name} has at least {keeps} of free memory (now {free})",
        "{name} 的空闲内存达到 {keeps}（现为 {free}）";
    name_can_start_tasks_again_detail(name, detail) =
        "{name} can start tasks again ({detail})",
        "{name} 恢复正常（{detail}）";
    name_is_undrained(name) = "{name} is undrained", "{name} 取消排空";
    name_has_reported_what_it_runs(name) = "{name} has reported its runs", "{name} 报告其运行状况";
    name_is_connected_again(name) = "{name} is reachable again", "{name} 重新连接";
    ask_less_resource(name, wanted, most) =
        "it asks for less {name} (asked: {wanted}, at most {most} on one machine)",
        "减少所需 {name}（需要 {wanted}，单台机器最多 {most}）";
    ask_fewer_cpus(wanted, most) =
        "it asks for fewer CPUs (asked: {wanted}, at most {most} on one machine)",
        "减少所需 CPU（需要 {wanted}，单台机器最多 {most}）";
    ask_less_memory(wanted, most) =
        "it asks for less memory (asked: {wanted}, at most {most} on one machine)",
        "减少所需内存（需要 {wanted}，单台机器最多 {most}）";
    ask_less_gpu_memory(wanted, most) =
        "it asks for less GPU memory (asked: {wanted}, largest GPU: {most})",
        "减少所需显存（需要 {wanted}，最大的 GPU 为 {most}）";
    accept_busier(wanted) =
        "it accepts GPUs less than {wanted} % idle",
        "接受空闲比例低于 {wanted} % 的 GPU";
    accept_other_gpus(ids) = "it accepts other GPUs than {ids}", "接受编号 {ids} 以外的 GPU";
    accept_slots = "it accepts GPUs with several slots", "接受有多个槽位的 GPU";
    accept_other_model(model) = "it accepts other GPUs than {model}", "接受 {model} 以外的 GPU";
    accept_other_machine(name) = "it accepts other machines than {name}", "接受 {name} 以外的机器";
    accept_without_label(key, value) =
        "it accepts machines without {key}={value}",
        "接受没有标签 {key}={value} 的机器";
    ask_fewer_machines(wanted, most) =
        "it asks for fewer machines (asked: {wanted}, known: {most})",
        "减少所需机器（需要 {wanted} 台，共 {most} 台）";
    ask_fewer_gpus(wanted, most) =
        "it asks for fewer GPUs (asked: {wanted}, at most {most} on one machine)",
        "减少所需 GPU（需要 {wanted} 块，单台机器最多 {most} 块）";
    comma = ", ", "、";
    first_and_last(first, last) = "{first} and {last}", "{first} 和 {last}";
    size_of_memory(size) = "{size} of memory", "{size} 内存";
    room = "free resources", "空闲资源";
    parts_on_each_of_nodes_machines(parts, nodes) = "{parts} on each of {nodes} machines", "{nodes} 台机器上各 {parts}";
    parts_on_name(parts, name) = "{parts} on {name}", "{name} 上的 {parts}";
    parts_on_a_machine_with_key_value(parts, key, value) =
        "{parts} on a machine with {key}={value}",
        "标签为 {key}={value} 的机器上的 {parts}";
    parts_on_one_machine(parts) = "{parts} on one machine", "同一台机器上的 {parts}";
    one_gpu = "1 GPU", "1 块 GPU";
    one_gpu_of_model(model) = "1 {model} GPU", "1 块 {model}";
    count_gpus(count) = "{count} GPUs", "{count} 块 GPU";
    count_model_gpus(count, model) = "{count} {model} GPUs", "{count} 块 {model}";
    with_gpu_ids_among_them(ids) = " including GPU {ids}", "（含 GPU {ids}）";
    with_size_to_share(size) = " shared, {size} each", "（共享，各 {size} 显存）";
    shared_with_idle(size, idle_utilization) =
        " shared, {size} each, at least {idle_utilization} % idle",
        "（共享，各 {size} 显存，至少空闲 {idle_utilization} %）";
    with_at_least_size(size) = " with at least {size} each", "（各至少 {size} 显存）";
    for_itself = " exclusively", "（独占）";
    one_cpu = "1 CPU", "1 个 CPU";
    count_cpus(count) = "{count} CPUs", "{count} 个 CPU";
    short_of_words(words) = "short of {words}", "缺少：{words}";
    cpus = "CPUs", "CPU";
    host_memory = "host memory", "主机内存";
    gpu_memory = "GPU memory", "显存";
    gpus_that_are_wanted_idle(wanted) = "GPUs at least {wanted} % idle", "至少空闲 {wanted} % 的 GPU";
    gpus_that_nobody_uses = "unused GPUs", "无人使用的 GPU";
    model_gpus(model) = "{model} GPUs", "{model} GPU";
    room_on_name(name) = "free resources on {name}", "{name} 上的空闲资源";
    room_on_machines_with_key_value(key, value) =
        "free resources on machines with {key}={value}",
        "标签为 {key}={value} 的机器上的空闲资源";
    no_such_machine(name) = "there is no machine called {name}", "没有名为 {name} 的机器";
    no_machine_has_the_label_name(name) = "no machine has the label {name}", "没有机器带有标签 {name}";
    no_machine_has_name(name) = "no machine has {name}", "没有机器有资源 {name}";
    did_you_mean_nearest(nearest) = "did you mean {nearest}?", "是否想写 {nearest}？";
    danlu_nodes_lists_the_machines = "danlu nodes lists the machines", "用 danlu nodes 查看机器";
    no_node_has_wanted_gpus_there(wanted, there) =
        "no node has {wanted} GPUs ({there})",
        "没有机器有 {wanted} 块 GPU（{there}）";
    no_node_has_a_gpu_of_model_model(model) = "no node has a GPU of model {model}", "没有机器有型号为 {model} 的 GPU";
    list_gpus = "danlu gpus lists the GPUs", "用 danlu gpus 查看 GPU";
    models_are(models) = "available models: {models}", "现有型号：{models}";
    more_more(more) = "{more} more", "另外 {more} 台";
    all_has_most(all, most) = "{all} has {most}", "{all} 有 {most} 块";
    all_have_most_each(all, most) = "{all} have {most} each", "{all} 各有 {most} 块";
    nodes_together(nodes, each) =
        "--nodes {nodes} --gpus {each} runs on {nodes} nodes together",
        "--nodes {nodes} --gpus {each} 可同时在 {nodes} 台机器上运行";
    gpus_most_is_the_most_on_one_node(most) = "--gpus {most} is the most on one node", "单台机器最多 --gpus {most}";
    held_danlu_release_id_lets_it_go = "held: release it with danlu release ID", "已扣住：用 danlu release 编号 放行";
    no_machine_yet = "no machines yet", "还没有机器";
    no_machine_is_large_enough_any_more = "no machine is large enough now", "已没有足够大的机器";
    machines_unavailable =
        "the machines that could run it are unreachable or draining",
        "能运行它的机器失联或正在排空";
    queue_is_paused = "the queue is paused", "队列已暂停";
    others_come_first = "other tasks come first", "其他任务优先";
    about_to_start = "about to start", "即将开始";
    for_room_on_a_machine = "for free resources", "等待空闲资源";
    begins_at_at(at) = "begins at {at}", "将于 {at} 开始";
    failed_retry_at(at) = "failed; retry at {at}", "失败后将于 {at} 重试";
    after_on(on) = "after {on}", "等待任务 {on}";
    gpu_gpus_is_disabled(gpus) = "GPU {gpus} is disabled", "GPU {gpus} 已停用";
    too_little_memory = "too little free memory on the machine", "机器空闲内存不足";
    memory_settling = "waiting for memory on the shared GPU to settle", "等待共享 GPU 上的显存用量稳定";
    shared_gpus_busy = "the GPUs it could share are too busy", "可共享的 GPU 过于繁忙";
    until_a_running_task_ends = "for a running task to end", "等待一个运行中的任务结束";
    until_some_end(count) =
        "for some of {count} running tasks to end",
        "等待 {count} 个运行中任务的一部分结束";
    too_few_machines(wanted, with_room) =
        "for {wanted} machines at once: {with_room} have room now",
        "等待 {wanted} 台机器同时有空位：现有 {with_room} 台";
    no_machine_has_wanted(wanted) = "no machine has {wanted}", "没有机器有 {wanted}";
    for_wanted(wanted) = "for {wanted}", "等待 {wanted}";
    at_once_of_its_array_at_a_time(at_once) = "array limit: {at_once} at a time", "数组限制：最多同时运行 {at_once} 个";
    task_first_comes_first(first) = "task {first} comes first", "任务 {first} 优先";
    held_restored =
        "held: it may have run after the restored backup was made; danlu release ID runs it",
        "已扣住：在所恢复的备份之后它可能已运行过；用 danlu release 编号 运行";
    held_no_record =
        "held: the record of its run is missing, it may have ended; danlu release ID runs it again",
        "已扣住：运行记录已丢失，它可能已经结束；用 danlu release 编号 再次运行";
    machine_unfit(detail) = "the machine cannot start tasks: {detail}", "机器无法启动任务：{detail}";
    and = " and ", " 和 ";
    gpus_reported_twice(shared) =
        "GPUs reported by several machines: {shared}",
        "多台机器报告了同一块 GPU：{shared}";
    foreign_used_outside_danlu(foreign) = "{foreign} used outside Danlu", "{foreign} 块被外部进程占用";
    unknown_cannot_be_probed(unknown) = "{unknown} cannot be probed", "{unknown} 块无法探测";
    dirty_gpus(dirty) = "{dirty} with memory not freed", "{dirty} 块显存未释放";
    just_left_only_just_left_by_others(just_left) =
        "{just_left} just released outside Danlu",
        "{just_left} 块刚被外部进程释放";
    quarantined_with_hardware_errors(quarantined) = "{quarantined} with hardware errors", "{quarantined} 块有硬件故障";
    unknown_run_gpus(unknown_runs) =
        "{unknown_runs} used by runs from before the database was lost or restored",
        "{unknown_runs} 块被数据库丢失或恢复前的运行占用";
    fullwidth_comma = ", ", "，";
    for_gpus_parts(parts) = "for GPUs: {parts}", "等待 GPU：{parts}";
    quota_of_running_tasks(whose, in_use, most) =
        "{whose} quota: {in_use} of {most} tasks running",
        "{whose} 的配额：{in_use}/{most} 个任务在运行";
    quota_of_running_gpus(whose, in_use, most) =
        "{whose} quota: {in_use} of {most} GPUs in use",
        "{whose} 的配额：{in_use}/{most} 块 GPU 在使用";
    quota_of_waiting_tasks(whose, in_use, most) =
        "{whose} quota: {in_use} of {most} tasks waiting",
        "{whose} 的配额：{in_use}/{most} 个任务在等待";
    quota_of_open_tasks(whose, in_use, most) =
        "{whose} quota: {in_use} of {most} tasks unfinished",
        "{whose} 的配额：{in_use}/{most} 个任务未结束";
    quota_of_gpu_hours(whose, in_use, most) =
        "{whose} quota: {in_use} of {most} GPU-hours used",
        "{whose} 的配额：已用 {in_use}/{most} GPU 小时";
    would_delay_at(first, at) = "would delay task {first} (≈{at})", "会推迟任务 {first}（≈{at}）";
    would_delay_task_first(first) = "would delay task {first}", "会推迟任务 {first}";
}
