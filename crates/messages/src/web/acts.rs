//! Sentences of web/acts.

messages! {
    choose_1_to_most_ids_tasks(most_ids) = "select 1 to {most_ids} tasks", "请选择 1 到 {most_ids} 个任务";
    tick_the_tasks_first = "select the tasks first", "请先勾选任务";
    remove = "Remove", "删除";
    cancel_for_good = "Cancel", "确认取消";
    keep_it = "Keep", "保留";
    keep_what(what, time) = "Keep the GPUs of {what} for {time}?", "为{what}保留 GPU {time}？";
    keep_idle =
        "It does not use them at the moment. For this time nothing is done about that.",
        "它目前没有使用这些 GPU。在此期间不会因此停止它。";
    keep_anyway =
        "It uses them at the moment. For this time nothing is done if it does not.",
        "它目前在使用这些 GPU。在此期间即使闲置也不会停止它。";
    keep_gpus = "Keep the GPUs", "保留 GPU";
    leave_it = "Not needed", "不需要";
    task_id(id) = "task #{id}", "任务 #{id}";
    ids_tasks(ids) = "{ids} tasks", "{ids} 个任务";
    remove_what(what) = "Remove {what}?", "删除{what}？";
    cancel_what(what) = "Cancel {what}?", "取消{what}？";
    removal_consequences =
        "Their logs and records are deleted; running tasks are cancelled first.",
        "其日志与记录将被删除；运行中的任务会先取消。";
    cancel_consequences =
        "Waiting tasks will not start; running tasks are ended with all their processes.",
        "等待中的任务不再启动；运行中的任务及其全部进程将被结束。";
}
