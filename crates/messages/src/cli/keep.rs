//! Sentences of cli/keep.

messages! {
    about =
        "Keep the GPUs of a task for some time although it does not use them",
        "任务虽不使用 GPU，仍为其保留一段时间";
    danlu_keep_id_time = "danlu keep ID… [TIME]", "danlu keep 编号… [时间]";
    help =
        "Where administrators let idle GPUs be released (danlu set idle.act …), the owner is asked first; this is the answer. \
         Owners may keep them for as long as the setting idle.longest_keep says, admins for any time.\n\n\
         Examples:\n  danlu keep 12\n  danlu keep 12 8h",
        "管理员可让闲置的 GPU 被收回（danlu set idle.act …），此前会先询问所有者；此命令即是答复。\
         所有者每次最多保留设置 idle.longest_keep 所定的时间，管理员不限。\n\n\
         示例：\n  danlu keep 12\n  danlu keep 12 8h";
    tasks_and_time =
        "The tasks, and for how long from now: 30m, 8h (default: 2h)",
        "任务，以及从现在起保留的时间：30m、8h（默认：2h）";
    print_one_json_document = "Print one JSON document", "输出一个 JSON 文档";
    none_is_no_duration = "`none` is not a duration", "`none` 不是时长";
    tasks_kept(tasks, time) = "kept the GPUs of {tasks} for {time}", "已为 {tasks} 保留 GPU {time}";
}
