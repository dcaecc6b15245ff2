//! Sentences of cli/cancel.

messages! {
    about =
        "Cancel tasks; ends the whole process tree of running ones",
        "取消任务；运行中的任务会结束其全部进程";
    danlu_cancel_id_options = "danlu cancel ID… [OPTIONS]", "danlu cancel 编号… [选项]";
    help =
        "A running task gets SIGTERM; processes left after the grace time (default: 10 s) are killed.\n\nExamples:\n  danlu cancel 12\n  danlu cancel 3-9 --yes\n  danlu cancel --state queued --label sweep=a",
        "运行中的任务先收到 SIGTERM；宽限时间（默认 10 秒）后仍未退出的进程将被强制终止。\n\n示例：\n  danlu cancel 12\n  danlu cancel 3-9 --yes\n  danlu cancel --state queued --label sweep=a";
    do_not_ask = "Do not ask for confirmation", "不询问确认";
    return_when_they_have_ended = "Wait until they have ended", "等它们结束后再返回";
    print_one_json_document = "Print one JSON document", "输出一个 JSON 文档";
    cancel_count_tasks(count) = "cancel {count} tasks?", "取消 {count} 个任务？";
    cancelled_tasks(tasks) = "cancelled {tasks}", "已取消 {tasks}";
}
