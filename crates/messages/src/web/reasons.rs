//! Sentences of web/reasons.

messages! {
    begins_at = "begins at", "开始时间：";
    failed_tried_again_at = "failed; tried again at", "失败，重试时间：";
    after_on(on) = "after {on}", "等待任务 {on}";
    for_wanted(wanted) = "for {wanted}", "等待资源：{wanted}";
    at_once_of_its_array_at_a_time(at_once) = "{at_once} of its array at a time", "数组最多同时运行 {at_once} 个";
    task_first_comes_first(first) = "task #{first} comes first", "任务 #{first} 优先";
    for_wanted_machines_at_once_with_room_have(wanted, with_room) =
        "for {wanted} machines at once: {with_room} have room now",
        "等待 {wanted} 台机器同时有空位：现有 {with_room} 台";
    the_machine_cannot_start_tasks_detail(detail) = "the machine cannot start tasks: {detail}", "机器无法启动任务：{detail}";
    and = " and ", " 和 ";
    for_gpus_that_several_machines_report_shared(shared) =
        "for GPUs that several machines report: {shared}",
        "多台机器报告了同一块 GPU：{shared}";
    held_it_may_have_run_since_the_backup_that =
        "held: it may have run since the backup that was restored",
        "被扣住：自所恢复的备份以来它可能已运行过";
    held_the_record_of_its_run_is_gone_it_may =
        "held: the record of its run is gone, it may have ended",
        "被扣住：运行记录已丢失，它可能已经结束";
    there_is_no_machine_yet = "there is no machine yet", "还没有机器";
    no_machine_is_large_enough_any_more = "no machine is large enough any more", "已没有足够大的机器";
    the_machines_that_could_run_it_are_away_or = "the machines that could run it are away or draining", "能运行它的机器暂时不可用";
    the_gpus_it_could_share_are_too_busy = "the GPUs it could share are too busy", "可共享的 GPU 过于繁忙";
    the_queue_is_paused = "the queue is paused", "队列已暂停";
    others_come_first = "others come first", "其他任务优先";
    about_to_start = "about to start", "即将开始";
    for_room_on_a_machine = "for room on a machine", "等待机器有空位";
    comma = ", ", "、";
    foreign_used_outside_danlu(foreign) = "{foreign} used outside Danlu", "{foreign} 块被外部进程占用";
    unknown_cannot_be_probed(unknown) = "{unknown} cannot be probed", "{unknown} 块无法探测";
    dirty_did_not_give_their_memory_back(dirty) = "{dirty} did not give their memory back", "{dirty} 块显存未释放";
    just_left_only_just_left_by_others(just_left) = "{just_left} only just left by others", "{just_left} 块刚被释放";
    quarantined_with_hardware_errors(quarantined) = "{quarantined} with hardware errors", "{quarantined} 块有硬件故障";
    unknown_runs_used_by_runs_from_before_the(unknown_runs) =
        "{unknown_runs} used by runs from before the database was lost or restored",
        "{unknown_runs} 块被数据库丢失或恢复前的运行占用";
    comma_2 = ", ", "，";
    for_gpus_parts(parts) = "for GPUs: {parts}", "等待 GPU：{parts}";
}
