//! Sentences of cli/extend.

messages! {
    about =
        "Extend the time limit of a task, also while it runs",
        "延长任务的时限，运行中也可以";
    danlu_extend_id_time = "danlu extend ID… TIME", "danlu extend 编号… 时间";
    help =
        "The time is added to the limit. Owners may add as much as the setting max_extension says, admins any.\n\n\
         Examples:\n  danlu extend 12 2h\n  danlu extend 3-9 30m",
        "时间加到原有时限上。所有者最多可加设置 max_extension 所定的时间，管理员不限。\n\n\
         示例：\n  danlu extend 12 2h\n  danlu extend 3-9 30m";
    tasks_and_time =
        "The tasks, and how much longer: 30m, 2h, 1-00:00:00",
        "任务，以及延长的时间：30m、2h、1-00:00:00";
    print_one_json_document = "Print one JSON document", "输出一个 JSON 文档";
    none_is_no_duration = "`none` is not a duration", "`none` 不是时长";
    tasks_time_longer(tasks, time) = "extended {tasks} by {time}", "已将 {tasks} 延长 {time}";
}
