//! Sentences of cli/rm.

messages! {
    about = "Remove tasks; a running one is cancelled first", "删除任务；运行中的先取消";
    danlu_rm_id_options = "danlu rm ID… [OPTIONS]", "danlu rm 编号… [选项]";
    do_not_ask = "Do not ask", "不询问";
    print_one_json_document = "Print one JSON document", "输出一个 JSON 文档";
    remove_count_tasks(count) = "remove {count} tasks?", "删除 {count} 个任务？";
    removed_tasks(tasks) = "removed {tasks}", "已删除 {tasks}";
    help =
        "Examples:\n  danlu rm 12\n  danlu rm --state succeeded --yes\n\nTheir logs are deleted on every machine, on one that is away as soon as it is back. Files named with --output stay.",
        "示例：\n  danlu rm 12\n  danlu rm --state succeeded --yes\n\n所有机器上的任务日志一并删除；离线的机器恢复连接后删除。--output 指定的文件保留。";
}
