//! Words of wait reasons, conditions, needs and what cannot be.

messages! {
    whose_user(name) = "{name}'s", "用户 {name}";
    whose_project(name) = "project {name}'s", "项目 {name}";
    place_in_line(place, ending, of) = "{place}{ending} of {of} in line", "队列中第 {place} 位，共 {of} 个";
    n_1_other_task = "1 other task", "另外 1 个任务";
    others_other_tasks(others) = "{others} other tasks", "另外 {others} 个任务";
    all_ends(all) = "{all} ends", "{all}结束";
    all_have_ended(all) = "{all} have ended", "{all}全部结束";
    id_user_at(id, user, at) = "{id} ({user}, ≈{at})", "{id}（{user}，≈{at}）";
    id_user_end_unknown(id, user) = "{id} ({user}, end unknown)", "{id}（{user}，结束时间未知）";
    it_is_released = "it is released", "它被放行";
    it_is_released_it_may_have_run_since_the =
        "it is released: it may have run after the restored backup was made",
        "它被放行：在所恢复的备份之后它可能已运行过";
    it_is_released_the_record_of_its_run_is_gone =
        "it is released: the record of its run is missing, it may have ended",
        "它被放行：运行记录已丢失，它可能已经结束";
    on_ended_as_required(on) = "{on} ended as required", "任务 {on} 按要求结束";
    it_is_at(at) = "it is {at}", "到 {at}";
    it_is_at_retry_after_a_failure(at) = "it is {at} (retry after a failure)", "到 {at}（失败后重试）";
    the_queue_is_resumed = "the queue is resumed", "队列恢复";
    fewer_than_at_once_tasks_of_its_array_run(at_once) =
        "fewer than {at_once} tasks of its array are running",
        "数组中运行的任务少于 {at_once} 个";
    the_quota_allows_it_quota(quota) = "the quota allows it ({quota})", "配额允许（{quota}）";
    the_gpu_memory_of_task_has_settled(task) = "the GPU memory of {task} has settled", "{task} 的显存用量稳定";
    less_than_percent_of_a_shared_gpu_is_kept(percent) =
        "less than {percent} % of a shared GPU is kept free (setting keep_gpu_memory)",
        "共享 GPU 保留的显存少于 {percent} %（设置 keep_gpu_memory）";
    more_than_most_tasks_may_share_a_gpu_setting(most) =
        "more than {most} tasks may share a GPU (setting limits.max_tasks_per_gpu)",
        "允许超过 {most} 个任务共享一块 GPU（设置 limits.max_tasks_per_gpu）";
    the_tasks_that_waited_longer_have_started = "tasks that have waited longer have started", "等待更久的任务已开始";
    a_machine_is_added = "a machine is added", "添加机器";
    its_turn_has_come_ahead_before_it(ahead) =
        "it reaches the front of the queue ({ahead} ahead of it)",
        "排到队首（前面有 {ahead} 个）";
    its_turn_has_come_ahead_before_it_named(ahead, named) =
        "it reaches the front of the queue ({ahead} ahead of it: {named}, …)",
        "排到队首（前面有 {ahead} 个：{named}……）";
    its_turn_has_come_after_named(named) = "it reaches the front of the queue (after {named})", "排到队首（在 {named} 之后）";
    gpu_has_been_idle_for_idle_delay(gpu) = "{gpu} has been idle for idle_delay", "{gpu} 空闲时间达到 idle_delay";
    gpu_is_less_busy_percent_now(gpu, percent) =
        "{gpu} is less busy (now {percent} %)",
        "{gpu} 利用率下降（现为 {percent} %）";
    the_size_used_outside_danlu_on_gpu_are_freed(size, gpu) =
        "the {size} used outside Danlu on {gpu} are freed",
        "{gpu} 上被外部占用的 {size} 显存释放";
    gpu_is_no_longer_used_outside_danlu_who(gpu, who) =
        "{gpu} is no longer used outside Danlu{who}",
        "{gpu} 不再被外部进程占用{who}";
    the_memory_of_ended_tasks_on_gpu_is_freed(gpu) =
        "the memory of ended tasks on {gpu} is freed",
        "{gpu} 上已结束任务的显存释放";
    gpu_can_be_probed_again(gpu) = "{gpu} can be probed again", "{gpu} 恢复可探测";
    the_run_from_before_the_database_was_lost_or(gpu) =
        "the run from before the database was lost or restored ends on {gpu}",
        "{gpu} 上数据库丢失或恢复前的运行结束";
    gpu_is_enabled_again_error(gpu, error) = "{gpu} is enabled again ({error})", "{gpu} 重新启用（{error}）";
    gpu_is_enabled(gpu) = "{gpu} is enabled", "{gpu} 启用";
    gpu_is_disabled_on_names_which_reports_it_too(gpu, names) =
        "{gpu} is disabled on {names}, which reports it too",
        "{gpu} 在同样报告它的 {names} 上停用";
    known(known) = " ({known})", "（{known}）";
    name_has_at_least_keeps_of_memory_free_free(name, keeps, free) =
        "{name} has at least {keeps} of free memory (now {free})",
        "{name} 的空闲内存达到 {keeps}（现为 {free}）";
    name_can_start_tasks_again_detail(name, detail) =
        "{name} can start tasks again ({detail})",
        "{name} 恢复正常（{detail}）";
    name_is_undrained(name) = "{name} is undrained", "{name} 取消排空";
    name_has_reported_what_it_runs(name) = "{name} has reported its runs", "{name} 报告其运行状况";
    name_is_connected_again(name) = "{name} is reachable again", "{name} 重新连接";
    it_asks_for_less_name_wanted_asked_at_most(name, wanted, most) =
        "it asks for less {name} (asked: {wanted}, at most {most} on one machine)",
        "减少所需 {name}（需要 {wanted}，单台机器最多 {most}）";
    it_asks_for_fewer_cpus_wanted_asked_at_most(wanted, most) =
        "it asks for fewer CPUs (asked: {wanted}, at most {most} on one machine)",
        "减少所需 CPU（需要 {wanted}，单台机器最多 {most}）";
    it_asks_for_less_memory_wanted_asked_at_most(wanted, most) =
        "it asks for less memory (asked: {wanted}, at most {most} on one machine)",
        "减少所需内存（需要 {wanted}，单台机器最多 {most}）";
    it_asks_for_less_gpu_memory_wanted_asked_the(wanted, most) =
        "it asks for less GPU memory (asked: {wanted}, largest GPU: {most})",
        "减少所需显存（需要 {wanted}，最大的 GPU 为 {most}）";
    it_accepts_gpus_less_than_wanted_idle(wanted) =
        "it accepts GPUs less than {wanted} % idle",
        "接受空闲比例低于 {wanted} % 的 GPU";
    it_accepts_other_gpus_than_ids(ids) = "it accepts other GPUs than {ids}", "接受编号 {ids} 以外的 GPU";
    it_accepts_gpus_with_several_slots = "it accepts GPUs with several slots", "接受有多个槽位的 GPU";
    it_accepts_other_gpus_than_model(model) = "it accepts other GPUs than {model}", "接受 {model} 以外的 GPU";
    it_accepts_other_machines_than_name(name) = "it accepts other machines than {name}", "接受 {name} 以外的机器";
    it_accepts_machines_without_key_value(key, value) =
        "it accepts machines without {key}={value}",
        "接受没有标签 {key}={value} 的机器";
    it_asks_for_fewer_machines_wanted_asked_most(wanted, most) =
        "it asks for fewer machines (asked: {wanted}, known: {most})",
        "减少所需机器（需要 {wanted} 台，共 {most} 台）";
    it_asks_for_fewer_gpus_wanted_asked_at_most(wanted, most) =
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
    n_1_gpu = "1 GPU", "1 块 GPU";
    n_1_model_gpu(model) = "1 {model} GPU", "1 块 {model}";
    count_gpus(count) = "{count} GPUs", "{count} 块 GPU";
    count_model_gpus(count, model) = "{count} {model} GPUs", "{count} 块 {model}";
    with_gpu_ids_among_them(ids) = " including GPU {ids}", "（含 GPU {ids}）";
    with_size_to_share(size) = " shared, {size} each", "（共享，各 {size} 显存）";
    with_size_to_share_idle_utilization_idle(size, idle_utilization) =
        " shared, {size} each, at least {idle_utilization} % idle",
        "（共享，各 {size} 显存，至少空闲 {idle_utilization} %）";
    with_at_least_size(size) = " with at least {size} each", "（各至少 {size} 显存）";
    for_itself = " exclusively", "（独占）";
    n_1_cpu = "1 CPU", "1 个 CPU";
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
    there_is_no_machine_called_name(name) = "there is no machine called {name}", "没有名为 {name} 的机器";
    no_machine_has_the_label_name(name) = "no machine has the label {name}", "没有机器带有标签 {name}";
    no_machine_has_name(name) = "no machine has {name}", "没有机器有资源 {name}";
    did_you_mean_nearest(nearest) = "did you mean {nearest}?", "是否想写 {nearest}？";
    danlu_nodes_lists_the_machines = "danlu nodes lists the machines", "用 danlu nodes 查看机器";
    no_node_has_wanted_gpus_there(wanted, there) =
        "no node has {wanted} GPUs ({there})",
        "没有机器有 {wanted} 块 GPU（{there}）";
    no_node_has_a_gpu_of_model_model(model) = "no node has a GPU of model {model}", "没有机器有型号为 {model} 的 GPU";
    danlu_gpus_shows_what_there_is = "danlu gpus lists the GPUs", "用 danlu gpus 查看 GPU";
    there_are_models(models) = "available models: {models}", "现有型号：{models}";
    more_more(more) = "{more} more", "另外 {more} 台";
    all_has_most(all, most) = "{all} has {most}", "{all} 有 {most} 块";
    all_have_most_each(all, most) = "{all} have {most} each", "{all} 各有 {most} 块";
    nodes_nodes_gpus_each_runs_on_nodes_nodes(nodes, each) =
        "--nodes {nodes} --gpus {each} runs on {nodes} nodes together",
        "--nodes {nodes} --gpus {each} 可同时在 {nodes} 台机器上运行";
    gpus_most_is_the_most_on_one_node(most) = "--gpus {most} is the most on one node", "单台机器最多 --gpus {most}";
    held_danlu_release_id_lets_it_go = "held: release it with danlu release ID", "已扣住：用 danlu release 编号 放行";
    there_is_no_machine_yet = "no machines yet", "还没有机器";
    no_machine_is_large_enough_any_more = "no machine is large enough now", "已没有足够大的机器";
    the_machines_that_could_run_it_are_away_or =
        "the machines that could run it are unreachable or draining",
        "能运行它的机器失联或正在排空";
    the_queue_is_paused = "the queue is paused", "队列已暂停";
    others_come_first = "other tasks come first", "其他任务优先";
    about_to_start = "about to start", "即将开始";
    for_room_on_a_machine = "for free resources", "等待空闲资源";
    begins_at_at(at) = "begins at {at}", "将于 {at} 开始";
    failed_tried_again_at_at(at) = "failed; retry at {at}", "失败后将于 {at} 重试";
    after_on(on) = "after {on}", "等待任务 {on}";
    gpu_gpus_is_disabled(gpus) = "GPU {gpus} is disabled", "GPU {gpus} 已停用";
    the_machine_has_too_little_memory_left = "too little free memory on the machine", "机器空闲内存不足";
    waiting_for_memory_on_the_shared_gpu_to = "waiting for memory on the shared GPU to settle", "等待共享 GPU 上的显存用量稳定";
    the_gpus_it_could_share_are_too_busy = "the GPUs it could share are too busy", "可共享的 GPU 过于繁忙";
    until_a_running_task_ends = "for a running task to end", "等待一个运行中的任务结束";
    until_some_of_count_running_tasks_end(count) =
        "for some of {count} running tasks to end",
        "等待 {count} 个运行中任务的一部分结束";
    for_wanted_machines_at_once_with_room_have(wanted, with_room) =
        "for {wanted} machines at once: {with_room} have room now",
        "等待 {wanted} 台机器同时有空位：现有 {with_room} 台";
    no_machine_has_wanted(wanted) = "no machine has {wanted}", "没有机器有 {wanted}";
    for_wanted(wanted) = "for {wanted}", "等待 {wanted}";
    at_once_of_its_array_at_a_time(at_once) = "array limit: {at_once} at a time", "数组限制：最多同时运行 {at_once} 个";
    task_first_comes_first(first) = "task {first} comes first", "任务 {first} 优先";
    held_it_may_have_run_since_the_backup_that =
        "held: it may have run after the restored backup was made; danlu release ID runs it",
        "已扣住：在所恢复的备份之后它可能已运行过；用 danlu release 编号 运行";
    held_the_record_of_its_run_is_gone_it_may =
        "held: the record of its run is missing, it may have ended; danlu release ID runs it again",
        "已扣住：运行记录已丢失，它可能已经结束；用 danlu release 编号 再次运行";
    the_machine_cannot_start_tasks_detail(detail) = "the machine cannot start tasks: {detail}", "机器无法启动任务：{detail}";
    and = " and ", " 和 ";
    for_gpus_that_several_machines_report_shared(shared) =
        "GPUs reported by several machines: {shared}",
        "多台机器报告了同一块 GPU：{shared}";
    foreign_used_outside_danlu(foreign) = "{foreign} used outside Danlu", "{foreign} 块被外部进程占用";
    unknown_cannot_be_probed(unknown) = "{unknown} cannot be probed", "{unknown} 块无法探测";
    dirty_did_not_give_their_memory_back(dirty) = "{dirty} with memory not freed", "{dirty} 块显存未释放";
    just_left_only_just_left_by_others(just_left) =
        "{just_left} just released outside Danlu",
        "{just_left} 块刚被外部进程释放";
    quarantined_with_hardware_errors(quarantined) = "{quarantined} with hardware errors", "{quarantined} 块有硬件故障";
    unknown_runs_used_by_runs_from_before_the(unknown_runs) =
        "{unknown_runs} used by runs from before the database was lost or restored",
        "{unknown_runs} 块被数据库丢失或恢复前的运行占用";
    comma_2 = ", ", "，";
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
    would_delay_task_first_at(first, at) = "would delay task {first} (≈{at})", "会推迟任务 {first}（≈{at}）";
    would_delay_task_first(first) = "would delay task {first}", "会推迟任务 {first}";
}
