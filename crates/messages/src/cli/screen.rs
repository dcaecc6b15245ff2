//! Sentences of cli/screen.

messages! {
    whose_user(name) = "{name}'s", "用户 {name}";
    whose_project(name) = "project {name}'s", "项目 {name}";
    stamp_ago_ago(stamp, ago) = "{stamp} ({ago} ago)", "{stamp}（{ago} 前）";
    this_needs_a_yes_question(question) = "this needs a yes: {question}", "需要确认：{question}";
    add_yes = "add --yes", "请加上 --yes";
    question_y_n(question) = "{question} [y/N] ", "{question} [y/N] ";
    could_not_write_cause(cause) = "could not write: {cause}", "无法写出：{cause}";
    note_words(words) = "note: {words}\n", "注意：{words}\n";
    held_danlu_release_id_lets_it_go = "held: danlu release ID lets it go", "被扣住：danlu release ID 放行";
    there_is_no_machine_yet = "there is no machine yet", "还没有机器";
    no_machine_is_large_enough_any_more = "no machine is large enough any more", "已没有足够大的机器";
    the_machines_that_could_run_it_are_away_or = "the machines that could run it are away or draining", "能运行它的机器暂时不可用";
    the_queue_is_paused = "the queue is paused", "队列已暂停";
    others_come_first = "others come first", "其他任务优先";
    about_to_start = "about to start", "即将开始";
    for_room_on_a_machine = "for room on a machine", "等待机器有空位";
    begins_at_at(at) = "begins at {at}", "将于 {at} 开始";
    failed_tried_again_at_at(at) = "failed; tried again at {at}", "失败后将于 {at} 重试";
    after_on(on) = "after {on}", "等待任务 {on}";
    the_machine_has_too_little_memory_left = "the machine has too little memory left", "机器剩余内存过少";
    the_gpus_it_could_share_are_too_busy = "the GPUs it could share are too busy", "可共享的 GPU 过于繁忙";
    until_a_running_task_ends = "until a running task ends", "等待一个运行中的任务结束";
    until_some_of_count_running_tasks_end(count) = "until some of {count} running tasks end", "等待 {count} 个运行中的任务之一结束";
    for_wanted_machines_at_once_with_room_have(wanted, with_room) =
        "for {wanted} machines at once: {with_room} have room now",
        "等待 {wanted} 台机器同时有空位：现有 {with_room} 台";
    comma = ", ", "、";
    no_machine_has_wanted(wanted) = "no machine has {wanted}", "没有机器有 {wanted}";
    for_wanted(wanted) = "for {wanted}", "等待 {wanted}";
    at_once_of_its_array_at_a_time(at_once) = "{at_once} of its array at a time", "数组最多同时运行 {at_once} 个";
    task_first_comes_first(first) = "task {first} comes first", "任务 {first} 优先";
    held_it_may_have_run_since_the_backup_that =
        "held: it may have run since the backup that was restored; danlu release ID runs it",
        "被扣住：自所恢复的备份以来它可能已运行过；danlu release ID 让它运行";
    held_the_record_of_its_run_is_gone_it_may =
        "held: the record of its run is gone, it may have ended; danlu release ID runs it again",
        "被扣住：运行记录已丢失，它可能已经结束；danlu release ID 让它再次运行";
    the_machine_cannot_start_tasks_detail(detail) = "the machine cannot start tasks: {detail}", "机器无法启动任务：{detail}";
    and = " and ", " 和 ";
    for_gpus_that_several_machines_report_shared(shared) =
        "for GPUs that several machines report: {shared}",
        "多台机器报告了同一块 GPU：{shared}";
    foreign_used_outside_danlu(foreign) = "{foreign} used outside Danlu", "{foreign} 块被外部进程占用";
    unknown_cannot_be_probed(unknown) = "{unknown} cannot be probed", "{unknown} 块无法探测";
    dirty_did_not_give_their_memory_back(dirty) = "{dirty} did not give their memory back", "{dirty} 块显存未释放";
    just_left_only_just_left_by_others(just_left) = "{just_left} only just left by others", "{just_left} 块刚被外部进程释放";
    quarantined_with_hardware_errors(quarantined) = "{quarantined} with hardware errors", "{quarantined} 块有硬件故障";
    unknown_runs_used_by_runs_from_before_the(unknown_runs) =
        "{unknown_runs} used by runs from before the database was lost or restored",
        "{unknown_runs} 块被数据库丢失或恢复前的运行占用";
    comma_2 = ", ", "，";
    for_gpus_parts(parts) = "for GPUs: {parts}", "等待 GPU：{parts}";
    quota_of_running_tasks(whose, in_use, most) =
        "{whose} quota: {in_use} of {most} tasks run",
        "{whose} 的配额：{in_use}/{most} 个任务在运行";
    quota_of_running_gpus(whose, in_use, most) =
        "{whose} quota: {in_use} of {most} GPUs in use",
        "{whose} 的配额：{in_use}/{most} 块 GPU 在使用";
    quota_of_waiting_tasks(whose, in_use, most) =
        "{whose} quota: {in_use} of {most} tasks wait",
        "{whose} 的配额：{in_use}/{most} 个任务在等待";
    quota_of_open_tasks(whose, in_use, most) =
        "{whose} quota: {in_use} of {most} tasks have not ended",
        "{whose} 的配额：{in_use}/{most} 个任务未结束";
    quota_of_gpu_hours(whose, in_use, most) =
        "{whose} quota: {in_use} of {most} GPU-hours used",
        "{whose} 的配额：已用 {in_use}/{most} GPU 小时";
    would_delay_task_first_at(first, at) = "would delay task {first} (≈{at})", "会推迟任务 {first}（≈{at}）";
    would_delay_task_first(first) = "would delay task {first}", "会推迟任务 {first}";
    known_the_file_system_of_paths_does_not(known, paths) =
        "{known}; the file system of {paths} does not answer",
        "{known}；{paths} 所在的文件系统没有响应";
    place_does_not_answer(place) = "{place} does not answer", "{place} 没有应答";
    time_limit_of_limit(limit) = "time limit of {limit}", "时限 {limit}";
    time_limit = "time limit", "超过时限";
    place_limit_limit(place, limit) = "{place}  limit {limit}", "{place}  时限 {limit}";
    ended_at(at) = "ended {at}", "结束于 {at}";
    exit_code_code(code) = "exit code {code}", "退出码 {code}";
    killed_by_signal_signal(signal) = "killed by signal {signal}", "被信号 {signal} 终止";
    could_not_start = "could not start", "无法启动";
    cuda_out_of_memory = "CUDA out of memory", "显存不足";
    out_of_memory = "out of memory", "内存不足";
    nccl_error = "NCCL error", "NCCL 错误";
    its_machine_is_lost = "its machine is lost", "机器失联";
    gpu_hardware_error = "GPU hardware error", "GPU 硬件错误";
    preempted = "preempted", "被抢占";
    python_exception = "Python exception", "Python 异常";
    environment_missing = "environment missing", "环境缺失";
    disk_full = "disk full", "磁盘已满";
    command_not_found = "command not found", "找不到命令";
    killed = "killed", "被终止";
    failed = "failed", "失败";
    it_has_used_up_to_used_of_a_gpu_vram_asked(used, asked) =
        "it has used up to {used} of a GPU: --vram {asked}",
        "它曾用过至多 {used} 显存：--vram {asked}";
}
